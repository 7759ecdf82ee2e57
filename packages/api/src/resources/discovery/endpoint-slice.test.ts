// Tests of EndpointSlices: addresses by type, limits, generation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { endpointSlice } from './endpoint-slice.js'
import type { Endpoint, EndpointPort, EndpointSlice } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'e', namespace: 'shop', resourceVersion: '1', generation: 1, creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (more: Partial<EndpointSlice> = {}): EndpointSlice => frozen({ metadata, addressType: 'IPv4', ...more })
const withEndpoint = (endpoint: Endpoint, addressType = 'IPv4'): EndpointSlice => make({ addressType, endpoints: [endpoint] })
const withPorts = (...ports: readonly EndpointPort[]): EndpointSlice => make({ ports })
const address = { addresses: ['10.0.0.1'] }

test('ports default to an empty name and TCP', () => {
  const complete = endpointSlice.defaults?.(withPorts({ port: 80 }, { name: 'x', protocol: 'UDP' }), context)
  assert.deepEqual(complete, withPorts({ port: 80, name: '', protocol: 'TCP' }, { name: 'x', protocol: 'UDP' }))
  assert.ok(complete !== undefined)
  assert.equal(endpointSlice.defaults?.(complete, context), complete)
})

const many = <T>(count: number, item: (i: number) => T): readonly T[] => Array.from({ length: count }, (_, i) => item(i))
const rows: readonly (readonly [object: EndpointSlice, ...expected: readonly string[]])[] = [
  [make()],
  [make({ addressType: '' }), 'addressType: Required value'],
  [withEndpoint({ addresses: ['?'] }, 'IPX'), 'addressType: Unsupported value: "IPX": supported values: "FQDN", "IPv4", "IPv6"'],
  [withEndpoint({}), 'endpoints[0].addresses: Required value: must contain at least 1 address'],
  [
    withEndpoint({ addresses: ['x', '::1', '10.0.0.1'] }),
    'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IPv4 address',
    'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IP address',
    'endpoints[0].addresses[1]: Invalid value: "::1": must be a valid IPv4 address',
    'endpoints[0].addresses[1]: Invalid value: "::1": may not be in the loopback range',
  ],
  [
    withEndpoint({ addresses: ['2001:db8::1', '10.0.0.1'] }, 'IPv6'),
    'endpoints[0].addresses[1]: Invalid value: "10.0.0.1": must be a valid IPv6 address',
  ],
  [
    withEndpoint({ addresses: ['a.example', 'short'] }, 'FQDN'),
    'endpoints[0].addresses[1]: Invalid value: "short": should be a domain with at least two segments',
  ],
  [
    withEndpoint({
      ...address,
      hostname: 'A.b',
      nodeName: 'N_n',
      zone: 'any thing',
      hints: { forZones: [{ name: 'z' }, { name: 'z' }, { name: 'a b' }] },
    }),
    'endpoints[0].nodeName: Invalid value: "N_n"',
    'endpoints[0].hostname: Invalid value: "A.b"',
    'endpoints[0].hints.forZones[1].name: Duplicate value: "z"',
    'endpoints[0].hints.forZones[2].name: Invalid value: "a b"',
  ],
  [
    withPorts(
      { name: 'a', protocol: 'TCP' },
      { name: 'a', protocol: 'X' },
      { name: 'UP', protocol: 'TCP', appProtocol: 'a b' },
      { name: 'n' },
    ),
    'ports[1].name: Duplicate value: "a"',
    'ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
    'ports[2].name: Invalid value: "UP"',
    'ports[2].appProtocol: Invalid value: "a b"',
    'ports[3].protocol: Required value',
  ],
  [make({ endpoints: many(1001, () => ({})) }), 'endpoints: Too many: 1001: must have at most 1000 items'],
  [withEndpoint({ addresses: many(101, () => '10.0.0.1') }), 'endpoints[0].addresses: Too many: 101: must have at most 100 items'],
  [
    withEndpoint({ ...address, hints: { forZones: many(9, () => ({})) } }),
    'endpoints[0].hints.forZones: Too many: 9: must have at most 8 items',
  ],
  [make({ ports: many(20001, () => ({})) }), 'ports: Too many: 20001: must have at most 20000 items'],
]
for (const [object, ...expected] of rows)
  test(`a slice: ${rowTitle(object, expected)}`, () => expectErrors(validateCreation(endpointSlice, object, context), expected))

test('addressType is immutable', () => {
  expectErrors(validateChange(endpointSlice, { next: make({ addressType: 'FQDN' }), old: make() }, context), [
    'addressType: Invalid value: "FQDN": field is immutable',
  ])
  const { addressType: _, ...rest } = make()
  expectErrors(validateChange(endpointSlice, { next: rest, old: make() }, context), [
    'addressType: Required value',
    'addressType: Invalid value: "": field is immutable',
  ])
})

const generations: readonly (readonly [title: string, next: EndpointSlice, generation: number])[] = [
  ['no field', make(), 1],
  ['endpoints', withEndpoint(address), 2],
  ['labels', make({ metadata: { ...metadata, labels: { a: 'b' } } }), 2],
  ['annotations', make({ metadata: { ...metadata, annotations: { a: 'b' } } }), 1],
]
for (const [title, next, generation] of generations) {
  test(`generation is ${generation} after a change of ${title}`, () =>
    assert.equal(endpointSlice.prepareUpdate?.(next, make(), context).metadata?.generation, generation))
}

test('deprecatedTopology is dropped, and hints need a feature gate', () => {
  const sent = withEndpoint({ ...address, deprecatedTopology: { zone: 'z' }, hints: { forZones: [{ name: 'z' }] } })
  const endpointOf = (object: unknown) => (object as EndpointSlice | undefined)?.endpoints?.[0]
  assert.deepEqual(endpointOf(endpointSlice.prepareCreate?.(sent, context)), { ...address, hints: { forZones: [{ name: 'z' }] } })
  const withoutGates = { ...context, gates: () => false }
  assert.deepEqual(endpointOf(endpointSlice.prepareUpdate?.(sent, make(), withoutGates)), address)
  assert.deepEqual(endpointOf(endpointSlice.prepareUpdate?.(sent, sent, context)), sent.endpoints?.[0])
})

test('printer columns', () => {
  assert.deepEqual(endpointSlice.table?.cells(make(), context), ['e', 'IPv4', '<unset>', '<unset>', '60m'])
  const full = make({
    ports: [{ port: 80 }, { name: 'x' }, {}, { port: 1 }],
    endpoints: [{ addresses: ['a', 'b', 'c'] }, { addresses: ['d', 'e'] }],
  })
  assert.deepEqual(endpointSlice.table?.cells(full, context).slice(2, 4), ['80,x,* + 1 more...', 'a,b,c + 2 more...'])
})
