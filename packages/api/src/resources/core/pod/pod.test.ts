// Tests of Pods: create, update, status, ephemeral containers, grace period.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceDefinition, SubresourceDefinition } from '../../../api/definition/resource-definition.js'
import { identityOf } from '../../../api/identity.js'
import { frozen, testContext, testNow } from '../../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../../api/validation/validate-write.js'
import { timeOf } from '../../../schema/scalars.js'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import { container, contextWith, specOf } from '../pod-spec/pod-spec.fixture.js'
import type { ContainerStatus, Pod, PodSpec, PodStatus } from '../v1.schema.js'
import { pod as definition } from './pod.js'

const pod = definition as ResourceDefinition<Pod>
const context = testContext()
const metadata = { name: 'p', namespace: 'shop', resourceVersion: '1', uid: 'u', creationTimestamp: timeOf(testNow - 90_000) }
const make = (spec: PodSpec = {}, more: Pod = {}): Pod => frozen({ metadata, spec: specOf(spec), ...more })
const created = (spec: PodSpec = {}, more: Pod = {}): Pod => frozen(pod.prepareCreate?.(make(spec, more), context) ?? {})
const subresource = (name: string): SubresourceDefinition<Pod> => {
  const match = pod.subresources?.find((candidate) => candidate.name === name)
  assert.ok(match !== undefined)
  return match
}

test('a new pod is Pending and has its QoS class', () => {
  assert.deepEqual(created({}, { status: { phase: 'Running' } }).status, { phase: 'Pending', qosClass: 'BestEffort' })
})

test('a new pod with scheduling gates has the SchedulingGated condition', () => {
  const [condition] = created({ schedulingGates: [{ name: 'g' }] }).status?.conditions ?? []
  assert.deepEqual([condition?.type, condition?.status, condition?.reason], ['PodScheduled', 'False', 'SchedulingGated'])
  const off = pod.prepareCreate?.(make({ schedulingGates: [{ name: 'g' }] }), contextWith({ gates: () => false }))
  assert.equal(off?.spec?.schedulingGates, undefined)
  assert.equal(off?.status?.conditions, undefined)
})

test('seccomp annotations become fields of pod and container', () => {
  const annotations = {
    'seccomp.security.alpha.cluster.io/pod': 'runtime/default',
    'container.seccomp.security.alpha.cluster.io/c': 'localhost/x',
  }
  const { spec } = created({}, { metadata: { ...metadata, annotations } })
  assert.deepEqual(spec?.securityContext, { seccompProfile: { type: 'RuntimeDefault' } })
  assert.deepEqual(spec?.containers?.[0]?.securityContext, { seccompProfile: { type: 'Localhost', localhostProfile: 'x' } })
})

