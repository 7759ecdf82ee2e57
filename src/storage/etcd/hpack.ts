// Header compression of HTTP/2, as far as gRPC needs it: sent headers are plain literals, made once per method; received ones are decoded in
// full, except for characters that no answer of gRPC contains.

export interface Header {
  readonly name: string
  readonly value: string
}

/** Literals that are not to be remembered by the other side, with names in full. */
export function encodeHeaders(headers: readonly Header[]): Buffer {
  return Buffer.concat(headers.map(({ name, value }) => Buffer.concat([Buffer.from([0]), plainText(name), plainText(value)])))
}

function plainText(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([encodeInteger(bytes.length, 7), bytes])
}

function encodeInteger(value: number, prefixBits: number): Buffer {
  const most = (1 << prefixBits) - 1
  if (value < most) return Buffer.from([value])
  const bytes = [most]
  let rest = value - most
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}

/** The most that the headers of one block may be, encoded, and with a little for each of them also decoded. */
export const mostHeaderBytes = 1 << 16

export type HeaderDecoder = (block: Buffer) => readonly Header[]

const mostTableBytes = 4096
const bytesPerHeader = 32

/** Remembers what the other side says is to be remembered, so every block must be given to it, in order. */
export function createHeaderDecoder(): HeaderDecoder {
  const table: Header[] = []
  let tableBytes = 0
  let limitBytes = mostTableBytes

  const evict = (): void => {
    for (let oldest = table.at(-1); oldest && tableBytes > limitBytes; oldest = table.at(-1)) {
      tableBytes -= sizeOf(oldest)
      table.pop()
    }
  }
  const lookUp = (index: number): Header => {
    const known = index <= staticHeaders.length ? staticHeaders[index - 1] : table[index - staticHeaders.length - 1]
    if (!known) throw new RangeError(`header ${index} is not in the table`)
    return known
  }

  return (block) => {
    const headers: Header[] = []
    let headerBytes = 0
    const add = (header: Header): void => {
      headerBytes += sizeOf(header)
      if (headerBytes > mostHeaderBytes) throw new RangeError('the headers are too large')
      headers.push(header)
    }
    const cursor = { block, at: 0 }
    while (cursor.at < block.length) {
      const first = block[cursor.at] ?? 0
      if (first & 0x80) add(lookUp(readInteger(cursor, 7)))
      else if ((first & 0xe0) === 0x20) {
        limitBytes = Math.min(readInteger(cursor, 5), mostTableBytes)
        evict()
      } else {
        const isRemembered = (first & 0x40) !== 0
        const index = readInteger(cursor, isRemembered ? 6 : 4)
        const name = index === 0 ? readText(cursor) : lookUp(index).name
        const header = { name, value: readText(cursor) }
        add(header)
        if (!isRemembered) continue
        table.unshift(header)
        tableBytes += sizeOf(header)
        evict()
      }
    }
    return headers
  }
}

function sizeOf({ name, value }: Header): number {
  return name.length + value.length + bytesPerHeader
}

interface Cursor {
  readonly block: Buffer
  at: number
}

function readInteger(cursor: Cursor, prefixBits: number): number {
  const most = (1 << prefixBits) - 1
  let value = readByte(cursor) & most
  if (value < most) return value
  for (let shift = 0; shift <= 28; shift += 7) {
    const byte = readByte(cursor)
    value += (byte & 127) * 2 ** shift
    if (byte < 128) return value
  }
  throw new RangeError('a number in a header is too large')
}

function readByte(cursor: Cursor): number {
  const byte = cursor.block[cursor.at++]
  if (byte === undefined) throw new RangeError('a block of headers ends in the middle')
  return byte
}

function readText(cursor: Cursor): string {
  const isHuffman = ((cursor.block[cursor.at] ?? 0) & 0x80) !== 0
  const length = readInteger(cursor, 7)
  if (cursor.at + length > cursor.block.length) throw new RangeError('a block of headers ends in the middle')
  const bytes = cursor.block.subarray(cursor.at, cursor.at + length)
  cursor.at += length
  return isHuffman ? decodeHuffman(bytes) : bytes.toString('latin1')
}

/** The characters by the number of their bits. Their codes count up, first by that number, then in the order in which they stand here. */
const charactersByBits: readonly (readonly [number, string])[] = [
  [5, '012aceiost'],
  [6, ' %-./3456789=A_bdfghlmnpru'],
  [7, ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz'],
  [8, '&*,;XZ'],
  [10, '!"()?'],
  [11, "'+|"],
  [12, '#>'],
  [13, '\0$@[]~'],
  [14, '^}'],
  [15, '<`{'],
  [19, '\\'],
]

const charactersByCode = huffmanCodes()

/** Keyed by the code with a one before it, so that leading zeros count. */
function huffmanCodes(): ReadonlyMap<number, string> {
  const codes = new Map<number, string>()
  let code = 0
  let bits = 0
  for (const [length, characters] of charactersByBits) {
    code *= 2 ** (length - bits)
    bits = length
    for (const character of characters) codes.set(2 ** length + code++, character)
  }
  return codes
}

function decodeHuffman(bytes: Buffer): string {
  let text = ''
  let code = 1
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      code = code * 2 + ((byte >> bit) & 1)
      const character = charactersByCode.get(code)
      if (character === undefined) {
        if (code > 2 ** 30) throw new RangeError('a header has characters that are not expected')
        continue
      }
      text += character
      code = 1
    }
  }
  return text
}

/** The table that both sides know from the beginning; values only where the standard gives one. */
const staticHeaders: readonly Header[] = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`
  .split('\n')
  .map((line) => {
    const space = line.indexOf(' ')
    return space < 0 ? { name: line, value: '' } : { name: line.slice(0, space), value: line.slice(space + 1) }
  })
