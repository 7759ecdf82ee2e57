// Base64 against that of the platform.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64ByteLength, decodeBase64, encodeBase64 } from './base64.js'

test('every length up to a few groups', () => {
  for (let length = 0; length < 20; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 97 + length * 31) & 0xff)
    const text = Buffer.from(bytes).toString('base64')
    assert.equal(encodeBase64(bytes), text)
    assert.equal(base64ByteLength(text), length)
    const back = new Uint8Array(length + 2)
    decodeBase64(text, back, 1)
    assert.deepEqual([...back], [0, ...bytes, 0])
  }
})
