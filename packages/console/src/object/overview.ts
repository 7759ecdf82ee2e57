// The overview of an object: metadata, conditions, owners, and its events.

import type { DynamicObject, ServedResource } from '@cluster-apiserver/client/browser.js'
import { element, replaceChildren } from '../dom/element.js'
import { errorPanel } from '../shell/legacy.js'
import { objectRoute } from '../shell/route.js'
import { ageText, cellText, countText } from '../ui/format.js'
import { shortened } from '../ui/visible-text.js'
import type { ObjectContext, ObjectTab } from './object-context.js'

export const overviewTab: ObjectTab = {
  id: 'overview',
  title: 'Overview',
  show: (host, context) => {
    const facts = element('div')
    const events = element('section', {}, element('h2', {}, 'Events'))
    replaceChildren(host, element('div', { class: 'overview' }, facts, events))
    const draw = (now: ObjectContext): void => replaceChildren(facts, metadataOf(now), conditionsOf(now.object))
    draw(context)
    void showEvents(events, context)
    return draw
  },
}

const maxPairs = 50
const maxCharacters = 200

function metadataOf({ object, session }: ObjectContext): HTMLElement {
  const { metadata = {} } = object
  const created = Date.parse(String(metadata.creationTimestamp ?? ''))
  const owners = (metadata.ownerReferences ?? []).map(({ apiVersion = '', kind = '', name = '' }) => {
    const resource = session.resources.find(
      (each) => each.kind === kind && `${each.group === '' ? '' : `${each.group}/`}${each.version}` === apiVersion,
    )
    const text = `${kind} ${name}`
    return resource === undefined ? element('span', {}, text) : ownerLink(resource, metadata.namespace, { name, text })
  })
  return element(
    'dl',
    { class: 'facts' },
    ...fact('Created', Number.isFinite(created) ? `${ageText(created, Date.now())} ago · ${String(metadata.creationTimestamp)}` : ''),
    ...fact('Deletion', metadata.deletionTimestamp === undefined ? '' : `since ${String(metadata.deletionTimestamp)}`),
    ...fact('Finalizers', (metadata.finalizers ?? []).join(', ')),
    ...(owners.length === 0 ? [] : [element('dt', {}, 'Owners'), element('dd', {}, ...owners)]),
    ...pairs('Labels', metadata.labels),
    ...pairs('Annotations', metadata.annotations),
    ...fact('UID', metadata.uid ?? ''),
  )
}

const ownerLink = (
  resource: ServedResource,
  namespace: string | undefined,
  { name, text }: { readonly name: string; readonly text: string },
): HTMLElement => element('a', { href: objectRoute(resource, resource.namespaced ? namespace : undefined, name) }, text)

const fact = (title: string, text: string): readonly HTMLElement[] =>
  text === '' ? [] : [element('dt', {}, title), element('dd', {}, shortened(text, maxCharacters))]

function pairs(title: string, members: { readonly [name: string]: string } | undefined): readonly HTMLElement[] {
  const entries = Object.entries(members ?? {})
  if (entries.length === 0) return []
  const left = entries.length - maxPairs
  return [
    element('dt', {}, title),
    element(
      'dd',
      { class: 'pairs' },
      ...entries
        .slice(0, maxPairs)
        .map(([name, value]) =>
          element(
            'span',
            { class: 'pair' },
            element('b', {}, shortened(name, maxCharacters)),
            ` ${shortened(String(value), maxCharacters)}`,
          ),
        ),
      left > 0 && element('span', {}, `and ${countText(left)} more`),
    ),
  ]
}

/** Status of custom kinds may be any text, and must not choose the style. */
const truthClasses: ReadonlyMap<unknown, string> = new Map(
  ['True', 'False', 'Unknown'].map((status) => [status, `truth ${status.toLowerCase()}`]),
)

const cellOf = (value: unknown): string => shortened(cellText(value), maxCharacters)

