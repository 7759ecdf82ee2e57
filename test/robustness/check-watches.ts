// Whether a watch tells everything that happened after the place where it began: once, in order, and nothing else.

import type { Seen, Version, Watching } from './history.js'
import type { Happening, Timeline } from './timeline.js'
import type { Findings } from './violation.js'

type Told = Pick<Seen, 'type' | 'revision'> & { readonly key: string }

/** What should be told; undefined: added or modified, whichever it was. */
type Due = Omit<Told, 'type'> & { readonly type: Seen['type'] | undefined }

export function checkWatch(timeline: Timeline, watching: Watching, findings: Findings): void {
  checkOrder(watching, findings)
  const expected = typeof watching.from === 'number' ? after(timeline, watching, watching.from) : bestBeginning(timeline, watching)
  if (expected !== 'unclear') compare(watching, expected, findings)
}

/** Revisions only grow. What a watch shows of the state at its beginning is in the order of keys. */
function checkOrder(watching: Watching, findings: Findings): void {
  const { seen, from } = watching
  let last = typeof from === 'number' ? from : 0
  const initial = typeof from === 'number' ? 0 : lengthOfState(seen)
  for (const [index, { type, revision, version }] of seen.entries()) {
    if (index < initial) continue
    const isBack = type === 'BOOKMARK' ? revision < last : revision <= last
    if (isBack) {
      const text = `${type} at revision ${revision} came after revision ${last}`
      findings.add('order of a watch', text, { keys: version === undefined ? [] : [version.key], revision, record: watching })
    }
    last = Math.max(last, revision)
  }
}

/** How many events can be the state at the beginning: additions in the order of keys. */
function lengthOfState(seen: readonly Seen[]): number {
  let length = 0
  while (seen[length]?.type === 'ADDED' && (length === 0 || keyOf(seen[length]) > keyOf(seen[length - 1]))) length += 1
  return length
}

const keyOf = (seen: Seen | undefined): string => seen?.version?.key ?? ''

function compare(watching: Watching, expected: readonly Due[], findings: Findings): void {
  const told = watching.seen.flatMap(({ type, revision, version }): Told[] => (version ? [{ type, revision, key: version.key }] : []))
  for (let index = 0; index < Math.max(expected.length, told.length); index += 1) {
    const [due, is] = [expected[index], told[index]]
    if (due && is && (due.type ?? is.type) === is.type && due.revision === is.revision && due.key === is.key) continue
    const dueText = due === undefined ? 'nothing more' : `${due.type ?? 'an event of'} ${due.key}@${due.revision}`
    const isText = is === undefined ? 'did not tell of it' : `told ${is.type} ${is.key}@${is.revision}`
    const keys = [due?.key, is?.key].filter((key) => key !== undefined)
    findings.add(ruleOf(due, is), `event ${index + 1} should be ${dueText}, and the watch ${isText}`, {
      keys,
      revision: due?.revision ?? is?.revision ?? 0,
      record: watching,
    })
    return
  }
}

function ruleOf(due: Due | undefined, is: Told | undefined): string {
  if (due === undefined) return 'an invented event'
  if (is === undefined || is.revision > due.revision) return 'a gap in a watch'
  return is.revision === due.revision ? 'an event of another kind' : 'a repeated or invented event'
}

/** Everything between the beginning and the last thing that the watch was told; unclear when something may have happened that nobody saw. */
function after(timeline: Timeline, { seen, group }: Watching, from: number): readonly Due[] | 'unclear' {
  const last = seen.reduce((highest, { revision }) => Math.max(highest, revision), from)
  if (!timeline.isCovered({ from, to: last })) return 'unclear'
  const all = timeline.between({ from, to: last }).map((happening) => project(timeline, happening, group))
  return all.includes('unclear') ? 'unclear' : all.flatMap((due) => (due === 'unclear' ? [] : due))
}

/** With a selector, to come into the selection is to be added, and to leave it is to be deleted. */
function project(timeline: Timeline, { key, revision, version }: Happening, group: string | undefined): readonly Due[] | 'unclear' {
  const isIn = (each: Version | undefined): boolean => each !== undefined && (group === undefined || each.group === group)
  const before = timeline.lastOf(key, revision - 1)
  const is = isIn(version)
  if (before === 'unclear')
    return is ? [{ type: undefined, revision, key }] : group === undefined ? [{ type: 'DELETED', revision, key }] : before
  const was = isIn(before?.version)
  if (!was && !is) return []
  return [{ type: was ? (is ? 'MODIFIED' : 'DELETED') : 'ADDED', revision, key }]
}

/** A watch that shows the state first does not say of which revision it is: the one that fits best counts. */
function bestBeginning(timeline: Timeline, watching: Watching): readonly Due[] | 'unclear' {
  const { seen, group, from, startMs, endMs } = watching
  const least = from === 'recent' ? timeline.knownBy(startMs) : timeline.base
  const firstMs = seen[0]?.atMs ?? endMs
  const candidates = [least, ...timeline.between({ from: least, to: timeline.possibleBy(firstMs) }).map(({ revision }) => revision)]
  if (seen.length === 0) return []
  let best: { readonly told: readonly Due[]; readonly length: number } | undefined
  let isUnclear = false
  for (const revision of candidates) {
    const state = timeline.stateAt(revision)?.filter((version) => group === undefined || version.group === group)
    const rest = after(timeline, watching, revision)
    if (state === undefined || rest === 'unclear') {
      isUnclear = true
      continue
    }
    if (state.length > seen.length) continue
    const told = [...state.map(({ key, revision: at }): Due => ({ type: 'ADDED', key, revision: at })), ...rest]
    const length = agreement(seen, told)
    if (best === undefined || length > best.length) best = { told, length }
    if (length === told.length) return told
  }
  return isUnclear ? 'unclear' : (best?.told ?? [])
}

function agreement(seen: readonly Seen[], told: readonly Due[]): number {
  const events = seen.filter(({ version }) => version !== undefined)
  const index = told.findIndex(({ revision, key }, at) => events[at]?.revision !== revision || events[at]?.version?.key !== key)
  return index < 0 ? told.length : index
}
