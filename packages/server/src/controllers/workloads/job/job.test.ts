// Jobs: parallelism and completions, indexes, failures and back-off, deadline, suspension, failure policy, finalizers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isTerminating } from '../kit/workload-parts.js'
import { type JobCluster, jobCluster, podSpec, tracking, workTarget } from './job.fixture.js'

const none = { ready: 0, uncountedTerminatedPods: {} }
const batchMs = 1100
const indexOf = ({ metadata }: Pod): string | undefined => metadata?.annotations?.['batch.kubernetes.io/job-completion-index']
const hasFinalizer = ({ metadata }: Pod): boolean => metadata?.finalizers?.includes(tracking) === true

test('runs up to parallelism pods until completions succeed, and counts each once', async () => {
  const cluster = await jobCluster({ completions: 3, parallelism: 2 })
  assert.deepEqual(cluster.status(), { ...none, active: 2 })
  assert.ok(cluster.pods().every(hasFinalizer))
  await cluster.setPod(cluster.pods()[0] as Pod, 'Running', true)
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, active: 2, ready: 1 })
  for (const pod of cluster.active()) await cluster.end(pod, 0)
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, active: 1, succeeded: 2 })
  await cluster.end(cluster.active()[0], 0)
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, succeeded: 3, conditions: ['Complete=True'] })
  assert.ok(!cluster.pods().some(hasFinalizer))
  assert.ok(cluster.events().includes('Completed: Job completed'))
  await cluster.close()
})

test('fewer parallel pods delete some, which do not count as failed', async () => {
  const cluster = await jobCluster({ completions: 5, parallelism: 4 })
  await cluster.setPod(cluster.pods()[2] as Pod, 'Running', true)
  await cluster.patch(workTarget, { spec: { parallelism: 1 } })
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, active: 1, ready: 1 })
  assert.equal(cluster.pods().length, 1)
  await cluster.close()
})

test('without completions the first success stops the creation of pods', async () => {
  const cluster = await jobCluster({ parallelism: 3 })
  const [first, second, third] = cluster.pods()
  await cluster.end(first, 0)
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, active: 2, succeeded: 1 })
  await cluster.end(second, 1)
  await cluster.end(third, 0)
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, succeeded: 2, failed: 1, conditions: ['Complete=True'] })
  await cluster.close()
})

test('an Indexed Job runs each index once, and replaces failed and duplicate pods', async () => {
  const cluster = await jobCluster({ completions: 4, parallelism: 3, completionMode: 'Indexed' })
  assert.deepEqual(cluster.pods().map(indexOf), ['0', '1', '2'])
  const [zero, one, two] = cluster.pods()
  assert.equal(zero?.spec?.hostname, 'work-0')
  assert.match(zero?.metadata?.name ?? '', /^work-0-\w{5}$/)
  assert.deepEqual(zero?.spec?.containers?.[0]?.env?.[0]?.name, 'JOB_COMPLETION_INDEX')
  await cluster.end(two, 0)
  await cluster.end(one, 1)
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, active: 3, succeeded: 1, failed: 1, completedIndexes: '2' })
  assert.deepEqual(cluster.active().map(indexOf).toSorted(), ['0', '1', '3'])
  // Another pod with the index 0.
  const { metadata, spec } = cluster.active()[0] as Pod
  const { labels, annotations, ownerReferences, finalizers } = metadata ?? {}
  await cluster.create('', 'pods', { metadata: { name: 'twin', labels, annotations, ownerReferences, finalizers }, spec })
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.active().map(indexOf).toSorted(), ['0', '1', '3'])
  for (const pod of cluster.active()) await cluster.end(pod, 0)
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, succeeded: 4, failed: 1, completedIndexes: '0-3', conditions: ['Complete=True'] })
  await cluster.close()
})

test('the first failed pod is replaced after 1 s, later ones after 10 s, 20 s …; a success resets the delay', async () => {
  const cluster = await jobCluster({ completions: 2, backoffLimit: 9 })
  const fail = async () => {
    await cluster.settle(batchMs)
    await cluster.end(cluster.active()[0], 1)
  }
  for (const [number, delayMs] of [1000, 10_000, 20_000, 40_000].entries()) {
    await fail()
    await cluster.settle(delayMs - 500)
    assert.equal(cluster.active().length, 0)
    await cluster.settle(600)
    assert.equal(cluster.active().length, 1)
    assert.deepEqual(cluster.status(), { ...none, active: 1, failed: number + 1 })
  }
  await cluster.settle(batchMs)
  await cluster.end(cluster.active()[0], 0)
  await cluster.settle(batchMs)
  await fail()
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, active: 1, succeeded: 1, failed: 5 })
  await cluster.close()
})

