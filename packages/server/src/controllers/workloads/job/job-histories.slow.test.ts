// Random histories of Jobs: pods end, are deleted, writes fail, controllers restart. No pod counts twice or is lost, none is too many.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { namespace, randomFrom } from '../workload.fixture.js'
import { type JobCluster, jobCluster, workTarget } from './job.fixture.js'

const histories = 12
const steps = 30
/** Longer than the delay of a changed pod. */
const batchMs = 1100
/** Longer than the longest delay after a failed pod. */
const longMs = 400_000

const indexOf = ({ metadata }: Pod): string | undefined => metadata?.annotations?.['batch.kubernetes.io/job-completion-index']

/** Reports every pod that is created beyond the limits of the Job. */
function watchCreations(cluster: JobCluster): readonly string[] {
  const problems: string[] = []
  cluster.parts.engine.store.watch({
    resource: cluster.find('', 'pods'),
    namespace,
    matches: undefined,
    deliver: ({ type }) => {
      const { spec, status } = cluster.job()
      if (type !== 'ADDED') return
      const active = cluster.active()
      const succeeded = cluster.pods().filter((pod) => pod.status?.phase === 'Succeeded')
      const limit = Math.min(spec?.parallelism ?? 1, (spec?.completions ?? 0) - (status?.succeeded ?? 0))
      if (active.length > limit) problems.push(`${active.length} active pods, but at most ${limit}`)
      if (spec?.suspend === true) problems.push('a suspended Job creates a pod')
      if (spec?.completionMode !== 'Indexed') return
      const indexes = [...active, ...succeeded].map(indexOf)
      if (new Set(indexes).size !== indexes.length) problems.push(`an index runs twice: ${indexes}`)
    },
  })
  return problems
}

/** Lets writes of Jobs and pods fail at random. */
function injectFailures(cluster: JobCluster, random: (limit: number) => number): (isOn: boolean) => void {
  let fails = false
  const validate = async ({ call, operation }: { call: { resource: { kind: string } }; operation: string }): Promise<void> => {
    // A pod that lost its finalizer and could not be deleted counts for nothing, as in kube-controller-manager.
    const isSafe = ['Job', 'Pod'].includes(call.resource.kind) && operation !== 'DELETE'
    if (fails && isSafe && random(4) === 0) throw new Error('injected failure')
  }
  Object.assign(cluster.parts.engine.admission, { validate })
  return (isOn) => {
    fails = isOn
  }
}

async function playHistory(seed: number): Promise<void> {
  const random = randomFrom(seed)
  const completions = 1 + random(12)
  const completionMode = seed % 2 === 0 ? 'Indexed' : 'NonIndexed'
  const cluster = await jobCluster({ completions, parallelism: 1 + random(5), backoffLimit: 1000, completionMode })
  const problems = watchCreations(cluster)
  const setFailures = injectFailures(cluster, random)
  const log: string[] = []
  const counts = { succeeded: 0, failed: 0 }
  const actions: readonly (() => Promise<void>)[] = [
    async () => end(0),
    async () => end(0),
    async () => end(1),
    async () => {
      const pod = pick()
      if (pod === undefined) return
      log.push('delete a pod')
      counts.failed += 1
      await cluster.remove({ group: '', plural: 'pods', name: pod.metadata?.name ?? '' })
    },
    async () => {
      const spec = { parallelism: random(6) }
      log.push(`parallelism ${spec.parallelism}`)
      await cluster.patch(workTarget, { spec })
    },
    async () => {
      const suspend = random(2) === 0
      log.push(suspend ? 'suspend' : 'resume')
      await cluster.patch(workTarget, { spec: { suspend } })
    },
    async () => {
      log.push('restart')
      await cluster.restart()
    },
  ]
  const pick = (): Pod | undefined => cluster.active()[random(cluster.active().length)]
  const end = async (exitCode: number): Promise<void> => {
    const pod = pick()
    if (pod === undefined) return
    log.push(exitCode === 0 ? 'succeed' : 'fail')
    counts[exitCode === 0 ? 'succeeded' : 'failed'] += 1
    await cluster.end(pod, exitCode)
  }
  for (let step = 0; step < steps && cluster.job().status?.completionTime === undefined; step++) {
    await actions[random(actions.length)]?.()
    setFailures(true)
    if (random(2) === 0) await cluster.settle(random(3) === 0 ? longMs : random(3000))
    // The controllers write nothing while the history goes on: it must know which pods are active.
    await cluster.settle(0)
    setFailures(false)
  }
  await cluster.patch(workTarget, { spec: { suspend: false, parallelism: 3 } })
  for (let round = 0; round < 30 && cluster.job().status?.completionTime === undefined; round++) {
    await cluster.settle(batchMs)
    if (cluster.active().length > 0) await end(0)
    else await cluster.settle(longMs)
  }
  const { succeeded, failed = 0, active, ready, uncountedTerminatedPods, completedIndexes } = cluster.job().status ?? {}
  const history = `seed ${seed}: ${log.join(', ')}`
  assert.deepEqual(problems, [], history)
  assert.deepEqual({ succeeded, failed, active, ready, uncountedTerminatedPods }, { ...expected(counts), ...rest }, history)
  assert.equal(counts.succeeded, completions, history)
  if (completionMode === 'Indexed') assert.match(completedIndexes ?? '', completions > 2 ? /^0-\d+$/ : /^0(,1)?$/)
  assert.deepEqual(
    cluster.pods().flatMap(({ metadata }) => metadata?.finalizers ?? []),
    [],
    history,
  )
  await cluster.close()
}

const rest = { active: undefined, ready: 0, uncountedTerminatedPods: {} }
const expected = ({ succeeded, failed }: { succeeded: number; failed: number }) => ({ succeeded, failed })

test('Jobs of random histories count every pod once and have never too many', async () => {
  for (let seed = 1; seed <= histories; seed++) await playHistory(seed)
})
