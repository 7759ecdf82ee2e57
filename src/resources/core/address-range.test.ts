// Ranges of addresses: their bands, what belongs to them, and who gets which.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressAt, addressRangeOf, firstAddress, isInRange, networkAddress, nextAddress } from './address-range.js'
import { drawPorts } from './node-port-draw.js'

const bands: readonly {
  readonly text: string
  readonly size: number
  readonly reserved: number
  readonly first: string
  readonly last: string
}[] = [
  { text: '10.96.0.0/12', size: 2 ** 20 - 2, reserved: 256, first: '10.96.0.1', last: '10.111.255.254' },
  { text: '10.96.0.0/16', size: 65534, reserved: 256, first: '10.96.0.1', last: '10.96.255.254' },
  { text: '10.96.0.0/20', size: 4094, reserved: 256, first: '10.96.0.1', last: '10.96.15.254' },
  { text: '10.96.0.0/24', size: 254, reserved: 16, first: '10.96.0.1', last: '10.96.0.254' },
  { text: '10.96.0.0/28', size: 14, reserved: 0, first: '10.96.0.1', last: '10.96.0.14' },
  { text: '2001:db8::/108', size: 65535, reserved: 256, first: '2001:db8::1', last: '2001:db8::ffff' },
  { text: '2001:db8::/120', size: 255, reserved: 16, first: '2001:db8::1', last: '2001:db8::ff' },
]

for (const { text, size, reserved, first, last } of bands) {
  test(`the bands of ${text}`, () => {
    const range = addressRangeOf(text)
    assert.deepEqual([range.size, range.reserved], [size, reserved])
    assert.deepEqual([firstAddress(range), addressAt(range, range.size - 1)], [first, last])
    assert.ok(isInRange(range, first) && isInRange(range, last))
    assert.ok(!isInRange(range, networkAddress(range)) && !isInRange(range, addressAt(range, range.size)))
  })
}

test('a range says what it is in one way, and nonsense is refused', () => {
  assert.equal(addressRangeOf('10.96.3.4/16').text, '10.96.0.0/16')
  assert.throws(() => addressRangeOf('10.96.0.0'), /is not a range of addresses/)
})

test('an address of another family, or none at all, is not in range', () => {
  const range = addressRangeOf('10.96.0.0/16')
  for (const address of ['2001:db8::1', 'x', '10.97.0.1', '10.96.0.0', '10.96.255.255'])
    assert.equal(isInRange(range, address), false, address)
  assert.equal(isInRange(range, '010.096.000.001'), true)
})

/** Every chance in turn, and then again. */
const chances = (...values: readonly number[]): (() => number) => {
  let i = 0
  return () => values[i++ % values.length] ?? 0
}

test('strangers are served from above the reserved band, and from it when there is nothing else', () => {
  const range = addressRangeOf('10.0.0.0/27')
  assert.equal(range.reserved, 16)
  const taken = new Set<string>()
  const given: string[] = []
  for (let address = nextAddress(range, taken, chances(0.5, 0.9, 0)); address !== undefined; ) {
    assert.ok(!taken.has(address))
    taken.add(address)
    given.push(address)
    address = nextAddress(range, taken, chances(0.5, 0.9, 0))
  }
  assert.equal(given.length, 30)
  const band = (address: string): boolean => Number(address.split('.')[3]) > 16
  assert.deepEqual(given.map(band), [...new Array(14).fill(true), ...new Array(16).fill(false)])
})

test('a range that is used up has nothing to give', () => {
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
  drawPorts({ range: { first: 30000, last: 30003 }, taken: new Set(taken), random: () => 0.6, dryRun })

test('ports are granted once', () => {
  const draw = ports([30001])
  assert.equal(draw.ask(30000), undefined)
  assert.equal(draw.ask(30000), 'provided port is already allocated')
  assert.equal(draw.ask(30001), 'provided port is already allocated')
  assert.equal(draw.ask(80), 'provided port is not in the valid range. The range of valid ports is 30000-30003')
  assert.deepEqual([draw.any(), draw.any(), draw.any()], [30002, 30003, undefined])
  assert.deepEqual([...draw.granted], [30000, 30002, 30003])
})

test('a dry run shows a port that nobody gets, and looks at what is taken but not at the range', () => {
  const draw = ports([30001], true)
  assert.deepEqual([draw.any(), draw.any()], [30004, 30005])
  assert.equal(draw.ask(80), undefined)
  assert.equal(draw.ask(30001), 'provided port is already allocated')
})
