// Network policies: defaults, peers and ports, and a status that nobody may report yet.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { networkPolicy } from './network-policy.js'
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'p', namespace: 'shop', resourceVersion: '1', generation: 1, creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec: NetworkPolicySpec, status: NetworkPolicy['status'] = {}): NetworkPolicy => frozen({ metadata, spec, status })

const defaults: readonly { readonly title: string; readonly sent: NetworkPolicySpec; readonly kept: NetworkPolicySpec }[] = [
  { title: 'nothing', sent: {}, kept: { policyTypes: ['Ingress'] } },
  {
    title: 'ingress',
    sent: { ingress: [{ ports: [{ port: 80 }] }] },
    kept: { ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }], policyTypes: ['Ingress'] },
  },
  { title: 'egress', sent: { egress: [{}] }, kept: { egress: [{}], policyTypes: ['Ingress', 'Egress'] } },
  { title: 'what it says itself', sent: { egress: [{}], policyTypes: ['Egress'] }, kept: { egress: [{}], policyTypes: ['Egress'] } },
]
for (const { title, sent, kept } of defaults) {
  test(`defaults of a policy of ${title}`, () => {
    const complete = networkPolicy.defaults?.(make(sent), context)
    assert.deepEqual(complete, make(kept))
    assert.ok(complete !== undefined)
    assert.equal(networkPolicy.defaults?.(complete, context), complete)
  })
}

const from = (...peers: readonly NetworkPolicyPeer[]): NetworkPolicySpec => ({ ingress: [{ from: peers }] })
const at = (...ports: readonly NetworkPolicyPort[]): NetworkPolicySpec => ({ egress: [{ ports }] })
const rows: readonly { readonly title: string; readonly spec: NetworkPolicySpec; readonly found: readonly string[] }[] = [
  { title: 'nobody', spec: { podSelector: {} }, found: [] },
  {
    title: 'peers',
    spec: from({ podSelector: {}, namespaceSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }),
    found: [],
  },
  {
    title: 'peers that are wrong',
    spec: from(
      {},
      { podSelector: {}, ipBlock: { cidr: '10.0.0.0/33' } },
      { ipBlock: {} },
      { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } },
    ),
    found: [
      'spec.ingress[0].from[0]: Required value: must specify a peer',
      'spec.ingress[0].from[1].ipBlock.cidr: Invalid value: "10.0.0.0/33": not a valid CIDR',
      'spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer',
      'spec.ingress[0].from[2].ipBlock.cidr: Required value',
      'spec.ingress[0].from[3].namespaceSelector.matchExpressions[0].operator: Invalid value: "Odd"',
    ],
  },
  {
    title: 'exceptions, up to the first that is none',
    spec: from({ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16', '10.0.0.0/8', 'x', 'y'] } }),
    found: [
      'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
      'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
      'spec.ingress[0].from[0].ipBlock.except[2]: Invalid value: "x": not a valid CIDR',
    ],
  },
  { title: 'ports', spec: at({ port: 80, endPort: 90 }, { port: 'http' }, { protocol: 'SCTP' }), found: [] },
  {
    title: 'ports that are wrong',
    spec: at(
      { protocol: 'ICMP' },
      { port: 0 },
      { port: 'Bad_Name', endPort: 9 },
      { port: 90, endPort: 80 },
      { endPort: 80 },
      { port: 1, endPort: 70000 },
    ),
    found: [
      'spec.egress[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"',
      'spec.egress[0].ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.egress[0].ports[2].endPort: Invalid value: 9: may not be specified when `port` is non-numeric',
      'spec.egress[0].ports[2].port: Invalid value: "Bad_Name": must contain only',
      'spec.egress[0].ports[3].endPort: Invalid value: 90: must be greater than or equal to `port`',
      'spec.egress[0].ports[4].endPort: Invalid value: 80: may not be specified when `port` is not specified',
      'spec.egress[0].ports[5].endPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
    ],
  },
  {
    title: 'an unknown type',
    spec: { policyTypes: ['Sideways'] },
    found: ['spec.policyTypes[0]: Unsupported value: "Sideways": supported values: "Ingress", "Egress"'],
  },
  {
    title: 'too many types',
    spec: { policyTypes: ['Ingress', 'Egress', 'Sideways'] },
    found: ['spec.policyTypes: Invalid value: ["Ingress","Egress","Sideways"]: may not specify more than two policyTypes'],
  },
]
for (const { title, spec, found } of rows) {
  test(`a policy about ${title}`, () => {
    expectErrors(validateCreation(networkPolicy, make(spec), context), found)
    expectErrors(validateChange(networkPolicy, { next: make(spec), old: make({}) }, context), [...found, ...found])
  })
}

const [door] = networkPolicy.subresources ?? []
const conditions = [{ type: 'Accepted', status: 'True', reason: 'Fine', lastTransitionTime: '2024-03-01T11:00:00Z' }]

test('the generation counts changes of the spec', () => {
  const generation = (object: unknown) => (object as NetworkPolicy).metadata?.generation
  assert.equal(generation(networkPolicy.prepareUpdate?.(make({ policyTypes: ['Egress'] }), make({}), context)), 2)
  assert.equal(generation(networkPolicy.prepareUpdate?.(make({ podSelector: {} }), make({}), context)), 1)
})

test('as long as nobody may report, a status can only be cleared', () => {
  assert.ok(door !== undefined)
  const [reported, bare] = [make({}, { conditions }), make({})]
  assert.deepEqual(door.prepareUpdate(reported, bare, context), bare)
  assert.deepEqual(door.prepareUpdate(bare, reported, context), bare)
  assert.deepEqual(networkPolicy.prepareUpdate?.(bare, reported, context), reported)
})

test('where reporting is on, conditions are kept and checked', () => {
  assert.ok(door !== undefined)
  const on = testContext()
  const reported = make({}, { conditions: [{ ...conditions[0], reason: '' }] })
  assert.deepEqual(door.prepareUpdate(reported, make({}), on), reported)
  expectErrors(validateChange(networkPolicy, { next: reported, old: make({}), subresource: door }, on), [
    'status.conditions[0].reason: Required value: must be set',
  ])
  assert.deepEqual(networkPolicy.prepareCreate?.(reported, on), make({}))
})

test('rows of the table', () => {
  assert.deepEqual(networkPolicy.table?.cells(make({ podSelector: {} }), context), ['p', '<none>', '60m'])
  const podSelector = { matchLabels: { b: '2' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['y', 'x'] }] }
  assert.equal(networkPolicy.table?.cells(make({ podSelector }), context)[1], 'a in (x,y),b=2')
})
