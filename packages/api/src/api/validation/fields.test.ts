// Tests of single field checks (ports, numbers, texts, immutable fields), byte lengths and JSON equality.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lines } from '../rule-context.fixture.js'
import { byteLength } from './byte-length.js'
import { checkNotNegative, checkPort, checkText, checkUnchanged } from './checks.js'
import { dnsLabel } from './name-formats.js'
import { sameValue } from './same-value.js'

test('byteLength counts UTF-8 bytes', () => {
  for (const text of ['', 'abc', 'é', '→', '😀', 'a😀é→b', '퟿', 'a😀é→b'.repeat(3000)])
    assert.equal(byteLength(text), Buffer.byteLength(text), text)
})

const ports: readonly { readonly port: number; readonly isValid: boolean }[] = [
  { port: -1, isValid: false },
  { port: 0, isValid: false },
  { port: 1, isValid: true },
  { port: 65535, isValid: true },
  { port: 65536, isValid: false },
]
for (const { port, isValid } of ports) {
  const expected = isValid ? [] : [`p: Invalid value: ${port}: must be between 1 and 65535, inclusive`]
  test(`port ${port}`, () => assert.deepEqual(lines(checkPort(port, 'p')), expected))
}

test('checkNotNegative rejects negative numbers', () => {
  assert.deepEqual(lines(checkNotNegative(-1, 'n')), ['n: Invalid value: -1: must be greater than or equal to 0'])
  assert.deepEqual(checkNotNegative(0, 'n'), [])
  assert.deepEqual(checkNotNegative(2n ** 60n, 'n'), [])
})

test('checkText reports one error per problem', () => assert.equal(checkText('É'.repeat(40), 'f', dnsLabel).length, 2))

test('checkUnchanged reports the new value', () =>
  assert.deepEqual(lines(checkUnchanged('b', 'a', 'f')), ['f: Invalid value: "b": field is immutable']))

const pairs: readonly { readonly title: string; readonly a: unknown; readonly b: unknown; readonly same: boolean }[] = [
  { title: 'members in different order', a: { x: 1, y: [2] }, b: { y: [2], x: 1 }, same: true },
  { title: 'an undefined and an absent member', a: { x: undefined }, b: {}, same: true },
  { title: 'an additional member', a: { x: 1 }, b: { x: 1, y: 2 }, same: false },
  { title: 'a missing member', a: { x: 1, y: 2 }, b: { x: 1 }, same: false },
  { title: 'items in different order', a: [1, 2], b: [2, 1], same: false },
  { title: 'an additional item', a: [1], b: [1, 2], same: false },
  { title: 'a list and a map', a: [], b: {}, same: false },
  { title: 'null and a map', a: null, b: {}, same: false },
  { title: 'members named like an inherited property', a: { constructor: 'x' }, b: { y: 'x' }, same: false },
  { title: 'undefined and undefined', a: undefined, b: undefined, same: true },
]
for (const { title, a, b, same } of pairs) test(`${title}: ${same ? 'same' : 'different'}`, () => assert.equal(sameValue(a, b), same))