interface Condition {
  readonly type?: unknown
  readonly status?: unknown
  readonly reason?: unknown
  readonly message?: unknown
  readonly lastTransitionTime?: unknown
}

function conditionsOf(object: DynamicObject): HTMLElement {
  const found = (object['status'] as { readonly conditions?: unknown } | null | undefined)?.conditions
  const conditions = (Array.isArray(found) ? found : []) as readonly (Condition | null)[]
  if (conditions.length === 0)
    return element('section', {}, element('h2', {}, 'Conditions'), element('p', { class: 'empty' }, 'No conditions.'))
  const rows = conditions.slice(0, maxPairs).map((condition) => {
    const { type, status, reason, message, lastTransitionTime } = condition ?? {}
    const changed = Date.parse(cellText(lastTransitionTime))
    return element(
      'tr',
      {},
      element('td', {}, cellOf(type)),
      element('td', { class: truthClasses.get(status) ?? 'truth' }, cellOf(status)),
      element('td', {}, cellOf(reason)),
      element('td', {}, cellOf(message)),
      element('td', {}, ageText(changed, Date.now())),
    )
  })
  return element('section', {}, element('h2', {}, 'Conditions'), plainTable(['Type', 'Status', 'Reason', 'Message', 'Changed'], rows))
}

export const plainTable = (titles: readonly string[], rows: readonly HTMLElement[]): HTMLElement =>
  element(
    'div',
    { class: 'scroller', tabindex: 0, role: 'group', 'aria-label': titles.join(', ') },
    element(
      'table',
      { class: 'plain' },
      element('thead', {}, element('tr', {}, ...titles.map((title) => element('th', { scope: 'col' }, title)))),
      element('tbody', {}, ...rows),
    ),
  )

interface EventObject extends DynamicObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
}

const maxEvents = 200
const redrawMs = 200

async function showEvents(host: HTMLElement, { session, object, namespace, signal }: ObjectContext): Promise<void> {
  const body = element('div')
  host.append(body)
  const resource = session.resources.find((each) => each.resource === 'events' && each.group === '')
  const uid = object.metadata?.uid
  if (resource === undefined || uid === undefined) return
  const events = new Map<string, EventObject>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const draw = (): void => {
    timer = undefined
    const sorted = [...events].sort(([, a], [, b]) => timeOf(b) - timeOf(a))
    for (const [name] of sorted.slice(maxEvents)) events.delete(name)
    const latest = sorted.slice(0, maxEvents).map(([, event]) => event)
    if (latest.length === 0) replaceChildren(body, element('p', { class: 'empty' }, 'No events.'))
    else replaceChildren(body, plainTable(['Age', 'Type', 'Reason', 'Message', 'Count'], latest.map(eventRow)))
  }
  draw()
  try {
    const watch = session.client
      .collection<EventObject>(resource, namespace ?? '')
      .watch({ fieldSelector: { 'involvedObject.uid': uid }, signal })
    for await (const event of watch) {
      if (event.type === 'BOOKMARK') continue
      if (event.type === 'DELETED') events.delete(event.name)
      else events.set(event.name, event.object)
      if (timer === undefined) timer = setTimeout(draw, redrawMs)
    }
  } catch (thrown) {
    if (!signal.aborted) replaceChildren(body, errorPanel(thrown, 'The events cannot be read'))
  }
}

const timeOf = ({ lastTimestamp, eventTime, metadata }: EventObject): number =>
  Date.parse(lastTimestamp ?? eventTime ?? String(metadata?.creationTimestamp ?? '')) || 0

const eventRow = (event: EventObject): HTMLElement =>
  element(
    'tr',
    { class: event.type === 'Warning' ? 'warning' : '' },
    element('td', {}, ageText(timeOf(event), Date.now())),
    element('td', {}, cellOf(event.type)),
    element('td', {}, cellOf(event.reason)),
    element('td', {}, shortened(event.message ?? '', 2 * maxCharacters)),
    element('td', {}, event.count ?? 1),
  )
