// Checks that writes are linearizable: each revision is by one write whose preconditions were met, in the order of time. Acknowledged
// writes exist, rejected ones do not, writes with unknown result exist at most once. A unique write ID in the object identifies each write.

import type { Write } from './history.js'
import { isWrite, type Timeline, type TimelineEvent, writeIdOf } from './timeline.js'
import type { Findings } from './violation.js'

export function checkWrites(timeline: Timeline, records: readonly Write[], findings: Findings): void {
  const writes = records.filter(isWrite)
  const byWriteId = new Map(writes.filter(({ writeId }) => writeId !== '').map((write) => [write.writeId, write]))
  for (const { first, second } of timeline.contradictions) {
    findings.add('contradictory revision', `revision ${first.revision} has two different contents`, {
      keys: [first.key, second.key],
      revision: first.revision,
    })
  }
  checkWriteIds(timeline, findings)
  const deletions = new Deletions(writes)
  for (const key of timeline.keys) checkChain({ timeline, findings, byWriteId, deletions }, key)
  for (const write of writes) {
    checkAcknowledged(timeline, write, findings)
    checkRejected(timeline, write, findings)
  }
  checkDeletions(timeline, { writes, deletions }, findings)
}

/** A write ID in two revisions means that its write was applied twice. */
function checkWriteIds(timeline: Timeline, findings: Findings): void {
  const eventsByWriteId = new Map<string, TimelineEvent>()
  for (const event of timeline.events) {
    if (event.version === undefined) continue
    const writeId = writeIdOf(event.version)
    const before = eventsByWriteId.get(writeId)
    if (before !== undefined) {
      findings.add('write applied twice', `${writeId} made revision ${before.revision} and revision ${event.revision}`, {
        keys: [event.key],
        revision: event.revision,
      })
    }
    eventsByWriteId.set(writeId, event)
  }
}

interface ChainContext {
  readonly timeline: Timeline
  readonly findings: Findings
  readonly byWriteId: ReadonlyMap<string, Write>
  readonly deletions: Deletions
}

function checkChain({ timeline, findings, byWriteId, deletions }: ChainContext, key: string): void {
  let previous: TimelineEvent | undefined
  for (const event of timeline.chain(key)) {
    const isCovered = timeline.isCovered({ from: previous?.revision ?? timeline.base, to: event.revision })
    const write = event.version === undefined ? undefined : byWriteId.get(writeIdOf(event.version))
    const add = (rule: string, text: string): void => findings.add(rule, text, { keys: [key], revision: event.revision })
    if (event.version === undefined) {
      if (isCovered && previous?.version === undefined) add('delete of a missing object', `${key} was deleted but did not exist`)
      else if (isCovered && previous && deletions.claim(event, previous) === undefined)
        add('phantom delete', `no request can have deleted ${key} at revision ${event.revision}`)
    } else if (write === undefined || write.key !== key) {
      add('phantom write', `no request wrote ${writeIdOf(event.version)} to ${key}`)
    } else {
      if (isCovered) for (const text of contradictionsOf(write, event, previous)) add('violated precondition', text)
      const known = timeline.knownBy(write.startMs)
      if (event.revision <= known)
        add('write order', `${write.writeId} has revision ${event.revision}, but ${known} was seen before it was sent`)
    }
    previous = event
  }
}

/** Contradictions between a write, its result and the previous version. */
function contradictionsOf(write: Write, event: TimelineEvent, previous: TimelineEvent | undefined): readonly string[] {
  const [before, after] = [previous?.version, event.version]
  if (after === undefined) return []
  const problems: string[] = []
  if (write.verb === 'create') {
    if (before !== undefined) problems.push(`${write.writeId} created ${write.key}, which existed at revision ${before.revision}`)
    if (after.v !== write.writeId || after.p !== '') problems.push(`${write.writeId} created another object: v=${after.v} p=${after.p}`)
  } else if (before === undefined) {
    problems.push(`${write.writeId} changed ${write.key}, which did not exist`)
  } else {
    if (after.uid !== before.uid) problems.push(`${write.writeId} changed the uid`)
    if (write.expectRevision !== undefined && write.expectRevision !== before.revision)
      problems.push(`${write.writeId} expected revision ${write.expectRevision}, and replaced revision ${before.revision}`)
    if (write.expectV !== undefined && write.expectV !== before.v)
      problems.push(`${write.writeId} expected v=${write.expectV}, and changed v=${before.v}`)
    if (write.verb === 'patch' && after.v !== before.v)
      problems.push(`${write.writeId} patched p only, but v changed from ${before.v} to ${after.v}: lost update`)
  }
  const group = write.group ?? before?.group
  if (group !== undefined && group !== after.group) problems.push(`${write.writeId} should have left group ${group}, not ${after.group}`)
  return problems
}

/** An acknowledged write exists at its revision. Deletions are checked separately: their response has no revision. */
function checkAcknowledged(timeline: Timeline, write: Write, findings: Findings): void {
  if (write.outcome.kind !== 'ok' || write.outcome.version === undefined) return
  const { version } = write.outcome
  const respondedId = writeIdOf(version)
  const location = { keys: [write.key], revision: version.revision }
  if (timeline.isMissingFromWatches(version.revision))
    findings.add('lost write', `${write.writeId} was acknowledged with revision ${version.revision}, but no watch delivered it`, location)
  if (respondedId !== write.writeId)
    findings.add('response of another request', `${write.writeId} got the response of ${respondedId}`, location)
}