test('suspending a Job resets the delay of its next replaced pod', async () => {
  const cluster = await jobCluster({ backoffLimit: 9 })
  const fail = async () => {
    await cluster.settle(batchMs)
    await cluster.end(cluster.active()[0], 1)
    await cluster.settle(batchMs)
  }
  await fail()
  for (const suspend of [true, false]) {
    await cluster.patch(workTarget, { spec: { suspend } })
    await cluster.settle(batchMs)
  }
  await fail()
  assert.deepEqual(cluster.status(), { ...none, active: 1, failed: 2, conditions: ['Suspended=False JobResumed'] })
  await cluster.close()
})

test('more failed pods than backoffLimit fail the Job and delete its other pods', async () => {
  const cluster = await jobCluster({ backoffLimit: 0, parallelism: 2, completions: 2 })
  await cluster.end(cluster.active()[0], 1)
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, failed: 2, conditions: ['Failed=True BackoffLimitExceeded'] })
  assert.equal(cluster.pods().length, 1)
  assert.ok(cluster.events().includes('BackoffLimitExceeded: Job has reached the specified backoff limit'))
  await cluster.close()
})

test('pods that fail within a second count together, before any of them is replaced', async () => {
  const cluster = await jobCluster({ completions: 2, parallelism: 2, backoffLimit: 1 })
  for (const pod of cluster.active()) {
    await cluster.end(pod, 1)
    await cluster.settle(100)
  }
  await cluster.settle(batchMs)
  assert.equal(cluster.pods().length, 2)
  assert.deepEqual(cluster.status(), { ready: 0, uncountedTerminatedPods: {}, failed: 2, conditions: ['Failed=True BackoffLimitExceeded'] })
  await cluster.close()
})

test('restarts of containers count towards backoffLimit if the pods restart them', async () => {
  const cluster = await jobCluster({ backoffLimit: 2, template: { spec: podSpec('OnFailure') } })
  const restart = async (restartCount: number) => {
    const containerStatuses = [{ name: 'main', image: 'app', imageID: '', ready: false, restartCount }]
    const name = cluster.pods()[0]?.metadata?.name ?? ''
    await cluster.patch({ group: '', plural: 'pods', name }, { status: { phase: 'Running', containerStatuses } }, 'status')
    await cluster.settle(batchMs)
  }
  await restart(1)
  assert.deepEqual(cluster.status(), { ...none, active: 1 })
  await restart(2)
  assert.deepEqual(cluster.status(), { ...none, failed: 1, conditions: ['Failed=True BackoffLimitExceeded'] })
  await cluster.close()
})

test('activeDeadlineSeconds fails a Job; a suspended Job has no deadline until it resumes', async () => {
  const cluster = await jobCluster({ activeDeadlineSeconds: 10, suspend: true, parallelism: 2 })
  assert.deepEqual(cluster.status(), { ...none, conditions: ['Suspended=True JobSuspended'] })
  assert.equal(cluster.job().status?.startTime, undefined)
  await cluster.settle(60_000)
  await cluster.patch(workTarget, { spec: { suspend: false } })
  await cluster.settle(9000)
  assert.deepEqual(cluster.status(), { ...none, active: 2, conditions: ['Suspended=False JobResumed'] })
  await cluster.patch(workTarget, { spec: { suspend: true } })
  await cluster.settle(60_000)
  assert.deepEqual(cluster.status(), { ...none, conditions: ['Suspended=True JobSuspended'] })
  assert.deepEqual(cluster.pods(), [])
  await cluster.patch(workTarget, { spec: { suspend: false } })
  await cluster.settle(9000)
  assert.equal(cluster.active().length, 2)
  await cluster.settle(2000)
  assert.deepEqual(cluster.status(), { ...none, failed: 2, conditions: ['Suspended=False JobResumed', 'Failed=True DeadlineExceeded'] })
  await cluster.close()
})

const failurePolicy = {
  rules: [
    { action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } },
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
  ],
}

test('a failure policy ignores failures, and fails the Job in two steps', async () => {
  const cluster = await jobCluster({ parallelism: 2, completions: 2, backoffLimit: 0, podFailurePolicy: failurePolicy })
  await cluster.end(cluster.active()[0], 1)
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, active: 2 })
  await cluster.end(cluster.active()[0], 42)
  await cluster.settle(batchMs)
  const conditions = ['FailureTarget=True PodFailurePolicy', 'Failed=True PodFailurePolicy']
  assert.deepEqual(cluster.status(), { ...none, failed: 2, conditions })
  assert.ok(!cluster.pods().some(hasFinalizer))
  await cluster.close()
})

