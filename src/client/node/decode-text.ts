// Bytes in UTF-8 as a text on Node: what is all ASCII, as most objects are, need not be decoded to be one, and to find that out costs next to nothing.

import { Buffer, isAscii } from 'node:buffer'

export function decodeText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString(isAscii(buffer) ? 'latin1' : 'utf8')
}
