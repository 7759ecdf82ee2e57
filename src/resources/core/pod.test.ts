// Pods as a whole: how they are made, what of them may change and by which door, and how they end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceDefinition, SubresourceDefinition } from '../../api/definition.js'
import { identityOf } from '../../api/identity.js'
import { frozen, testContext, testNow } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { timeOf } from '../../schema/scalars.js'
import { pod as definition } from './pod.js'
import { assertFound, container, contextWith, specOf } from './pod-spec/pod-spec.fixture.js'
import type { ContainerStatus, Pod, PodSpec, PodStatus } from './v1.schema.js'

const pod = definition as ResourceDefinition<Pod>
const context = testContext()
const metadata = { name: 'p', namespace: 'shop', resourceVersion: '1', uid: 'u', creationTimestamp: timeOf(testNow - 90_000) }
const make = (spec: PodSpec = {}, more: Pod = {}): Pod => frozen({ metadata, spec: specOf(spec), ...more })
const made = (spec: PodSpec = {}, more: Pod = {}): Pod => frozen(pod.prepareCreate?.(make(spec, more), context) ?? {})
const subresource = (name: string): SubresourceDefinition<Pod> => {
  const found = pod.subresources?.find((candidate) => candidate.name === name)
  assert.ok(found !== undefined)
  return found
}

test('a new pod waits, and says how it will be treated', () => {
  assert.deepEqual(made({}, { status: { phase: 'Running' } }).status, { phase: 'Pending', qosClass: 'BestEffort' })
})

test('a new pod with gates says that it waits for them', () => {
  const [condition] = made({ schedulingGates: [{ name: 'g' }] }).status?.conditions ?? []
  assert.deepEqual([condition?.type, condition?.status, condition?.reason], ['PodScheduled', 'False', 'SchedulingGated'])
  const off = pod.prepareCreate?.(make({ schedulingGates: [{ name: 'g' }] }), contextWith({ gates: () => false }))
  assert.equal(off?.spec?.schedulingGates, undefined)
  assert.equal(off?.status?.conditions, undefined)
})

test('filters in annotations become fields of the pod and of its container', () => {
  const annotations = {
    'seccomp.security.alpha.cluster.io/pod': 'runtime/default',
    'container.seccomp.security.alpha.cluster.io/c': 'localhost/x',
  }
  const { spec } = made({}, { metadata: { ...metadata, annotations } })
  assert.deepEqual(spec?.securityContext, { seccompProfile: { type: 'RuntimeDefault' } })
  assert.deepEqual(spec?.containers?.[0]?.securityContext, { seccompProfile: { type: 'Localhost', localhostProfile: 'x' } })
})

const creations: readonly { readonly title: string; readonly spec: PodSpec; readonly found: readonly string[] }[] = [
  { title: 'nothing special', spec: {}, found: [] },
  {
    title: 'a container for debugging',
    spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] },
    found: ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
  },
  {
    title: 'a node in spite of gates',
    spec: { nodeName: 'n', schedulingGates: [{ name: 'g' }] },
    found: ['spec.nodeName: Forbidden: cannot be set until all schedulingGates'],
  },
  {
    title: 'an image between spaces',
    spec: { containers: [container({ image: ' i ' })] },
    found: ['spec.containers[0].image: Invalid value: " i ": must not have leading or trailing whitespace'],
  },
  {
    title: 'a token of nobody',
    spec: { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
    found: [
      'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
    ],
  },
]
for (const { title, spec, found } of creations) {
  test(`create with ${title}`, () => assertFound(validateCreation(definition, made(spec), context), found))
}