test('a deleted pod counts as failed and is replaced', async () => {
  const cluster = await jobCluster({ completions: 1 })
  await cluster.remove({ group: '', plural: 'pods', name: cluster.pods()[0]?.metadata?.name ?? '' })
  assert.ok(cluster.pods().some(isTerminating), 'the finalizer keeps the pod until it is counted')
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, active: 1, failed: 1 })
  assert.equal(cluster.pods().length, 1)
  await cluster.close()
})

test('pods are counted once, wherever the controller stopped', async () => {
  const cluster = await jobCluster({ completions: 3, parallelism: 3 })
  const [first, second, third] = cluster.pods() as [Pod, Pod, Pod]
  await cluster.end(first, 0)
  await cluster.end(second, 0)
  // The first pod was added to the status; the second one lost its finalizer after that.
  const uids = [first, second].map(({ metadata }) => metadata?.uid)
  await cluster.patch({ group: '', plural: 'pods', name: second.metadata?.name ?? '' }, { metadata: { finalizers: null } })
  await cluster.patch(workTarget, { status: { uncountedTerminatedPods: { succeeded: uids } } }, 'status')
  await cluster.restart()
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, active: 1, succeeded: 2 })
  await cluster.end(third, 0)
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, succeeded: 3, conditions: ['Complete=True'] })
  await cluster.close()
})

test('adopts matching pods with the finalizer; pods without a Job lose it', async () => {
  const cluster = await jobCluster({ manualSelector: true, selector: { matchLabels: { app: 'a' } }, template: template('a') })
  const [own] = cluster.pods() as [Pod]
  const name = own.metadata?.name ?? ''
  const read = () => cluster.pods().find(({ metadata }) => metadata?.name === name) as Pod
  await cluster.patch({ group: '', plural: 'pods', name }, { metadata: { labels: { app: 'b' } } })
  await cluster.settle(batchMs)
  assert.ok(read().metadata?.ownerReferences === undefined && !hasFinalizer(read()))
  assert.equal(cluster.active().length, 2)
  await cluster.end(own, 0)
  await cluster.patch({ group: '', plural: 'pods', name }, { metadata: { labels: { app: 'a' } } })
  await cluster.settle(batchMs)
  assert.deepEqual(cluster.status(), { ...none, succeeded: 1, conditions: ['Complete=True'] })
  await cluster.create('', 'pods', { metadata: { name: 'stray', finalizers: [tracking] }, spec: podSpec() })
  await cluster.settle()
  assert.ok(!cluster.pods().some(hasFinalizer))
  await cluster.close()
})

const template = (app: string) => ({ metadata: { labels: { app } }, spec: podSpec() })

test('pods of a deleted Job lose the finalizer, also if no controller ran at the deletion', async () => {
  const deleteJob = async (cluster: JobCluster) => {
    const { store } = cluster.parts.engine
    const stored = store.read({ resource: cluster.find('batch', 'jobs'), namespace: 'n', name: 'work' })
    assert.ok(stored)
    await store.remove(stored)
  }
  const cluster = await jobCluster({ parallelism: 2 })
  await deleteJob(cluster)
  await cluster.settle()
  assert.deepEqual(cluster.pods().map(hasFinalizer), [false, false])
  const other = await jobCluster({ parallelism: 2 })
  await other.close()
  await deleteJob(other)
  for (const { metadata } of other.pods()) await other.remove({ group: '', plural: 'pods', name: metadata?.name ?? '' })
  assert.equal(other.pods().length, 2)
  await other.restart()
  await other.settle()
  assert.deepEqual(other.pods(), [])
  await Promise.all([cluster.close(), other.close()])
})

test('pods that cannot be created are tried again after 10 s', async () => {
  const cluster = await jobCluster({}, false)
  let isRefused = true
  Object.assign(cluster.parts.engine.admission, {
    validate: async ({ call }: { readonly call: { readonly resource: { readonly kind: string } } }) => {
      if (isRefused && call.resource.kind === 'Pod') throw new Error('no more pods')
    },
  })
  await cluster.create('batch', 'jobs', { metadata: { name: 'work' }, spec: { template: { spec: podSpec() } } })
  await cluster.settle()
  assert.deepEqual(cluster.status(), none)
  assert.ok(cluster.events().includes('FailedCreate: Error creating: no more pods'))
  isRefused = false
  await cluster.settle(30_000)
  assert.deepEqual(cluster.status(), { ...none, active: 1 })
  await cluster.close()
})
