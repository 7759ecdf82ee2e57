// Nodes: ranges that stand in two fields, taints, what stays once it is set, and how a table shows them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { node } from './node.js'
import type { Node, NodeSpec, NodeStatus } from './v1.schema.js'

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

const ranges: readonly { readonly title: string; readonly sent: NodeSpec; readonly kept: NodeSpec }[] = [
  { title: 'one from the other', sent: { podCIDR: '10.0.0.0/24' }, kept: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] } },
  {
    title: 'the other from one',
    sent: { podCIDRs: ['10.0.0.0/24', '::/64'] },
    kept: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', '::/64'] },
  },
  { title: 'the singular before the plural', sent: { podCIDR: 'a', podCIDRs: ['b', 'c'] }, kept: { podCIDR: 'a', podCIDRs: ['a'] } },
]
for (const { title, sent, kept } of ranges) {
  test(`ranges: ${title}`, () => assert.deepEqual((node.defaults?.(make(sent), context) as Node | undefined)?.spec, kept))
}

test('all that there is can be allocated unless the node says otherwise', () => {
  const status = (node.defaults?.(make({}, { capacity: { cpu: '4', memory: '1u' } }), context) as Node | undefined)?.status
  assert.deepEqual(status, { capacity: { cpu: '4', memory: '1m' }, allocatable: { cpu: '4', memory: '1m' } })
  const reserved = make({}, { capacity: { cpu: '4' }, allocatable: { cpu: '3' } })
  assert.equal(node.defaults?.(reserved, context), reserved)
})

const rows: readonly { readonly title: string; readonly object: Node; readonly found: readonly string[] }[] = [
  { title: 'nothing', object: make(), found: [] },
  { title: 'two ranges', object: make({ podCIDRs: ['10.0.0.0/24', '2001:db8::/64'] }), found: [] },
  {
    title: 'taints that are wrong',
    object: make({
      taints: [
        { key: 'a', effect: 'Maybe' },
        { key: 'b', value: 'not ok!', effect: 'NoSchedule' },
        { key: 'b', effect: 'NoSchedule' },
        { key: 'c' },
      ],
    }),
    found: [
      'metadata.taints[0].effect: Unsupported value: "Maybe": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      'metadata.taints[1].value: Invalid value: "not ok!": a valid label must be',
      'metadata.taints[2]: Duplicate value: {"key":"b","effect":"NoSchedule"}: taints must be unique by key and effect pair',
      'metadata.taints[3].effect: Required value',
    ],
  },
  {
    title: 'ranges that are wrong',
    object: make({ podCIDRs: ['10.0.0.0/24', 'nope', '10.0.0.0/24'] }),
    found: [
      'spec.podCIDRs[1]: Invalid value: ["10.0.0.0/24","nope","10.0.0.0/24"]: must be valid CIDR',
      'spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]',
      'spec.podCIDRs: Invalid value: ["10.0.0.0/24","nope","10.0.0.0/24"]: may specify no more than one CIDR for each IP family',
      'spec.podCIDRs[2]: Duplicate value: "10.0.0.0/24"',
    ],
  },
  {
    title: 'amounts that are wrong',
    object: make({}, { capacity: { cpu: '-1' }, allocatable: { pods: '1500m' } }),
    found: [
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'status.allocatable.pods: Invalid value: "1500m": must be an integer',
    ],
  },
  { title: 'taints in an annotation', object: annotated('taints', [{ key: 'a', effect: 'NoExecute' }]), found: [] },
  {
    title: 'a taint without effect in an annotation',
    object: annotated('taints', [{ key: 'a' }]),
    found: ['metadata.annotations.scheduler.alpha.cluster.io/taints[0].effect: Required value'],
  },
  {
    title: 'an annotation that is no list',
    object: annotated('taints', '{'),
    found: ['metadata.annotations: Invalid value: "scheduler.alpha.cluster.io/taints": unexpected end of JSON input'],
  },
  {
    title: 'annotated taints of other types',
    object: annotated('taints', '[{"key":5}]'),
    found: ['metadata.annotations: Invalid value: "scheduler.alpha.cluster.io/taints": [0].key: cannot read number as string'],
  },
  {
    title: 'an annotated taint that is nothing',
    object: annotated('taints', '[null]'),
    found: [
      'metadata.annotations.scheduler.alpha.cluster.io/taints[0].key: Invalid value: "": name part must be non-empty',
      'metadata.annotations.scheduler.alpha.cluster.io/taints[0].key: Invalid value: "": name part must consist of',
      'metadata.annotations.scheduler.alpha.cluster.io/taints[0].effect: Required value',
    ],
  },
  {
    title: 'pods to avoid',
    object: annotated('preferAvoidPods', {
      preferAvoidPods: [{ podSignature: { podController: { controller: true } } }, {}, { podSignature: { podController: {} } }],
    }),
    found: [
      'metadata.annotations.scheduler.alpha.cluster.io/preferAvoidPods[1].PodSignature: Required value',
      'metadata.annotations.scheduler.alpha.cluster.io/preferAvoidPods[2].PodSignature.PodController.Controller: Invalid value: false: must point to a controller',
    ],
  },
  {
    title: 'pods to avoid that are no JSON',
    object: annotated('preferAvoidPods', 'x'),
    found: [
      `metadata.annotations.AvoidPods: Invalid value: "scheduler.alpha.cluster.io/preferAvoidPods": invalid character 'x' looking for beginning of value`,
    ],
  },
  {
    title: 'pods to avoid, one of which is nothing',
    object: annotated('preferAvoidPods', '{"preferAvoidPods":[null]}'),
    found: ['metadata.annotations.scheduler.alpha.cluster.io/preferAvoidPods[0].PodSignature: Required value'],
  },
  {
    title: 'pods to avoid that are nonsense',
    object: annotated('preferAvoidPods', '7'),
    found: ['metadata.annotations.AvoidPods: Invalid value: "scheduler.alpha.cluster.io/preferAvoidPods": cannot read number as AvoidPods'],
  },
]
for (const { title, object, found } of rows)
  test(`create with ${title}`, () => expectErrors(validateCreation(node, object, context), found))