const creations: readonly (readonly [spec: PodSpec, ...expected: readonly string[]])[] = [
  [{}],
  [{ ephemeralContainers: [{ name: 'e', image: 'i' }] }, 'spec.ephemeralContainers: Forbidden: cannot be set on create'],
  [{ nodeName: 'n', schedulingGates: [{ name: 'g' }] }, 'spec.nodeName: Forbidden: cannot be set until all schedulingGates'],
  [
    { containers: [container({ image: ' i ' })] },
    'spec.containers[0].image: Invalid value: " i ": must not have leading or trailing whitespace',
  ],
  [
    { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
    'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
  ],
]
for (const [spec, ...expected] of creations) {
  test(`create: ${rowTitle(spec, expected)}`, () => expectErrors(validateCreation(definition, created(spec), context), expected))
}

const immutableProblem =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, '
const init = container({ name: 'init' })
const changes: readonly (readonly [old: PodSpec, next: PodSpec, ...expected: readonly string[]])[] = [
  [{}, {}],
  [
    { initContainers: [init] },
    { initContainers: [{ ...init, image: 'j' }], containers: [container({ image: 'j', imagePullPolicy: 'Always' })] },
  ],
  [{}, { containers: [container({ resources: {} })] }],
  [
    { containers: [container({ imagePullPolicy: 'Always' })] },
    { containers: [{ name: 'c', imagePullPolicy: 'Always' }] },
    'spec.containers[0].image: Required value',
    'spec.containers[0].image: Required value',
  ],
  [{}, { containers: [container({ command: ['x'] })] }, immutableProblem],
  [{}, { nodeName: 'n' }, immutableProblem],
  [{}, { containers: [container(), container({ name: 'd' })] }, 'spec.containers: Forbidden: pod updates may not add or remove containers'],
  [{}, { activeDeadlineSeconds: 5 }],
  [{ activeDeadlineSeconds: 5 }, { activeDeadlineSeconds: 4 }],
  [
    { activeDeadlineSeconds: 5 },
    { activeDeadlineSeconds: 6 },
    'spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value',
  ],
  [
    { activeDeadlineSeconds: 5 },
    {},
    'spec.activeDeadlineSeconds: Invalid value: "null": must not update from a positive integer to nil value',
  ],
  [{}, { tolerations: [{ key: 'a', operator: 'Exists' }] }],
  [{ tolerations: [{ key: 'a', operator: 'Exists' }] }, {}, 'spec.tolerations: Forbidden: existing toleration can not be modified'],
  [{ schedulingGates: [{ name: 'a' }, { name: 'b' }] }, { schedulingGates: [{ name: 'b' }] }],
  [{ terminationGracePeriodSeconds: -5 }, { terminationGracePeriodSeconds: 1 }],
  [{}, { terminationGracePeriodSeconds: 5 }, immutableProblem],
]
for (const [old, next, ...expected] of changes) {
  test(`update: ${rowTitle(old, expected)}`, () => {
    const before = created(old)
    const after = frozen(pod.prepareUpdate?.(make(next, { status: {} }), before, context) ?? {})
    assert.equal(after.status, before.status)
    expectErrors(validateChange(definition, { next: after, old: before }, context), expected)
  })
}

const ephemeralContainersSubresource = subresource('ephemeralcontainers')
const debugContainer = { name: 'dbg', image: 'i', targetContainerName: 'c' }

test('`ephemeralcontainers` updates ephemeral containers only', () => {
  const next = make(
    { nodeName: 'n', ephemeralContainers: [debugContainer] },
    { metadata: { ...metadata, labels: { a: 'b' }, managedFields: [{ manager: 'm', operation: 'Update' }] } },
  )
  const after = ephemeralContainersSubresource.prepareUpdate(next, created(), context)
  assert.equal(after.spec?.nodeName, undefined)
  assert.equal(after.metadata?.labels, undefined)
  assert.equal(after.metadata?.managedFields, undefined)
  assert.deepEqual(
    after.spec?.ephemeralContainers?.map(({ name }) => name),
    ['dbg'],
  )
  expectErrors(ephemeralContainersSubresource.validateUpdate?.(after, created(), context) ?? [], [])
})

test('ephemeral containers are neither changed nor removed', () => {
  const old = make({ ephemeralContainers: [debugContainer, { ...debugContainer, name: 'two' }] })
  const errors =
    ephemeralContainersSubresource.validateUpdate?.(make({ ephemeralContainers: [{ ...debugContainer, image: 'j' }] }), old, context) ?? []
  expectErrors(errors, [
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "dbg" may not be changed',
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "two" may not be removed\n',
  ])
})

test('a mirror pod accepts ephemeral containers', () => {
  const mirror = make({ nodeName: 'n' }, { metadata: { ...metadata, annotations: { 'cluster.io/config.mirror': 'x' } } })
  expectErrors(ephemeralContainersSubresource.validateUpdate?.(mirror, mirror, context) ?? [], [])
})

const terminated: ContainerStatus = { name: 'c', state: { terminated: { exitCode: 1 } } }
const running: ContainerStatus = { name: 'c', state: { running: {} } }
const statuses: readonly (readonly [
  next: PodStatus,
  spec: PodSpec | undefined,
  old: PodStatus | undefined,
  ...expected: readonly string[],
])[] = [
  [{ phase: 'Running' }, undefined, undefined],
  [{ conditions: [{ type: 'Ready' }, { type: 'a b' }] }, undefined, undefined, 'metadata.conditions[1].Type: Invalid value: "a b"'],
  [{ nominatedNodeName: 'N' }, undefined, undefined, 'status.nominatedNodeName: Invalid value: "N"'],
  [{ containerStatuses: [running] }, undefined, { containerStatuses: [terminated] }],
  [
    { containerStatuses: [running] },
    { restartPolicy: 'Never' },
    { containerStatuses: [terminated] },
    'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
  ],
  [{ initContainerStatuses: [running] }, { restartPolicy: 'OnFailure' }, { initContainerStatuses: [terminated] }],
  [
    { ephemeralContainerStatuses: [running] },
    undefined,
    { ephemeralContainerStatuses: [terminated] },
    'status.ephemeralContainerStatuses[0].state: Forbidden',
  ],
  [{ podIPs: [{ ip: '1.2.3.4' }, { ip: '::1' }] }, undefined, undefined],
  [
    { podIPs: [{ ip: 'x' }, { ip: '1.2.3.4' }, { ip: '1.2.3.4' }] },
    undefined,
    undefined,
    'status.podIPs[0]: Invalid value: "x"',
    'status.podIPs: Internal error: failed to check for dual stack with error:invalid IP[0]: x',
    'status.podIPs: Invalid value: [{"ip":"x"}',
    'status.podIPs[2]: Duplicate value: {"ip":"1.2.3.4"}',
  ],
]
for (const [next, spec = {}, old = {}, ...expected] of statuses) {
  test(`status: ${rowTitle(next, expected)}`, () => {
    const before = make(spec, { status: old })
    const owners = [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u' }]
    const sent = make(
      { nodeName: 'elsewhere' },
      { status: next, metadata: { ...metadata, ownerReferences: owners, deletionTimestamp: '2024-03-01T11:00:00Z' } },
    )
    const after = frozen(subresource('status').prepareUpdate(sent, before, context))
    assert.equal(after.spec, before.spec)
    assert.equal(after.metadata?.ownerReferences, undefined)
    assert.equal(after.metadata?.deletionTimestamp, undefined)
    expectErrors(subresource('status').validateUpdate?.(after, before, context) ?? [], expected)
  })
}

const addresses: readonly (readonly [title: string, given: PodStatus, shown: PodStatus])[] = [
  ['podIP only', { podIP: '1.1.1.1' }, { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }] }],
  ['podIPs only', { podIPs: [{ ip: '1.1.1.1' }] }, { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }] }],
  ['different values', { podIP: '1.1.1.1', podIPs: [{ ip: '2.2.2.2' }] }, { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }] }],
  ['none', { phase: 'Running' }, { phase: 'Running' }],
]
for (const [title, given, shown] of addresses) {
  test(`podIP and podIPs given as ${title} are made equal`, () =>
    assert.deepEqual(pod.defaults?.(make({}, { status: given }), context).status, shown))
}

