// What the server's own loops cost others: gets while garbage is collected, a server that does nothing, and a start with much to look through.

import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMicroseconds } from '../cpu-time.js'
import { fetchOnce, fill, type Lab, makeNamespace } from '../lab.js'
import { median } from '../measure.js'
import { Prober } from '../prober.js'
import { type Line, microseconds, milliseconds, say } from '../report.js'

const ownerOf = async (served: Parameters<typeof fetchOnce>[0], path: string, name: string): Promise<string> => {
  const body = JSON.stringify({ metadata: { name } })
  const made = await fetchOnce(served, { method: 'POST', path, body })
  return (JSON.parse(made.body.toString()) as { readonly metadata: { readonly uid: string } }).metadata.uid
}

const dependent =
  (uid: string) =>
  (index: number): string =>
    JSON.stringify({
      metadata: {
        name: `dependent-${String(index).padStart(6, '0')}`,
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, controller: true, blockOwnerDeletion: true }],
      },
      data: { key: 'value '.repeat(10) },
    })

const idleBarPercent = 0.2

export async function measureLoops(lab: Lab): Promise<readonly Line[]> {
  const count = lab.isQuick ? 20_000 : 100_000
  const { served, process: server } = await lab.start()
  const path = await makeNamespace(served, 'garbage')
  const uid = await ownerOf(served, path, 'owner')
  say(`filling a server with ${count} dependents`)
  await fill(served, { path, count, body: dependent(uid) })
  const prober = new Prober(served, { method: 'GET', path: '/api/v1/namespaces/default' })
  await sleep(3000)
  const quiet = await prober.during(() => sleep(5000))
  const begunMs = performance.now()
  const busy = await prober.during(async () => {
    await fetchOnce(served, { method: 'DELETE', path: `${path}/owner` })
    while (await isLeft(served, path)) await sleep(500)
  })
  const tookMs = performance.now() - begunMs
  const quietAgain = await prober.during(() => sleep(5000))
  await prober.close()
  await server.stop()
  const p99 = Math.max(quiet.p99Ms, quietAgain.p99Ms)
  return [
    {
      workload: `p99 of gets while ${count.toLocaleString('en')} dependents are collected`,
      floor: microseconds(p99 * 1000),
      server: microseconds(busy.p99Ms * 1000),
      ratio: busy.p99Ms / p99,
      bar: 2,
      note: `floor: beside nothing; all were gone after ${milliseconds(tookMs)}, the longest get took ${milliseconds(busy.longestMs)}`,
    },
    await measureIdle(lab),
    await measureStarts(lab, count),
  ]
}

async function isLeft(served: Parameters<typeof fetchOnce>[0], path: string): Promise<boolean> {
  const { body } = await fetchOnce(served, { method: 'GET', path: `${path}?limit=1` })
  return (JSON.parse(body.toString()) as { readonly items: readonly unknown[] }).items.length > 0
}

/** With 10,000 objects, and every loop on. */
async function measureIdle(lab: Lab): Promise<Line> {
  const { served, process: server } = await lab.start(['--controllers=*,tokencleaner,bootstrapsigner'])
  const path = await makeNamespace(served, 'idle')
  const uid = await ownerOf(served, path, 'owner')
  await fill(served, { path, count: 10_000, body: dependent(uid) })
  // What was left behind by the filling is collected a while after it.
  await sleep(lab.isQuick ? 5000 : 30_000)
  const seconds = lab.isQuick ? 20 : 120
  const before = cpuMicroseconds(server.pid)
  await sleep(seconds * 1000)
  const percent = (cpuMicroseconds(server.pid) - before) / (seconds * 10_000)
  await server.stop()
  return {
    workload: 'idle with 10,000 objects and every loop',
    floor: `${idleBarPercent} %`,
    server: `${percent.toFixed(3)} %`,
    ratio: percent / idleBarPercent,
    bar: 1,
    note: 'of a core; floor: what is allowed',
  }
}

/** Beside the same without loops, in turns. */
async function measureStarts(lab: Lab, count: number): Promise<Line> {
  const first = await lab.start()
  const path = await makeNamespace(first.served, 'owned')
  const uid = await ownerOf(first.served, path, 'owner')
  await fill(first.served, { path, count, body: dependent(uid) })
  const { dataDir } = first.process
  await first.process.stop()
  const startMs = async (flags: readonly string[]): Promise<number> => {
    const begunMs = performance.now()
    const { process: server } = await lab.startIn(dataDir, flags)
    const tookMs = performance.now() - begunMs
    await server.stop()
    return tookMs
  }
  const without: number[] = []
  const withLoops: number[] = []
  for (let round = 0; round < (lab.isQuick ? 5 : 11); round++) {
    without.push(await startMs(['--controllers=flow-schema-status']))
    withLoops.push(await startMs([]))
  }
  return {
    workload: `start with ${count.toLocaleString('en')} dependents`,
    floor: milliseconds(median(without)),
    server: milliseconds(median(withLoops)),
    ratio: median(withLoops) / median(without),
    bar: 1.1,
    note: 'floor: with one loop of all',
  }
}