const once = (name: string): string => `Forbidden: node updates may not change ${name} except from "" to valid`
const configured = { configMap: { namespace: 'x', name: 'y', kubeletConfigKey: 'z' } }
const changes: readonly { readonly title: string; readonly next: Node; readonly old: Node; readonly found: readonly string[] }[] = [
  {
    title: 'what was empty',
    next: make({ podCIDR: 'a/8', podCIDRs: ['10.0.0.0/8'], providerID: 'x', unschedulable: true }),
    old: make(),
    found: [],
  },
  {
    title: 'what was set',
    next: make({ podCIDRs: ['10.2.0.0/24'], providerID: 'y', externalID: 'e' }),
    old: make({ podCIDRs: ['10.1.0.0/24'], providerID: 'x' }),
    found: [
      `spec.podCIDRs: ${once('podCIDR')}`,
      `spec.providerID: ${once('providerID')}`,
      'spec.externalID: Forbidden: may not be updated',
    ],
  },
  {
    title: 'how many ranges there are',
    next: make(),
    old: make({ podCIDRs: ['10.1.0.0/24'] }),
    found: [`spec.podCIDRs: ${once('podCIDR')}`],
  },
  {
    title: 'addresses to what is repeated',
    next: make(
      {},
      {
        addresses: [
          { type: 'InternalIP', address: 'a' },
          { type: 'Hostname', address: 'a' },
          { type: 'InternalIP', address: 'a' },
        ],
      },
    ),
    old: make(),
    found: ['status.addresses[2]: Duplicate value: {"type":"InternalIP","address":"a"}'],
  },
  {
    title: 'taints to what is wrong, which is said twice',
    next: make({ taints: [{ key: 'a' }] }),
    old: make(),
    found: ['metadata.taints[0].effect: Required value', 'metadata.taints[0].effect: Required value'],
  },
  {
    title: 'a configuration of old',
    next: make({ configSource: { configMap: { uid: 'u', name: 'Y', namespace: 'x' } } }, { config: { active: {}, assigned: configured } }),
    old: make(),
    found: [
      'spec.configSource.configMap.uid: Forbidden: uid must not be set in spec',
      'spec.configSource.configMap.name: Invalid value: "Y"',
      'spec.configSource.configMap.kubeletConfigKey: Required value: kubeletConfigKey must be set',
      'status.config.assigned.configMap.uid: Required value: uid must be set in status',
      'status.config.assigned.configMap.resourceVersion: Required value: resourceVersion must be set in status',
      'status.config.active: Invalid value: {}: exactly one reference subfield must be non-nil',
    ],
  },
]
for (const { title, next, old, found } of changes) {
  test(`change ${title}`, () => expectErrors(validateChange(node, { next, old }, context), found))
}

test('each door writes its part, and configuration does not come back', () => {
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

test('a field that nobody reads any more is no reason to warn', () => assert.equal(node.warnings, undefined))

test('whether pods are put on it can be selected', () => {
  const read = node.selectableFields?.['spec.unschedulable']
  assert.deepEqual([read?.(make()), read?.(make({ unschedulable: true }))], ['false', 'true'])
})

test('rows of the table', () => {
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
