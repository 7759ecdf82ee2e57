// Bytes as texts on Node: the same as everywhere, and of a part of other bytes only that.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeText as decodeAnywhere } from '../decode-text.js'
import { decodeText } from './decode-text.js'

test('bytes become the same text as everywhere', () => {
  for (const text of ['', 'plain', 'ä', 'a€b', '\u{1f600}', '\u0000\u007f', 'é'.repeat(50), `${'x'.repeat(1000)}ÿ`]) {
    const around = new TextEncoder().encode(`é${text}é`)
    const bytes = around.subarray(2, around.length - 2)
    assert.equal(decodeText(bytes), text)
    assert.equal(decodeAnywhere(bytes), text)
  }
  const wrong = Uint8Array.of(97, 0xff, 98)
  assert.equal(decodeText(wrong), decodeAnywhere(wrong))
})
