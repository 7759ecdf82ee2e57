// Separately compressed parts of a document: concatenated to one valid gzip member, and hashed.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { compressPart, hashOf, joinParts, storePart } from './gzip-parts.js'

const pack = (text: string | Uint8Array) => compressPart(typeof text === 'string' ? Buffer.from(text) : text)

test('joined parts are valid gzip for all lengths', async () => {
  for (const length of [0, 1, 7, 255, 256, 65_536, 700_001]) {
    const random = randomBytes(length)
    const repeated = 'abc'.repeat(length % 1000)
    const parts = [storePart(Buffer.from('{')), await pack(random), await pack(repeated), storePart(new Uint8Array()), await pack(random)]
    // gunzip verifies checksum and length.
    assert.deepEqual(gunzipSync(joinParts(parts)), Buffer.concat([Buffer.from('{'), random, Buffer.from(repeated), random]))
  }
  assert.equal(gunzipSync(joinParts([])).length, 0)
})

test('the hash depends on content and order', async () => {
  const [a, sameAsA, b] = [await pack('a'), await pack('a'), await pack('b')]
  assert.match(hashOf([a, b]), /^[0-9A-F]{128}$/)
  assert.equal(hashOf([a, b]), hashOf([sameAsA, b]))
  assert.notEqual(hashOf([a, b]), hashOf([b, a]))
})

test('long content cannot be stored uncompressed', () => {
  assert.throws(() => storePart(new Uint8Array(70_000)), RangeError)
})
