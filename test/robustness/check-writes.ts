// Whether writes are linearizable: every revision was made by one write whose conditions were true at that place in the order, in the order of
// real time; what was acknowledged is there, what was refused is not, what is in doubt is there once or not at all.

import type { Write } from './history.js'
import { type Happening, isWrite, markOf, type Timeline } from './timeline.js'
import type { Findings } from './violation.js'

export function checkWrites(timeline: Timeline, records: readonly Write[], findings: Findings): void {
  const writes = records.filter(isWrite)
  const byMark = new Map(writes.filter(({ mark }) => mark !== '').map((write) => [write.mark, write]))
  for (const { first, second } of timeline.contradictions) {
    findings.add('one revision, two meanings', `revision ${first.revision} is told of in two ways`, {
      keys: [first.key, second.key],
      revision: first.revision,
    })
  }
  checkMarks(timeline, findings)
  const deletions = new Deletions(writes)
  for (const key of timeline.keys) checkChain({ timeline, findings, byMark, deletions }, key)
  for (const write of writes) {
    checkAcknowledged(timeline, write, findings)
    checkRefused(timeline, write, findings)
  }
  checkDeletions(timeline, { writes, deletions }, findings)
}

/** A mark that shows up at two revisions was written twice. */
function checkMarks(timeline: Timeline, findings: Findings): void {
  const places = new Map<string, Happening>()
  for (const happening of timeline.happenings) {
    if (happening.version === undefined) continue
    const mark = markOf(happening.version)
    const before = places.get(mark)
    if (before !== undefined) {
      findings.add('a write happened twice', `${mark} made revision ${before.revision} and revision ${happening.revision}`, {
        keys: [happening.key],
        revision: happening.revision,
      })
    }
    places.set(mark, happening)
  }
}

interface Chaining {
  readonly timeline: Timeline
  readonly findings: Findings
  readonly byMark: ReadonlyMap<string, Write>
  readonly deletions: Deletions
}

function checkChain({ timeline, findings, byMark, deletions }: Chaining, key: string): void {
  let previous: Happening | undefined
  for (const happening of timeline.chain(key)) {
    const isClear = timeline.isCovered({ from: previous?.revision ?? timeline.base, to: happening.revision })
    const write = happening.version === undefined ? undefined : byMark.get(markOf(happening.version))
    const add = (rule: string, text: string): void => findings.add(rule, text, { keys: [key], revision: happening.revision })
    if (happening.version === undefined) {
      if (isClear && previous?.version === undefined) add('a deletion of nothing', `${key} was deleted without being there`)
      else if (isClear && previous && deletions.claim(happening, previous) === undefined)
        add('an invented deletion', `nobody can have deleted ${key} at revision ${happening.revision}`)
    } else if (write === undefined || write.key !== key) {
      add('an invented write', `nobody wrote ${markOf(happening.version)} to ${key}`)
    } else {
      if (isClear) for (const text of misfits(write, happening, previous)) add('conditions of a write', text)
      const known = timeline.knownBy(write.startMs)
      if (happening.revision <= known)
        add('order of writes', `${write.mark} got revision ${happening.revision}, although ${known} had been seen before it was sent`)
    }
    previous = happening
  }
}

/** What does not fit between a write, what it made, and what was there before. */
function misfits(write: Write, made: Happening, previous: Happening | undefined): readonly string[] {
  const [before, after] = [previous?.version, made.version]
  if (after === undefined) return []
  const problems: string[] = []
  if (write.verb === 'create') {
    if (before !== undefined) problems.push(`${write.mark} created ${write.key}, which was there with revision ${before.revision}`)
    if (after.v !== write.mark || after.p !== '') problems.push(`${write.mark} created something else: v=${after.v} p=${after.p}`)
  } else if (before === undefined) {
    problems.push(`${write.mark} changed ${write.key}, which was not there`)
  } else {
    if (after.uid !== before.uid) problems.push(`${write.mark} changed the uid`)
    if (write.expectRevision !== undefined && write.expectRevision !== before.revision)
      problems.push(`${write.mark} expected revision ${write.expectRevision}, and replaced revision ${before.revision}`)
    if (write.expectV !== undefined && write.expectV !== before.v)
      problems.push(`${write.mark} expected v=${write.expectV}, and changed v=${before.v}`)
    if (write.verb === 'patch' && after.v !== before.v)
      problems.push(`${write.mark} patched p only, and v went from ${before.v} to ${after.v}: a change was lost`)
  }
  const group = write.group ?? before?.group
  if (group !== undefined && group !== after.group) problems.push(`${write.mark} should have left group ${group}, not ${after.group}`)
  return problems
}

/** An acknowledged write is in history where the answer said. Deletions are looked at elsewhere: their answer names no revision. */
function checkAcknowledged(timeline: Timeline, write: Write, findings: Findings): void {
  if (write.outcome.kind !== 'ok' || write.outcome.version === undefined) return
  const { version } = write.outcome
  const made = markOf(version)
  const place = { keys: [write.key], revision: version.revision }
  if (timeline.isConcealed(version.revision))
    findings.add('a lost write', `${write.mark} was acknowledged with revision ${version.revision}, and no watch ever told of it`, place)
  if (made !== write.mark) findings.add('an answer to somebody else', `${write.mark} was answered with ${made}`, place)
}

