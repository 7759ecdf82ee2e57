// Tests of Nodes: pod CIDRs, taints, immutable fields, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../../expect-errors.fixture.js'
import type { Node, NodeSpec, NodeStatus } from '../v1.schema.js'
import { node } from './node.js'

const context = usualContext()
const metadata = { name: 'n', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec: NodeSpec = {}, status: NodeStatus = {}, more: Partial<Node> = {}): Node => frozen({ metadata, spec, status, ...more })
const annotated = (name: string, value: unknown): Node =>
  make(
    {},
    {},
    {
      metadata: {
        ...metadata,
        annotations: { [`scheduler.alpha.cluster.io/${name}`]: typeof value === 'string' ? value : JSON.stringify(value) },
      },
    },
  )

const ranges: readonly (readonly [title: string, sent: NodeSpec, kept: NodeSpec])[] = [
  ['podCIDRs defaults to podCIDR', { podCIDR: '10.0.0.0/24' }, { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] }],
  ['podCIDR from podCIDRs', { podCIDRs: ['10.0.0.0/24', '::/64'] }, { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', '::/64'] }],
  ['podCIDR wins if both differ', { podCIDR: 'a', podCIDRs: ['b', 'c'] }, { podCIDR: 'a', podCIDRs: ['a'] }],
]
for (const [title, sent, kept] of ranges) {
  test(`podCIDR and podCIDRs: ${title}`, () => assert.deepEqual((node.defaults?.(make(sent), context) as Node | undefined)?.spec, kept))
}

test('allocatable defaults to capacity', () => {
  const status = (node.defaults?.(make({}, { capacity: { cpu: '4', memory: '1u' } }), context) as Node | undefined)?.status
  assert.deepEqual(status, { capacity: { cpu: '4', memory: '1m' }, allocatable: { cpu: '4', memory: '1m' } })
  const reserved = make({}, { capacity: { cpu: '4' }, allocatable: { cpu: '3' } })
  assert.equal(node.defaults?.(reserved, context), reserved)
})

const rows: readonly (readonly [object: Node, ...expected: readonly string[]])[] = [
  [make()],
  [make({ podCIDRs: ['10.0.0.0/24', '2001:db8::/64'] })],
  [
    make({
      taints: [
        { key: 'a', effect: 'Maybe' },
        { key: 'b', value: 'not ok!', effect: 'NoSchedule' },
        { key: 'b', effect: 'NoSchedule' },
        { key: 'c' },
      ],
    }),
    'metadata.taints[0].effect: Unsupported value: "Maybe": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    'metadata.taints[1].value: Invalid value: "not ok!": a valid label must be',
    'metadata.taints[2]: Duplicate value: {"key":"b","effect":"NoSchedule"}: taints must be unique by key and effect pair',
    'metadata.taints[3].effect: Required value',
  ],
  [
    make({ podCIDRs: ['10.0.0.0/24', 'nope', '10.0.0.0/24'] }),
    'spec.podCIDRs[1]: Invalid value: ["10.0.0.0/24","nope","10.0.0.0/24"]: must be valid CIDR',
    'spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]',
    'spec.podCIDRs: Invalid value: ["10.0.0.0/24","nope","10.0.0.0/24"]: may specify no more than one CIDR for each IP family',
    'spec.podCIDRs[2]: Duplicate value: "10.0.0.0/24"',
  ],
  [
    make({}, { capacity: { cpu: '-1' }, allocatable: { pods: '1500m' } }),
    'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
    'status.allocatable.pods: Invalid value: "1500m": must be an integer',
  ],
  [annotated('taints', [{ key: 'a', effect: 'NoExecute' }])],
  [annotated('taints', [{ key: 'a' }]), 'metadata.annotations.scheduler.alpha.cluster.io/taints[0].effect: Required value'],
  [annotated('taints', '{'), 'metadata.annotations: Invalid value: "scheduler.alpha.cluster.io/taints": unexpected end of JSON input'],
  [
    annotated('taints', '[{"key":5}]'),
    'metadata.annotations: Invalid value: "scheduler.alpha.cluster.io/taints": [0].key: cannot read number as string',
  ],
  [
    annotated('taints', '[null]'),
    'metadata.annotations.scheduler.alpha.cluster.io/taints[0].key: Invalid value: "": name part must be non-empty',
    'metadata.annotations.scheduler.alpha.cluster.io/taints[0].key: Invalid value: "": name part must consist of',
    'metadata.annotations.scheduler.alpha.cluster.io/taints[0].effect: Required value',
  ],
  [
    annotated('preferAvoidPods', {
      preferAvoidPods: [{ podSignature: { podController: { controller: true } } }, {}, { podSignature: { podController: {} } }],
    }),
    'metadata.annotations.scheduler.alpha.cluster.io/preferAvoidPods[1].PodSignature: Required value',
    'metadata.annotations.scheduler.alpha.cluster.io/preferAvoidPods[2].PodSignature.PodController.Controller: Invalid value: false: must point to a controller',
  ],
  [
    annotated('preferAvoidPods', 'x'),
    `metadata.annotations.AvoidPods: Invalid value: "scheduler.alpha.cluster.io/preferAvoidPods": invalid character 'x' looking for beginning of value`,
  ],
  [
    annotated('preferAvoidPods', '{"preferAvoidPods":[null]}'),
    'metadata.annotations.scheduler.alpha.cluster.io/preferAvoidPods[0].PodSignature: Required value',
  ],
  [
    annotated('preferAvoidPods', '7'),
    'metadata.annotations.AvoidPods: Invalid value: "scheduler.alpha.cluster.io/preferAvoidPods": cannot read number as AvoidPods',
  ],
]
for (const [object, ...expected] of rows)
  test(`create: ${rowTitle(object, expected)}`, () => expectErrors(validateCreation(node, object, context), expected))

const setOnce = (name: string): string => `Forbidden: node updates may not change ${name} except from "" to valid`
const configured = { configMap: { namespace: 'x', name: 'y', kubeletConfigKey: 'z' } }
const changes: readonly (readonly [next: Node, old: Node, ...expected: readonly string[]])[] = [
  [make({ podCIDR: 'a/8', podCIDRs: ['10.0.0.0/8'], providerID: 'x', unschedulable: true }), make()],
  [
    make({ podCIDRs: ['10.2.0.0/24'], providerID: 'y', externalID: 'e' }),
    make({ podCIDRs: ['10.1.0.0/24'], providerID: 'x' }),
    `spec.podCIDRs: ${setOnce('podCIDR')}`,
    `spec.providerID: ${setOnce('providerID')}`,
    'spec.externalID: Forbidden: may not be updated',
  ],
  [make(), make({ podCIDRs: ['10.1.0.0/24'] }), `spec.podCIDRs: ${setOnce('podCIDR')}`],
  [
    make(
      {},
      {
        addresses: [
          { type: 'InternalIP', address: 'a' },
          { type: 'Hostname', address: 'a' },
          { type: 'InternalIP', address: 'a' },
        ],
      },
    ),
    make(),
    'status.addresses[2]: Duplicate value: {"type":"InternalIP","address":"a"}',
  ],
  [make({ taints: [{ key: 'a' }] }), make(), 'metadata.taints[0].effect: Required value', 'metadata.taints[0].effect: Required value'],
  [
    make({ configSource: { configMap: { uid: 'u', name: 'Y', namespace: 'x' } } }, { config: { active: {}, assigned: configured } }),
    make(),
    'spec.configSource.configMap.uid: Forbidden: uid must not be set in spec',
    'spec.configSource.configMap.name: Invalid value: "Y"',
    'spec.configSource.configMap.kubeletConfigKey: Required value: kubeletConfigKey must be set',
    'status.config.assigned.configMap.uid: Required value: uid must be set in status',
    'status.config.assigned.configMap.resourceVersion: Required value: resourceVersion must be set in status',
    'status.config.active: Invalid value: {}: exactly one reference subfield must be non-nil',
  ],
]
for (const [next, old, ...expected] of changes) {
  test(`update: ${rowTitle(next, expected)}`, () => expectErrors(validateChange(node, { next, old }, context), expected))
}

test('spec and status are updated separately, and dynamic configuration is dropped', () => {
  const status = node.subresources?.find(({ name }) => name === 'status')
  const [old, sent] = [
    make({ unschedulable: true }, { phase: 'Running' }),
    make({ configSource: configured }, { config: {}, phase: 'Pending' }),
  ]
  assert.deepEqual(node.prepareUpdate?.(sent, old, context), make({}, { phase: 'Running' }))
  assert.deepEqual(status?.prepareUpdate(sent, old, context), make({ unschedulable: true }, { phase: 'Pending' }))
  assert.deepEqual(node.prepareCreate?.(sent, context), make({}, { phase: 'Pending' }))
  const kept = make({ configSource: configured }, { config: {} })
  assert.deepEqual(node.prepareUpdate?.(sent, kept, context), make({ configSource: configured }, { config: {} }))
})

test('deprecated fields get no warning', () => assert.equal(node.warnings, undefined))

test('spec.unschedulable can be selected', () => {
  const read = node.selectableFields?.['spec.unschedulable']
  assert.deepEqual([read?.(make()), read?.(make({ unschedulable: true }))], ['false', 'true'])
})

test('printer columns', () => {
  assert.deepEqual(node.table?.cells(make(), context), [
    'n',
    'Unknown',
    '<none>',
    '60m',
    '',
    '<none>',
    '<none>',
    '<unknown>',
    '<unknown>',
    '<unknown>',
  ])
  const labels = {
    'node-role.cluster.io/worker': '',
    'node-role.cluster.io/edge': '',
    'node-role.cluster.io/': '',
    'cluster.io/role': 'old',
  }
  const busy = make(
    { unschedulable: true },
    {
      conditions: [{ type: 'Ready', status: 'False' }],
      addresses: [
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'ExternalIP', address: '192.0.2.1' },
      ],
      nodeInfo: { kubeletVersion: 'v1.26.8', osImage: 'os', kernelVersion: 'k', containerRuntimeVersion: 'c://1' },
    },
    { metadata: { ...metadata, labels } },
  )
  const cells = ['n', 'NotReady,SchedulingDisabled', 'edge,old,worker', '60m', 'v1.26.8', '10.0.0.1', '192.0.2.1', 'os', 'k', 'c://1']
  assert.deepEqual(node.table?.cells(busy, context), cells)
})