/** A rejected write was not applied, and the rejection was right at some time during the request. */
function checkRejected(timeline: Timeline, write: Write, findings: Findings): void {
  const { outcome, key, writeId } = write
  if (outcome.kind !== 'refused') return
  const applied =
    writeId === '' ? undefined : timeline.chain(key).find(({ version }) => version !== undefined && writeIdOf(version) === writeId)
  const location = { keys: [key], revision: applied?.revision ?? timeline.knownBy(write.endMs), record: write }
  if (applied !== undefined)
    findings.add(
      'rejected write applied',
      `${writeId} was rejected with ${outcome.status}, but made revision ${applied.revision}`,
      location,
    )
  const isRight = rejectionCondition(write)
  if (isRight === undefined) {
    findings.add('unexpected rejection', `${write.verb} of ${key} was rejected: ${outcome.status} ${outcome.reason}`, location)
    return
  }
  if (!hadStateDuring(timeline, write, isRight))
    findings.add(
      'wrong rejection',
      `${write.verb} ${writeId} of ${key} was rejected with ${outcome.status} (${outcome.reason}), which was wrong at every time of the request`,
      location,
    )
}

type StateCondition = (before: TimelineEvent['version']) => boolean

/** Condition under which the rejection is right; undefined if it never is. */
function rejectionCondition({ outcome, verb, expectRevision, expectUid, expectV }: Write): StateCondition | undefined {
  if (outcome.kind !== 'refused') return undefined
  if (outcome.status === 429) return () => true
  if (outcome.status === 404 && verb !== 'create') return (before) => before === undefined
  if (outcome.status === 422 && expectV !== undefined) return (before) => before?.v !== expectV
  if (outcome.status !== 409) return undefined
  if (verb === 'create') return (before) => before !== undefined
  if (expectRevision !== undefined) return (before) => before?.revision !== expectRevision
  if (expectUid !== undefined) return (before) => before?.uid !== expectUid
  // Without a precondition the server retries, and may give up under contention.
  return () => true
}

/** True if the key met the condition at some time of the request, or its state is unknown. */
export function hadStateDuring(
  timeline: Timeline,
  { key, startMs, endMs }: { readonly key: string; readonly startMs: number; readonly endMs: number },
  isRight: StateCondition,
): boolean {
  const span = { from: timeline.knownBy(startMs), to: timeline.possibleBy(endMs) }
  const first = timeline.lastOf(key, span.from)
  if (first === 'unclear' || !timeline.isCovered(span) || isRight(first?.version)) return true
  return timeline.chain(key).some(({ revision, version }) => revision > span.from && revision <= span.to && isRight(version))
}

/** Matches deletions and events by uid, because an object is deleted once. */
class Deletions {
  readonly #acknowledged = new Map<string, Write[]>()
  readonly #unknown = new Map<string, Write[]>()
  readonly #claimed = new Map<string, TimelineEvent>()

  constructor(writes: readonly Write[]) {
    for (const write of writes) {
      if (write.verb !== 'delete') continue
      if (write.outcome.kind === 'ok') push(this.#acknowledged, write.outcome.uid ?? '', write)
      if (write.outcome.kind === 'unknown') push(this.#unknown, write.key, write)
    }
  }

  successfulDeletes(uid: string): readonly Write[] {
    return this.#acknowledged.get(uid) ?? []
  }

  get uids(): Iterable<string> {
    return this.#acknowledged.keys()
  }

  /** The deletion that can have caused the event. */
  claim(event: TimelineEvent, previous: TimelineEvent): Write | undefined {
    const uid = previous.version?.uid ?? ''
    this.#claimed.set(uid, event)
    const fits = ({ expectRevision, expectUid, startMs }: Write): boolean =>
      startMs <= event.seenMs && (expectRevision ?? previous.revision) === previous.revision && (expectUid ?? uid) === uid
    return this.successfulDeletes(uid).find(fits) ?? this.#unknown.get(event.key)?.find(fits)
  }

  event(uid: string): TimelineEvent | undefined {
    return this.#claimed.get(uid)
  }
}

function checkDeletions(
  timeline: Timeline,
  { writes, deletions }: { readonly writes: readonly Write[]; readonly deletions: Deletions },
  findings: Findings,
): void {
  for (const uid of deletions.uids) {
    const winners = deletions.successfulDeletes(uid)
    const [first] = winners
    if (first === undefined) continue
    const revision = deletions.event(uid)?.revision ?? timeline.knownBy(first.endMs)
    if (winners.length > 1)
      findings.add('precondition satisfied twice', `${first.key} (${uid}) was deleted ${winners.length} times`, {
        keys: [first.key],
        revision,
      })
    if (deletions.event(uid) !== undefined) continue
    const last = timeline.chain(first.key).findLast(({ version }) => version?.uid === uid)
    const until = timeline.next(first.key, last?.revision ?? timeline.base)?.revision ?? timeline.events.at(-1)?.revision ?? timeline.base
    if (timeline.isCovered({ from: last?.revision ?? timeline.base, to: until }))
      findings.add('lost delete', `the deletion of ${first.key} (${uid}) was acknowledged, but not applied`, {
        keys: [first.key],
        revision,
      })
  }
  checkWinners(writes, findings)
}

/** At most one of the writes with the same precondition can succeed. */
function checkWinners(writes: readonly Write[], findings: Findings): void {
  const winners = new Map<string, Write>()
  for (const write of writes) {
    if (write.expectRevision === undefined || write.outcome.kind !== 'ok') continue
    const condition = `${write.key} at revision ${write.expectRevision}`
    const other = winners.get(condition)
    if (other !== undefined)
      findings.add(
        'precondition satisfied twice',
        `${other.writeId || 'a deletion'} and ${write.writeId || 'a deletion'} both replaced ${condition}`,
        {
          keys: [write.key],
          revision: write.expectRevision,
        },
      )
    winners.set(condition, write)
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
