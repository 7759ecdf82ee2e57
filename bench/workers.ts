// `node .build/bench/workers.js [--workers 1,1+1,2,4] [--seconds 3] [--rounds 3] [--only get]`: a server with worker processes. CPU time of
// all its processes per request, without the client's, which shares the cores; memory of each process. `1+1` is two separate servers: what
// further processes cost on this machine although they share nothing.
//
// Capacity: requests per second if clients were on other machines. Either all cores are busy, or the primary, or each worker.

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
    workers: { type: 'string', default: '1,1+1,2,4' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
})
const setups = values.workers.split(',')
const durationMs = Number(values.seconds) * 1000
/** V8 compiles the code of each process during this many requests. */
const warmUpRequests = 20_000
const maxWarmUpMs = 20_000

/** Changes that watchers have not received yet, for each process that serves. */
const maxAhead = 16

interface Result {
  /** CPU time of all processes of the server. */
  readonly serverMicros: number
  /** CPU time of the first process: the primary, or the only process of a server without workers. */
  readonly primaryMicros: number
  /** CPU time of a process that serves, if requests are spread evenly. */
  readonly servingMicros: number
  readonly clientMicros: number
  readonly perSecond: number
  readonly medianMs: number
}

interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

class Server {
  readonly process: ServerProcess
  readonly served: Served

  private constructor(process: ServerProcess) {
    const { ca, token = '' } = process.access
    this.process = process
    this.served = { pid: process.pid, port: process.port, ca, token }
  }

  static async start(workers: string): Promise<Server> {
    const server = new Server(await ServerProcess.start({ flags: [`--workers=${workers}`] }))
    const connection = await Connection.open(server.served)
    const post = (path: string, body: unknown): Promise<number> => connection.exchange(server.encode({ method: 'POST', path, body }))
    await post('/api/v1/namespaces', { metadata: { name: 'made' } })
    for (let i = 0; i < 500; i++) await post(configMaps('default'), configMapOf(`c-${i}`, { data }))
    connection.close()
    return server
  }