const restOf = 'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, '
const init = container({ name: 'init' })
const changes: readonly { readonly title: string; readonly old: PodSpec; readonly next: PodSpec; readonly found: readonly string[] }[] = [
  { title: 'nothing', old: {}, next: {}, found: [] },
  {
    title: 'images',
    old: { initContainers: [init] },
    next: { initContainers: [{ ...init, image: 'j' }], containers: [container({ image: 'j', imagePullPolicy: 'Always' })] },
    found: [],
  },
  { title: 'an empty struct that was written out', old: {}, next: { containers: [container({ resources: {} })] }, found: [] },
  {
    title: 'an image to none',
    old: { containers: [container({ imagePullPolicy: 'Always' })] },
    next: { containers: [{ name: 'c', imagePullPolicy: 'Always' }] },
    found: ['spec.containers[0].image: Required value', 'spec.containers[0].image: Required value'],
  },
  { title: 'a command', old: {}, next: { containers: [container({ command: ['x'] })] }, found: [restOf] },
  { title: 'the node', old: {}, next: { nodeName: 'n' }, found: [restOf] },
  {
    title: 'a container more',
    old: {},
    next: { containers: [container(), container({ name: 'd' })] },
    found: ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  },
  { title: 'a deadline', old: {}, next: { activeDeadlineSeconds: 5 }, found: [] },
  { title: 'a shorter deadline', old: { activeDeadlineSeconds: 5 }, next: { activeDeadlineSeconds: 4 }, found: [] },
  {
    title: 'a longer deadline',
    old: { activeDeadlineSeconds: 5 },
    next: { activeDeadlineSeconds: 6 },
    found: ['spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value'],
  },
  {
    title: 'no deadline any more',
    old: { activeDeadlineSeconds: 5 },
    next: {},
    found: ['spec.activeDeadlineSeconds: Invalid value: "null": must not update from a positive integer to nil value'],
  },
  { title: 'more tolerations', old: {}, next: { tolerations: [{ key: 'a', operator: 'Exists' }] }, found: [] },
  {
    title: 'fewer tolerations',
    old: { tolerations: [{ key: 'a', operator: 'Exists' }] },
    next: {},
    found: ['spec.tolerations: Forbidden: existing toleration can not be modified'],
  },
  { title: 'fewer gates', old: { schedulingGates: [{ name: 'a' }, { name: 'b' }] }, next: { schedulingGates: [{ name: 'b' }] }, found: [] },
  {
    title: 'a time to stop that was below zero',
    old: { terminationGracePeriodSeconds: -5 },
    next: { terminationGracePeriodSeconds: 1 },
    found: [],
  },
  { title: 'another time to stop', old: {}, next: { terminationGracePeriodSeconds: 5 }, found: [restOf] },
]
for (const { title, old, next, found } of changes) {
  test(`update of ${title}`, () => {
    const before = made(old)
    const after = frozen(pod.prepareUpdate?.(make(next, { status: {} }), before, context) ?? {})
    assert.equal(after.status, before.status)
    assertFound(validateChange(definition, { next: after, old: before }, context), found)
  })
}

const debug = subresource('ephemeralcontainers')
const dbg = { name: 'dbg', image: 'i', targetContainerName: 'c' }

test('debugging writes nothing but its containers', () => {
  const next = make(
    { nodeName: 'n', ephemeralContainers: [dbg] },
    { metadata: { ...metadata, labels: { a: 'b' }, managedFields: [{ manager: 'm', operation: 'Update' }] } },
  )
  const after = debug.prepareUpdate(next, made(), context)
  assert.equal(after.spec?.nodeName, undefined)
  assert.equal(after.metadata?.labels, undefined)
  assert.equal(after.metadata?.managedFields, undefined)
  assert.deepEqual(
    after.spec?.ephemeralContainers?.map(({ name }) => name),
    ['dbg'],
  )
  assertFound(debug.validateUpdate?.(after, made(), context) ?? [], [])
})

test('containers for debugging are neither changed nor removed', () => {
  const old = make({ ephemeralContainers: [dbg, { ...dbg, name: 'two' }] })
  const found = debug.validateUpdate?.(make({ ephemeralContainers: [{ ...dbg, image: 'j' }] }), old, context) ?? []
  assertFound(found, [
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "dbg" may not be changed',
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "two" may not be removed\n',
  ])
})

test('a mirror is debugged like any pod', () => {
  const mirror = make({ nodeName: 'n' }, { metadata: { ...metadata, annotations: { 'cluster.io/config.mirror': 'x' } } })
  assertFound(debug.validateUpdate?.(mirror, mirror, context) ?? [], [])
})

