// Phases of simulated pods: what a kubelet would report at which second, for rules and restart policies.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { parsePodRules } from './behaviour.js'
import { backOffMs, readinessAt } from './container-life.js'
import { livePod, type PodMemory } from './pod-life.js'

const startMs = Date.parse('2026-01-01T00:00:00.700Z')

interface Scenario {
  readonly spec?: Pod['spec']
  readonly rules?: unknown
  readonly ownerReferences?: NonNullable<Pod['metadata']>['ownerReferences']
}

const containers = [{ name: 'app', image: 'app:1' }]
const withInit = { containers, initContainers: ['first', 'second'].map((name) => ({ name, image: 'init:1' })) }

/** Plays a pod for some seconds. Returns `<second>: <phase> <states> <ready containers>` for every change. */
function play({ spec = {}, rules = [], ownerReferences = [] }: Scenario, seconds: number, deletedAfter?: number): readonly string[] {
  let pod: Pod = {
    metadata: { name: 'p', namespace: 'n', uid: 'u', ownerReferences },
    spec: { containers, restartPolicy: 'Always', ...spec },
  }
  let memory: PodMemory | undefined
  const lines: string[] = []
  for (let ms = 0; ms <= seconds * 1000; ) {
    if (deletedAfter !== undefined && ms >= deletedAfter * 1000 && pod.metadata?.deletionTimestamp === undefined) {
      const grace = pod.spec?.terminationGracePeriodSeconds ?? 30
      const deletionTimestamp = timeOf(startMs + ms + grace * 1000)
      pod = { ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace } }
    }
    const output = livePod({
      pod,
      rules: parsePodRules(rules),
      memory,
      hostIP: '172.18.0.2',
      allocateIp: () => '10.244.1.2',
      nowMs: startMs + ms,
    })
    memory = output.memory
    if (output.status !== undefined) {
      pod = { ...pod, status: output.status }
      lines.push(`${ms / 1000}: ${shown(pod)}`)
    }
    if (output.isStopped) return [...lines, `${ms / 1000}: deleted`]
    const nextMs = Math.min(output.nextMs ?? Number.POSITIVE_INFINITY, startMs + (deletedAfter ?? Number.POSITIVE_INFINITY) * 1000)
    const isLater = nextMs > startMs + ms
    ms = isLater ? nextMs - startMs : output.nextMs === undefined ? Number.POSITIVE_INFINITY : output.nextMs - startMs
  }
  return lines
}

function shown({ status }: Pod): string {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const states = all.map(({ state, restartCount = 0 }) => {
    const { waiting, running, terminated } = state ?? {}
    const text = running === undefined ? (waiting?.reason ?? `${terminated?.reason}(${terminated?.exitCode ?? 0})`) : 'running'
    return restartCount === 0 ? text : `${text}*${restartCount}`
  })
  const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
  return `${status?.phase} ${states.join(' ')}${isReady ? ' ready' : ''}`
}

const job = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'j', controller: true }]

const scenarios: readonly (readonly [name: string, scenario: Scenario, expected: readonly string[]])[] = [
  ['runs at once', {}, ['0: Running running ready']],
  [
    'start and readiness delays',
    { rules: { startAfter: '2s', readyAfter: '500ms' } },
    ['0: Pending ContainerCreating', '2: Running running', '2.5: Running running ready'],
  ],
  ['is never ready', { rules: { readyAfter: 'never' } }, ['0: Running running']],
  [
    'init containers in order',
    { spec: withInit, rules: { containers: ['first', 'second'], exitAfter: '1s' } },
    [
      '0: Pending running PodInitializing PodInitializing',
      '1: Pending Completed(0) running PodInitializing',
      '2: Running Completed(0) Completed(0) running ready',
    ],
  ],
  [
    'an init container that fails fails a pod that never restarts',
    { spec: { ...withInit, restartPolicy: 'Never' }, rules: { containers: ['second'], exitCode: 3 } },
    ['0: Failed Completed(0) Error(3) PodInitializing'],
  ],
  [
    'an init container is repeated until it succeeds',
    { spec: withInit, rules: { containers: ['first'], exitCode: 3, exits: 2 } },
    ['0: Pending CrashLoopBackOff*1 PodInitializing PodInitializing', '10: Running Completed(0)*2 Completed(0) running ready'],
  ],
  [
    'a Job completes',
    { spec: { restartPolicy: 'Never' }, ownerReferences: job },
    ['0: Running running ready', '1: Succeeded Completed(0)'],
  ],
  [
    'a Job fails',
    { spec: { restartPolicy: 'Never' }, ownerReferences: job, rules: { exitAfter: '3s', exitCode: 2 } },
    ['0: Running running ready', '3: Failed Error(2)'],
  ],
  [
    'a crash loop backs off',
    { rules: { exitAfter: '5s', exitCode: 1 } },
    [
      '0: Running running ready',
      '5: Running running*1 ready',
      '10: Running CrashLoopBackOff*1',
      '20: Running running*2 ready',
      '25: Running CrashLoopBackOff*2',
      '45: Running running*3 ready',
      '50: Running CrashLoopBackOff*3',
    ],
  ],
  [
    'OnFailure restarts failures only',
    { spec: { restartPolicy: 'OnFailure' }, rules: { exitAfter: '1s', exitCode: 1, exits: 1 } },
    ['0: Running running ready', '1: Running running*1 ready'],
  ],
  [
    'out of memory',
    { spec: { restartPolicy: 'Never' }, rules: { exitAfter: '1s', oomKilled: true } },
    ['0: Running running ready', '1: Failed OOMKilled(137)'],
  ],
  [
    'images that cannot be pulled twice',
    { rules: { imagePull: { failures: 2 } } },
    [
      '0: Pending ErrImagePull',
      '2: Pending ImagePullBackOff',
      '10: Pending ErrImagePull',
      '12: Pending ImagePullBackOff',
      '30: Running running ready',
    ],
  ],
  [
    'readiness that flips',
    { rules: { readyFor: '20s', unreadyFor: '10s' } },
    ['0: Running running ready', '20: Running running', '30: Running running ready', '50: Running running'],
  ],
  ['a deadline of the pod', { spec: { activeDeadlineSeconds: 7 } }, ['0: Running running ready', '7: Failed Completed(0)']],
  [
    'rules select containers',
    { spec: { containers: [...containers, { name: 'side', image: 's' }] }, rules: [{ containers: ['side'], readyAfter: '1s' }] },
    ['0: Running running running', '1: Running running running ready'],
  ],
]

