// Pods as rows: the word for how they fare, their counts, and the wide cells.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext, testNow } from '../../../api/rule-context.fixture.js'
import { timeOf } from '../../../schema/scalars.js'
import { container, specOf } from '../pod-spec/pod-spec.fixture.js'
import type { ContainerStatus, Pod, PodSpec } from '../v1.schema.js'
import { podCells, podRowConditions } from './pod-cells.js'

const context = testContext()
const metadata = { name: 'p', namespace: 'shop', creationTimestamp: timeOf(testNow - 90_000) }
const make = (spec: PodSpec = {}, more: Pod = {}): Pod => frozen({ metadata, spec: specOf(spec), ...more })
const init = container({ name: 'init' })

const start = timeOf(testNow - 300_000)
const ready: ContainerStatus = { name: 'c', ready: true, restartCount: 3, state: { running: {} } }
const cells: readonly { readonly title: string; readonly pod: Pod; readonly wanted: readonly string[] }[] = [
  { title: 'waits', pod: { status: { phase: 'Pending' } }, wanted: ['0/1', 'Pending', '0'] },
  { title: 'runs', pod: { status: { phase: 'Running', containerStatuses: [ready] } }, wanted: ['1/1', 'Running', '3'] },
  { title: 'was evicted', pod: { status: { phase: 'Failed', reason: 'Evicted' } }, wanted: ['0/1', 'Evicted', '0'] },
  {
    title: 'waits at a gate',
    pod: { status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] } },
    wanted: ['0/1', 'SchedulingGated', '0'],
  },
  {
    title: 'crashes',
    pod: {
      status: {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'c',
            restartCount: 2,
            state: { waiting: { reason: 'CrashLoopBackOff' } },
            lastState: { terminated: { finishedAt: start } },
          },
        ],
      },
    },
    wanted: ['0/1', 'CrashLoopBackOff', '2 (5m ago)'],
  },
  {
    title: 'was killed',
    pod: { status: { phase: 'Failed', containerStatuses: [{ name: 'c', state: { terminated: { signal: 9 } } }] } },
    wanted: ['0/1', 'Signal:9', '0'],
  },
  {
    title: 'has failed',
    pod: { status: { phase: 'Failed', containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 7 } } }] } },
    wanted: ['0/1', 'ExitCode:7', '0'],
  },
  {
    title: 'is done in part',
    pod: { status: { phase: 'Running', containerStatuses: [{ name: 'a', state: { terminated: { reason: 'Completed' } } }, ready] } },
    wanted: ['1/1', 'NotReady', '3'],
  },
  {
    title: 'begins',
    pod: {
      spec: { initContainers: [init, { ...init, name: 'two' }] },
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          { name: 'init', restartCount: 1, state: { terminated: { exitCode: 0 } } },
          { name: 'two', state: { waiting: { reason: 'PodInitializing' } } },
        ],
      },
    },
    wanted: ['0/1', 'Init:1/2', '1'],
  },
  {
    title: 'has begun after some tries',
    pod: {
      spec: { initContainers: [init] },
      status: {
        phase: 'Running',
        initContainerStatuses: [
          { name: 'init', restartCount: 2, state: { terminated: { exitCode: 0 } }, lastState: { terminated: { finishedAt: start } } },
        ],
        containerStatuses: [{ ...ready, restartCount: 0 }],
      },
    },
    wanted: ['1/1', 'Running', '0 (5m ago)'],
  },
  {
    title: 'cannot begin',
    pod: { status: { phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { waiting: { reason: 'ErrImagePull' } } }] } },
    wanted: ['0/1', 'Init:ErrImagePull', '0'],
  },
  {
    title: 'has failed to begin',
    pod: { status: { phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { terminated: { exitCode: 3 } } }] } },
    wanted: ['0/1', 'Init:ExitCode:3', '0'],
  },
  {
    title: 'goes',
    pod: { metadata: { ...metadata, deletionTimestamp: start }, status: { phase: 'Running' } },
    wanted: ['0/1', 'Terminating', '0'],
  },
  {
    title: 'is lost',
    pod: { metadata: { ...metadata, deletionTimestamp: start }, status: { phase: 'Running', reason: 'NodeLost' } },
    wanted: ['0/1', 'Unknown', '0'],
  },
]
for (const { title, pod: given, wanted } of cells) {
  test(`a pod that ${title} is shown so`, () => {
    const object = make(given.spec, given)
    const row = podCells({ ...object, spec: specOf(given.spec) }, context)
    assert.deepEqual(row.slice(1, 4), wanted)
    assert.equal(row[4], '90s')
  })
}

test('wide cells tell address, nodes and gates', () => {
  const object = make(
    { nodeName: 'n9', readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] },
    { status: { podIPs: [{ ip: '10.1.1.1' }], nominatedNodeName: 'n8', conditions: [{ type: 'b', status: 'True' }] } },
  )
  assert.deepEqual(podCells(object, context).slice(5), ['10.1.1.1', 'n9', 'n8', '1/2'])
  assert.deepEqual(podCells(make(), context).slice(5), ['<none>', '<none>', '<none>', '<none>'])
})

test('rows of pods that have ended are marked', () => {
  assert.deepEqual(
    podRowConditions({ status: { phase: 'Succeeded' } }).map(({ type, reason }) => [type, reason]),
    [['Completed', 'Succeeded']],
  )
  assert.deepEqual(podRowConditions({ status: { phase: 'Running' } }), [])
})
