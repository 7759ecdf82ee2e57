// `node .build/bench/workers.js [--workers 1,2,4] [--seconds 3] [--rounds 3]`: CPU time per request of a server with worker processes,
// all its processes together; throughput, latency of a single writer, and memory of a worker.

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ApiClient } from '../test/kit/api-client.js'
import { configMapOf, configMaps, expectStatus } from '../test/kit/fixtures.js'
import { ServerProcess } from '../test/kit/server-process.js'

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2,4' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
})
const counts = values.workers.split(',').map(Number)
const ticksPerSecond = 100

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

function cpuSeconds(pids: readonly number[]): number {
  let ticks = 0
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks / ticksPerSecond
}

interface Result {
  readonly cpuMicros: number
  readonly perSecond: number
  readonly medianMs: number
}

interface Task {
  readonly name: string
  readonly clients: number
  readonly run: (client: ApiClient, i: number) => Promise<unknown>
}

const data = { text: 'x'.repeat(900) }
let created = 0
const allTasks: readonly Task[] = [
  { name: 'get, 1 KB', clients: 16, run: async (client, i) => expectStatus(await client.get(configMaps('default', `c-${i % 500}`)), 200) },
  { name: 'page of 500', clients: 8, run: async (client) => expectStatus(await client.get(`${configMaps('default')}?limit=500`), 200) },
  {
    name: 'create, 1 KB',
    clients: 16,
    run: async (client) => expectStatus(await client.post(configMaps('made'), configMapOf(`n-${++created}`, { data })), 201),
  },
  {
    name: 'update, 1 KB',
    clients: 16,
    run: async (client, i) =>
      expectStatus(await client.put(configMaps('default', `c-${i % 500}`), configMapOf(`c-${i % 500}`, { data })), 200),
  },
  {
    name: 'single writer',
    clients: 1,
    run: async (client) => expectStatus(await client.post(configMaps('made'), configMapOf(`n-${++created}`, { data })), 201),
  },
]

const tasks = allTasks.filter(({ name }) => name.includes(values.only))

async function measure(server: ServerProcess, { clients, run }: Task, seconds: number): Promise<Result> {
  const pids = [server.pid, ...childrenOf(server.pid)]
  const connections = Array.from({ length: clients }, () => new ApiClient(server.access))
  let next = 0
  await Promise.all(connections.map((client) => run(client, next++)))
  const latencies: number[] = []
  const cpuBefore = cpuSeconds(pids)
  const beginMs = performance.now()
  await Promise.all(
    connections.map(async (client) => {
      while (performance.now() - beginMs < seconds * 1000) {
        const startMs = performance.now()
        await run(client, next++)
        latencies.push(performance.now() - startMs)
      }
    }),
  )
  const elapsed = (performance.now() - beginMs) / 1000
  const cpu = cpuSeconds(pids) - cpuBefore
  for (const client of connections) client.close()
  latencies.sort((a, b) => a - b)
  return {
    cpuMicros: (cpu / latencies.length) * 1e6,
    perSecond: latencies.length / elapsed,
    medianMs: latencies[Math.floor(latencies.length / 2)] ?? 0,
  }
}

async function start(workers: number): Promise<ServerProcess> {
  const server = await ServerProcess.start({ flags: [`--workers=${workers}`] })
  expectStatus(await server.client.post('/api/v1/namespaces', { metadata: { name: 'made' } }), 201)
  for (let i = 0; i < 500; i += 50)
    await Promise.all(Array.from({ length: 50 }, (_, j) => server.client.post(configMaps('default'), configMapOf(`c-${i + j}`, { data }))))
  return server
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

const results = new Map<string, Result[]>()
const servers = await Promise.all(counts.map(start))
for (let round = -1; round < Number(values.rounds); round++) {
  for (const task of tasks) {
    // The numbers of workers alternate, so that a busy machine affects them alike.
    for (const [i, workers] of counts.entries()) {
      const key = `${task.name}\t${workers}`
      const result = await measure(servers[i] as ServerProcess, task, Number(values.seconds))
      // The first round lets V8 compile the code of each process.
      if (round >= 0) results.set(key, [...(results.get(key) ?? []), result])
    }
  }
}
console.log('| request | workers | CPU of all processes | requests per second | median latency |\n|---|---:|---:|---:|---:|')
for (const [key, all] of results) {
  const [name, workers] = key.split('\t')
  const column = (read: (result: Result) => number): number => median(all.map(read))
  console.log(
    `| ${name} | ${workers} | ${column(({ cpuMicros }) => cpuMicros).toFixed(0)} µs | ${column(({ perSecond }) => perSecond).toFixed(0)} | ${column(({ medianMs }) => medianMs).toFixed(2)} ms |`,
  )
}
for (const [i, workers] of counts.entries()) {
  const server = servers[i] as ServerProcess
  const anonymous = (pid: number): number => Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  const own = [server.pid, ...childrenOf(server.pid)].map((pid) => `${anonymous(pid).toFixed(0)} MiB`)
  console.log(`anonymous memory with ${workers} workers: ${own.join(', ')}`)
}
await Promise.all(servers.map((server) => server.stop()))
process.exit(0)
