// Tests of Endpoints: defaults, addresses and ports, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../../api/validation/validate-write.js'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '../v1.schema.js'
import { endpoints } from './endpoints.js'

const context = testContext()
const metadata = { name: 'web', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (...subsets: readonly EndpointSubset[]): Endpoints => frozen({ metadata, subsets })
const address = { ip: '10.0.0.1' }
const port = { port: 80, protocol: 'TCP' }

test('the protocol defaults to TCP', () => {
  const sent = make({ addresses: [address], ports: [{ port: 80 }, { port: 53, protocol: 'UDP' }] }, { notReadyAddresses: [address] })
  const expected = [{ addresses: [address], ports: [port, { port: 53, protocol: 'UDP' }] }, { notReadyAddresses: [address] }]
  assert.deepEqual(endpoints.defaults?.(sent, context), { metadata, subsets: expected })
})

test('a complete object is returned unchanged', () => {
  for (const sent of [make(), make({ addresses: [address], ports: [port] }), frozen({ metadata })]) {
    assert.equal(endpoints.defaults?.(sent, context), sent)
  }
})

const label = 'a lowercase RFC 1123 label must consist of'
const addresses: readonly (readonly [address: EndpointAddress, ...expected: readonly string[]])[] = [
  [{ ip: '10.0.0.1', hostname: 'b', nodeName: 'n2.x', targetRef: { kind: 'Pod' } }],
  [{ ip: '2001:DB8:0:0::1' }],
  [
    {},
    'ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'ip: Invalid value: "": must be a valid IP address',
  ],
  [
    { ip: '127.0.0.1', hostname: 'a.b', nodeName: '' },
    `hostname: Invalid value: "a.b": ${label}`,
    'nodeName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of',
    'ip: Invalid value: "127.0.0.1": may not be in the loopback range',
  ],
]

for (const list of ['addresses', 'notReadyAddresses'] as const) {
  for (const [givenAddress, ...problems] of addresses) {
    test(`${list}: ${rowTitle(givenAddress, problems)}`, () => {
      const expected = problems.map((line) => `subsets[0].${list}[1].${line}`)
      expectErrors(validateCreation(endpoints, make({ [list]: [address, givenAddress], ports: [port] }), context), expected)
    })
  }
}

test('an IP is in one of the two lists of a subset, in any notation', () => {
  const both = (ready: string, other: string) =>
    make({ addresses: [{ ip: '10.0.0.9' }, { ip: ready }], notReadyAddresses: [{ ip: other }], ports: [port] })
  const error = 'subsets[0].notReadyAddresses[0].ip: Invalid value'
  expectErrors(validateCreation(endpoints, both('10.0.0.1', '10.0.0.2'), context), [])
  expectErrors(validateCreation(endpoints, both('10.0.0.1', '10.0.0.1'), context), [`${error}: "10.0.0.1": may not be in both`])
  expectErrors(validateCreation(endpoints, both('2001:db8::1', '2001:DB8:0:0::1'), context), [`${error}: "2001:DB8:0:0::1"`])
  const ports = [port]
  expectErrors(validateCreation(endpoints, make({ addresses: [address], ports }, { notReadyAddresses: [address], ports }), context), [])
})

const portRows: readonly (readonly [ports: readonly EndpointPort[], ...expected: readonly string[]])[] = [
  [[port]],
  [[]],
  [
    [
      { ...port, name: 'a' },
      { ...port, name: 'a' },
    ],
  ],
  [[{ ...port, appProtocol: 'cluster.io/h2c' }]],
  [[port, port], 'ports[0].name: Required value', 'ports[1].name: Required value'],
  [[{ ...port, name: 'Web' }], `ports[0].name: Invalid value: "Web": ${label}`],
  [[{ protocol: 'TCP' }], 'ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive'],
  [[{ port: 80 }], 'ports[0].protocol: Required value'],
  [[{ port: 1, protocol: 'HTTP' }], 'ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
  [[{ ...port, appProtocol: 'a/b/c' }], 'ports[0].appProtocol: Invalid value: "a/b/c": a qualified name'],
]

for (const [ports, ...problems] of portRows) {
  test(`ports: ${rowTitle(ports, problems)}`, () => {
    const expected = problems.map((line) => `subsets[0].${line}`)
    expectErrors(validateCreation(endpoints, make({ addresses: [address], ports }), context), expected)
  })
}

test('a subset needs addresses', () => {
  assert.deepEqual(lines(validateCreation(endpoints, make({ ports: [port] }), context)), [
    'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
  ])
})

test('an update is validated like a create', () => {
  const change = { next: make({ addresses: [{ ip: '169.254.0.1' }], ports: [port] }), old: make() }
  assert.deepEqual(lines(validateChange(endpoints, change, context)), [
    'subsets[0].addresses[0].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  ])
})

const six = ['1', '2', '3', '4', '5', '6'].map((last) => ({ ip: `10.0.0.${last}` }))
const cells: readonly (readonly [title: string, object: Endpoints, cell: string])[] = [
  ['no subsets', frozen({ metadata }), '<none>'],
  ['addresses without ports', make({ addresses: [address] }), '10.0.0.1'],
  ['notReadyAddresses only', make({ notReadyAddresses: [address], ports: [port] }), ''],
  ['three addresses', make({ addresses: six.slice(0, 3), ports: [port] }), '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80'],
  ['more than three addresses', make({ addresses: six, ports: [port] }), '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 3 more...'],
  [
    'several ports and subsets',
    make({ addresses: [address], ports: [port, { port: 81 }] }, { addresses: [{ ip: 'fd00::1' }], ports: [port] }),
    '10.0.0.1:80,10.0.0.1:81,[fd00::1]:80',
  ],
]

for (const [title, object, cell] of cells) {
  test(`printer columns of ${title}`, () => assert.deepEqual(endpoints.table?.cells(object, context), ['web', cell, '60m']))
}
