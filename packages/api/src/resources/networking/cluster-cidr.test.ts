// Cluster ranges: bits for nodes that fit, and nothing that changes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { clusterCidr } from './cluster-cidr.js'
import type { ClusterCIDR, ClusterCIDRSpec } from './v1alpha1.schema.js'

const context = usualContext()
const metadata = { name: 'r', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec: ClusterCIDRSpec): ClusterCIDR => frozen({ metadata, spec: { perNodeHostBits: 8, ...spec } })
const nodeSelector = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['a', 'b'] }] }] }

const rows: readonly { readonly title: string; readonly spec: ClusterCIDRSpec; readonly found: readonly string[] }[] = [
  { title: 'both families', spec: { ipv4: '10.1.0.0/16', ipv6: '2001:db8::/64', nodeSelector }, found: [] },
  { title: 'nothing', spec: {}, found: ['spec: Required value: one or both of `ipv4` and `ipv6` must be specified'] },
  { title: 'what is no range', spec: { ipv4: 'x' }, found: ['spec.IPv4: Invalid value: "x": must be a valid CIDR: x'] },
  {
    title: 'the other family',
    spec: { ipv6: '10.1.0.0/16' },
    found: ['spec.IPv6: Invalid value: "10.1.0.0/16": must be a valid IPv6 CIDR'],
  },
  {
    title: 'too few bits',
    spec: { ipv4: '10.1.0.0/16', perNodeHostBits: 3 },
    found: ['spec.perNodeHostBits: Invalid value: 3: must be greater than or equal to 4'],
  },
  {
    title: 'too many bits',
    spec: { ipv4: '10.1.0.0/16', perNodeHostBits: 17 },
    found: ['spec.perNodeHostBits: Invalid value: 17: must be less than or equal to 16'],
  },
  {
    title: 'an empty selector',
    spec: { ipv4: '10.1.0.0/16', nodeSelector: {} },
    found: ['spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term'],
  },
]
for (const { title, spec, found } of rows)
  test(`a range of ${title}`, () => expectErrors(validateCreation(clusterCidr, make(spec), context), found))

test('its name is one label', () => {
  const object = { ...make({ ipv4: '10.1.0.0/16' }), metadata: { ...metadata, name: 'a.b' } }
  expectErrors(validateCreation(clusterCidr, object, context), ['metadata.name: Invalid value: "a.b": a lowercase RFC 1123 label'])
})

test('nothing of it changes', () => {
  const next = make({ ipv4: '10.2.0.0/16', perNodeHostBits: 9, nodeSelector })
  expectErrors(validateChange(clusterCidr, { next, old: make({ ipv4: '10.1.0.0/16' }) }, context), [
    'spec.nodeSelector: Invalid value: {',
    'spec.perNodeHostBits: Invalid value: 9: field is immutable',
    'spec.ipv4: Invalid value: "10.2.0.0/16": field is immutable',
  ])
})

test('rows of the table', () => {
  assert.deepEqual(clusterCidr.table?.cells(make({ ipv4: '10.1.0.0/16' }), context), ['r', '8', '10.1.0.0/16', '<none>', '60m', '<none>'])
  assert.equal(clusterCidr.table?.cells(make({ nodeSelector }), context)[5], 'MatchExpressions: [{k In [a b]}]')
})
