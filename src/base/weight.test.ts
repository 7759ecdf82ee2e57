// What is too heavy for the event loop.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isHeavy } from './weight.js'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test('many parts are heavy, in JSON and in YAML', () => {
  const members = Array.from({ length: 3000 }, (_, i) => [`k${i}`, 'value'] as const)
  assert.equal(isHeavy(bytesOf(JSON.stringify(Object.fromEntries(members)))), true)
  assert.equal(isHeavy(bytesOf(members.map(([key, value]) => `${key}: ${value}\n`).join(''))), true)
  assert.equal(isHeavy(bytesOf(`{"a":[${`${'['.repeat(100)}${']'.repeat(100)},`.repeat(100)}1]}`)), true)
})

test('few long texts are light, until they are very long', () => {
  assert.equal(isHeavy(bytesOf(`{"a":"${'x'.repeat(400_000)}"}`)), false)
  assert.equal(isHeavy(bytesOf(`{"a":"${'x'.repeat(800_000)}"}`)), true)
  assert.equal(isHeavy(bytesOf(`{"a":"${'x'.repeat(400_000)}"}`), 100_000), true)
})

test('many parts are heavy in few kilobytes', () => {
  assert.equal(isHeavy(bytesOf(`{"a":[${'{},'.repeat(4900)}{}]}`)), true)
  assert.equal(isHeavy(bytesOf(`{"a":[${'{},'.repeat(1500)}{}]}`)), true)
})

test('what is short is light, whatever it is made of', () => {
  assert.equal(isHeavy(bytesOf('[],'.repeat(1300))), false)
  assert.equal(isHeavy(new Uint8Array()), false)
})

test('what is long and has many parts is heavy sooner', () => {
  const parts = (count: number, bytes: number) => bytesOf(`{"a":[${`"${'x'.repeat(bytes / count - 3)}",`.repeat(count)}1]}`)
  assert.equal(isHeavy(parts(1700, 50_000)), false)
  assert.equal(isHeavy(parts(1700, 450_000)), true)
  assert.equal(isHeavy(parts(200, 450_000)), false)
})

test('texts of many escaped characters are heavy', () => {
  const escapes = (count: number) => bytesOf(JSON.stringify({ a: '\t'.repeat(count) }))
  assert.equal(isHeavy(escapes(10_000)), false)
  assert.equal(isHeavy(escapes(100_000)), true)
  assert.equal(isHeavy(bytesOf(`a: '${"''".repeat(100_000)}'`)), true)
})
