// One run of the whole: servers are started, clients work while faults happen, all is healed, everybody must agree, and the history is judged.

import { setTimeout as sleep } from 'node:timers/promises'
import { configMapOf } from '../kit/fixtures.js'
import { randomFrom } from '../kit/seeded-random.js'
import { Addresses } from './addresses.js'
import { judge } from './checker.js'
import { Families } from './families.js'
import { Informers } from './informers.js'
import { Recorder, versionOf } from './recorder.js'
import type { Replica } from './replica.js'
import type { Fault, Subject } from './subject.js'
import type { Violation } from './violation.js'
import { Auditor, visit } from './watcher.js'
import { Worker, type WorkerInput } from './worker.js'

export interface EpisodeOptions {
  readonly seed: number
  readonly seconds: number
  readonly say: (line: string) => void
}

export interface EpisodeResult {
  readonly violations: readonly Violation[]
  readonly counts: ReadonlyMap<string, number>
  readonly troubles: ReadonlyMap<string, number>
  readonly faults: ReadonlyMap<string, number>
  readonly writes: { readonly ok: number; readonly refused: number; readonly unknown: number }
  readonly services: number
  /** That informers told of. */
  readonly informed: number
  readonly families: number
  readonly reads: number
  readonly lists: number
  readonly watches: number
  readonly events: number
  readonly holes: number
}

const workers = 8
const visitors = 4
const path = '/api/v1/namespaces/robust/configmaps'
const settleMs = 60_000
/** Fewer say nothing. A short episode on a slow machine may have been one outage from beginning to end. */
const leastWrites = 20
const leastWritesMs = 30_000

export async function runEpisode(subject: Subject, { seed, seconds, say }: EpisodeOptions): Promise<EpisodeResult> {
  const recorder = new Recorder()
  const base = await prepare(subject)
  const inputOf = (name: string, index: number, replicas: readonly Replica[] = subject.replicas): WorkerInput => ({
    name,
    path,
    replicas,
    recorder,
    random: randomFrom(seed * 1000 + index),
  })
  const auditors = subject.replicas.map((replica, i) => new Auditor(inputOf(`auditor${i}`, 900 + i, [replica]), base))
  const following = auditors.map((auditor) => auditor.follow())
  const working = Array.from({ length: workers }, (_, i) => new Worker(inputOf(`w${i}`, i)).work())
  const addresses = new Addresses(inputOf('addresses', 800))
  const addressing = addresses.work()
  const informers = new Informers(subject.replicas, 'robust')
  const families = Array.from({ length: 3 }, (_, i) => new Families(inputOf(`f${i}`, 850 + i)))
  const owning = families.map((each) => each.work())
  const visiting = Array.from({ length: visitors }, (_, i) => visit(inputOf(`v${i}`, 100 + i)))
  const faults = new Map<string, number>()
  const onFault = (name: string): unknown => faults.set(name, (faults.get(name) ?? 0) + 1)
  const endMs = performance.now() + seconds * 1000
  let late: readonly string[] = []
  try {
    await Promise.all(subject.faults.map((row, i) => misbehave(row, { seed: seed * 1000 + 500 + i, endMs, onFault, say })))
    await subject.heal()
    const healedMs = performance.now()
    while (recorder.acknowledged < leastWrites && performance.now() < healedMs + leastWritesMs) await sleep(20)
    recorder.isOver = true
    await Promise.all([...working, ...visiting, addressing, ...owning])
    late = await agree(subject, { auditors, recorder })
    const [replica] = subject.replicas
    if (replica !== undefined) await addresses.finish(replica)
    await informers.finish(performance.now() + settleMs)
    if (replica !== undefined) await Promise.all(families.map((each) => each.finish(replica)))
  } finally {
    await informers.close()
    recorder.isOver = true
    for (const auditor of auditors) auditor.stop()
  }
  await Promise.all(following)
  const failedStarts = subject.replicas.flatMap((replica) => replica.failedStarts)
  // On a full disk nothing can be started; anything else must be waited for.
  const isExcused = (text: string): boolean => text.includes('the disk is full')
  for (const text of failedStarts.filter(isExcused)) recorder.trouble(`start: ${text.trim().split('\n').at(-1)?.replace(/\S*\//g, '')}`)
  const surprises = [
    ...subject.replicas.flatMap((replica) => replica.surprises),
    ...failedStarts.filter((text) => !isExcused(text)).map((text) => `a start failed: ${text}`),
  ]
  return resultOf(recorder, { base, faults, late, surprises, addresses, informers, families, forgets: subject.forgets })
}

async function prepare({ replicas }: Subject): Promise<number> {
  const client = replicas[0]?.client
  if (client === undefined) throw new Error('no server is up')
  const made = await client.post('/api/v1/namespaces', { metadata: { name: 'robust' } })
  if (made.status !== 201) throw new Error(`the namespace could not be made: ${made.text}`)
  // The server itself puts something into every namespace; the story begins when that is there and out of the way.
  await client.delete(path)
  return Number((await client.get(path)).json.metadata.resourceVersion)
}

interface Misbehaving {
  readonly seed: number
  readonly endMs: number
  readonly onFault: (name: string) => unknown
  readonly say: (line: string) => void
}

