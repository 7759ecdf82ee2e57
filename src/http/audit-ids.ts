// The names of requests in the records: random UUIDs of version 4, made as one piece of text. Node's own come as a text of twenty parts, which
// whoever looks at it or sends it puts together first: that is a thirtieth of a small read.

import { randomFillSync } from 'node:crypto'

const idBytes = 16
/** Random bytes are asked for seldom. */
const pool = Buffer.allocUnsafeSlow(256 * idBytes)
let at = pool.length

const text = Buffer.alloc(36, '-')
const digits = Buffer.from('0123456789abcdef')
/** Where the digits of each byte stand, around the dashes. */
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

export function newAuditId(): string {
  if (at === pool.length) {
    randomFillSync(pool)
    at = 0
  }
  pool[at + 6] = ((pool[at + 6] as number) & 0x0f) | 0x40
  pool[at + 8] = ((pool[at + 8] as number) & 0x3f) | 0x80
  for (let i = 0; i < idBytes; i++) {
    const byte = pool[at + i] as number
    const place = places[i] as number
    text[place] = digits[byte >> 4] as number
    text[place + 1] = digits[byte & 0x0f] as number
  }
  at += idBytes
  return text.toString('latin1')
}
