// A server under a steady load for as long as wanted, measured from outside: what it holds must not grow.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../kit/seeded-random.js'
import { ServerProcess } from '../kit/server-process.js'
import { Load } from './load.js'
import { floorsOf, type Point, type Trend, trendOf } from './trend.js'

export interface SoakOptions {
  readonly seconds: number
  readonly sampleSeconds: number
  readonly rate: number
  readonly random: Random
  readonly flags?: readonly string[]
  /** A slow machine is given more time for so much. */
  readonly least?: { readonly requests: number; readonly watches: number; readonly namespaces: number }
  readonly say: (line: string) => void
}

export interface Sample {
  readonly atMs: number
  readonly requests: number
  /** What the process has for itself; pages of the data file, which the kernel takes back when it likes, are counted apart. */
  readonly ownBytes: number
  readonly fileBytes: number
  readonly descriptors: number
  readonly threads: number
}

export interface SoakVerdict {
  readonly samples: readonly Sample[]
  readonly memory: Trend
  readonly descriptors: Trend
  /** How many descriptors are open when all clients have gone, and how many were at the beginning. */
  readonly idle: { readonly before: number; readonly after: number }
  readonly failures: ReadonlyMap<string, number>
  readonly requests: number
  readonly watches: number
  readonly events: number
  readonly namespaces: number
}

/** The share of the time that counts as warm-up: code is compiled, caches and history fill. */
const warmUp = 0.3

/** How much more time, and how long connections that end may be seen. */
const patienceMs = 60_000
const noLeast = { requests: 0, watches: 0, namespaces: 0 }

export async function soak({ seconds, sampleSeconds, rate, random, flags = [], least = noLeast, say }: SoakOptions): Promise<SoakVerdict> {
  const server = await ServerProcess.start({ flags })
  try {
    await server.client.get('/readyz')
    const before = server.openDescriptors
    const load = new Load({ client: server.client, random, rate })
    const running = load.run()
    const samples: Sample[] = []
    const startMs = performance.now()
    say('   minutes   requests    own MiB   file MiB  descriptors  threads')
    const isEnough = (): boolean => load.requests >= least.requests && load.watches >= least.watches && load.namespaces >= least.namespaces
    const spentMs = (): number => performance.now() - startMs
    while (spentMs() < seconds * 1000 || (!isEnough() && spentMs() < seconds * 1000 + patienceMs)) {
      await sleep(sampleSeconds * 1000)
      const sample = sampleOf(server, load, spentMs())
      samples.push(sample)
      say(lineOf(sample))
    }
    load.stop()
    await running
    server.client.close()
    for (const endMs = performance.now() + patienceMs; server.openDescriptors > before + 3 && performance.now() < endMs; ) await sleep(100)
    const counted = samples.filter(({ atMs }) => atMs >= seconds * 1000 * warmUp)
    return {
      samples,
      memory: trendOf(floorsOf(pointsOf(counted, 'ownBytes'), counted.length >= 40 ? 5 : 2)),
      descriptors: trendOf(pointsOf(counted, 'descriptors')),
      idle: { before, after: server.openDescriptors },
      failures: load.failures,
      requests: load.requests,
      watches: load.watches,
      events: load.events,
      namespaces: load.namespaces,
    }
  } finally {
    await server.stop()
  }
}

const pointsOf = (samples: readonly Sample[], what: 'ownBytes' | 'descriptors'): readonly Point[] =>
  samples.map((sample) => ({ atMs: sample.atMs, value: sample[what] }))

function sampleOf(server: ServerProcess, load: Load, atMs: number): Sample {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  const number = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return {
    atMs,
    requests: load.requests,
    ownBytes: number('RssAnon') * 1024,
    fileBytes: number('RssFile') * 1024,
    descriptors: server.openDescriptors,
    threads: number('Threads'),
  }
}

const mebibytes = (bytes: number): string => (bytes / (1 << 20)).toFixed(1)

function lineOf({ atMs, requests, ownBytes, fileBytes, descriptors, threads }: Sample): string {
  const cells = [(atMs / 60_000).toFixed(1), requests, mebibytes(ownBytes), mebibytes(fileBytes)].map((cell) => String(cell).padStart(10))
  return `${cells.join(' ')} ${String(descriptors).padStart(12)} ${String(threads).padStart(8)}`
}

export interface Limits {
  /** How far memory may rise after the warm-up, as a share of what it is. */
  readonly memoryShare: number
  readonly memoryBytes: number
  readonly descriptors: number
}

/** What is not flat, or went wrong; empty when all is well. */
export function problemsOf(verdict: SoakVerdict, limits: Limits): readonly string[] {
  const { memory, descriptors, idle, failures } = verdict
  const allowed = Math.max(limits.memoryBytes, memory.mean * limits.memoryShare)
  return [
    ...(memory.rise > allowed ? [`memory rises by ${mebibytes(memory.rise)} MiB, and ${mebibytes(allowed)} are allowed`] : []),
    ...(descriptors.rise > limits.descriptors ? [`open descriptors rise by ${descriptors.rise.toFixed(1)}`] : []),
    ...(idle.after > idle.before + 3
      ? [`${idle.after} descriptors are open when all have gone, and ${idle.before} were at the beginning`]
      : []),
    ...[...failures].map(([what, count]) => `${count} × ${what}`),
  ]
}

export function tell({ memory, descriptors, idle, requests, watches, events, namespaces }: SoakVerdict): string {
  return [
    `${requests} requests, ${watches} watches with ${events} events, ${namespaces} namespaces made and deleted`,
    `memory after the warm-up: ${mebibytes(memory.mean)} MiB, the line through its floors rises by ${mebibytes(memory.rise)} MiB (${mebibytes(memory.risePerHour)} MiB an hour)`,
    `descriptors: ${descriptors.mean.toFixed(1)}, rise ${descriptors.rise.toFixed(1)}; ${idle.before} before the first client, ${idle.after} after the last`,
  ].join('\n')
}