async function misbehave(row: readonly Fault[], { seed, endMs, onFault, say }: Misbehaving): Promise<void> {
  const random = randomFrom(seed)
  const left = (): number => endMs - performance.now()
  while (left() > 0) {
    await sleep(Math.min(300 + random.below(1500), Math.max(left(), 0)))
    if (row.length === 0 || left() <= 0) continue
    const fault = random.pick(row)
    onFault(fault.name)
    say(`${(left() / 1000).toFixed(1)} s left: ${fault.name}`)
    await fault.happen(random)
  }
}

/** When all is well, every server takes writes, shows the same, and every auditor hears of the last write. Returns what did not come about. */
async function agree(
  { replicas }: Subject,
  { auditors, recorder }: { readonly auditors: readonly Auditor[]; readonly recorder: Recorder },
): Promise<readonly string[]> {
  const problems: string[] = []
  const until = performance.now() + settleMs
  let last = 0
  for (const replica of replicas) {
    const made = await lastWord(replica, { recorder, until })
    if (made === undefined) problems.push(`${replica.name} takes no writes ${settleMs / 1000} s after everything was healed`)
    else last = Math.max(last, made)
  }
  for (const replica of replicas) await finalList(replica, recorder, problems)
  while (auditors.some(({ revision }) => revision < last) && performance.now() < until) await sleep(20)
  for (const [i, { revision }] of auditors.entries())
    if (revision < last) problems.push(`the watch at ${replicas[i]?.name} stands at ${revision}, and the last write was ${last}`)
  return problems
}

async function lastWord(
  replica: Replica,
  { recorder, until }: { readonly recorder: Recorder; readonly until: number },
): Promise<number | undefined> {
  while (performance.now() < until) {
    const mark = recorder.nextMark('end')
    const startMs = performance.now()
    const body = configMapOf(`z-${mark}`, { labels: { group: 'x' }, data: { v: mark, p: '' } })
    const answer = await replica.client?.send({ method: 'POST', path, body, signal: AbortSignal.timeout(15_000) }).catch(() => undefined)
    const common = { what: 'write', verb: 'create', key: `z-${mark}`, mark, group: 'x', client: 'end', server: replica.name } as const
    if (answer?.status === 201) {
      const version = versionOf(answer.json)
      recorder.note({ ...common, startMs, endMs: performance.now(), outcome: { kind: 'ok', version } })
      return version.revision
    }
    recorder.note({ ...common, startMs, endMs: performance.now(), outcome: { kind: 'unknown', why: String(answer?.status) } })
    await sleep(200)
  }
  return undefined
}

async function finalList({ client, name }: Replica, recorder: Recorder, problems: string[]): Promise<void> {
  const startMs = performance.now()
  const answer = await client?.get(path).catch(() => undefined)
  if (answer?.status !== 200) {
    problems.push(`${name} does not list after everything was healed: ${answer?.text.slice(0, 200)}`)
    return
  }
  const { metadata, items } = answer.json
  const pages = [{ revision: Number(metadata.resourceVersion), versions: items.map(versionOf) }]
  const times = { startMs, endMs: performance.now() }
  recorder.note({ what: 'list', client: 'end', server: name, ...times, freshness: 'recent', group: undefined, pages, isWhole: true })
}

interface Judging {
  readonly base: number
  readonly faults: ReadonlyMap<string, number>
  readonly late: readonly string[]
  readonly surprises: readonly string[]
  readonly addresses: Addresses
  readonly informers: Informers
  readonly families: readonly Families[]
  readonly forgets: boolean
}

function resultOf({ records, troubles, wrongs }: Recorder, judging: Judging): EpisodeResult {
  const { base, faults, late, surprises, addresses, informers, families, forgets } = judging
  const verdict = judge({ records, base })
  const extra = (rule: string, texts: readonly string[]): Violation[] => texts.map((text) => ({ rule, text, story: [] }))
  const tooEarly = forgets ? [] : [...troubles.keys()].filter((what) => /\b410\b/.test(what))
  const violations = [
    ...extra('a server ended', surprises),
    ...extra('no recovery', late),
    ...extra('a read that needs nobody failed', wrongs.slice(0, 5)),
    ...extra('addresses of services', addresses.problems),
    ...extra('informers', informers.problems.slice(0, 5)),
    ...extra(
      'owners and what they own',
      families.flatMap(({ problems }) => problems),
    ),
    ...extra('history forgotten too early', tooEarly),
    ...verdict.violations,
  ]
  const count = (kind: string): number => records.filter((each) => each.what === 'write' && each.outcome.kind === kind).length
  return {
    violations,
    counts: verdict.counts,
    troubles,
    faults,
    writes: { ok: count('ok'), refused: count('refused'), unknown: count('unknown') },
    services: addresses.made,
    informed: informers.changes,
    families: families.reduce((sum, { made }) => sum + made, 0),
    reads: records.filter(({ what }) => what === 'read').length,
    lists: records.filter(({ what }) => what === 'list').length,
    watches: records.filter(({ what }) => what === 'watch').length,
    events: records.reduce((sum, each) => sum + (each.what === 'watch' ? each.seen.length : 0), 0),
    holes: verdict.timeline.holes.length,
  }
}
