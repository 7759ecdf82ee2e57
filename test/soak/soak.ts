// Runs a server under constant load and measures its memory, file descriptors and threads from outside.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../kit/seeded-random.js'
import { ServerProcess } from '../kit/server-process.js'
import { Load } from './load.js'
import { minimaOf, type Point, type Trend, trendOf } from './trend.js'

interface SoakOptions {
  readonly seconds: number
  readonly sampleSeconds: number
  readonly rate: number
  readonly random: Random
  readonly flags?: readonly string[]
  /** Minimum numbers of requests, watches and namespaces; slow machines get up to a minute more. */
  readonly minimums?: { readonly requests: number; readonly watches: number; readonly namespaces: number }
  readonly log: (line: string) => void
}

interface Sample {
  readonly atMs: number
  readonly requests: number
  /** Private memory of each process, the primary first, without pages of the data file, which the kernel can reclaim. */
  readonly ownBytes: readonly number[]
  readonly fileBytes: number
  readonly descriptors: number
  readonly threads: number
}

export interface SoakVerdict {
  readonly samples: readonly Sample[]
  /** One for each process. */
  readonly memory: readonly Trend[]
  readonly descriptors: Trend
  /** Open file descriptors before the first client and after the last. */
  readonly idle: { readonly before: number; readonly after: number }
  readonly failures: ReadonlyMap<string, number>
  readonly requests: number
  readonly watches: number
  readonly events: number
  readonly namespaces: number
}

/** Share of the time that is warm-up: code is compiled, caches and history fill. */
const warmUpShare = 0.3

/** Extra time for `minimums`, and the time limit for connections to close. */
const timeoutMs = 60_000
const noMinimums = { requests: 0, watches: 0, namespaces: 0 }

export async function soak({
  seconds,
  sampleSeconds,
  rate,
  random,
  flags = [],
  minimums = noMinimums,
  log,
}: SoakOptions): Promise<SoakVerdict> {
  const server = await ServerProcess.start({ flags })
  try {
    await server.client.get('/readyz')
    const before = server.openDescriptors
    const load = new Load({ client: server.client, random, rate })
    const running = load.run()
    const samples: Sample[] = []
    const startMs = performance.now()
    log('   minutes   requests   file MiB  descriptors  threads  own MiB of each process')
    const isEnough = (): boolean =>
      load.requests >= minimums.requests && load.watches >= minimums.watches && load.namespaces >= minimums.namespaces
    const spentMs = (): number => performance.now() - startMs
    let ended: string | undefined
    void server.exited.then(({ code, signal }) => (ended = signal ?? `exit code ${code}`))
    while (spentMs() < seconds * 1000 || (!isEnough() && spentMs() < seconds * 1000 + timeoutMs)) {
      await sleep(sampleSeconds * 1000)
      if (ended !== undefined) {
        load.stop()
        throw new Error(`the server ended: ${ended}\n${server.stderr.slice(-4000)}`)
      }
      const sample = sampleOf(server, load, spentMs())
      samples.push(sample)
      log(lineOf(sample))
    }
    load.stop()
    await running
    server.client.close()
    for (const endMs = performance.now() + timeoutMs; server.openDescriptors > before + 3 && performance.now() < endMs; ) await sleep(100)
    const afterWarmUp = samples.filter(({ atMs }) => atMs >= seconds * 1000 * warmUpShare)
    return {
      samples,
      memory: [server.pid, ...server.workers].map((_, i) =>
        trendOf(
          minimaOf(
            pointsOf(afterWarmUp, ({ ownBytes }) => ownBytes[i] ?? 0),
            afterWarmUp.length >= 40 ? 5 : 2,
          ),
        ),
      ),
      descriptors: trendOf(pointsOf(afterWarmUp, ({ descriptors }) => descriptors)),
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

const pointsOf = (samples: readonly Sample[], read: (sample: Sample) => number): readonly Point[] =>
  samples.map((sample) => ({ atMs: sample.atMs, value: read(sample) }))

function sampleOf(server: ServerProcess, load: Load, atMs: number): Sample {
  return {
    atMs,
    requests: load.requests,
    ownBytes: server.ownBytesOfEach,
    fileBytes: server.mappedFileBytes,
    descriptors: server.openDescriptors,
    threads: server.threads,
  }
}

const mebibytes = (bytes: number): string => (bytes / (1 << 20)).toFixed(1)

function lineOf({ atMs, requests, ownBytes, fileBytes, descriptors, threads }: Sample): string {
  const cells = [(atMs / 60_000).toFixed(1), requests, mebibytes(fileBytes)].map((cell) => String(cell).padStart(10))
  const own = ownBytes.map((bytes) => mebibytes(bytes).padStart(8)).join(' ')
  return `${cells.join(' ')} ${String(descriptors).padStart(12)} ${String(threads).padStart(8)} ${own}`
}

const processNameOf = (i: number): string => (i === 0 ? 'the server' : `worker ${i}`)

interface GrowthLimits {
  /** Allowed growth after the warm-up, as a share of the memory. */
  readonly memoryShare: number
  readonly memoryBytes: number
  readonly descriptors: number
}

/** Problems; empty if everything is flat. */
export function problemsOf(verdict: SoakVerdict, limits: GrowthLimits): readonly string[] {
  const { memory, descriptors, idle, failures } = verdict
  return [
    ...memory.flatMap(({ mean, rise }, i) => {
      const allowed = Math.max(limits.memoryBytes, mean * limits.memoryShare)
      return rise > allowed ? [`memory of ${processNameOf(i)} grows by ${mebibytes(rise)} MiB; ${mebibytes(allowed)} MiB are allowed`] : []
    }),
    ...(descriptors.rise > limits.descriptors ? [`open file descriptors grow by ${descriptors.rise.toFixed(1)}`] : []),
    ...(idle.after > idle.before + 3
      ? [`${idle.after} file descriptors are open after the last client, ${idle.before} before the first`]
      : []),
    ...[...failures].map(([message, count]) => `${count} × ${message}`),
  ]
}

export function renderVerdict({ memory, descriptors, idle, requests, watches, events, namespaces }: SoakVerdict): string {
  return [
    `${requests} requests, ${watches} watches with ${events} events, ${namespaces} namespaces created and deleted`,
    ...memory.map(
      ({ mean, rise, risePerHour }, i) =>
        `memory of ${processNameOf(i)} after the warm-up: ${mebibytes(mean)} MiB; the trend of its minima grows by ${mebibytes(rise)} MiB (${mebibytes(risePerHour)} MiB an hour)`,
    ),
    `descriptors: ${descriptors.mean.toFixed(1)}, rise ${descriptors.rise.toFixed(1)}; ${idle.before} before the first client, ${idle.after} after the last`,
  ].join('\n')
}
