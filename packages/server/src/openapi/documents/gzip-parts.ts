// Compressed parts of a document, which are concatenated to one gzip member without compressing them again.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'

export interface GzipPart {
  /** Self-contained deflate blocks. */
  readonly deflated: Uint8Array
  readonly bytes: number
  readonly digest: Uint8Array
  readonly crc: number
  /** Factor by which the CRC-32 of the content before this part is multiplied when the part is appended. */
  readonly shift: number
}

type Deflate = (content: Uint8Array, options: { readonly finishFlush: number }) => Promise<Buffer>

export async function compressPart(content: Uint8Array): Promise<GzipPart> {
  const deflated = await (promisify(deflateRaw) as Deflate)(content, { finishFlush: constants.Z_FULL_FLUSH })
  return { deflated, ...checksumsOf(content) }
}

/** Maximum length of a stored deflate block. */
const maxStoredBytes = 0xffff

/** A part without compression, for short content. */
export function storePart(content: Uint8Array): GzipPart {
  if (content.length > maxStoredBytes) throw new RangeError(`${content.length} bytes exceed a stored block`)
  const deflated = Buffer.alloc(5 + content.length)
  deflated.writeUInt16LE(content.length, 1)
  deflated.writeUInt16LE(content.length ^ 0xffff, 3)
  deflated.set(content, 5)
  return { deflated, ...checksumsOf(content) }
}

const digestName = 'sha512'

const checksumsOf = (content: Uint8Array): Omit<GzipPart, 'deflated'> => ({
  bytes: content.length,
  digest: createHash(digestName).update(content).digest(),
  crc: crc32(content),
  shift: shiftOf(content.length),
})

/** The hash of a document: depends on content and order of its parts. */
export function hashOf(parts: readonly GzipPart[]): string {
  const hash = createHash(digestName)
  for (const { digest } of parts) hash.update(digest)
  return hash.digest('hex').toUpperCase()
}

/** Without name, time and operating system, so that the bytes are reproducible. */
const gzipHead = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)
const lastBlock = Uint8Array.of(3, 0)

export function joinParts(parts: readonly GzipPart[]): Buffer {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(parts.reduce(appendCrc, 0))
  trailer.writeUInt32LE(parts.reduce((sum, { bytes }) => sum + bytes, 0) % 2 ** 32, 4)
  return Buffer.concat([gzipHead, ...parts.map(({ deflated }) => deflated), lastBlock, trailer])
}

/** CRC-32 of concatenated content, from the checksums of its parts. */
const appendCrc = (crc: number, part: GzipPart): number => (product(part.shift, crc) ^ part.crc) >>> 0

/** CRC-32 polynomial, bit-reversed: the highest bit is the coefficient of 1. */
const polynomial = 0xedb88320
const one = 0x80000000

/** Product of two polynomials modulo the CRC-32 polynomial. */
function product(a: number, b: number): number {
  let sum = 0
  let left = b
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) sum ^= left
    left = (left & 1) === 0 ? left >>> 1 : (left >>> 1) ^ polynomial
  }
  return sum >>> 0
}

/** x^(8·bytes) modulo the polynomial. */
function shiftOf(bytes: number): number {
  let power = one
  let square = 0x00800000
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = product(square, power)
    square = product(square, square)
  }
  return power
}