const ended: ContainerStatus = { name: 'c', state: { terminated: { exitCode: 1 } } }
const alive: ContainerStatus = { name: 'c', state: { running: {} } }
const statuses: readonly {
  readonly title: string
  readonly spec?: PodSpec
  readonly old?: PodStatus
  readonly next: PodStatus
  readonly found: readonly string[]
}[] = [
  { title: 'a phase', next: { phase: 'Running' }, found: [] },
  {
    title: 'a condition with a bad name',
    next: { conditions: [{ type: 'Ready' }, { type: 'a b' }] },
    found: ['metadata.conditions[1].Type: Invalid value: "a b"'],
  },
  { title: 'a nominated node', next: { nominatedNodeName: 'N' }, found: ['status.nominatedNodeName: Invalid value: "N"'] },
  { title: 'a restart where that is meant', old: { containerStatuses: [ended] }, next: { containerStatuses: [alive] }, found: [] },
  {
    title: 'a restart that is not meant',
    spec: { restartPolicy: 'Never' },
    old: { containerStatuses: [ended] },
    next: { containerStatuses: [alive] },
    found: ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
  },
  {
    title: 'a restart after failure',
    spec: { restartPolicy: 'OnFailure' },
    old: { initContainerStatuses: [ended] },
    next: { initContainerStatuses: [alive] },
    found: [],
  },
  {
    title: 'a debugger that comes back',
    old: { ephemeralContainerStatuses: [ended] },
    next: { ephemeralContainerStatuses: [alive] },
    found: ['status.ephemeralContainerStatuses[0].state: Forbidden'],
  },
  { title: 'an address', next: { podIPs: [{ ip: '1.2.3.4' }, { ip: '::1' }] }, found: [] },
  {
    title: 'wrong addresses',
    next: { podIPs: [{ ip: 'x' }, { ip: '1.2.3.4' }, { ip: '1.2.3.4' }] },
    found: [
      'status.podIPs[0]: Invalid value: "x"',
      'status.podIPs: Internal error: failed to check for dual stack with error:invalid IP[0]: x',
      'status.podIPs: Invalid value: [{"ip":"x"}',
      'status.podIPs[2]: Duplicate value: {"ip":"1.2.3.4"}',
    ],
  },
]
for (const { title, spec = {}, old = {}, next, found } of statuses) {
  test(`the status reports ${title}`, () => {
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
    assertFound(subresource('status').validateUpdate?.(after, before, context) ?? [], found)
  })
}

const addresses: readonly { readonly title: string; readonly given: PodStatus; readonly shown: PodStatus }[] = [
  { title: 'one', given: { podIP: '1.1.1.1' }, shown: { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }] } },
  { title: 'a list', given: { podIPs: [{ ip: '1.1.1.1' }] }, shown: { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }] } },
  {
    title: 'both, which differ',
    given: { podIP: '1.1.1.1', podIPs: [{ ip: '2.2.2.2' }] },
    shown: { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }] },
  },
  { title: 'none', given: { phase: 'Running' }, shown: { phase: 'Running' } },
]
for (const { title, given, shown } of addresses) {
  test(`addresses given as ${title} are the same in both fields`, () =>
    assert.deepEqual(pod.defaults?.(make({}, { status: given }), context).status, shown))
}

const graces: readonly {
  readonly title: string
  readonly spec?: PodSpec
  readonly status?: PodStatus
  readonly requested?: number
  readonly seconds: number
}[] = [
  { title: 'was never scheduled', seconds: 0, requested: 5 },
  { title: 'runs', spec: { nodeName: 'n' }, seconds: 30 },
  { title: 'runs and is given other time', spec: { nodeName: 'n' }, requested: 5, seconds: 5 },
  { title: 'has ended', spec: { nodeName: 'n' }, status: { phase: 'Failed' }, seconds: 0 },
  { title: 'has a time below zero', spec: { nodeName: 'n', terminationGracePeriodSeconds: -1 }, seconds: 1 },
]
for (const { title, spec, status = {}, requested, seconds } of graces) {
  test(`a pod that ${title} has ${seconds} seconds left`, () =>
    assert.equal(pod.gracePeriodSeconds?.(make(spec, { status }), requested), seconds))
}

test('pods are selected by an old name of the node too', () => {
  const object = make({ nodeName: 'n' }, { status: { podIPs: [{ ip: '::1' }] } })
  const fields = Object.fromEntries(Object.entries(pod.selectableFields ?? {}).map(([path, read]) => [path, read(object)]))
  assert.equal(fields['spec.host'], 'n')
  assert.equal(fields['status.podIP'], '::1')
  assert.equal(fields['status.podIPs'], '')
})

test('only new pods are warned of', () => {
  const old = make({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' } })
  const kubernetes = contextWith({ identity: identityOf('kubernetes') })
  assert.equal(pod.warnings?.(old, undefined, kubernetes).length, 1)
  assert.equal(pod.warnings?.(old, old, kubernetes).length, 0)
})
