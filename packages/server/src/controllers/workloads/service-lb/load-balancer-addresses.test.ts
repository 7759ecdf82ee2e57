// Tests of the addresses of load balancers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInRange, nextAddress } from './load-balancer-addresses.js'

const rows: readonly (readonly [range: string, taken: readonly string[], wanted: string, expected: string | undefined])[] = [
  ['192.0.2.0/29', [], '', '192.0.2.1'],
  ['192.0.2.0/29', ['192.0.2.1', '192.0.2.3'], '', '192.0.2.2'],
  ['192.0.2.0/30', ['192.0.2.1', '192.0.2.2'], '', undefined],
  ['192.0.2.4/32', [], '', '192.0.2.4'],
  ['192.0.2.0/24', [], '192.0.2.77', '192.0.2.77'],
  ['192.0.2.0/24', ['192.0.2.77'], '192.0.2.77', undefined],
  ['192.0.2.0/24', [], '10.0.0.1', undefined],
  ['2001:db8::/64', ['2001:db8::'], '', '2001:db8::1'],
]

for (const [range, taken, wanted, expected] of rows)
  test(`${range} without ${taken.join() || 'any'}, wanted ${wanted || 'any'}`, () =>
    assert.equal(nextAddress(range, new Set(taken), wanted), expected))

test('addresses in a range', () => {
  assert.ok(isInRange('192.0.2.0/24', '192.0.2.9'))
  assert.ok(!isInRange('192.0.2.0/24', '192.0.3.9'))
})