for (const [name, scenario, expected] of scenarios) test(`simulated pod: ${name}`, () => assert.deepEqual(play(scenario, 55), expected))

const terminations: readonly (readonly [name: string, scenario: Scenario, expected: readonly string[]])[] = [
  ['stops at SIGTERM', {}, ['5: Running Completed(0)', '5: deleted']],
  ['stops after a time', { rules: { stopAfter: '8s' } }, ['13: Running Completed(0)', '13: deleted']],
  [
    'is killed at the end of the grace period',
    { spec: { terminationGracePeriodSeconds: 4 }, rules: { stopAfter: 'never' } },
    ['9: Running Error(137)', '9: deleted'],
  ],
  ['a pod that never started', { rules: { imagePull: 'fails' } }, ['5: Pending ContainerStatusUnknown(137)', '5: deleted']],
  ['a finished pod', { spec: { restartPolicy: 'Never' }, rules: { exitAfter: '1s' } }, ['5: deleted']],
]

/** Times are whole seconds, the precision of deletionTimestamp. */
for (const [name, scenario, expected] of terminations)
  test(`simulated pod is deleted: ${name}`, () => {
    const lines = play(scenario, 100, 5).filter((line) => Number.parseFloat(line) >= 5)
    assert.deepEqual(
      lines.map((line) => line.replace(/^[\d.]+/, (seconds) => String(Math.ceil(Number(seconds) - 0.001)))),
      expected,
    )
  })

test('readiness gates keep a pod from being ready', () => {
  const pod: Pod = { metadata: { uid: 'u' }, spec: { containers, readinessGates: [{ conditionType: 'example.com/gate' }] } }
  const { status } = livePod({ pod, rules: [], memory: undefined, hostIP: '', allocateIp: () => '', nowMs: startMs })
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  assert.equal(ready?.reason, 'ReadinessGatesNotReady')
  assert.equal(ready?.message, 'corresponding condition of pod readiness gate "example.com/gate" does not exist.')
})

test('back-off doubles from 10 s to 5 min; readiness has cycles', () => {
  assert.deepEqual(
    [1, 2, 3, 5, 6, 20].map((failures) => backOffMs(failures) / 1000),
    [10, 20, 40, 160, 300, 300],
  )
  const flips = { readyForMs: 20, unreadyForMs: 10 }
  const at = (ms: number) => readinessAt({ readyAfterMs: 5, flips }, 100, 100 + ms)
  assert.deepEqual(
    [0, 5, 24, 25, 35].map((ms) => at(ms).ready),
    [false, true, true, false, true],
  )
  assert.equal(at(25).nextMs, 135)
})

for (const [text, message] of [
  [{ startAfter: 'soon' }, /the rule: startAfter: "soon" is not a duration/],
  [{ delay: '1s' }, /the rule: delay: unknown field; known are containers,/],
  [[{}, { exitCode: -1 }], /\[1\]: exitCode: must be a whole number/],
  [{ readyFor: '1s' }, /readyFor and unreadyFor need each other/],
  [{ readyFor: '1ns', unreadyFor: '1ns' }, /readyFor and unreadyFor must be at least 1 s/],
  [{ exitCode: 1e300 }, /exitCode: must be at most 255/],
  [Array(101).fill({}), /must have at most 100 rules/],
  [{ usage: { memory: '-1Gi' } }, /usage.memory: must not be negative/],
  [{ usage: { cpu: 'much' } }, /usage.cpu: "much" is not a quantity/],
  [{ match: {} }, /match: unknown field/],
] as const)
  test(`rule that is not valid: ${JSON.stringify(text).slice(0, 80)}`, () => assert.throws(() => parsePodRules(text), message))

test('a pod of more than 500 containers is rejected', () => {
  const many = Array.from({ length: 501 }, (_, i) => ({ name: `c${i}`, image: 'app:1' }))
  const input = { rules: [], memory: undefined, hostIP: '172.18.0.2', allocateIp: () => '10.244.1.2', nowMs: startMs }
  const { status, events } = livePod({ ...input, pod: { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: many } } })
  assert.deepEqual([status?.phase, status?.reason, status?.containerStatuses], ['Failed', 'TooManyContainers', undefined])
  assert.deepEqual(
    events.map(({ type, reason }) => [type, reason]),
    [['Warning', 'TooManyContainers']],
  )
})
