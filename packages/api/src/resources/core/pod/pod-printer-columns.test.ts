// Tests of the printer columns of pods.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext, testNow } from '../../../api/rule-context.fixture.js'
import { timeOf } from '../../../schema/scalars.js'
import { container, specOf } from '../pod-spec/pod-spec.fixture.js'
import type { ContainerStatus, Pod, PodSpec } from '../v1.schema.js'
import { podCells, podRowConditions } from './pod-printer-columns.js'

const context = testContext()
const metadata = { name: 'p', namespace: 'shop', creationTimestamp: timeOf(testNow - 90_000) }
const make = (spec: PodSpec = {}, more: Pod = {}): Pod => frozen({ metadata, spec: specOf(spec), ...more })
const initContainer = container({ name: 'init' })

const fiveMinutesAgo = timeOf(testNow - 300_000)
const ready: ContainerStatus = { name: 'c', ready: true, restartCount: 3, state: { running: {} } }
const cells: readonly (readonly [title: string, pod: Pod, expected: readonly string[]])[] = [
  ['is pending', { status: { phase: 'Pending' } }, ['0/1', 'Pending', '0']],
  ['is running', { status: { phase: 'Running', containerStatuses: [ready] } }, ['1/1', 'Running', '3']],
  ['was evicted', { status: { phase: 'Failed', reason: 'Evicted' } }, ['0/1', 'Evicted', '0']],
  [
    'has a scheduling gate',
    { status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] } },
    ['0/1', 'SchedulingGated', '0'],
  ],
  [
    'is in CrashLoopBackOff',
    {
      status: {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'c',
            restartCount: 2,
            state: { waiting: { reason: 'CrashLoopBackOff' } },
            lastState: { terminated: { finishedAt: fiveMinutesAgo } },
          },
        ],
      },
    },
    ['0/1', 'CrashLoopBackOff', '2 (5m ago)'],
  ],
  [
    'was killed by a signal',
    { status: { phase: 'Failed', containerStatuses: [{ name: 'c', state: { terminated: { signal: 9 } } }] } },
    ['0/1', 'Signal:9', '0'],
  ],
  [
    'exited with a nonzero code',
    { status: { phase: 'Failed', containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 7 } } }] } },
    ['0/1', 'ExitCode:7', '0'],
  ],
  [
    'has completed and running containers, but is not ready',
    { status: { phase: 'Running', containerStatuses: [{ name: 'a', state: { terminated: { reason: 'Completed' } } }, ready] } },
    ['1/1', 'NotReady', '3'],
  ],
  [
    'runs its second init container',
    {
      spec: { initContainers: [initContainer, { ...initContainer, name: 'two' }] },
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          { name: 'init', restartCount: 1, state: { terminated: { exitCode: 0 } } },
          { name: 'two', state: { waiting: { reason: 'PodInitializing' } } },
        ],
      },
    },
    ['0/1', 'Init:1/2', '1'],
  ],
  [
    'started after init container restarts',
    {
      spec: { initContainers: [initContainer] },
      status: {
        phase: 'Running',
        initContainerStatuses: [
          {
            name: 'init',
            restartCount: 2,
            state: { terminated: { exitCode: 0 } },
            lastState: { terminated: { finishedAt: fiveMinutesAgo } },
          },
        ],
        containerStatuses: [{ ...ready, restartCount: 0 }],
      },
    },
    ['1/1', 'Running', '0 (5m ago)'],
  ],
  [
    'has a waiting init container',
    { status: { phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { waiting: { reason: 'ErrImagePull' } } }] } },
    ['0/1', 'Init:ErrImagePull', '0'],
  ],
  [
    'has a failed init container',
    { status: { phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { terminated: { exitCode: 3 } } }] } },
    ['0/1', 'Init:ExitCode:3', '0'],
  ],
  [
    'is terminating',
    { metadata: { ...metadata, deletionTimestamp: fiveMinutesAgo }, status: { phase: 'Running' } },
    ['0/1', 'Terminating', '0'],
  ],
  [
    'is terminating on a lost node',
    { metadata: { ...metadata, deletionTimestamp: fiveMinutesAgo }, status: { phase: 'Running', reason: 'NodeLost' } },
    ['0/1', 'Unknown', '0'],
  ],
]
for (const [title, given, expected] of cells) {
  test(`printer columns of a pod that ${title}`, () => {
    const object = make(given.spec, given)
    const row = podCells({ ...object, spec: specOf(given.spec) }, context)
    assert.deepEqual(row.slice(1, 4), expected)
    assert.equal(row[4], '90s')
  })
}

test('wide columns have address, nodes and readiness gates', () => {
  const object = make(
    { nodeName: 'n9', readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] },
    { status: { podIPs: [{ ip: '10.1.1.1' }], nominatedNodeName: 'n8', conditions: [{ type: 'b', status: 'True' }] } },
  )
  assert.deepEqual(podCells(object, context).slice(5), ['10.1.1.1', 'n9', 'n8', '1/2'])
  assert.deepEqual(podCells(make(), context).slice(5), ['<none>', '<none>', '<none>', '<none>'])
})

test('rows of terminated pods have a Completed condition', () => {
  assert.deepEqual(
    podRowConditions({ status: { phase: 'Succeeded' } }).map(({ type, reason }) => [type, reason]),
    [['Completed', 'Succeeded']],
  )
  assert.deepEqual(podRowConditions({ status: { phase: 'Running' } }), [])
})
