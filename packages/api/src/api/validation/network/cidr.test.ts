// Tests of CIDR ranges: parsing, addresses as numbers, containment.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containsAddress, isStrictSubnet, parseCidr, sizeOfCidr } from './cidr.js'
import { canonicalIp, familyOf, printIp } from './ip-text.js'

const ranges: readonly { readonly text: string; readonly first?: string; readonly size?: bigint }[] = [
  { text: '10.96.0.0/16', first: '10.96.0.0', size: 65536n },
  { text: '10.96.7.9/16', first: '10.96.0.0', size: 65536n },
  { text: '010.096.000.001/8', first: '10.0.0.0', size: 1n << 24n },
  { text: '0.0.0.0/0', first: '0.0.0.0', size: 1n << 32n },
  { text: '2001:db8::1/64', first: '2001:db8::', size: 1n << 64n },
  { text: '::ffff:10.0.0.0/104', first: '::ffff:a00:0', size: 1n << 24n },
  { text: '10.0.0.0/33' },
  { text: '::/129' },
  { text: '10.0.0.0' },
  { text: '10.0.0.0/' },
  { text: '10.0.0.0/-1' },
  { text: '10.0.0/8' },
  { text: 'nope' },
  { text: '' },
]

for (const { text, first, size } of ranges) {
  test(`range ${text}`, () => {
    const range = parseCidr(text)
    assert.equal(range === undefined ? undefined : printIp(range.first, range.family), first)
    assert.equal(range === undefined ? undefined : sizeOfCidr(range), size)
  })
}

const parts: readonly (readonly [string, string, boolean])[] = [
  ['10.1.0.0/16', '10.0.0.0/8', true],
  ['10.0.0.0/8', '10.0.0.0/8', false],
  ['11.0.0.0/16', '10.0.0.0/8', false],
  ['10.0.0.0/7', '10.0.0.0/8', false],
  ['2001:db8:1::/48', '2001:db8::/32', true],
  ['::/16', '0.0.0.0/8', false],
]

for (const [part, whole, expected] of parts) {
  test(`${part} is ${expected ? '' : 'not '}a strict subnet of ${whole}`, () => {
    const [inner, outer] = [parseCidr(part), parseCidr(whole)]
    assert.ok(inner !== undefined && outer !== undefined)
    assert.equal(isStrictSubnet(inner, outer), expected)
  })
}

test('containsAddress compares address families', () => {
  const range = parseCidr('0.0.0.0/0')
  assert.ok(range !== undefined)
  assert.equal(containsAddress(range, 'IPv4', 5n), true)
  assert.equal(containsAddress(range, 'IPv6', 5n), false)
})

const spellings: readonly (readonly [string, string])[] = [
  ['010.096.0.1', '10.96.0.1'],
  ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['::', '::'],
  ['1:0:2:0:3:0:4:0', '1:0:2:0:3:0:4:0'],
  ['fe80:0:0:0:0:0:0:1', 'fe80::1'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['not an address', 'not an address'],
]

for (const [address, canonical] of spellings)
  test(`canonical text of ${address} is ${canonical}`, () => assert.equal(canonicalIp(address), canonical))

test('familyOf returns undefined for strings that are not IP addresses', () => {
  assert.deepEqual(['1.2.3.4', '::1', 'x'].map(familyOf), ['IPv4', 'IPv6', undefined])
})
