// Endpoint slices: addresses of their type, bounds, and what is counted as a change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { endpointSlice } from './endpoint-slice.js'
import type { Endpoint, EndpointPort, EndpointSlice } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'e', namespace: 'shop', resourceVersion: '1', generation: 1, creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (more: Partial<EndpointSlice> = {}): EndpointSlice => frozen({ metadata, addressType: 'IPv4', ...more })
const behind = (endpoint: Endpoint, addressType = 'IPv4'): EndpointSlice => make({ addressType, endpoints: [endpoint] })
const at = (...ports: readonly EndpointPort[]): EndpointSlice => make({ ports })
const address = { addresses: ['10.0.0.1'] }

test('ports have a name, be it empty, and speak TCP', () => {
  const complete = endpointSlice.defaults?.(at({ port: 80 }, { name: 'x', protocol: 'UDP' }), context)
  assert.deepEqual(complete, at({ port: 80, name: '', protocol: 'TCP' }, { name: 'x', protocol: 'UDP' }))
  assert.ok(complete !== undefined)
  assert.equal(endpointSlice.defaults?.(complete, context), complete)
})

const many = <T>(count: number, item: (i: number) => T): readonly T[] => Array.from({ length: count }, (_, i) => item(i))
const rows: readonly { readonly title: string; readonly object: EndpointSlice; readonly found: readonly string[] }[] = [
  { title: 'nothing', object: make(), found: [] },
  { title: 'no type', object: make({ addressType: '' }), found: ['addressType: Required value'] },
  {
    title: 'an unknown type, whose addresses are not looked at',
    object: behind({ addresses: ['?'] }, 'IPX'),
    found: ['addressType: Unsupported value: "IPX": supported values: "FQDN", "IPv4", "IPv6"'],
  },
  { title: 'no addresses', object: behind({}), found: ['endpoints[0].addresses: Required value: must contain at least 1 address'] },
  {
    title: 'addresses of another family',
    object: behind({ addresses: ['x', '::1', '10.0.0.1'] }),
    found: [
      'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IPv4 address',
      'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IP address',
      'endpoints[0].addresses[1]: Invalid value: "::1": must be a valid IPv4 address',
      'endpoints[0].addresses[1]: Invalid value: "::1": may not be in the loopback range',
    ],
  },
  {
    title: 'IPv6',
    object: behind({ addresses: ['2001:db8::1', '10.0.0.1'] }, 'IPv6'),
    found: ['endpoints[0].addresses[1]: Invalid value: "10.0.0.1": must be a valid IPv6 address'],
  },
  {
    title: 'names',
    object: behind({ addresses: ['a.example', 'short'] }, 'FQDN'),
    found: ['endpoints[0].addresses[1]: Invalid value: "short": should be a domain with at least two segments'],
  },
  {
    title: 'an endpoint that is wrong',
    object: behind({
      ...address,
      hostname: 'A.b',
      nodeName: 'N_n',
      zone: 'any thing',
      hints: { forZones: [{ name: 'z' }, { name: 'z' }, { name: 'a b' }] },
    }),
    found: [
      'endpoints[0].nodeName: Invalid value: "N_n"',
      'endpoints[0].hostname: Invalid value: "A.b"',
      'endpoints[0].hints.forZones[1].name: Duplicate value: "z"',
      'endpoints[0].hints.forZones[2].name: Invalid value: "a b"',
    ],
  },
  {
    title: 'ports that are wrong',
    object: at(
      { name: 'a', protocol: 'TCP' },
      { name: 'a', protocol: 'X' },
      { name: 'UP', protocol: 'TCP', appProtocol: 'a b' },
      { name: 'n' },
    ),
    found: [
      'ports[1].name: Duplicate value: "a"',
      'ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      'ports[2].name: Invalid value: "UP"',
      'ports[2].appProtocol: Invalid value: "a b"',
      'ports[3].protocol: Required value',
    ],
  },
  {
    title: 'too many endpoints',
    object: make({ endpoints: many(1001, () => ({})) }),
    found: ['endpoints: Too many: 1001: must have at most 1000 items'],
  },
  {
    title: 'too many addresses',
    object: behind({ addresses: many(101, () => '10.0.0.1') }),
    found: ['endpoints[0].addresses: Too many: 101: must have at most 100 items'],
  },
  {
    title: 'too many zones',
    object: behind({ ...address, hints: { forZones: many(9, () => ({})) } }),
    found: ['endpoints[0].hints.forZones: Too many: 9: must have at most 8 items'],
  },
  {
    title: 'too many ports',
    object: make({ ports: many(20001, () => ({})) }),
    found: ['ports: Too many: 20001: must have at most 20000 items'],
  },
]
for (const { title, object, found } of rows)
  test(`a slice with ${title}`, () => expectErrors(validateCreation(endpointSlice, object, context), found))

test('the type stays', () => {
  expectErrors(validateChange(endpointSlice, { next: make({ addressType: 'FQDN' }), old: make() }, context), [
    'addressType: Invalid value: "FQDN": field is immutable',
  ])
})

const generations: readonly { readonly title: string; readonly next: EndpointSlice; readonly generation: number }[] = [
  { title: 'nothing', next: make(), generation: 1 },
  { title: 'endpoints', next: behind(address), generation: 2 },
  { title: 'labels', next: make({ metadata: { ...metadata, labels: { a: 'b' } } }), generation: 2 },
  { title: 'annotations', next: make({ metadata: { ...metadata, annotations: { a: 'b' } } }), generation: 1 },
]
for (const { title, next, generation } of generations) {
  test(`generation after a change of ${title}`, () =>
    assert.equal(endpointSlice.prepareUpdate?.(next, make(), context).metadata?.generation, generation))
}

test('where an endpoint is has fields of its own, and hints may be switched off', () => {
  const sent = behind({ ...address, deprecatedTopology: { zone: 'z' }, hints: { forZones: [{ name: 'z' }] } })
  const endpointOf = (object: unknown) => (object as EndpointSlice | undefined)?.endpoints?.[0]
  assert.deepEqual(endpointOf(endpointSlice.prepareCreate?.(sent, context)), { ...address, hints: { forZones: [{ name: 'z' }] } })
  const off = { ...context, gates: () => false }
  assert.deepEqual(endpointOf(endpointSlice.prepareUpdate?.(sent, make(), off)), address)
  assert.deepEqual(endpointOf(endpointSlice.prepareUpdate?.(sent, sent, context)), sent.endpoints?.[0])
})

test('rows of the table', () => {
  assert.deepEqual(endpointSlice.table?.cells(make(), context), ['e', 'IPv4', '<unset>', '<unset>', '60m'])
  const full = make({
    ports: [{ port: 80 }, { name: 'x' }, {}, { port: 1 }],
    endpoints: [{ addresses: ['a', 'b', 'c'] }, { addresses: ['d', 'e'] }],
  })
  assert.deepEqual(endpointSlice.table?.cells(full, context).slice(2, 4), ['80,x,* + 1 more...', 'a,b,c + 2 more...'])
})
