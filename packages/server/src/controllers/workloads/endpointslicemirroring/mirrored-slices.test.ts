// Tests of mirrored Endpoints: groups by IP family and ports, invalid addresses, the limit.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mirror } from './mirrored-slices.js'

test('a group per IP family and ports, ready addresses first', () => {
  const { groups, invalid, skipped } = mirror({
    subsets: [
      { addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], notReadyAddresses: [{ ip: '10.0.0.2' }], ports: [{ port: 1 }] },
      { addresses: [{ ip: '10.0.0.3' }, { ip: 'x' }], ports: [{ port: 2 }] },
    ],
  })
  assert.deepEqual(
    Array.from(groups.values(), ({ family, ports, endpoints }) => [
      family,
      ports[0]?.port,
      Array.from(endpoints.values(), ({ addresses }) => addresses?.[0]),
    ]),
    [
      ['IPv4', 1, ['10.0.0.1', '10.0.0.2']],
      ['IPv6', 1, ['fd00::1']],
      ['IPv4', 2, ['10.0.0.3']],
    ],
  )
  assert.deepEqual([invalid, skipped], [1, 1])
})

test('at most 1,000 addresses of a subset', () => {
  const addresses = Array.from({ length: 1001 }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }))
  const { groups, skipped } = mirror({ subsets: [{ addresses, ports: [{ port: 1 }] }] })
  assert.deepEqual([[...groups.values()][0]?.endpoints.size, skipped], [1000, 1])
})

test('an address in two subsets with the same ports is one endpoint', () => {
  const ports = [{ port: 1 }]
  const { groups } = mirror({
    subsets: [
      { addresses: [{ ip: '10.0.0.1' }], ports },
      { notReadyAddresses: [{ ip: '10.0.0.1' }], ports },
    ],
  })
  const endpoints = [...groups.values()].flatMap((group) => [...group.endpoints.values()])
  assert.deepEqual(endpoints, [{ addresses: ['10.0.0.1'], conditions: { ready: false } }])
})
