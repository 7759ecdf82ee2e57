// An episode: starts servers, runs clients and faults, heals everything, waits for agreement, and checks the history.

import { setTimeout as sleep } from 'node:timers/promises'
import { configMapOf } from '../kit/fixtures.js'
import { randomFrom } from '../kit/seeded-random.js'
import { judge } from './checker.js'
import { GarbageCollectionClients } from './garbage-collection.js'
import { Informers } from './informers.js'
import { Recorder, versionOf } from './recorder.js'
import type { Replica } from './replica.js'
import { ServiceClients } from './service-addresses.js'
import type { Fault, Subject } from './subject.js'
import type { Violation } from './violation.js'
import { FullHistoryWatcher, watchBriefly } from './watcher.js'
import { Worker, type WorkerInput } from './worker.js'

interface EpisodeOptions {
  readonly seed: number
  readonly seconds: number
  /** The episode lasts until each row of `subject.faults` had this many faults: on a slow machine a restart takes seconds. */
  readonly minFaults?: number
  readonly log: (line: string) => void
}

export interface EpisodeResult {
  readonly violations: readonly Violation[]
  readonly counts: ReadonlyMap<string, number>
  readonly problemCounts: ReadonlyMap<string, number>
  readonly faults: ReadonlyMap<string, number>
  readonly writes: { readonly ok: number; readonly refused: number; readonly unknown: number }
  readonly services: number
  /** Changes reported by informers. */
  readonly informerChanges: number
  readonly ownerSets: number
  readonly reads: number
  readonly lists: number
  readonly watches: number
  readonly events: number
  readonly holes: number
}

const workers = 8
const shortWatchers = 4
const path = '/api/v1/namespaces/robust/configmaps'
const settleMs = 60_000
/** Below this, the result means nothing: a short episode on a slow machine may be one outage. */
const minWrites = 20
const minWritesMs = 30_000

export async function runEpisode(subject: Subject, { seed, seconds, minFaults = 0, log }: EpisodeOptions): Promise<EpisodeResult> {
  const recorder = new Recorder()
  const base = await prepare(subject)
  const inputOf = (name: string, index: number, replicas: readonly Replica[] = subject.replicas): WorkerInput => ({
    name,
    path,
    replicas,
    recorder,
    random: randomFrom(seed * 1000 + index),
  })
  const historyWatchers = subject.replicas.map((replica, i) => new FullHistoryWatcher(inputOf(`auditor${i}`, 900 + i, [replica]), base))
  const following = historyWatchers.map((watcher) => watcher.follow())
  const working = Array.from({ length: workers }, (_, i) => new Worker(inputOf(`w${i}`, i)).work())
  const serviceClients = new ServiceClients(inputOf('addresses', 800))
  const creatingServices = serviceClients.work()
  const informers = new Informers(subject.replicas, 'robust')
  const ownerSets = Array.from({ length: 3 }, (_, i) => new GarbageCollectionClients(inputOf(`f${i}`, 850 + i)))
  const deletingOwners = ownerSets.map((each) => each.work())
  const watching = Array.from({ length: shortWatchers }, (_, i) => watchBriefly(inputOf(`v${i}`, 100 + i)))
  const faults = new Map<string, number>()
  const onFault = (name: string): unknown => faults.set(name, (faults.get(name) ?? 0) + 1)
  const endMs = performance.now() + seconds * 1000
  let recoveryProblems: readonly string[] = []
  try {
    await Promise.all(subject.faults.map((row, i) => injectFaults(row, { seed: seed * 1000 + 500 + i, endMs, minFaults, onFault, log })))
    await subject.heal()
    const healedMs = performance.now()
    while (recorder.acknowledged < minWrites && performance.now() < healedMs + minWritesMs) await sleep(20)
    recorder.isOver = true
    await Promise.all([...working, ...watching, creatingServices, ...deletingOwners])
    recoveryProblems = await checkAgreement(subject, { historyWatchers, recorder })
    const [replica] = subject.replicas
    if (replica !== undefined) await serviceClients.finish(replica)
    await informers.finish(performance.now() + settleMs)
    if (replica !== undefined) await Promise.all(ownerSets.map((each) => each.finish(replica)))
  } finally {
    await informers.close()
    recorder.isOver = true
    for (const watcher of historyWatchers) watcher.stop()
  }
  await Promise.all(following)
  const failedStarts = subject.replicas.flatMap((replica) => replica.failedStarts)
  // A server cannot start on a full disk; any other failed start is an error.
  const isDiskFull = (text: string): boolean => text.includes('the disk is full')
  for (const text of failedStarts.filter(isDiskFull))
    recorder.countProblem(`start: ${text.trim().split('\n').at(-1)?.replace(/\S*\//g, '')}`)
  const exits = [
    ...subject.replicas.flatMap((replica) => replica.unexpectedExits),
    ...failedStarts.filter((text) => !isDiskFull(text)).map((text) => `a start failed: ${text}`),
  ]
  return resultOf(recorder, {
    base,
    faults,
    recoveryProblems,
    exits,
    serviceClients,
    informers,
    ownerSets,
    compactsHistory: subject.compactsHistory,
  })
}

async function prepare({ replicas }: Subject): Promise<number> {
  const client = replicas[0]?.client
  if (client === undefined) throw new Error('no server is up')
  const response = await client.post('/api/v1/namespaces', { metadata: { name: 'robust' } })
  if (response.status !== 201) throw new Error(`the namespace could not be created: ${response.text}`)
  // Deletes the ConfigMaps that controllers create in every namespace.
  await client.delete(path)
  return Number((await client.get(path)).json.metadata.resourceVersion)
}

