// Cost of controllers: latency of GETs during garbage collection, CPU use of an idle server, start time with many objects.

import { setTimeout as sleep } from 'node:timers/promises'
import { idleCpuPercent } from '../cpu-time.js'
import { fetchOnce, fill, type Lab, makeNamespace } from '../lab.js'
import { median } from '../measure.js'
import { Prober } from '../prober.js'
import { type Line, microseconds, milliseconds, printProgress } from '../report.js'

const createOwner = async (served: Parameters<typeof fetchOnce>[0], path: string, name: string): Promise<string> => {
  const body = JSON.stringify({ metadata: { name } })
  const created = await fetchOnce(served, { method: 'POST', path, body })
  return (JSON.parse(created.body.toString()) as { readonly metadata: { readonly uid: string } }).metadata.uid
}

const dependentBody =
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

export async function measureControllers(lab: Lab): Promise<readonly Line[]> {
  const count = lab.isQuick ? 20_000 : 100_000
  const { served, process: server } = await lab.start()
  const path = await makeNamespace(served, 'garbage')
  const uid = await createOwner(served, path, 'owner')
  printProgress(`filling a server with ${count} dependents`)
  await fill(served, { path, count, body: dependentBody(uid) })
  const prober = new Prober(served, { method: 'GET', path: '/api/v1/namespaces/default' })
  await sleep(3000)
  const quietBefore = await prober.during(() => sleep(5000))
  const begunMs = performance.now()
  const busy = await prober.during(async () => {
    await fetchOnce(served, { method: 'DELETE', path: `${path}/owner` })
    while (await hasObjects(served, path)) await sleep(500)
  })
  const tookMs = performance.now() - begunMs
  const quietAfter = await prober.during(() => sleep(5000))
  await prober.close()
  await server.stop()
  const p99 = Math.max(quietBefore.p99Ms, quietAfter.p99Ms)
  return [
    {
      workload: `p99 of gets while ${count.toLocaleString('en')} dependents are collected`,
      floor: microseconds(p99 * 1000),
      server: microseconds(busy.p99Ms * 1000),
      ratio: busy.p99Ms / p99,
      bar: 2,
      note: `floor: without other work; all were deleted after ${milliseconds(tookMs)}, the longest get took ${milliseconds(busy.longestMs)}`,
    },
    await measureIdle(lab),
    await measureStarts(lab, count),
  ]
}

async function hasObjects(served: Parameters<typeof fetchOnce>[0], path: string): Promise<boolean> {
  const { body } = await fetchOnce(served, { method: 'GET', path: `${path}?limit=1` })
  return (JSON.parse(body.toString()) as { readonly items: readonly unknown[] }).items.length > 0
}

/** CPU use of an idle server with 10,000 objects and all controllers. */
async function measureIdle(lab: Lab): Promise<Line> {
  const { served, process: server } = await lab.start(['--controllers=*,tokencleaner,bootstrapsigner'])
  const path = await makeNamespace(served, 'idle')
  const uid = await createOwner(served, path, 'owner')
  await fill(served, { path, count: 10_000, body: dependentBody(uid) })
  const percent = await idleCpuPercent(server.pid, lab.isQuick)
  await server.stop()
  return {
    workload: 'idle with 10,000 objects and all controllers',
    floor: `${idleBarPercent} %`,
    server: `${percent.toFixed(3)} %`,
    ratio: percent / idleBarPercent,
    bar: 1,
    note: 'of a CPU; floor: limit',
  }
}

/** Start time with the default controllers, compared with alternating starts with one controller. */
async function measureStarts(lab: Lab, count: number): Promise<Line> {
  const first = await lab.start()
  const path = await makeNamespace(first.served, 'owned')
  const uid = await createOwner(first.served, path, 'owner')
  await fill(first.served, { path, count, body: dependentBody(uid) })
  const { dataDir } = first.process
  await first.process.stop()
  const startMs = async (flags: readonly string[]): Promise<number> => {
    const begunMs = performance.now()
    const { process: server } = await lab.startIn(dataDir, flags)
    const tookMs = performance.now() - begunMs
    await server.stop()
    return tookMs
  }
  const withOneController: number[] = []
  const withControllers: number[] = []
  for (let round = 0; round < (lab.isQuick ? 5 : 11); round++) {
    withOneController.push(await startMs(['--controllers=flow-schema-status']))
    withControllers.push(await startMs([]))
  }
  return {
    workload: `start with ${count.toLocaleString('en')} dependents`,
    floor: milliseconds(median(withOneController)),
    server: milliseconds(median(withControllers)),
    ratio: median(withControllers) / median(withOneController),
    bar: 1.1,
    note: 'floor: with one controller',
  }
}
