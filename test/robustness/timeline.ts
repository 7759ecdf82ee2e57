// What happened, put together from everything that anybody saw: one event for each revision, one chain of events for each key.

import type { History, Record, Seen, Version, Watching, Write } from './history.js'

export interface Happening {
  readonly revision: number
  readonly key: string
  /** Undefined: it was deleted. */
  readonly version: Version | undefined
  /** Who says so. */
  readonly witness: Record
  readonly seenMs: number
}

/** Two witnesses that contradict each other. */
export interface Contradiction {
  readonly first: Happening
  readonly second: Happening
}

export interface Span {
  /** Not included. */
  readonly from: number
  /** Included. */
  readonly to: number
}

export class Timeline {
  readonly base: number
  /** In the order of revisions. */
  readonly happenings: readonly Happening[]
  readonly contradictions: readonly Contradiction[]
  /** Where no watch looked, so that something may have happened that nobody told of. */
  readonly holes: readonly Span[]
  readonly #chains = new Map<string, Happening[]>()
  readonly #byRevision = new Map<number, Happening>()
  readonly #told = new Set<number>()
  /** In the order of revisions. */
  readonly #inventories: readonly Inventory[]
  readonly #known: Steps
  readonly #possible: Steps

  constructor({ records, base }: History) {
    this.base = base
    const contradictions: Contradiction[] = []
    for (const happening of records.flatMap(happeningsOf)) {
      const before = this.#byRevision.get(happening.revision)
      if (happening.witness.what === 'watch') this.#told.add(happening.revision)
      if (before === undefined) this.#byRevision.set(happening.revision, happening)
      else if (!isSame(before, happening)) contradictions.push({ first: before, second: happening })
      else if (happening.seenMs < before.seenMs) this.#byRevision.set(happening.revision, happening)
    }
    this.contradictions = contradictions
    this.happenings = [...this.#byRevision.values()].sort((a, b) => a.revision - b.revision)
    for (const happening of this.happenings) {
      const chain = this.#chains.get(happening.key)
      if (chain === undefined) this.#chains.set(happening.key, [happening])
      else chain.push(happening)
    }
    this.#inventories = records.flatMap(inventoryOf).sort((a, b) => a.revision - b.revision)
    this.holes = holesOf(records, base, this.happenings.at(-1)?.revision ?? base)
    this.#known = new Steps(records.flatMap(sightsOf), base)
    this.#possible = new Steps(this.#beginnings(records), base)
  }

  get keys(): Iterable<string> {
    return this.#chains.keys()
  }

  chain(key: string): readonly Happening[] {
    return this.#chains.get(key) ?? []
  }

  at(revision: number): Happening | undefined {
    return this.#byRevision.get(revision)
  }

  /** The newest revision that anybody had seen by then: who asks for the newest state later must not be shown less. */
  knownBy(ms: number): number {
    return this.#known.at(ms)
  }

  /** The newest revision that can have existed by then. */
  possibleBy(ms: number): number {
    return Math.max(this.#possible.at(ms), this.#known.at(ms))
  }

  /** The last event of a key up to a revision, if nothing can have been overlooked in between. */
  lastOf(key: string, revision: number): Happening | undefined | 'unclear' {
    const chain = this.chain(key)
    const last = chain[lastIndex(chain, revision)]
    if (this.isCovered({ from: last?.revision ?? this.base, to: revision })) return last
    const inventory = this.#inventories[lastIndex(this.#inventories, revision)]
    if (inventory === undefined || !this.isCovered({ from: inventory.revision, to: revision })) return 'unclear'
    return inventory.keys.has(key) || (last !== undefined && last.revision > inventory.revision) ? last : undefined
  }

  next(key: string, revision: number): Happening | undefined {
    const chain = this.chain(key)
    return chain[lastIndex(chain, revision) + 1]
  }

  /** What a key was like just before a revision. */
  before(key: string, revision: number): Happening | undefined {
    const chain = this.chain(key)
    return chain[lastIndex(chain, revision - 1)]
  }

  /** Whether watches looked there, and none of them told of it. */
  isConcealed(revision: number): boolean {
    return !this.#told.has(revision) && this.isCovered({ from: revision - 1, to: revision })
  }

  between({ from, to }: Span): readonly Happening[] {
    return this.happenings.slice(lastIndex(this.happenings, from) + 1, lastIndex(this.happenings, to) + 1)
  }

  isCovered({ from, to }: Span): boolean {
    return !this.holes.some((hole) => hole.from < to && hole.to > from)
  }

  /** Everything that was there at a revision, in the order of keys; undefined when that is not clear. */
  stateAt(revision: number): readonly Version[] | undefined {
    const state: Version[] = []
    for (const key of [...this.keys].sort()) {
      const last = this.lastOf(key, revision)
      if (last === 'unclear') return undefined
      if (last?.version !== undefined) state.push(last.version)
    }
    return state
  }

  /** A write can have happened as soon as it was sent. */
  #beginnings(records: readonly Record[]): readonly Step[] {
    const starts = new Map<string, number>()
    const deletions = new Map<string, number>()
    for (const { mark, key, startMs } of records.filter(isWrite)) {
      if (mark !== '') starts.set(mark, startMs)
      else deletions.set(key, Math.min(startMs, deletions.get(key) ?? startMs))
    }
    return this.happenings.map(({ revision, version, key }) => ({
      revision,
      atMs: (version === undefined ? deletions.get(key) : starts.get(markOf(version))) ?? 0,
    }))
  }
}

/** The mark of the write that made this version. */
export const markOf = ({ v, p }: Version): string => (p === '' ? v : p)

/** The last one whose revision is not above the limit; -1 if there is none. */
function lastIndex(list: readonly { readonly revision: number }[], limit: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle]?.revision ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

function isSame(a: Happening, b: Happening): boolean {
  if (a.key !== b.key || (a.version === undefined) !== (b.version === undefined)) return false
  const [one, other] = [a.version, b.version]
  if (one === undefined || other === undefined) return true
  return one.uid === other.uid && one.v === other.v && one.p === other.p && one.group === other.group
}

/** What a record proves to have happened. */
function happeningsOf(record: Record): readonly Happening[] {
  const put = (version: Version, seenMs = record.endMs): Happening => ({
    revision: version.revision,
    key: version.key,
    version,
    witness: record,
    seenMs,
  })
  switch (record.what) {
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
        // With a selector, an object that only left the selection is told of in the same way.
        return record.group === undefined ? [{ revision, key: version.key, version: undefined, witness: record, seenMs: atMs }] : []
      })
  }
}

