// Tests of NetworkPolicies: defaults, peers, ports, feature-gated status.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { networkPolicy } from './network-policy.js'
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'p', namespace: 'shop', resourceVersion: '1', generation: 1, creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec: NetworkPolicySpec, status: NetworkPolicy['status'] = {}): NetworkPolicy => frozen({ metadata, spec, status })

const defaults: readonly (readonly [title: string, sent: NetworkPolicySpec, kept: NetworkPolicySpec])[] = [
  ['without rules', {}, { policyTypes: ['Ingress'] }],
  [
    'with ingress rules',
    { ingress: [{ ports: [{ port: 80 }] }] },
    { ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }], policyTypes: ['Ingress'] },
  ],
  ['with egress rules', { egress: [{}] }, { egress: [{}], policyTypes: ['Ingress', 'Egress'] }],
  ['with given policyTypes', { egress: [{}], policyTypes: ['Egress'] }, { egress: [{}], policyTypes: ['Egress'] }],
]
for (const [title, sent, kept] of defaults) {
  test(`defaults of a policy ${title}`, () => {
    const complete = networkPolicy.defaults?.(make(sent), context)
    assert.deepEqual(complete, make(kept))
    assert.ok(complete !== undefined)
    assert.equal(networkPolicy.defaults?.(complete, context), complete)
  })
}

const withPeers = (...peers: readonly NetworkPolicyPeer[]): NetworkPolicySpec => ({ ingress: [{ from: peers }] })
const withPorts = (...ports: readonly NetworkPolicyPort[]): NetworkPolicySpec => ({ egress: [{ ports }] })
const rows: readonly (readonly [spec: NetworkPolicySpec, ...expected: readonly string[]])[] = [
  [{ podSelector: {} }],
  [withPeers({ podSelector: {}, namespaceSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } })],
  [
    withPeers(
      {},
      { podSelector: {}, ipBlock: { cidr: '10.0.0.0/33' } },
      { ipBlock: {} },
      { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } },
    ),
    'spec.ingress[0].from[0]: Required value: must specify a peer',
    'spec.ingress[0].from[1].ipBlock.cidr: Invalid value: "10.0.0.0/33": not a valid CIDR',
    'spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer',
    'spec.ingress[0].from[2].ipBlock.cidr: Required value',
    'spec.ingress[0].from[3].namespaceSelector.matchExpressions[0].operator: Invalid value: "Odd"',
  ],
  [
    withPeers({ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16', '10.0.0.0/8', 'x', 'y'] } }),
    'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
    'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
    'spec.ingress[0].from[0].ipBlock.except[2]: Invalid value: "x": not a valid CIDR',
  ],
  [withPorts({ port: 80, endPort: 90 }, { port: 'http' }, { protocol: 'SCTP' })],
  [
    withPorts(
      { protocol: 'ICMP' },
      { port: 0 },
      { port: 'Bad_Name', endPort: 9 },
      { port: 90, endPort: 80 },
      { endPort: 80 },
      { port: 1, endPort: 70000 },
    ),
    'spec.egress[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"',
    'spec.egress[0].ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    'spec.egress[0].ports[2].endPort: Invalid value: 9: may not be specified when `port` is non-numeric',
    'spec.egress[0].ports[2].port: Invalid value: "Bad_Name": must contain only',
    'spec.egress[0].ports[3].endPort: Invalid value: 90: must be greater than or equal to `port`',
    'spec.egress[0].ports[4].endPort: Invalid value: 80: may not be specified when `port` is not specified',
    'spec.egress[0].ports[5].endPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
  ],
  [{ policyTypes: ['Sideways'] }, 'spec.policyTypes[0]: Unsupported value: "Sideways": supported values: "Ingress", "Egress"'],
  [
    { policyTypes: ['Ingress', 'Egress', 'Sideways'] },
    'spec.policyTypes: Invalid value: ["Ingress","Egress","Sideways"]: may not specify more than two policyTypes',
  ],
]
for (const [spec, ...expected] of rows) {
  test(`a policy: ${rowTitle(spec, expected)}`, () => {
    expectErrors(validateCreation(networkPolicy, make(spec), context), expected)
    expectErrors(validateChange(networkPolicy, { next: make(spec), old: make({}) }, context), [...expected, ...expected])
  })
}

const [statusSubresource] = networkPolicy.subresources ?? []
const conditions = [{ type: 'Accepted', status: 'True', reason: 'Fine', lastTransitionTime: '2024-03-01T11:00:00Z' }]

test('spec changes increase the generation', () => {
  const generation = (object: unknown) => (object as NetworkPolicy).metadata?.generation
  assert.equal(generation(networkPolicy.prepareUpdate?.(make({ policyTypes: ['Egress'] }), make({}), context)), 2)
  assert.equal(generation(networkPolicy.prepareUpdate?.(make({ podSelector: {} }), make({}), context)), 1)
})

test('without the feature gate, a status can only be cleared', () => {
  assert.ok(statusSubresource !== undefined)
  const [reported, bare] = [make({}, { conditions }), make({})]
  assert.deepEqual(statusSubresource.prepareUpdate(reported, bare, context), bare)
  assert.deepEqual(statusSubresource.prepareUpdate(bare, reported, context), bare)
  assert.deepEqual(networkPolicy.prepareUpdate?.(bare, reported, context), reported)
})

test('with the feature gate, conditions are kept and validated', () => {
  assert.ok(statusSubresource !== undefined)
  const withGates = testContext()
  const reported = make({}, { conditions: [{ ...conditions[0], reason: '' }] })
  assert.deepEqual(statusSubresource.prepareUpdate(reported, make({}), withGates), reported)
  expectErrors(validateChange(networkPolicy, { next: reported, old: make({}), subresource: statusSubresource }, withGates), [
    'status.conditions[0].reason: Required value: must be set',
  ])
  assert.deepEqual(networkPolicy.prepareCreate?.(reported, withGates), make({}))
})

test('printer columns', () => {
  assert.deepEqual(networkPolicy.table?.cells(make({ podSelector: {} }), context), ['p', '<none>', '60m'])
  const podSelector = { matchLabels: { b: '2' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['y', 'x'] }] }
  assert.equal(networkPolicy.table?.cells(make({ podSelector }), context)[1], 'a in (x,y),b=2')
})
