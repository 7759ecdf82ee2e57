// Pods that a DaemonSet creates and deletes: eligible nodes, finished pods, rolling update with unavailable pods or surge; its status.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DaemonSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { type DaemonPlan, daemonStatus, type PlanInput, planNodes, planRollingUpdate } from './daemon-plan.js'
import { podsByNode } from './daemon-pods.js'
import { FailedPodBackOff } from './failed-pod-back-off.js'

const nowMs = Date.parse('2026-01-01T00:00:00Z')

const setOf = (rollingUpdate: object | undefined, more: object = {}): DaemonSet => ({
  metadata: { name: 'agent', generation: 2 },
  spec: { updateStrategy: rollingUpdate === undefined ? { type: 'OnDelete' } : { type: 'RollingUpdate', rollingUpdate }, ...more },
})

/** Pod written as `<node> <name> <hash> <state>`; state: ready, pending, failed, succeeded, terminating, deadfailed or unscheduled. */
function podOf(text: string): Pod {
  const [node = '', name = '', hash = '', state = ''] = text.split(' ')
  const isReady = ['ready', 'terminating'].includes(state)
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }
  return {
    metadata: {
      name,
      labels: { 'controller-revision-hash': hash },
      ...(['terminating', 'deadfailed'].includes(state) ? { deletionTimestamp: timeOf(nowMs) } : {}),
    },
    spec:
      state === 'unscheduled'
        ? { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } } }
        : { nodeName: node },
    status: {
      phase:
        { failed: 'Failed', deadfailed: 'Failed', succeeded: 'Succeeded', ready: 'Running', terminating: 'Running' }[state] ?? 'Pending',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: timeOf(nowMs - 60_000) }],
    },
  } as Pod
}

const eligibilities = {
  yes: { shouldRun: true, shouldContinue: true },
  stays: { shouldRun: false, shouldContinue: true },
  no: { shouldRun: false, shouldContinue: false },
}

const inputOf = (set: DaemonSet, nodes: { readonly [name: string]: keyof typeof eligibilities }, pods: readonly string[]): PlanInput => ({
  set,
  nodes: new Map(Object.entries(nodes).map(([name, each]) => [name, eligibilities[each]])),
  podsByNode: podsByNode(pods.map(podOf)),
  hash: 'new',
  nowMs,
})

const textOf = ({ create, remove }: DaemonPlan): readonly string[] => [
  ...create.map((node) => `+${node}`),
  ...remove.map(({ pod, finished = '' }) => `-${pod.metadata?.name}${finished}`),
]

interface Row {
  readonly title: string
  readonly rolling?: object
  readonly nodes?: { readonly [name: string]: keyof typeof eligibilities }
  readonly pods: readonly string[]
  readonly expect: readonly string[]
}

const surge = { maxSurge: 1, maxUnavailable: 0 }
const one = { n: 'yes' } as const

const nodeRows: readonly Row[] = [
  { title: 'a pod on every eligible node', nodes: { a: 'yes', b: 'stays', c: 'no' }, pods: [], expect: ['+a'] },
  {
    title: 'pods stay on tainted nodes and leave others',
    nodes: { a: 'stays', b: 'no' },
    pods: ['a x new ready', 'b y new ready'],
    expect: ['-y'],
  },
  { title: 'a terminating pod is waited for', pods: ['n x new terminating'], expect: [] },
  { title: 'a finished pod that terminates is replaced', pods: ['n x new deadfailed'], expect: ['+n'] },
  { title: 'finished pods are deleted', pods: ['n x new failed', 'n y new succeeded'], expect: ['-xFailed', '-ySucceeded'] },
  { title: 'all but the oldest pod are deleted', pods: ['n y new ready', 'n x new ready'], expect: ['-y'] },
  { title: 'a scheduled pod is kept', pods: ['n x new unscheduled', 'n y new ready'], expect: ['-x'] },
  { title: 'unscheduled pods of deleted nodes', nodes: {}, pods: ['gone x new unscheduled', 'gone y new ready'], expect: ['-x'] },
  { title: 'surge: a terminating pod is not waited for', rolling: surge, pods: ['n x old terminating'], expect: ['+n'] },
  { title: 'surge: old and new pod', rolling: surge, pods: ['n x old ready', 'n y new pending'], expect: [] },
  { title: 'surge: the new pod is available', rolling: surge, pods: ['n x old ready', 'n y new ready'], expect: ['-x'] },
  { title: 'surge: the old pod is not ready', rolling: surge, pods: ['n x old pending', 'n y new pending'], expect: ['-x'] },
  { title: 'surge: excess', rolling: surge, pods: ['n x old ready', 'n y new pending', 'n z new pending'], expect: ['-z'] },
]
for (const { title, rolling = { maxUnavailable: 1 }, nodes = one, pods, expect } of nodeRows)
  test(title, () => assert.deepEqual(textOf(planNodes(inputOf(setOf(rolling), nodes, pods), () => false)), expect))

