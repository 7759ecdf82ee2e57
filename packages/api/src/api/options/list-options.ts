// What a GET of a collection may say: which objects, of which state, how many, and whether to stay for the changes.

import { type FieldError, forbidden, notSupported } from '../field-error.js'
import { type CompiledFieldSelector, checkFields, parseFieldSelector, type SelectableFields } from '../field-selector.js'
import type { Identity } from '../identity.js'
import { type CompiledLabelSelector, compileLabelSelector } from '../label-selector.js'
import { decodeContinueToken } from './continue-token.js'
import { refuse } from './options-object.js'
import { booleanParameter, integerParameter, textParameter } from './parameters.js'
import type { Query } from './query.js'
import { type ListVersion, listVersion, mostRecent, type WatchStart, watchStart } from './read-version.js'

/** Undefined where everything is wanted, so that nobody runs a test that all pass. */
export interface Selectors {
  readonly labels: CompiledLabelSelector | undefined
  readonly fields: CompiledFieldSelector | undefined
}

export interface ListOptions {
  readonly selection: Selectors
  readonly version: ListVersion
  /** The most objects in one answer; 0: all. */
  readonly limit: number
  readonly timeoutSeconds?: number
}

export interface WatchOptions {
  readonly selection: Selectors
  readonly start: WatchStart
  readonly allowBookmarks: boolean
  readonly timeoutSeconds?: number
}

export interface ListContext {
  readonly identity: Identity
  /** The fields that the kind lets a selector ask for. */
  readonly fields: SelectableFields
}

export const everySelection: Selectors = { labels: undefined, fields: undefined }
const usualList: ListOptions = { selection: everySelection, version: mostRecent, limit: 0 }

/** Whether a GET of a collection asks for its changes; also when the rest of its query is wrong, for that decides what must be allowed. */
export const isWatchRequested = (query: Query): boolean => booleanParameter(query, 'watch') ?? false

export function parseListOptions(query: Query, context: ListContext): ListOptions {
  if (query.isEmpty) return usualList
  const read = readParameters(query)
  refuse('ListOptions', context.identity, matchErrors(read, { isWatch: false }))
  if (read.selection.fields !== undefined) checkFields(read.selection.fields, context.fields)
  const token = read.continue === undefined ? undefined : decodeContinueToken(read.continue, context.identity)
  const version = listVersion({ resourceVersion: read.resourceVersion, match: read.match, hasLimit: read.limit > 0, token })
  return {
    selection: read.selection,
    version,
    // A reader to whom any state will do gets all of it at once: the next page could not be of the same state.
    limit: version.mode === 'any' ? 0 : Math.max(0, read.limit),
    ...read.timeout,
  }
}

/** `limit` and `continue` mean nothing to a watch, and are not looked at. */
export function parseWatchOptions(query: Query, context: ListContext): WatchOptions {
  const read = readParameters(query)
  refuse('ListOptions', context.identity, matchErrors(read, { isWatch: true }))
  if (read.selection.fields !== undefined) checkFields(read.selection.fields, context.fields)
  return {
    selection: read.selection,
    start: watchStart(read.resourceVersion),
    allowBookmarks: booleanParameter(query, 'allowWatchBookmarks') ?? false,
    ...read.timeout,
  }
}

interface ListParameters {
  readonly selection: Selectors
  readonly resourceVersion: string | undefined
  readonly match: string | undefined
  readonly limit: number
  readonly continue: string | undefined
  readonly timeout: { readonly timeoutSeconds?: number }
}

/** Numbers are looked at before selectors: the first fault decides the answer. */
function readParameters(query: Query): ListParameters {
  const timeoutSeconds = integerParameter(query, 'timeoutSeconds')
  const limit = integerParameter(query, 'limit') ?? 0
  const labels = compileLabelSelector(query.first('labelSelector') ?? '')
  const fields = parseFieldSelector(query.first('fieldSelector') ?? '')
  return {
    selection: { labels: labels.isEverything ? undefined : labels, fields: fields.isEverything ? undefined : fields },
    resourceVersion: textParameter(query, 'resourceVersion'),
    match: textParameter(query, 'resourceVersionMatch'),
    limit,
    continue: textParameter(query, 'continue'),
    timeout: timeoutSeconds === undefined ? {} : { timeoutSeconds },
  }
}

const field = 'resourceVersionMatch'

function matchErrors(read: ListParameters, { isWatch }: { readonly isWatch: boolean }): readonly FieldError[] {
  const { match } = read
  if (match === undefined) return []
  const errors: FieldError[] = []
  if (isWatch) errors.push(forbidden(field, `${field} is forbidden for watch`))
  if (read.resourceVersion === undefined) errors.push(forbidden(field, `${field} is forbidden unless resourceVersion is provided`))
  if (read.continue !== undefined) errors.push(forbidden(field, `${field} is forbidden when continue is provided`))
  if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(notSupported(field, match, ['Exact', 'NotOlderThan', '']))
  if (match === 'Exact' && read.resourceVersion !== undefined && /^0+$/.test(read.resourceVersion))
    errors.push(forbidden(field, `${field} "exact" is forbidden for resourceVersion "0"`))
  return errors
}
