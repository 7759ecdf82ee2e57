// What a user who sends one request at a time notices of another who sends as many as he can.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type Answer, ApiClient } from '../kit/api-client.js'
import { until } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'
import type { FloodOrder } from './flood-client.js'

export interface FloodResult {
  /** Of single requests, in milliseconds, when nobody else was there and during the flood. */
  readonly alone: Latencies
  readonly beside: Latencies
  /** Of health checks during the flood. */
  readonly health: Latencies
  /** How long an event took to a watcher during the flood. */
  readonly watch: Latencies
  /** How many requests of the flood were answered while a single one was, in the median. */
  readonly overtaken: number
  readonly answered: number
  readonly refused: number
}

export interface Latencies {
  readonly p50: number
  readonly p99: number
}

const path = '/api/v1/namespaces/default/configmaps/small'
const mostTries = 300

export async function measureFlood({
  connections,
  requests,
  flags = [],
}: {
  connections: number
  requests: number
  flags?: readonly string[]
}): Promise<FloodResult> {
  const folder = mkdtempSync(join(tmpdir(), 'flood-'))
  const tokens = join(folder, 'tokens.csv')
  writeFileSync(tokens, 'loud-token,loud,loud\nquiet-token,quiet,quiet\n', { mode: 0o600 })
  const server = await ServerProcess.start({ flags: [`--token-auth-file=${tokens}`, '--authorization-mode=AlwaysAllow', ...flags] })
  const counters = new Int32Array(new SharedArrayBuffer(12))
  let flood: Worker | undefined
  try {
    await server.client.post('/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'small' },
      data: { k: 'v' },
    })
    const quiet = new ApiClient({ ...server.access, token: 'quiet-token' })
    const get = (): Promise<number> => timeOf(() => quiet.get(path))
    await repeat(200, get)
    const alone = await repeat(requests, get)
    const watch = await quiet.watch('/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name%3Dseen')
    flood = await startFlood(server, connections, counters)
    await repeat(50, get)
    const overtaking: number[] = []
    const beside = await repeat(requests, async () => {
      let before = 0
      const took = await timeOf(() => {
        before = Atomics.load(counters, 1)
        return quiet.get(path)
      })
      overtaking.push(Atomics.load(counters, 1) - before)
      return took
    })
    overtaking.sort((a, b) => a - b)
    const health = await repeat(50, () => timeOf(() => quiet.get('/livez')))
    const watched = await repeat(20, async (i) => {
      const begun = performance.now()
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seen' }, data: { i: String(i) } }
      await (i === 0
        ? quiet.post('/api/v1/namespaces/default/configmaps', body)
        : quiet.put('/api/v1/namespaces/default/configmaps/seen', body))
      await watch.atLeast(i + 1)
      return performance.now() - begun
    })
    watch.close()
    quiet.close()
    const [, answered = 0, refused = 0] = counters
    return { alone, beside, health, watch: watched, overtaken: overtaking[Math.floor(requests / 2)] ?? 0, answered, refused }
  } finally {
    await flood?.terminate()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** How long an answer took. A machine that is busy with other things makes the server late, and whoever it sends away then comes again. */
async function timeOf(ask: () => Promise<Answer>): Promise<number> {
  for (let tries = 0; ; tries++) {
    const begun = performance.now()
    const { status } = await ask()
    if (status === 200) return performance.now() - begun
    if (status !== 429 || tries === mostTries) throw new Error(`answered with ${status}`)
    await setTimeout(100)
  }
}

async function repeat(times: number, measure: (i: number) => Promise<number>): Promise<Latencies> {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push(await measure(i))
  all.sort((a, b) => a - b)
  const at = (part: number): number => all[Math.min(all.length - 1, Math.floor(all.length * part))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}

async function startFlood(server: ServerProcess, connections: number, counters: Int32Array): Promise<Worker> {
  const { ca } = server.access
  const order: FloodOrder = { host: '127.0.0.1', port: server.port, ca, token: 'loud-token', path, connections, counters }
  const worker = new Worker(new URL('./flood-client.js', import.meta.url), { workerData: order })
  await until(
    async () => Atomics.load(counters, 0),
    (connected) => connected >= connections,
  )
  return worker
}
