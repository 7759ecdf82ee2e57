// `node .build/bench/workers.js [--workers 1,2,4] [--seconds 3] [--rounds 3] [--only get]`: a server with worker processes. CPU time of all
// its processes per request, without the client's, which shares the cores; memory of each process.
//
// Capacity: requests per second if clients were on other machines. Either all cores are busy or one process is.

import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { configMapOf, configMaps } from '../test/kit/fixtures.js'
import { ServerProcess, statusOf } from '../test/kit/server-process.js'
import { Connection, requestBytes } from './connection.js'
import { cpuMicroseconds } from './cpu-time.js'
import type { Served } from './load.js'
import { jsonFrameEnd, Watchers, watcherCount } from './watchers.js'
import { watchPathOf } from './workloads/watches.js'

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2,4' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
})
const counts = values.workers.split(',').map(Number)
const durationMs = Number(values.seconds) * 1000
/** V8 compiles the code of each process during this many requests. */
const warmUpRequests = 20_000
const maxWarmUpMs = 20_000

/** Changes that watchers have not received yet, for each process that serves. */
const maxAhead = 16

interface Result {
  /** CPU time of all processes of the server. */
  readonly serverMicros: number
  /** CPU time of the primary, which is the only process without workers. */
  readonly primaryMicros: number
  /** CPU time of the busiest process. */
  readonly busiestMicros: number
  readonly clientMicros: number
  readonly perSecond: number
  readonly medianMs: number
}

class Subject {
  readonly process: ServerProcess
  readonly served: Served
  #created = 0

  private constructor(process: ServerProcess) {
    const { ca, token = '' } = process.access
    this.process = process
    this.served = { pid: process.pid, port: process.port, ca, token }
  }

  static async start(workers: number): Promise<Subject> {
    const subject = new Subject(await ServerProcess.start({ flags: [`--workers=${workers}`] }))
    const connection = await Connection.open(subject.served)
    await connection.exchange(subject.request('POST', '/api/v1/namespaces', { metadata: { name: 'made' } }))
    for (let i = 0; i < 500; i++) await connection.exchange(subject.request('POST', configMaps('default'), configMapOf(`c-${i}`, { data })))
    connection.close()
    return subject
  }

