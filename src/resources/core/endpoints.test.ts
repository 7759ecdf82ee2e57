// What endpoints default to, which addresses and ports are refused, and how the table shows them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { endpoints } from './endpoints.js'
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'web', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (...subsets: readonly EndpointSubset[]): Endpoints => frozen({ metadata, subsets })
const address = { ip: '10.0.0.1' }
const port = { port: 80, protocol: 'TCP' }

test('ports without a protocol speak TCP', () => {
  const sent = make({ addresses: [address], ports: [{ port: 80 }, { port: 53, protocol: 'UDP' }] }, { notReadyAddresses: [address] })
  const expected = [{ addresses: [address], ports: [port, { port: 53, protocol: 'UDP' }] }, { notReadyAddresses: [address] }]
  assert.deepEqual(endpoints.defaults?.(sent, context), { metadata, subsets: expected })
})

test('what is complete stays the same object', () => {
  for (const sent of [make(), make({ addresses: [address], ports: [port] }), frozen({ metadata })]) {
    assert.equal(endpoints.defaults?.(sent, context), sent)
  }
})

const label = 'a lowercase RFC 1123 label must consist of'
const addresses: readonly { readonly title: string; readonly address: EndpointAddress; readonly found: readonly string[] }[] = [
  { title: 'everything', address: { ip: '10.0.0.1', hostname: 'b', nodeName: 'n2.x', targetRef: { kind: 'Pod' } }, found: [] },
  { title: 'IPv6', address: { ip: '2001:DB8:0:0::1' }, found: [] },
  {
    title: 'no ip',
    address: {},
    found: [
      'ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'ip: Invalid value: "": must be a valid IP address',
    ],
  },
  {
    title: 'a loopback ip and a bad hostname and node',
    address: { ip: '127.0.0.1', hostname: 'a.b', nodeName: '' },
    found: [
      `hostname: Invalid value: "a.b": ${label}`,
      'nodeName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of',
      'ip: Invalid value: "127.0.0.1": may not be in the loopback range',
    ],
  },
]

for (const list of ['addresses', 'notReadyAddresses'] as const) {
  for (const row of addresses) {
    test(`${list} with ${row.title}`, () => {
      const errors = lines(validateCreation(endpoints, make({ [list]: [address, row.address], ports: [port] }), context))
      const found = row.found.map((line) => `subsets[0].${list}[1].${line}`)
      assert.deepEqual(
        errors.map((line, i) => line.slice(0, found[i]?.length)),
        found,
      )
    })
  }
}

const ports: readonly { readonly title: string; readonly ports: readonly EndpointPort[]; readonly found: readonly string[] }[] = [
  { title: 'one without a name', ports: [port], found: [] },
  { title: 'none', ports: [], found: [] },
  {
    title: 'the same name twice',
    ports: [
      { ...port, name: 'a' },
      { ...port, name: 'a' },
    ],
    found: [],
  },
  { title: 'an application protocol', ports: [{ ...port, appProtocol: 'cluster.io/h2c' }], found: [] },
  {
    title: 'several without a name',
    ports: [port, port],
    found: ['ports[0].name: Required value', 'ports[1].name: Required value'],
  },
  { title: 'a bad name', ports: [{ ...port, name: 'Web' }], found: [`ports[0].name: Invalid value: "Web": ${label}`] },
  { title: 'no number', ports: [{ protocol: 'TCP' }], found: ['ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive'] },
  { title: 'no protocol', ports: [{ port: 80 }], found: ['ports[0].protocol: Required value'] },
  {
    title: 'an unknown protocol',
    ports: [{ port: 1, protocol: 'HTTP' }],
    found: ['ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
  },
  {
    title: 'a bad application protocol',
    ports: [{ ...port, appProtocol: 'a/b/c' }],
    found: ['ports[0].appProtocol: Invalid value: "a/b/c": a qualified name'],
  },
]

for (const row of ports) {
  test(`ports: ${row.title}`, () => {
    const errors = lines(validateCreation(endpoints, make({ addresses: [address], ports: row.ports }), context))
    const found = row.found.map((line) => `subsets[0].${line}`)
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, found[i]?.length)),
      found,
    )
  })
}

test('a subset has addresses', () => {
  assert.deepEqual(lines(validateCreation(endpoints, make({ ports: [port] }), context)), [
    'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
  ])
})

test('an update is checked like a creation', () => {
  const change = { next: make({ addresses: [{ ip: '169.254.0.1' }], ports: [port] }), old: make() }
  assert.deepEqual(lines(validateChange(endpoints, change, context)), [
    'subsets[0].addresses[0].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  ])
})

const six = ['1', '2', '3', '4', '5', '6'].map((last) => ({ ip: `10.0.0.${last}` }))
const cells: readonly { readonly title: string; readonly object: Endpoints; readonly cell: string }[] = [
  { title: 'no subsets', object: frozen({ metadata }), cell: '<none>' },
  { title: 'addresses without ports', object: make({ addresses: [address] }), cell: '10.0.0.1' },
  { title: 'nothing ready', object: make({ notReadyAddresses: [address], ports: [port] }), cell: '' },
  { title: 'three', object: make({ addresses: six.slice(0, 3), ports: [port] }), cell: '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80' },
  { title: 'many', object: make({ addresses: six, ports: [port] }), cell: '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 3 more...' },
  {
    title: 'every port of every subset',
    object: make({ addresses: [address], ports: [port, { port: 81 }] }, { addresses: [{ ip: 'fd00::1' }], ports: [port] }),
    cell: '10.0.0.1:80,10.0.0.1:81,[fd00::1]:80',
  },
]

for (const { title, object, cell } of cells) {
  test(`the table shows ${title}`, () => assert.deepEqual(endpoints.table?.cells(object, context), ['web', cell, '60m']))
}
