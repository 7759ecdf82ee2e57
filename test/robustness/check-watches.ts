// Checks that a watch delivers every change after its start once, in order, and nothing else.

import type { SeenObject, Version, WatchRecord } from './history.js'
import type { Timeline, TimelineEvent } from './timeline.js'
import type { Findings } from './violation.js'

type Delivered = Pick<SeenObject, 'type' | 'revision'> & { readonly key: string }

/** Expected type; undefined: ADDED or MODIFIED. */
type ExpectedEvent = Omit<Delivered, 'type'> & { readonly type: SeenObject['type'] | undefined }

export function checkWatch(timeline: Timeline, watch: WatchRecord, findings: Findings): void {
  checkOrder(watch, findings)
  const expected = typeof watch.from === 'number' ? expectedAfter(timeline, watch, watch.from) : expectedFromState(timeline, watch)
  if (expected !== 'unclear') compare(watch, expected, findings)
}

/** Revisions must increase. Events of the initial state are in key order. */
function checkOrder(watch: WatchRecord, findings: Findings): void {
  const { seen, from } = watch
  let last = typeof from === 'number' ? from : 0
  const initial = typeof from === 'number' ? 0 : lengthOfState(seen)
  for (const [index, { type, revision, version }] of seen.entries()) {
    if (index < initial) continue
    const isOutOfOrder = type === 'BOOKMARK' ? revision < last : revision <= last
    if (isOutOfOrder) {
      const text = `${type} at revision ${revision} came after revision ${last}`
      findings.add('watch order', text, { keys: version === undefined ? [] : [version.key], revision, record: watch })
    }
    last = Math.max(last, revision)
  }
}

/** Number of events that can be the initial state: ADDED in key order. */
function lengthOfState(seen: readonly SeenObject[]): number {
  let length = 0
  while (seen[length]?.type === 'ADDED' && (length === 0 || keyOf(seen[length]) > keyOf(seen[length - 1]))) length += 1
  return length
}

const keyOf = (seen: SeenObject | undefined): string => seen?.version?.key ?? ''

function compare(watch: WatchRecord, expected: readonly ExpectedEvent[], findings: Findings): void {
  const delivered = watch.seen.flatMap(({ type, revision, version }): Delivered[] =>
    version ? [{ type, revision, key: version.key }] : [],
  )
  for (let index = 0; index < Math.max(expected.length, delivered.length); index += 1) {
    const [wanted, actual] = [expected[index], delivered[index]]
    if (
      wanted &&
      actual &&
      (wanted.type ?? actual.type) === actual.type &&
      wanted.revision === actual.revision &&
      wanted.key === actual.key
    )
      continue
    const wantedText = wanted === undefined ? 'nothing more' : `${wanted.type ?? 'an event of'} ${wanted.key}@${wanted.revision}`
    const actualText = actual === undefined ? 'did not send it' : `sent ${actual.type} ${actual.key}@${actual.revision}`
    const keys = [wanted?.key, actual?.key].filter((key) => key !== undefined)
    findings.add(ruleOf(wanted, actual), `event ${index + 1} should be ${wantedText}, and the watch ${actualText}`, {
      keys,
      revision: wanted?.revision ?? actual?.revision ?? 0,
      record: watch,
    })
    return
  }
}

function ruleOf(wanted: ExpectedEvent | undefined, actual: Delivered | undefined): string {
  if (wanted === undefined) return 'phantom watch event'
  if (actual === undefined || actual.revision > wanted.revision) return 'missed watch event'
  return actual.revision === wanted.revision ? 'wrong event type' : 'repeated or phantom watch event'
}

/** Changes between the start and the last event of the watch; unclear if some may be unknown. */
function expectedAfter(timeline: Timeline, { seen, group }: WatchRecord, from: number): readonly ExpectedEvent[] | 'unclear' {
  const last = seen.reduce((highest, { revision }) => Math.max(highest, revision), from)
  if (!timeline.isCovered({ from, to: last })) return 'unclear'
  const all = timeline.between({ from, to: last }).map((event) => project(timeline, event, group))
  return all.includes('unclear') ? 'unclear' : all.flatMap((wanted) => (wanted === 'unclear' ? [] : wanted))
}

/** With a selector, an object that begins to match is ADDED, and one that ceases to match is DELETED. */
function project(
  timeline: Timeline,
  { key, revision, version }: TimelineEvent,
  group: string | undefined,
): readonly ExpectedEvent[] | 'unclear' {
  const matches = (each: Version | undefined): boolean => each !== undefined && (group === undefined || each.group === group)
  const before = timeline.lastOf(key, revision - 1)
  const doesMatch = matches(version)
  if (before === 'unclear')
    return doesMatch ? [{ type: undefined, revision, key }] : group === undefined ? [{ type: 'DELETED', revision, key }] : before
  const didMatch = matches(before?.version)
  if (!didMatch && !doesMatch) return []
  return [{ type: didMatch ? (doesMatch ? 'MODIFIED' : 'DELETED') : 'ADDED', revision, key }]
}

/** The revision of the initial state is not in the events: the best match counts. */
function expectedFromState(timeline: Timeline, watch: WatchRecord): readonly ExpectedEvent[] | 'unclear' {
  const { seen, group, from, startMs, endMs } = watch
  const least = from === 'recent' ? timeline.knownBy(startMs) : timeline.base
  const firstMs = seen[0]?.atMs ?? endMs
  const greatest = timeline.possibleBy(firstMs)
  const candidates = [least, ...timeline.between({ from: least, to: greatest }).map(({ revision }) => revision)]
  if (seen.length === 0) return []
  let best: { readonly delivered: readonly ExpectedEvent[]; readonly length: number } | undefined
  // A gap after the greatest known revision may have deletions that no record shows.
  let isUnclear = !timeline.isCovered({ from: least, to: greatest + 1 })
  const events = seen.filter(({ version }) => version !== undefined)
  for (const revision of candidates) {
    const state = timeline.stateAt(revision)?.filter((version) => group === undefined || version.group === group)
    const rest = expectedAfter(timeline, watch, revision)
    if (state === undefined || rest === 'unclear') {
      isUnclear = true
      continue
    }
    if (state.length > seen.length) continue
    const delivered = [...state.map(({ key, revision: at }): ExpectedEvent => ({ type: 'ADDED', key, revision: at })), ...rest]
    const length = commonPrefixLength(events, delivered)
    if (best === undefined || length > best.length) best = { delivered, length }
    if (length === delivered.length && length === events.length) return delivered
  }
  return isUnclear ? 'unclear' : (best?.delivered ?? [])
}

function commonPrefixLength(events: readonly SeenObject[], delivered: readonly ExpectedEvent[]): number {
  const index = delivered.findIndex(({ revision, key }, at) => events[at]?.revision !== revision || events[at]?.version?.key !== key)
  return index < 0 ? delivered.length : index
}
