// Parts that were compressed by themselves are one document in the end.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { atOnce, uncut } from '../../base/pieces.js'
import { hashOf as hashing, joinParts, packPart, packShort } from './packed-part.js'

const hashOf = (parts: Parameters<typeof hashing>[0]): string => atOnce(hashing(parts))
const pack = (text: string | Uint8Array) => packPart(typeof text === 'string' ? Buffer.from(text) : text, uncut)

test('joined parts are gzip, whatever their lengths', async () => {
  for (const length of [0, 1, 7, 255, 256, 65_536, 700_001]) {
    const random = randomBytes(length)
    const repeated = 'abc'.repeat(length % 1000)
    const parts = [packShort(Buffer.from('{')), await pack(random), await pack(repeated), packShort(new Uint8Array()), await pack(random)]
    // It checks the sum and the length.
    assert.deepEqual(gunzipSync(atOnce(joinParts(parts))), Buffer.concat([Buffer.from('{'), random, Buffer.from(repeated), random]))
  }
  assert.equal(gunzipSync(atOnce(joinParts([]))).length, 0)
})

test('the hash follows the content and the order', async () => {
  const [a, again, b] = [await pack('a'), await pack('a'), await pack('b')]
  assert.match(hashOf([a, b]), /^[0-9A-F]{128}$/)
  assert.equal(hashOf([a, b]), hashOf([again, b]))
  assert.notEqual(hashOf([a, b]), hashOf([b, a]))
})

test('what is long is compressed', () => {
  assert.throws(() => packShort(new Uint8Array(70_000)), RangeError)
})