test('failed pods stay during their back-off', () => {
  const input = inputOf(setOf({}), { a: 'yes', b: 'yes' }, ['a x new failed', 'b y new failed'])
  assert.deepEqual(textOf(planNodes(input, (node) => node === 'a')), ['-yFailed'])
})

const abc = { a: 'yes', b: 'yes', c: 'yes' } as const
const rollingRows: readonly Row[] = [
  { title: 'one at a time', rolling: { maxUnavailable: 1 }, pods: ['a x old ready', 'b y old ready', 'c z old ready'], expect: ['-x'] },
  { title: 'waits for a new pod', rolling: { maxUnavailable: 1 }, pods: ['a x new pending', 'b y old ready', 'c z old ready'], expect: [] },
  {
    title: 'a terminating pod counts',
    rolling: { maxUnavailable: 1 },
    pods: ['a x old terminating', 'b y old ready', 'c z old ready'],
    expect: [],
  },
  {
    title: 'percent rounds up',
    rolling: { maxUnavailable: '34%' },
    pods: ['a x old ready', 'b y old ready', 'c z old ready'],
    expect: ['-x', '-y'],
  },
  {
    title: 'broken old pods at once',
    rolling: { maxUnavailable: 1 },
    pods: ['a x new pending', 'b y old pending', 'c z old ready'],
    expect: ['-y'],
  },
  { title: 'surge one', rolling: surge, pods: ['a x old ready', 'b y old ready', 'c z old ready'], expect: ['+a'] },
  { title: 'surge waits', rolling: surge, pods: ['a x old ready', 'a u new pending', 'b y old ready', 'c z old ready'], expect: [] },
  {
    title: 'surge on a broken pod',
    rolling: surge,
    pods: ['a x old ready', 'a u new pending', 'b y old pending', 'c z old ready'],
    expect: ['+b'],
  },
  { title: 'surge done', rolling: surge, pods: ['a x new ready', 'b y new ready', 'c z new ready'], expect: [] },
]
for (const { title, rolling, pods, expect } of rollingRows)
  test(`rolling update: ${title}`, () => assert.deepEqual(textOf(planRollingUpdate(inputOf(setOf(rolling), abc, pods))), expect))

test('status: scheduled, misscheduled, ready, available and updated pods', () => {
  const nodes = { a: 'yes', b: 'yes', c: 'yes', d: 'yes', e: 'stays' } as const
  const pods = ['a x new ready', 'b y old ready', 'c z new pending', 'e m new ready']
  assert.deepEqual(daemonStatus(inputOf(setOf({}), nodes, pods), 0), {
    currentNumberScheduled: 3,
    numberMisscheduled: 1,
    desiredNumberScheduled: 4,
    numberReady: 2,
    observedGeneration: 2,
    updatedNumberScheduled: 2,
    numberAvailable: 2,
    numberUnavailable: 2,
  })
  const waiting = daemonStatus(inputOf(setOf({}, { minReadySeconds: 61 }), nodes, pods), 1)
  assert.deepEqual([waiting.numberReady, waiting.numberAvailable, waiting.collisionCount], [2, undefined, 1])
})

test('the back-off of failed pods doubles, has a limit, and is forgotten', () => {
  const backOff = new FailedPodBackOff()
  const delays: number[] = []
  let atMs = 0
  for (let i = 0; i < 12; i++) {
    backOff.start('n', atMs)
    delays.push(backOff.remainingMs('n', atMs) / 1000)
    atMs += backOff.remainingMs('n', atMs)
    assert.equal(backOff.remainingMs('n', atMs), 0)
  }
  assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
  assert.equal(backOff.remainingMs('other', atMs), 0)
  atMs += 30 * 60_000
  backOff.start('n', atMs)
  assert.equal(backOff.remainingMs('n', atMs), 1000)
})
