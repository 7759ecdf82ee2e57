// Tests of 64-bit integer parsing: signs, bounds, invalid texts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseInt64, parseUint64 } from './integer.js'

const rows: readonly { readonly text: string; readonly signed: bigint | undefined; readonly unsigned: bigint | undefined }[] = [
  { text: '0', signed: 0n, unsigned: 0n },
  { text: '007', signed: 7n, unsigned: 7n },
  { text: '+5', signed: 5n, unsigned: undefined },
  { text: '-5', signed: -5n, unsigned: undefined },
  { text: '9223372036854775807', signed: 9223372036854775807n, unsigned: 9223372036854775807n },
  { text: '-9223372036854775808', signed: -9223372036854775808n, unsigned: undefined },
  { text: '9223372036854775808', signed: undefined, unsigned: 9223372036854775808n },
  { text: '18446744073709551615', signed: undefined, unsigned: 18446744073709551615n },
  { text: '18446744073709551616', signed: undefined, unsigned: undefined },
  { text: '', signed: undefined, unsigned: undefined },
  { text: ' 1', signed: undefined, unsigned: undefined },
  { text: '1.5', signed: undefined, unsigned: undefined },
  { text: '0x1', signed: undefined, unsigned: undefined },
  { text: '9'.repeat(100_000), signed: undefined, unsigned: undefined },
]

for (const { text, signed, unsigned } of rows)
  test(`integer: ${text.slice(0, 30)}`, () => {
    assert.equal(parseInt64(text), signed)
    assert.equal(parseUint64(text), unsigned)
  })
