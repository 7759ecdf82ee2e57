// Timeline of a run, reconstructed from all records: one event per revision, one chain of events per key.

import type { History, Record, SeenObject, Version, WatchRecord, Write } from './history.js'

export interface TimelineEvent {
  readonly revision: number
  readonly key: string
  /** Undefined: deleted. */
  readonly version: Version | undefined
  /** Record that proves the event. */
  readonly witness: Record
  readonly seenMs: number
}

/** Two records that contradict each other. */
interface Contradiction {
  readonly first: TimelineEvent
  readonly second: TimelineEvent
}

interface Span {
  /** Exclusive. */
  readonly from: number
  /** Inclusive. */
  readonly to: number
}

export class Timeline {
  readonly base: number
  /** In the order of revisions. */
  readonly events: readonly TimelineEvent[]
  readonly contradictions: readonly Contradiction[]
  /** Revisions without a watch, at which changes may be unknown. */
  readonly holes: readonly Span[]
  readonly #chains = new Map<string, TimelineEvent[]>()
  readonly #byRevision = new Map<number, TimelineEvent>()
  readonly #watchedRevisions = new Set<number>()
  /** In the order of revisions. */
  readonly #inventories: readonly Inventory[]
  readonly #known: Steps
  readonly #possible: Steps

  constructor({ records, base }: History) {
    this.base = base
    const contradictions: Contradiction[] = []
    for (const event of records.flatMap(provenEvents)) {
      const before = this.#byRevision.get(event.revision)
      if (event.witness.type === 'watch') this.#watchedRevisions.add(event.revision)
      if (before === undefined) this.#byRevision.set(event.revision, event)
      else if (!isSame(before, event)) contradictions.push({ first: before, second: event })
      else if (event.seenMs < before.seenMs) this.#byRevision.set(event.revision, event)
    }
    this.contradictions = contradictions
    this.events = [...this.#byRevision.values()].sort((a, b) => a.revision - b.revision)
    for (const event of this.events) {
      const chain = this.#chains.get(event.key)
      if (chain === undefined) this.#chains.set(event.key, [event])
      else chain.push(event)
    }
    this.#inventories = records.flatMap(inventoryOf).sort((a, b) => a.revision - b.revision)
    this.holes = holesOf(records, base, this.events.at(-1)?.revision ?? base)
    this.#known = new Steps(records.flatMap(seenRevisions), base)
    this.#possible = new Steps(this.#beginnings(records), base)
  }

  get keys(): Iterable<string> {
    return this.#chains.keys()
  }

  chain(key: string): readonly TimelineEvent[] {
    return this.#chains.get(key) ?? []
  }

  at(revision: number): TimelineEvent | undefined {
    return this.#byRevision.get(revision)
  }

  /** Newest revision that a client had seen by then: later consistent reads must not be older. */
  knownBy(ms: number): number {
    return this.#known.at(ms)
  }

  /** Newest revision that can exist by then. */
  possibleBy(ms: number): number {
    return Math.max(this.#possible.at(ms), this.#known.at(ms))
  }

  /** Last event of a key up to a revision; unclear if one may be unknown. */
  lastOf(key: string, revision: number): TimelineEvent | undefined | 'unclear' {
    const chain = this.chain(key)
    const last = chain[lastIndex(chain, revision)]
    if (this.isCovered({ from: last?.revision ?? this.base, to: revision })) return last
    const inventory = this.#inventories[lastIndex(this.#inventories, revision)]
    if (inventory === undefined || !this.isCovered({ from: inventory.revision, to: revision })) return 'unclear'
    return inventory.keys.has(key) || (last !== undefined && last.revision > inventory.revision) ? last : undefined
  }

  next(key: string, revision: number): TimelineEvent | undefined {
    const chain = this.chain(key)
    return chain[lastIndex(chain, revision) + 1]
  }

  /** Version of a key just before a revision. */
  before(key: string, revision: number): TimelineEvent | undefined {
    const chain = this.chain(key)
    return chain[lastIndex(chain, revision - 1)]
  }

  /** True if watches covered the revision, but none delivered it. */
  isMissingFromWatches(revision: number): boolean {
    return !this.#watchedRevisions.has(revision) && this.isCovered({ from: revision - 1, to: revision })
  }

  between({ from, to }: Span): readonly TimelineEvent[] {
    return this.events.slice(lastIndex(this.events, from) + 1, lastIndex(this.events, to) + 1)
  }

  isCovered({ from, to }: Span): boolean {
    return !this.holes.some((hole) => hole.from < to && hole.to > from)
  }

  /** State at a revision in key order; undefined if unclear. */
  stateAt(revision: number): readonly Version[] | undefined {
    const state: Version[] = []
    for (const key of [...this.keys].sort()) {
      const last = this.lastOf(key, revision)
      if (last === 'unclear') return undefined
      if (last?.version !== undefined) state.push(last.version)
    }
    return state
  }

  /** A write may take effect as soon as it is sent. */
  #beginnings(records: readonly Record[]): readonly Step[] {
    const starts = new Map<string, number>()
    const deletions = new Map<string, number>()
    for (const { writeId, key, startMs } of records.filter(isWrite)) {
      if (writeId !== '') starts.set(writeId, startMs)
      else deletions.set(key, Math.min(startMs, deletions.get(key) ?? startMs))
    }
    return this.events.map(({ revision, version, key }) => ({
      revision,
      atMs: (version === undefined ? deletions.get(key) : starts.get(writeIdOf(version))) ?? 0,
    }))
  }
}

/** Write ID of the write that made this version. */
export const writeIdOf = ({ v, p }: Version): string => (p === '' ? v : p)

/** Index of the last event with a revision up to the limit; -1 if there is none. */
function lastIndex(list: readonly { readonly revision: number }[], limit: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle]?.revision ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

function isSame(a: TimelineEvent, b: TimelineEvent): boolean {
  if (a.key !== b.key || (a.version === undefined) !== (b.version === undefined)) return false
  const [one, other] = [a.version, b.version]
  if (one === undefined || other === undefined) return true
  return one.uid === other.uid && one.v === other.v && one.p === other.p && one.group === other.group
}

/** Events that a record proves. */
function provenEvents(record: Record): readonly TimelineEvent[] {
  const put = (version: Version, seenMs = record.endMs): TimelineEvent => ({
    revision: version.revision,
    key: version.key,
    version,
    witness: record,
    seenMs,
  })
  switch (record.type) {
    case 'write':
      return record.outcome.kind === 'ok' && record.outcome.version !== undefined ? [put(record.outcome.version)] : []
    case 'read':
      return record.found === undefined ? [] : [put(record.found)]
    case 'list':
      return record.pages.flatMap(({ versions }) => versions.map((version) => put(version)))
    case 'watch':
      return record.seen.flatMap(({ type, version, atMs, revision }) => {
        if (version === undefined) return []
        if (type !== 'DELETED') return [put(version, atMs)]
        // With a selector, DELETED may also mean that the object ceased to match.
        return record.group === undefined ? [{ revision, key: version.key, version: undefined, witness: record, seenMs: atMs }] : []
      })
  }
}

/** State of a complete list. After a gap in the watches, the state is known again from here. */
interface Inventory {
  readonly revision: number
  readonly keys: ReadonlySet<string>
}

function inventoryOf(record: Record): readonly Inventory[] {
  if (record.type !== 'list' || record.group !== undefined || !record.isWhole || record.pages.length !== 1) return []
  return record.pages.map(({ revision, versions }) => ({ revision, keys: new Set(versions.map(({ key }) => key)) }))
}

interface Step {
  readonly atMs: number
  readonly revision: number
}

function seenRevisions(record: Record): readonly Step[] {
  const step = (revision: number, atMs = record.endMs): Step => ({ revision, atMs })
  switch (record.type) {
    case 'write':
      return record.outcome.kind === 'ok' && record.outcome.version !== undefined ? [step(record.outcome.version.revision)] : []
    case 'read':
      return record.found === undefined ? [] : [step(record.found.revision)]
    case 'list':
      // Time of the first page; other pages must have the same revision.
      return record.pages.slice(0, 1).map(({ revision }) => step(revision))
    case 'watch':
      return record.seen.map(({ revision, atMs }) => step(revision, atMs))
  }
}

/** Highest revision of all steps before a time. */
class Steps {
  readonly #times: number[] = []
  readonly #highest: number[] = []
  readonly #base: number