interface FaultOptions {
  readonly seed: number
  readonly endMs: number
  readonly minFaults: number
  readonly onFault: (name: string) => unknown
  readonly log: (line: string) => void
}

async function injectFaults(row: readonly Fault[], { seed, endMs, minFaults, onFault, log }: FaultOptions): Promise<void> {
  if (row.length === 0) return
  const random = randomFrom(seed)
  const left = (): number => endMs - performance.now()
  for (let happened = 0; left() > 0 || happened < minFaults; happened += 1) {
    const pauseMs = 300 + random.below(1500)
    await sleep(happened < minFaults ? pauseMs : Math.min(pauseMs, left()))
    if (left() <= 0 && happened >= minFaults) return
    const fault = random.pick(row)
    onFault(fault.name)
    log(`${(left() / 1000).toFixed(1)} s left: ${fault.name}`)
    await fault.inject(random)
  }
}

/** After healing, every server accepts writes and shows the same state, and full-history watchers get the last write. Returns errors. */
async function checkAgreement(
  { replicas }: Subject,
  { historyWatchers, recorder }: { readonly historyWatchers: readonly FullHistoryWatcher[]; readonly recorder: Recorder },
): Promise<readonly string[]> {
  const problems: string[] = []
  const until = performance.now() + settleMs
  let last = 0
  for (const replica of replicas) {
    const revision = await writeLast(replica, { recorder, until })
    if (revision === undefined) problems.push(`${replica.name} accepts no writes ${settleMs / 1000} s after healing`)
    else last = Math.max(last, revision)
  }
  for (const replica of replicas) await finalList(replica, recorder, problems)
  while (historyWatchers.some(({ revision }) => revision < last) && performance.now() < until) await sleep(20)
  for (const [i, { revision }] of historyWatchers.entries())
    if (revision < last) problems.push(`the watch at ${replicas[i]?.name} is at revision ${revision}, but the last write was ${last}`)
  return problems
}

async function writeLast(
  replica: Replica,
  { recorder, until }: { readonly recorder: Recorder; readonly until: number },
): Promise<number | undefined> {
  while (performance.now() < until) {
    const writeId = recorder.nextWriteId('end')
    const startMs = performance.now()
    const body = configMapOf(`z-${writeId}`, { labels: { group: 'x' }, data: { v: writeId, p: '' } })
    const response = await replica.client?.send({ method: 'POST', path, body, signal: AbortSignal.timeout(15_000) }).catch(() => undefined)
    const common = { type: 'write', verb: 'create', key: `z-${writeId}`, writeId, group: 'x', client: 'end', server: replica.name } as const
    if (response?.status === 201) {
      const version = versionOf(response.json)
      recorder.record({ ...common, startMs, endMs: performance.now(), outcome: { kind: 'ok', version } })
      return version.revision
    }
    recorder.record({ ...common, startMs, endMs: performance.now(), outcome: { kind: 'unknown', why: String(response?.status) } })
    await sleep(200)
  }
  return undefined
}

async function finalList({ client, name }: Replica, recorder: Recorder, problems: string[]): Promise<void> {
  const startMs = performance.now()
  const response = await client?.get(path).catch(() => undefined)
  if (response?.status !== 200) {
    problems.push(`${name} cannot list after healing: ${response?.text.slice(0, 200)}`)
    return
  }
  const { metadata, items } = response.json
  const pages = [{ revision: Number(metadata.resourceVersion), versions: items.map(versionOf) }]
  const times = { startMs, endMs: performance.now() }
  recorder.record({ type: 'list', client: 'end', server: name, ...times, freshness: 'recent', group: undefined, pages, isWhole: true })
}

interface ResultInput {
  readonly base: number
  readonly faults: ReadonlyMap<string, number>
  readonly recoveryProblems: readonly string[]
  readonly exits: readonly string[]
  readonly serviceClients: ServiceClients
  readonly informers: Informers
  readonly ownerSets: readonly GarbageCollectionClients[]
  readonly compactsHistory: boolean
}

function resultOf({ records, problemCounts, wrongResponses }: Recorder, input: ResultInput): EpisodeResult {
  const { base, faults, recoveryProblems, exits, serviceClients, informers, ownerSets, compactsHistory } = input
  const verdict = judge({ records, base })
  const extra = (rule: string, texts: readonly string[]): Violation[] => texts.map((text) => ({ rule, text, evidence: [] }))
  const earlyCompactions = compactsHistory ? [] : [...problemCounts.keys()].filter((message) => /\b410\b/.test(message))
  const violations = [
    ...extra('a server ended', exits),
    ...extra('no recovery', recoveryProblems),
    ...extra('read with resourceVersion=0 failed', wrongResponses.slice(0, 5)),
    ...extra('addresses of services', serviceClients.problems),
    ...extra('informers', informers.problems.slice(0, 5)),
    ...extra(
      'garbage collection',
      ownerSets.flatMap(({ problems }) => problems),
    ),
    ...extra('history compacted too early', earlyCompactions),
    ...verdict.violations,
  ]
  const count = (kind: string): number => records.filter((each) => each.type === 'write' && each.outcome.kind === kind).length
  return {
    violations,
    counts: verdict.counts,
    problemCounts,
    faults,
    writes: { ok: count('ok'), refused: count('refused'), unknown: count('unknown') },
    services: serviceClients.created,
    informerChanges: informers.changes,
    ownerSets: ownerSets.reduce((sum, { created }) => sum + created, 0),
    reads: records.filter(({ type }) => type === 'read').length,
    lists: records.filter(({ type }) => type === 'list').length,
    watches: records.filter(({ type }) => type === 'watch').length,
    events: records.reduce((sum, each) => sum + (each.type === 'watch' ? each.seen.length : 0), 0),
    holes: verdict.timeline.holes.length,
  }
}
