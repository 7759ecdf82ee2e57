// Tests of the cluster IP range (bands, membership, allocation order) and of the allocation of node ports.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portAllocatorOf } from './service-ip-allocation.js'
import { addressAt, addressRangeOf, firstAddress, isInRange, networkAddress, nextAddress } from './service-ip-range.js'

const bands: readonly (readonly [text: string, size: number, reserved: number, first: string, last: string])[] = [
  ['10.96.0.0/12', 2 ** 20 - 2, 256, '10.96.0.1', '10.111.255.254'],
  ['10.96.0.0/16', 65534, 256, '10.96.0.1', '10.96.255.254'],
  ['10.96.0.0/20', 4094, 256, '10.96.0.1', '10.96.15.254'],
  ['10.96.0.0/24', 254, 16, '10.96.0.1', '10.96.0.254'],
  ['10.96.0.0/28', 14, 0, '10.96.0.1', '10.96.0.14'],
  ['2001:db8::/108', 65535, 256, '2001:db8::1', '2001:db8::ffff'],
  ['2001:db8::/120', 255, 16, '2001:db8::1', '2001:db8::ff'],
]

for (const [text, size, reserved, first, last] of bands) {
  test(`bands of ${text}`, () => {
    const range = addressRangeOf(text)
    assert.deepEqual([range.size, range.reserved], [size, reserved])
    assert.deepEqual([firstAddress(range), addressAt(range, range.size - 1)], [first, last])
    assert.ok(isInRange(range, first) && isInRange(range, last))
    assert.ok(!isInRange(range, networkAddress(range)) && !isInRange(range, addressAt(range, range.size)))
  })
}

test('a CIDR is printed canonically, and invalid text is rejected', () => {
  assert.equal(addressRangeOf('10.96.3.4/16').text, '10.96.0.0/16')
  assert.throws(() => addressRangeOf('10.96.0.0'), /is not a CIDR/)
})

test('an address of another family and invalid text are outside of the range', () => {
  const range = addressRangeOf('10.96.0.0/16')
  for (const address of ['2001:db8::1', 'x', '10.97.0.1', '10.96.0.0', '10.96.255.255'])
    assert.equal(isInRange(range, address), false, address)
  assert.equal(isInRange(range, '010.096.000.001'), true)
})

/** Pseudorandom numbers that cycle through the given values. */
const cycle = (...values: readonly number[]): (() => number) => {
  let i = 0
  return () => values[i++ % values.length] ?? 0
}

test('dynamic allocation uses the upper band first, then the lower band', () => {
  const range = addressRangeOf('10.0.0.0/27')
  assert.equal(range.reserved, 16)
  const taken = new Set<string>()
  const allocated: string[] = []
  for (let address = nextAddress(range, taken, cycle(0.5, 0.9, 0)); address !== undefined; ) {
    assert.ok(!taken.has(address))
    taken.add(address)
    allocated.push(address)
    address = nextAddress(range, taken, cycle(0.5, 0.9, 0))
  }
  assert.equal(allocated.length, 30)
  const isInUpperBand = (address: string): boolean => Number(address.split('.')[3]) > 16
  assert.deepEqual(allocated.map(isInUpperBand), [...new Array(14).fill(true), ...new Array(16).fill(false)])
})

test('a full range returns undefined', () => {
  assert.equal(
    nextAddress(addressRangeOf('10.0.0.0/28'), { has: () => true }, () => 0.3),
    undefined,
  )
  assert.equal(
    nextAddress(addressRangeOf('10.0.0.0/32'), new Set(), () => 0.3),
    undefined,
  )
})

const ports = (taken: readonly number[], dryRun = false) =>
  portAllocatorOf({ range: { first: 30000, last: 30003 }, taken: new Set(taken), random: () => 0.6, dryRun })

test('a port is allocated once', () => {
  const allocator = ports([30001])
  assert.equal(allocator.reserve(30000), undefined)
  assert.equal(allocator.reserve(30000), 'provided port is already allocated')
  assert.equal(allocator.reserve(30001), 'provided port is already allocated')
  assert.equal(allocator.reserve(80), 'provided port is not in the valid range. The range of valid ports is 30000-30003')
  assert.deepEqual([allocator.any(), allocator.any(), allocator.any()], [30002, 30003, undefined])
  assert.deepEqual([...allocator.granted], [30000, 30002, 30003])
})

test('a dry run returns a port beyond the range, rejects taken ports, accepts ports outside of the range', () => {
  const allocator = ports([30001], true)
  assert.deepEqual([allocator.any(), allocator.any()], [30004, 30005])
  assert.equal(allocator.reserve(80), undefined)
  assert.equal(allocator.reserve(30001), 'provided port is already allocated')
})