/** What was there at a revision, and nothing else: a list in one piece. After a stretch where no watch looked, things are clear again from here. */
interface Inventory {
  readonly revision: number
  readonly keys: ReadonlySet<string>
}

function inventoryOf(record: Record): readonly Inventory[] {
  if (record.what !== 'list' || record.group !== undefined || !record.isWhole || record.pages.length !== 1) return []
  return record.pages.map(({ revision, versions }) => ({ revision, keys: new Set(versions.map(({ key }) => key)) }))
}

interface Step {
  readonly atMs: number
  readonly revision: number
}

function sightsOf(record: Record): readonly Step[] {
  const step = (revision: number, atMs = record.endMs): Step => ({ revision, atMs })
  switch (record.what) {
    case 'write':
      return record.outcome.kind === 'ok' && record.outcome.version !== undefined ? [step(record.outcome.version.revision)] : []
    case 'read':
      return record.found === undefined ? [] : [step(record.found.revision)]
    case 'list':
      // Its time is that of the first page; the others must be of the same revision.
      return record.pages.slice(0, 1).map(({ revision }) => step(revision))
    case 'watch':
      return record.seen.map(({ revision, atMs }) => step(revision, atMs))
  }
}

/** The highest revision of all steps before a moment. */
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

  /** Before the moment, not at it: two things at the same time are in no order. */
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
    .flatMap((record): Span[] => (record.what === 'watch' && record.group === undefined ? [coverOf(record)] : []))
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

/** What a watch has looked at: from where it began to the last thing it was told. */
function coverOf({ from, seen }: Watching): Span {
  if (typeof from !== 'number') return { from: 0, to: 0 }
  return { from, to: seen.reduce((last: number, { revision }: Seen) => Math.max(last, revision), from) }
}

export const isWrite = (record: Record): record is Write => record.what === 'write'
