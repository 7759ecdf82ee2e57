// Workload controllers with simulated nodes: time until replicas are ready, latency of GETs meanwhile, CPU use of an idle cluster.
// Limits are absolute.

import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, requestBytes } from '../connection.js'
import { cpuMicroseconds, idleCpuPercent } from '../cpu-time.js'
import { fetchOnce, fill, type Lab, type Tested } from '../lab.js'
import type { Served } from '../load.js'
import { median } from '../measure.js'
import { Prober } from '../prober.js'
import { type Line, microseconds, milliseconds, printProgress } from '../report.js'

const limits = { replicasMs: 1000, deploymentsMs: 60_000, idlePercent: 1, getRatio: 2 }

const deploymentsPath = '/apis/apps/v1/namespaces/default/deployments'
const nameOf = (index: number): string => `web-${index}`

const deploymentBody =
  (replicas: number, prefix = '') =>
  (index: number): string => {
    const app = `${prefix}${nameOf(index)}`
    const template = { metadata: { labels: { app } }, spec: { containers: [{ name: 'app', image: 'app:1' }] } }
    return JSON.stringify({ metadata: { name: app }, spec: { replicas, selector: { matchLabels: { app } }, template } })
  }

/** Polls one Deployment after the other, so that the polls cost little. */
async function untilReady(served: Served, names: readonly string[], replicas: number): Promise<void> {
  const connection = await Connection.open(served)
  for (const name of names) {
    const request = requestBytes(served, { method: 'GET', path: `${deploymentsPath}/${name}` })
    for (;;) {
      const { body } = await connection.fetch(request)
      const { status } = JSON.parse(body.toString()) as { readonly status?: { readonly readyReplicas?: number } }
      if (status?.readyReplicas === replicas) break
      await sleep(10)
    }
  }
  connection.close()
}

const startCluster = async (lab: Lab, nodes: number, workers = 1): Promise<Tested> => {
  const tested = await lab.start([`--simulate-nodes=${nodes}`, `--workers=${workers}`])
  const ready = async (): Promise<boolean> => {
    const { body } = await fetchOnce(tested.served, { method: 'GET', path: '/api/v1/nodes' })
    return body.toString().split('"reason":"KubeletReady"').length > nodes
  }
  while (!(await ready())) await sleep(100)
  return tested
}

/** One Deployment of 100, several times on one server. */
async function measureReplicas(lab: Lab): Promise<Line> {
  const { served, process: server } = await startCluster(lab, 10)
  const times: number[] = []
  for (let round = 0; round < (lab.isQuick ? 3 : 7); round++) {
    const name = `round-${round}-${nameOf(0)}`
    const begunMs = performance.now()
    await fetchOnce(served, { method: 'POST', path: deploymentsPath, body: deploymentBody(100, `round-${round}-`)(0) })
    await untilReady(served, [name], 100)
    times.push(performance.now() - begunMs)
  }
  await server.stop()
  return {
    workload: '100 replicas ready',
    floor: milliseconds(limits.replicasMs),
    server: milliseconds(median(times)),
    ratio: median(times) / limits.replicasMs,
    bar: 1,
    note: `floor: limit; the first Deployment took ${milliseconds(times[0] ?? 0)}`,
  }
}

/** 10,000 pods by 1,000 Deployments; GETs before and meanwhile. With workers, the controllers run in another process than the GETs. */
async function measureDeployments(lab: Lab, workers: number): Promise<readonly Line[]> {
  const count = lab.isQuick ? 200 : 1000
  const { served, process: server } = await startCluster(lab, 100, workers)
  const cpuOfAll = (): number => [server.pid, ...server.workers].reduce((sum, pid) => sum + cpuMicroseconds(pid), 0)
  const prober = new Prober(served, { method: 'GET', path: '/api/v1/namespaces/default' })
  await sleep(3000)
  const quietBefore = await prober.during(() => sleep(5000))
  const begunMs = performance.now()
  const cpuBefore = cpuOfAll()
  const names = Array.from({ length: count }, (_, i) => nameOf(i))
  const busy = await prober.during(async () => {
    await fill(served, { path: deploymentsPath, count, body: deploymentBody(10) })
    printProgress(`  ${count} Deployments created after ${milliseconds(performance.now() - begunMs)}`)
    await untilReady(served, names, 10)
  })
  const tookMs = performance.now() - begunMs
  const cpuSeconds = (cpuOfAll() - cpuBefore) / 1e6
  await sleep(5000)
  const quietAfter = await prober.during(() => sleep(5000))
  await prober.close()
  await server.stop()
  const p99 = Math.max(quietBefore.p99Ms, quietAfter.p99Ms)
  const pods = (count * 10).toLocaleString('en')
  const suffix = workers === 1 ? '' : `, ${workers} workers`
  return [
    {
      workload: `${count.toLocaleString('en')} Deployments of 10 ready${suffix}`,
      floor: milliseconds(limits.deploymentsMs),
      server: milliseconds(tookMs),
      ratio: tookMs / limits.deploymentsMs,
      bar: 1,
      note: `floor: limit; ${cpuSeconds.toFixed(1)} s of CPU time`,
    },
    {
      workload: `p99 of gets while ${pods} pods are created${suffix}`,
      floor: microseconds(p99 * 1000),
      server: microseconds(busy.p99Ms * 1000),
      ratio: busy.p99Ms / p99,
      bar: limits.getRatio,
      note: `floor: without other work; the longest get took ${milliseconds(busy.longestMs)}`,
    },
  ]
}

/** CPU use of 1,000 pods on 50 nodes, whose leases and status are renewed. */
async function measureIdleCluster(lab: Lab): Promise<Line> {
  const { served, process: server } = await startCluster(lab, 50)
  const names = Array.from({ length: 100 }, (_, i) => nameOf(i))
  await fill(served, { path: deploymentsPath, count: names.length, body: deploymentBody(10) })
  await untilReady(served, names, 10)
  const percent = await idleCpuPercent(server.pid, lab.isQuick)
  await server.stop()
  return {
    workload: 'idle with 1,000 pods on 50 simulated nodes',
    floor: `${limits.idlePercent} %`,
    server: `${percent.toFixed(2)} %`,
    ratio: percent / limits.idlePercent,
    bar: 1,
    note: 'of a CPU; floor: limit',
  }
}

export const measureSimulatedCluster = async (lab: Lab): Promise<readonly Line[]> => [
  await measureReplicas(lab),
  ...(await measureDeployments(lab, 1)),
  ...(await measureDeployments(lab, 2)),
  await measureIdleCluster(lab),
]
