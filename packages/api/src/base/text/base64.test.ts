// Tests of base64: results compared with Node's Buffer, and the index of the first invalid character.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64ByteLength, decodeBase64, encodeBase64, isBase64, urlAlphabet } from './base64.js'

const cases: readonly (readonly [text: string, outcome: string | number])[] = [
  ['', ''],
  ['aGk=', 'hi'],
  ['aA==', 'h'],
  ['aGV5', 'hey'],
  ['aG\nk\r=\n', 'hi'],
  ['a\nA=\n=', 'h'],
  ['-_-_', '\u00fb\u00ff\u00bf'],
  ['aGk', 0],
  ['aGVyaA', 4],
  ['a+k=', 1],
  ['aGké', 3],
  ['=', 0],
  ['a===', 1],
  ['aA=', 3],
  ['aA=b', 2],
  ['aGk=aGk=', 4],
]
for (const [text, outcome] of cases) {
  test(`decodeBase64 of ${JSON.stringify(text)} returns the bytes or the index of the error`, () => {
    const decoded = decodeBase64(text, urlAlphabet)
    assert.equal(typeof decoded === 'number' ? decoded : Buffer.from(decoded).toString('latin1'), outcome)
  })
}

test('standard alphabet: encoding and decoding agree with Buffer', () => {
  assert.equal(decodeBase64('ab*d'), 2)
  assert.equal(decodeBase64('abcde'), 4)
  assert.equal(decodeBase64('a=bc'), 1)
  for (let length = 0; length < 70; length++) {
    const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 37 + length) % 256))
    const text = bytes.toString('base64')
    assert.equal(encodeBase64(bytes), text)
    assert.equal(base64ByteLength(text), length)
    assert.deepEqual(Buffer.from(decodeBase64(text) as Uint8Array), bytes)
    assert.deepEqual(Buffer.from(decodeBase64(text.replaceAll('+', '-').replaceAll('/', '_'), urlAlphabet) as Uint8Array), bytes)
  }
})

test('isBase64 accepts groups of four characters with a padded last group', () => {
  const groups = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
  const chars = ['a', '/', '=', '-', '\n']
  let texts = ['']
  for (let length = 0; length <= 6; length++) {
    for (const text of texts) {
      assert.equal(isBase64(text), groups.test(text), JSON.stringify(text))
      const unbroken = text.replaceAll('\n', '')
      assert.equal(typeof decodeBase64(text) === 'number', !groups.test(unbroken), JSON.stringify(text))
    }
    texts = texts.flatMap((text) => chars.map((char) => text + char))
  }
})
