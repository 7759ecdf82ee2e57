// Random histories of load, limits and restarts: the number of replicas stays within the limits, grows at most as fast as allowed, shrinks
// only after the stabilization window, and follows the load.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Event, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isReadyPod } from '../kit/pod-state.js'
import { isTerminating } from '../kit/workload-parts.js'
import { randomFrom, workloadCluster } from '../workload.fixture.js'
import type { PodMetricsSource } from './metrics-source.js'

const histories = 2
const steps = 8
const roundMs = 15_000
const windowMs = 300_000
/** Target of the autoscaler: milli-CPU of each pod, all that it requests. */
const target = 100
const web = { group: 'apps', plural: 'deployments', name: 'web' }
const scaler = { group: 'autoscaling', plural: 'horizontalpodautoscalers', name: 'web' }

interface Demand {
  readonly atMs: number
  readonly replicas: number
}

async function playHistory(seed: number): Promise<void> {
  const random = randomFrom(seed)
  const cluster = await workloadCluster(['deployment', 'replicaset', 'horizontalpodautoscaling'])
  const now = (): number => cluster.parts.engine.clock.now()
  const pods = (): readonly Pod[] => cluster.list<Pod>('', 'pods').filter((pod) => !isTerminating(pod))
  const replicas = (): number => cluster.list<Deployment>('apps', 'deployments')[0]?.spec?.replicas ?? 0
  const log = [`seed ${seed}`]
  let load = 300
  let [min, max] = [2, 20]
  let demands: Demand[] = []
  const podMetrics: PodMetricsSource = {
    usageOf: async () => {
      const ready = pods().filter(isReadyPod)
      demands.push({ atMs: now(), replicas: Math.floor(load / (target * 1.1)) - 1 })
      const usage = { cpu: `${Math.floor(load / ready.length)}m` }
      return ready.map(({ metadata }) => ({
        name: metadata?.name ?? '',
        atMs: now(),
        windowMs: 0,
        containers: [{ name: 'main', usage }],
      }))
    },
  }
  // Controllers that start later use the same parts of the fixture.
  Object.assign(cluster.parts, { podMetrics })
  await cluster.restart()
  const startPods = async (): Promise<void> => {
    const time = new Date(now()).toISOString()
    for (const { metadata, status } of pods()) {
      if (status?.phase === 'Running') continue
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: time }]
      const name = metadata?.name ?? ''
      await cluster.patch({ group: '', plural: 'pods', name }, { status: { phase: 'Running', startTime: time, conditions } }, 'status')
    }
    await cluster.settle()
  }
  const round = async (): Promise<void> => {
    await startPods()
    const before = replicas()
    await cluster.settle(roundMs)
    const after = replicas()
    const about = `${before} to ${after} for a load of ${load}, ${min} to ${max}: ${log.join(', ')}`
    assert.ok(after >= min && after <= max, about)
    assert.ok(after <= Math.max(2 * before, 4, min), `too fast: ${about}`)
    if (after < before && before <= max)
      for (const { atMs, replicas: wanted } of demands)
        if (atMs > now() - windowMs) assert.ok(after >= Math.min(max, wanted), `too early: ${about}`)
  }
  const labels = { app: 'web' }
  await cluster.create('apps', 'deployments', {
    metadata: { name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: `${target}m` } } }] },
      },
    },
  })
  await cluster.settle()
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
  await startPods()
  await cluster.create('autoscaling', 'horizontalpodautoscalers', {
    metadata: { name: 'web' },
    spec: { scaleTargetRef, minReplicas: min, maxReplicas: max, targetCPUUtilizationPercentage: 100 },
  })
  for (let step = 0; step < steps; step++) {
    const action = random(6)
    if (action < 3) load = 100 + random(2000)
    else if (action === 3) {
      min = 1 + random(4)
      max = min + 2 + random(16)
      await cluster.patch(scaler, { spec: { minReplicas: min, maxReplicas: max } })
    } else if (action === 4) {
      const count = 1 + random(12)
      await cluster.patch(web, { spec: { replicas: count } })
    } else {
      await cluster.restart()
      // A new controller knows the current replicas only.
      demands = [{ atMs: now(), replicas: replicas() }]
    }
    log.push(`action ${action}, load ${load}, ${min} to ${max}`)
    // New limits hold from the next round on.
    if (action === 3) await cluster.settle(roundMs)
    for (let i = random(8); i >= 0; i--) await round()
  }
  for (let i = 0; i < 26; i++) await round()
  const wanted = Math.min(max, Math.max(min, Math.ceil(load / target)))
  const ratio = load / replicas() / target
  assert.ok(replicas() === wanted || Math.abs(1 - ratio) <= 0.101, `${replicas()} instead of ${wanted}: ${log.join(', ')}`)
  const reasons = new Set(cluster.list<Event>('', 'events').map(({ reason }) => reason))
  assert.ok(reasons.has('SuccessfulRescale'), log.join(', '))
  await cluster.close()
}

test('autoscalers of random histories follow the load within their limits', async () => {
  for (let seed = 1; seed <= histories; seed++) await playHistory(seed)
})
