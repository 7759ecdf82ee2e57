// Adds to the error of a failed test what happened to the objects that the test names: requests, events and changes.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { everything } from '../../../objects/list/selection.js'
import type { ObjectStore } from '../../../objects/object-store.js'
import { type ObjectRef, type ResolvedRef, resolveRef, typeOf } from '../object-ref.js'
import type { ObjectHistory } from './object-history.js'
import { changeText } from './object-history.js'
import type { RequestLog } from './request-log.js'

const maxRequests = 20
const maxEvents = 10
const maxVersions = 5
const maxChanges = 10

interface ExplainedParts {
  readonly catalog: () => Catalog
  readonly store: ObjectStore
  readonly requests: RequestLog
  readonly historyOf: (ref: ResolvedRef) => ObjectHistory
}

/** Throws the same error with a longer message; what is not an Error becomes the `cause` of one. */
export async function explainFailure<T>(
  parts: ExplainedParts,
  refs: ObjectRef | readonly ObjectRef[],
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const report = [refs]
      .flat()
      .map((ref) => reportOn(parts, ref))
      .join('\n')
    if (!(thrown instanceof Error)) throw new Error(`${String(thrown)}\n\n${report}`, { cause: thrown })
    extendMessage(thrown, report)
    throw thrown
  }
}

/** Test runners print the stack, which has the message as it was when the error was created. */
function extendMessage(error: Error, report: string): void {
  const { message, stack } = error
  error.message = `${message}\n\n${report}`
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message)
}

/** A ref that cannot be resolved is reported, so that the error of the test is not lost. */
function reportOn(parts: ExplainedParts, ref: ObjectRef): string {
  try {
    const resolved = resolveRef(parts.catalog(), ref)
    const sections = [
      section('Requests', requestsOn(parts.requests, resolved)),
      section('Events', eventsOf(parts, resolved)),
      section('Changes', changesOf(parts.historyOf(resolved), resolved)),
    ]
    return [resolved.text, ...sections].join('\n')
  } catch (thrown) {
    return errorMessage(thrown)
  }
}

const section = (title: string, lines: readonly string[]): string =>
  [`  ${title}:`, ...(lines.length === 0 ? ['none'] : lines).map((line) => `    ${line}`)].join('\n')

function requestsOn(requests: RequestLog, { resource, namespace, name }: ResolvedRef): readonly string[] {
  const type = typeOf(resource)
  return requests
    .all((request) => {
      if (request.resource !== type || (resource.namespaced && request.namespace !== namespace)) return false
      return request.name === name || request.verb === 'deletecollection'
    })
    .slice(-maxRequests)
    .map(String)
}

interface ApiEvent {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly involvedObject?: { readonly kind?: string; readonly namespace?: string; readonly name?: string; readonly apiVersion?: string }
}

function eventsOf({ catalog, store }: ExplainedParts, { resource, namespace, name }: ResolvedRef): readonly string[] {
  const events = catalog().find('', 'v1', 'events')
  if (events === undefined) return []
  const found = [...store.readAll({ resource: events, namespace, selection: everything, limit: 0 }).objects()]
    .toSorted((a, b) => a.revision - b.revision)
    .map((stored) => stored.shown(events) as ApiEvent)
    .filter(({ involvedObject }) => involvedObject?.kind === resource.kind && involvedObject.name === name)
  return found
    .slice(-maxEvents)
    .map(({ type, reason, message = '', count = 1 }) => `${type} ${reason}: ${shorten(message)}${count > 1 ? ` (${count} times)` : ''}`)
}

const hidden = (): string => '(hidden)'

/** The output of a failed test is often public: values of Secrets are hidden. */
function changesOf({ versions }: ObjectHistory, { resource }: ResolvedRef): readonly string[] {
  const show = typeOf(resource) === 'secrets' ? hidden : undefined
  return versions
    .slice(-maxVersions)
    .flatMap(({ resourceVersion, verb, user, changes }) => [
      `${resourceVersion} ${verb} by ${user ?? 'unknown'}`,
      ...changes.slice(0, maxChanges).map((change) => `  ${changeText(change, show)}`),
      ...(changes.length > maxChanges ? [`  and ${changes.length - maxChanges} more`] : []),
    ])
}