  constructor(steps: readonly Step[], base: number) {
    this.#base = base
    let highest = base
    for (const { atMs, revision } of [...steps].sort((a, b) => a.atMs - b.atMs)) {
      highest = Math.max(highest, revision)
      this.#times.push(atMs)
      this.#highest.push(highest)
    }
  }

  /** Exclusive: two records with the same time have no order. */
  at(ms: number): number {
    let [low, high] = [0, this.#times.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#times[middle] ?? 0) < ms) low = middle + 1
      else high = middle
    }
    return this.#highest[low - 1] ?? this.#base
  }
}

function holesOf(records: readonly Record[], base: number, end: number): readonly Span[] {
  const spans = records
    .flatMap((record): Span[] => (record.type === 'watch' && record.group === undefined ? [coverOf(record)] : []))
    .sort((a, b) => a.from - b.from)
  const holes: Span[] = []
  let covered = base
  for (const { from, to } of spans) {
    if (from > covered) holes.push({ from: covered, to: Math.min(from, end) })
    covered = Math.max(covered, to)
  }
  if (covered < end) holes.push({ from: covered, to: end })
  return holes.filter(({ from, to }) => from < to)
}

/** Range that a watch covers: from its start to its last event. */
function coverOf({ from, seen }: WatchRecord): Span {
  if (typeof from !== 'number') return { from: 0, to: 0 }
  return { from, to: seen.reduce((last: number, { revision }: SeenObject) => Math.max(last, revision), from) }
}

export const isWrite = (record: Record): record is Write => record.type === 'write'
