// Tests of ClusterCIDRs: perNodeHostBits, immutable fields.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { clusterCidr } from './cluster-cidr.js'
import type { ClusterCIDR, ClusterCIDRSpec } from './v1alpha1.schema.js'

const context = usualContext()
const metadata = { name: 'r', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec: ClusterCIDRSpec): ClusterCIDR => frozen({ metadata, spec: { perNodeHostBits: 8, ...spec } })
const nodeSelector = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['a', 'b'] }] }] }

const rows: readonly (readonly [spec: ClusterCIDRSpec, ...expected: readonly string[]])[] = [
  [{ ipv4: '10.1.0.0/16', ipv6: '2001:db8::/64', nodeSelector }],
  [{}, 'spec: Required value: one or both of `ipv4` and `ipv6` must be specified'],
  [{ ipv4: 'x' }, 'spec.IPv4: Invalid value: "x": must be a valid CIDR: x'],
  [{ ipv6: '10.1.0.0/16' }, 'spec.IPv6: Invalid value: "10.1.0.0/16": must be a valid IPv6 CIDR'],
  [{ ipv4: '10.1.0.0/16', perNodeHostBits: 3 }, 'spec.perNodeHostBits: Invalid value: 3: must be greater than or equal to 4'],
  [{ ipv4: '10.1.0.0/16', perNodeHostBits: 17 }, 'spec.perNodeHostBits: Invalid value: 17: must be less than or equal to 16'],
  [
    { ipv4: '10.1.0.0/16', nodeSelector: {} },
    'spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term',
  ],
]
for (const [spec, ...expected] of rows)
  test(`a ClusterCIDR: ${rowTitle(spec, expected)}`, () => expectErrors(validateCreation(clusterCidr, make(spec), context), expected))

test('the name must be a DNS label', () => {
  const object = { ...make({ ipv4: '10.1.0.0/16' }), metadata: { ...metadata, name: 'a.b' } }
  expectErrors(validateCreation(clusterCidr, object, context), ['metadata.name: Invalid value: "a.b": a lowercase RFC 1123 label'])
})

test('all fields are immutable', () => {
  const next = make({ ipv4: '10.2.0.0/16', perNodeHostBits: 9, nodeSelector })
  expectErrors(validateChange(clusterCidr, { next, old: make({ ipv4: '10.1.0.0/16' }) }, context), [
    'spec.nodeSelector: Invalid value: {',
    'spec.perNodeHostBits: Invalid value: 9: field is immutable',
    'spec.ipv4: Invalid value: "10.2.0.0/16": field is immutable',
  ])
})

test('printer columns', () => {
  assert.deepEqual(clusterCidr.table?.cells(make({ ipv4: '10.1.0.0/16' }), context), ['r', '8', '10.1.0.0/16', '<none>', '60m', '<none>'])
  assert.equal(clusterCidr.table?.cells(make({ nodeSelector }), context)[5], 'MatchExpressions: [{k In [a b]}]')
})