const gracePeriods: readonly (readonly [
  title: string,
  seconds: number,
  spec?: PodSpec | undefined,
  requested?: number | undefined,
  status?: PodStatus | undefined,
])[] = [
  ['was never scheduled', 0, undefined, 5],
  ['is scheduled', 30, { nodeName: 'n' }],
  ['is deleted with gracePeriodSeconds', 5, { nodeName: 'n' }, 5],
  ['has terminated', 0, { nodeName: 'n' }, undefined, { phase: 'Failed' }],
  ['has a negative terminationGracePeriodSeconds', 1, { nodeName: 'n', terminationGracePeriodSeconds: -1 }],
]
for (const [title, seconds, spec, requested, status = {}] of gracePeriods) {
  test(`a pod that ${title} has a grace period of ${seconds} s`, () =>
    assert.equal(pod.gracePeriodSeconds?.(make(spec, { status }), requested), seconds))
}

test('spec.host selects by node name', () => {
  const object = make({ nodeName: 'n' }, { status: { podIPs: [{ ip: '::1' }] } })
  const fields = Object.fromEntries(Object.entries(pod.selectableFields ?? {}).map(([path, read]) => [path, read(object)]))
  assert.equal(fields['spec.host'], 'n')
  assert.equal(fields['status.podIP'], '::1')
  assert.equal(fields['status.podIPs'], '')
})

test('only new pods get warnings', () => {
  const old = make({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' } })
  const kubernetes = contextWith({ identity: identityOf('kubernetes') })
  assert.equal(pod.warnings?.(old, undefined, kubernetes).length, 1)
  assert.equal(pod.warnings?.(old, old, kubernetes).length, 0)
})
