// Checks of single fields, and the small readings that they stand on.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lines } from '../rule-context.fixture.js'
import { byteLength } from './byte-length.js'
import { checkNotNegative, checkPort, checkText, checkUnchanged } from './fields.js'
import { sameValue } from './same-value.js'
import { dnsLabel } from './text-rules.js'

test('every character counts as its bytes in UTF-8', () => {
  for (const text of ['', 'abc', 'é', '→', '😀', 'a😀é→b', '퟿', 'a😀é→b'.repeat(3000)])
    assert.equal(byteLength(text), Buffer.byteLength(text), text)
})

const ports: readonly { readonly port: number; readonly isGood: boolean }[] = [
  { port: -1, isGood: false },
  { port: 0, isGood: false },
  { port: 1, isGood: true },
  { port: 65535, isGood: true },
  { port: 65536, isGood: false },
]
for (const { port, isGood } of ports) {
  const expected = isGood ? [] : [`p: Invalid value: ${port}: must be between 1 and 65535, inclusive`]
  test(`port ${port}`, () => assert.deepEqual(lines(checkPort(port, 'p')), expected))
}

test('a negative number is refused', () => {
  assert.deepEqual(lines(checkNotNegative(-1, 'n')), ['n: Invalid value: -1: must be greater than or equal to 0'])
  assert.deepEqual(checkNotNegative(0, 'n'), [])
  assert.deepEqual(checkNotNegative(2n ** 60n, 'n'), [])
})

test('each problem of a text is one error', () => assert.equal(checkText('É'.repeat(40), 'f', dnsLabel).length, 2))

test('a changed field is shown as it would be', () =>
  assert.deepEqual(lines(checkUnchanged('b', 'a', 'f')), ['f: Invalid value: "b": field is immutable']))

const pairs: readonly { readonly title: string; readonly a: unknown; readonly b: unknown; readonly same: boolean }[] = [
  { title: 'members in another order', a: { x: 1, y: [2] }, b: { y: [2], x: 1 }, same: true },
  { title: 'an undefined member', a: { x: undefined }, b: {}, same: true },
  { title: 'a member more', a: { x: 1 }, b: { x: 1, y: 2 }, same: false },
  { title: 'a member less', a: { x: 1, y: 2 }, b: { x: 1 }, same: false },
  { title: 'items in another order', a: [1, 2], b: [2, 1], same: false },
  { title: 'an item more', a: [1], b: [1, 2], same: false },
  { title: 'a list and a map', a: [], b: {}, same: false },
  { title: 'null and a map', a: null, b: {}, same: false },
  { title: 'a name that every object inherits', a: { constructor: 'x' }, b: { y: 'x' }, same: false },
  { title: 'nothing twice', a: undefined, b: undefined, same: true },
]
for (const { title, a, b, same } of pairs) test(`${title}: ${same ? 'same' : 'different'}`, () => assert.equal(sameValue(a, b), same))
