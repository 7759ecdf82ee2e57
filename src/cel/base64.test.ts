// Values of the format `byte`: what is read, and where what cannot be read is wrong.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBase64 } from './base64.js'

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
  test(`base64 ${JSON.stringify(text)}`, () => {
    const read = readBase64(text)
    assert.equal(typeof read === 'number' ? read : Buffer.from(read).toString('latin1'), outcome)
  })
}

test('what Node writes is read', () => {
  for (let length = 0; length < 70; length++) {
    const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 37 + length) % 256))
    const text = bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_')
    assert.deepEqual(Buffer.from(readBase64(text) as Uint8Array), bytes)
  }
})