  request(method: string, path: string, body?: unknown): Buffer {
    return requestBytes(this.served, { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  }

  create(): Buffer {
    return this.request('POST', configMaps('made'), configMapOf(`n-${++this.#created}`, { data }))
  }

  get servingCount(): number {
    return Math.max(1, this.process.workers.length)
  }

  get pids(): readonly number[] {
    return [this.process.pid, ...this.process.workers]
  }
}

interface Task {
  readonly name: string
  /** Connections to each process that serves: fewer would leave it waiting for the client. */
  readonly clients: number
  /** One connection in all. */
  readonly isAlone?: boolean
  readonly next: (subject: Subject, counter: number) => Buffer
  readonly expect: number
  /** Path of watches that stay open; their events are counted instead of requests. */
  readonly watched?: string
}

const data = { text: 'x'.repeat(900) }
const create = (subject: Subject): Buffer => subject.create()
const allTasks: readonly Task[] = [
  { name: 'get, 1 KB', clients: 16, next: (subject, i) => subject.request('GET', configMaps('default', `c-${i % 500}`)), expect: 200 },
  { name: 'page of 500', clients: 8, next: (subject) => subject.request('GET', `${configMaps('default')}?limit=500`), expect: 200 },
  {
    name: `watch event, 1 KB, ${watcherCount} watchers`,
    clients: 4,
    next: create,
    expect: 201,
    watched: configMaps('made'),
  },
  { name: 'create, 1 KB', clients: 16, next: create, expect: 201 },
  {
    name: 'update, 1 KB',
    clients: 16,
    // An update without a change would not be written.
    next: (subject, i) =>
      subject.request('PUT', configMaps('default', `c-${i % 500}`), configMapOf(`c-${i % 500}`, { data: { ...data, count: String(i) } })),
    expect: 200,
  },
  { name: 'single writer', clients: 1, isAlone: true, next: create, expect: 201 },
]

const tasks = allTasks.filter(({ name }) => name.includes(values.only))

/** A watch without a version begins with the objects that exist, so it begins at the current one. */
async function openWatchers(served: Served, path: string): Promise<Watchers> {
  return Watchers.open(served, { path: await watchPathOf(served, path), pattern: jsonFrameEnd })
}

class Measurement {
  readonly #subject: Subject
  readonly #task: Task
  readonly #connections: readonly Connection[]
  readonly #watchers: Watchers | undefined
  #counter = 0

  private constructor(subject: Subject, task: Task, connections: readonly Connection[], watchers: Watchers | undefined) {
    this.#subject = subject
    this.#task = task
    this.#connections = connections
    this.#watchers = watchers
  }

  static async open(subject: Subject, task: Task): Promise<Measurement> {
    const watchers = task.watched === undefined ? undefined : await openWatchers(subject.served, task.watched)
    const connections = await Promise.all(
      Array.from({ length: task.isAlone ? 1 : task.clients * subject.servingCount }, () => Connection.open(subject.served)),
    )
    return new Measurement(subject, task, connections, watchers)
  }

  async run(isOver: (requests: number, elapsedMs: number) => boolean): Promise<Result> {
    const watchers = this.#watchers
    const { pids } = this.#subject
    const framesBefore = watchers?.frames ?? 0
    const latencies: number[] = []
    const cpuBefore = pids.map(cpuMicroseconds)
    const clientBefore = process.cpuUsage()
    const beginMs = performance.now()
    await Promise.all(
      this.#connections.map(async (connection) => {
        while (!isOver(latencies.length, performance.now() - beginMs)) {
          const startMs = performance.now()
          const status = await connection.exchange(this.#task.next(this.#subject, this.#counter++))
          if (status !== this.#task.expect) throw new Error(`${this.#task.name}: the response was ${status}`)
          latencies.push(performance.now() - startMs)
          await watchers?.until(framesBefore + (latencies.length - maxAhead * this.#subject.servingCount) * watcherCount)
        }
      }),
    )
    await watchers?.until(framesBefore + latencies.length * watcherCount)
    const elapsedMs = performance.now() - beginMs
    const used = pids.map((pid, i) => cpuMicroseconds(pid) - (cpuBefore[i] ?? 0))
    const client = process.cpuUsage(clientBefore)
    const units = watchers === undefined ? latencies.length : watchers.frames - framesBefore
    return {
      serverMicros: sum(used) / units,
      primaryMicros: (used[0] ?? 0) / units,
      busiestMicros: Math.max(...used) / units,
      clientMicros: (client.user + client.system) / units,
      perSecond: (units / elapsedMs) * 1000,
      medianMs: median(latencies),
    }
  }

  close(): void {
    this.#watchers?.close()
    for (const connection of this.#connections) connection.close()
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

const results = new Map<string, Result[]>()
const subjects = await Promise.all(counts.map((count) => Subject.start(count)))
for (const task of tasks) {
  const measurements: Measurement[] = []
  for (const [i, subject] of subjects.entries()) {
    const measurement = await Measurement.open(subject, task)
    measurements.push(measurement)
    await measurement.run((requests, ms) => requests >= warmUpRequests * (counts[i] ?? 1) || ms >= maxWarmUpMs)
  }
  for (let round = 0; round < Number(values.rounds); round++) {
    // The numbers of workers alternate, so that a busy machine affects them alike.
    for (const [i, measurement] of measurements.entries()) {
      const key = `${task.name}\t${counts[i]}`
      results.set(key, [...(results.get(key) ?? []), await measurement.run((_requests, ms) => ms >= durationMs)])
    }
  }
  for (const measurement of measurements) measurement.close()
}

const cores = availableParallelism()
console.log(
  `| request | workers | server CPU | primary | busiest process | client CPU | requests/s with the client | capacity of ${cores} cores | median latency |`,
)
console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|')
for (const [key, all] of results) {
  const column = (read: (result: Result) => number): number => median(all.map(read))
  const capacity = column(({ serverMicros, busiestMicros }) => 1e6 / Math.max(serverMicros / cores, busiestMicros))
  const micros = [
    column(({ serverMicros }) => serverMicros),
    column(({ primaryMicros }) => primaryMicros),
    column(({ busiestMicros }) => busiestMicros),
    column(({ clientMicros }) => clientMicros),
  ]
  const cells = [
    ...micros.map((each) => `${each.toFixed(each < 10 ? 1 : 0)} µs`),
    column(({ perSecond }) => perSecond).toFixed(0),
    capacity.toFixed(0),
    `${column(({ medianMs }) => medianMs).toFixed(2)} ms`,
  ]
  console.log(`| ${key.split('\t').join(' | ')} | ${cells.join(' | ')} |`)
}
for (const [i, subject] of subjects.entries()) {
  const own = subject.pids.map((pid) => `${(statusOf(pid, 'RssAnon') / 1024).toFixed(0)} MiB`)
  console.log(`anonymous memory with ${counts[i]} workers: ${own.join(', ')}`)
}
await Promise.all(subjects.map((subject) => subject.process.stop()))
process.exit(0)