/** What was refused did not happen, and there was a moment at which the refusal was right. */
function checkRefused(timeline: Timeline, write: Write, findings: Findings): void {
  const { outcome, key, mark } = write
  if (outcome.kind !== 'refused') return
  const made = mark === '' ? undefined : timeline.chain(key).find(({ version }) => version !== undefined && markOf(version) === mark)
  const place = { keys: [key], revision: made?.revision ?? timeline.knownBy(write.endMs), record: write }
  if (made !== undefined)
    findings.add('a refused write happened', `${mark} was refused with ${outcome.status}, and made revision ${made.revision}`, place)
  const isRight = excuseOf(write)
  if (isRight === undefined) {
    findings.add('an answer nobody expects', `${write.verb} of ${key} was refused: ${outcome.status} ${outcome.reason}`, place)
    return
  }
  if (!someState(timeline, write, isRight))
    findings.add(
      'a wrong refusal',
      `${write.verb} ${mark} of ${key} was refused with ${outcome.status} (${outcome.reason}), which was not right at any moment of it`,
      place,
    )
}

type Excuse = (before: Happening['version']) => boolean

/** What must have been there for the refusal to be right; undefined when it never is. */
function excuseOf({ outcome, verb, expectRevision, expectUid, expectV }: Write): Excuse | undefined {
  if (outcome.kind !== 'refused') return undefined
  if (outcome.status === 429) return () => true
  if (outcome.status === 404 && verb !== 'create') return (before) => before === undefined
  if (outcome.status === 422 && expectV !== undefined) return (before) => before?.v !== expectV
  if (outcome.status !== 409) return undefined
  if (verb === 'create') return (before) => before !== undefined
  if (expectRevision !== undefined) return (before) => before?.revision !== expectRevision
  if (expectUid !== undefined) return (before) => before?.uid !== expectUid
  // Without a condition the server tries again and again, and may give up when others are always quicker.
  return () => true
}

/** Whether a key was in such a state at some moment of a request. */
export function someState(
  timeline: Timeline,
  { key, startMs, endMs }: { readonly key: string; readonly startMs: number; readonly endMs: number },
  isRight: Excuse,
): boolean {
  const span = { from: timeline.knownBy(startMs), to: timeline.possibleBy(endMs) }
  const first = timeline.lastOf(key, span.from)
  if (first === 'unclear' || !timeline.isCovered(span) || isRight(first?.version)) return true
  return timeline.chain(key).some(({ revision, version }) => revision > span.from && revision <= span.to && isRight(version))
}

/** Which deletion made which event. An object is deleted once, so its uid decides. */
class Deletions {
  readonly #acknowledged = new Map<string, Write[]>()
  readonly #doubtful = new Map<string, Write[]>()
  readonly #claimed = new Map<string, Happening>()

  constructor(writes: readonly Write[]) {
    for (const write of writes) {
      if (write.verb !== 'delete') continue
      if (write.outcome.kind === 'ok') push(this.#acknowledged, write.outcome.uid ?? '', write)
      if (write.outcome.kind === 'unknown') push(this.#doubtful, write.key, write)
    }
  }

  winners(uid: string): readonly Write[] {
    return this.#acknowledged.get(uid) ?? []
  }

  get uids(): Iterable<string> {
    return this.#acknowledged.keys()
  }

  /** The deletion that can have made the event. */
  claim(event: Happening, previous: Happening): Write | undefined {
    const uid = previous.version?.uid ?? ''
    this.#claimed.set(uid, event)
    const fits = ({ expectRevision, expectUid, startMs }: Write): boolean =>
      startMs <= event.seenMs && (expectRevision ?? previous.revision) === previous.revision && (expectUid ?? uid) === uid
    return this.winners(uid).find(fits) ?? this.#doubtful.get(event.key)?.find(fits)
  }

  event(uid: string): Happening | undefined {
    return this.#claimed.get(uid)
  }
}

function checkDeletions(
  timeline: Timeline,
  { writes, deletions }: { readonly writes: readonly Write[]; readonly deletions: Deletions },
  findings: Findings,
): void {
  for (const uid of deletions.uids) {
    const winners = deletions.winners(uid)
    const [first] = winners
    if (first === undefined) continue
    const revision = deletions.event(uid)?.revision ?? timeline.knownBy(first.endMs)
    if (winners.length > 1)
      findings.add('two winners', `${first.key} (${uid}) was deleted ${winners.length} times`, { keys: [first.key], revision })
    if (deletions.event(uid) !== undefined) continue
    const last = timeline.chain(first.key).findLast(({ version }) => version?.uid === uid)
    const until =
      timeline.next(first.key, last?.revision ?? timeline.base)?.revision ?? timeline.happenings.at(-1)?.revision ?? timeline.base
    if (timeline.isCovered({ from: last?.revision ?? timeline.base, to: until }))
      findings.add('a lost deletion', `the deletion of ${first.key} (${uid}) was acknowledged, and never happened`, {
        keys: [first.key],
        revision,
      })
  }
  checkWinners(writes, findings)
}

/** Of all writes that expected one version of a key, one can have been right. */
function checkWinners(writes: readonly Write[], findings: Findings): void {
  const winners = new Map<string, Write>()
  for (const write of writes) {
    if (write.expectRevision === undefined || write.outcome.kind !== 'ok') continue
    const condition = `${write.key} at revision ${write.expectRevision}`
    const other = winners.get(condition)
    if (other !== undefined)
      findings.add('two winners', `${other.mark || 'a deletion'} and ${write.mark || 'a deletion'} both replaced ${condition}`, {
        keys: [write.key],
        revision: write.expectRevision,
      })
    winners.set(condition, write)
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