  encode({ method, path, body }: Request): Buffer {
    return requestBytes(this.served, { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  }

  get servingCount(): number {
    return Math.max(1, this.process.workers.length)
  }
}

/** A server, or several separate ones. */
class Subject {
  readonly setup: string
  readonly servers: readonly Server[]

  private constructor(setup: string, servers: readonly Server[]) {
    this.setup = setup
    this.servers = servers
  }

  static async start(setup: string): Promise<Subject> {
    return new Subject(setup, await Promise.all(setup.split('+').map((workers) => Server.start(workers))))
  }

  get servingCount(): number {
    return sum(this.servers.map(({ servingCount }) => servingCount))
  }

  get pids(): readonly number[] {
    return this.servers.flatMap(({ process }) => [process.pid, ...process.workers])
  }
}

interface Task {
  readonly name: string
  /** Connections to each process that serves: fewer would leave it waiting for the client. */
  readonly clients: number
  /** One connection in all. */
  readonly isAlone?: boolean
  readonly next: (counter: number) => Request
  readonly expect: number
  /** Path of watches that stay open; their events are counted instead of requests. */
  readonly watched?: string
}

const data = { text: 'x'.repeat(900) }
let created = 0
const create = (): Request => ({ method: 'POST', path: configMaps('made'), body: configMapOf(`n-${++created}`, { data }) })
const allTasks: readonly Task[] = [
  { name: 'get, 1 KB', clients: 16, next: (i) => ({ method: 'GET', path: configMaps('default', `c-${i % 500}`) }), expect: 200 },
  { name: 'page of 500', clients: 8, next: () => ({ method: 'GET', path: `${configMaps('default')}?limit=500` }), expect: 200 },
  {
    name: `watch event, 1 KB, ${watcherCount} watchers`,
    clients: 16,
    next: create,
    expect: 201,
    watched: configMaps('made'),
  },
  { name: 'create, 1 KB', clients: 16, next: create, expect: 201 },
  {
    name: 'update, 1 KB',
    clients: 16,
    // An update without a change would not be written.
    next: (i) => ({
      method: 'PUT',
      path: configMaps('default', `c-${i % 500}`),
      body: configMapOf(`c-${i % 500}`, { data: { ...data, count: String(i) } }),
    }),
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
  readonly #connections: readonly (readonly [Server, Connection])[]
  readonly #watchers: Watchers | undefined
  #counter = 0

  private constructor(
    subject: Subject,
    task: Task,
    connections: readonly (readonly [Server, Connection])[],
    watchers: Watchers | undefined,
  ) {
    this.#subject = subject
    this.#task = task
    this.#connections = connections
    this.#watchers = watchers
  }

  static async open(subject: Subject, task: Task): Promise<Measurement> {
    const { servers, servingCount } = subject
    const watchers = task.watched === undefined ? undefined : await openWatchers((servers[0] as Server).served, task.watched)
    const open = async (i: number): Promise<readonly [Server, Connection]> => {
      const server = servers[i % servers.length] as Server
      return [server, await Connection.open(server.served)]
    }
    const connections = await Promise.all(Array.from({ length: task.isAlone ? 1 : task.clients * servingCount }, (_, i) => open(i)))
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
      this.#connections.map(async ([server, connection]) => {
        while (!isOver(latencies.length, performance.now() - beginMs)) {
          const startMs = performance.now()
          const status = await connection.exchange(server.encode(this.#task.next(this.#counter++)))
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
    const { servers, servingCount } = this.#subject
    const [first = 0, ...others] = used
    return {
      serverMicros: sum(used) / units,
      primaryMicros: first / units,
      servingMicros: servers.length === 1 && others.length > 0 ? sum(others) / servingCount / units : sum(used) / servingCount / units,
      clientMicros: (client.user + client.system) / units,
      perSecond: (units / elapsedMs) * 1000,
      medianMs: median(latencies),
    }
  }

  close(): void {
    this.#watchers?.close()
    for (const [, connection] of this.#connections) connection.close()
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

const results = new Map<string, Result[]>()
const subjects = await Promise.all(setups.map((setup) => Subject.start(setup)))
for (const task of tasks) {
  const measurements: [string, Measurement][] = []
  for (const subject of subjects) {
    // Separate servers do not share changes.
    if (task.watched !== undefined && subject.servers.length > 1) continue
    const measurement = await Measurement.open(subject, task)
    measurements.push([`${task.name}\t${subject.setup}`, measurement])
    await measurement.run((requests, ms) => requests >= warmUpRequests * subject.servingCount || ms >= maxWarmUpMs)
  }
  for (let round = 0; round < Number(values.rounds); round++) {
    // The numbers of workers alternate, so that a busy machine affects them alike.
    for (const [key, measurement] of measurements)
      results.set(key, [...(results.get(key) ?? []), await measurement.run((_requests, ms) => ms >= durationMs)])
  }
  for (const [, measurement] of measurements) measurement.close()
}

const cores = availableParallelism()
console.log(
  `| request | workers | server CPU | primary | each process that serves | client CPU | requests/s with the client | capacity of ${cores} cores | median latency |`,
)
console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|')
for (const [key, all] of results) {
  const column = (read: (result: Result) => number): number => median(all.map(read))
  const capacity = column(
    ({ serverMicros, primaryMicros, servingMicros }) => 1e6 / Math.max(serverMicros / cores, primaryMicros, servingMicros),
  )
  const micros = [
    column(({ serverMicros }) => serverMicros),
    column(({ primaryMicros }) => primaryMicros),
    column(({ servingMicros }) => servingMicros),
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
for (const { setup, pids } of subjects) {
  const own = pids.map((pid) => `${(statusOf(pid, 'RssAnon') / 1024).toFixed(0)} MiB`)
  console.log(`anonymous memory with ${setup} workers: ${own.join(', ')}`)
}
await Promise.all(subjects.flatMap(({ servers }) => servers.map(({ process }) => process.stop())))
process.exit(0)
