// A part of a document as it is kept: compressed by itself, so that documents are put together from parts that did not change without compressing
// or hashing anything again. The compressed parts, one behind the other, are one member of gzip.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'
import { nowOrInPieces, type PieceClock } from '../../base/pieces.js'

export interface PackedPart {
  /** Whole blocks that refer to nothing outside of the part. */
  readonly deflated: Uint8Array
  /** Of the content. */
  readonly bytes: number
  readonly digest: Uint8Array
  readonly crc: number
  /** What appending as many bytes does to the checksum of whatever stands before: see `appended`. */
  readonly shift: number
}

type Deflate = (content: Uint8Array, options: { readonly finishFlush: number }) => Promise<Buffer>

/** The module is loaded with the first document, and not with the server. */
const deflate: Deflate = (content, options) => (promisify(deflateRaw) as Deflate)(content, options)

/** Sums are made in steps, as a part may have megabytes; compressing happens elsewhere. */
export async function packPart(content: Uint8Array, pieces: PieceClock): Promise<PackedPart> {
  const sums = await nowOrInPieces(sumsOf(content), pieces)
  return { ...sums, deflated: await deflate(content, { finishFlush: constants.Z_FULL_FLUSH }) }
}

/** Without compressing it: for what stands between parts. */
export function packShort(content: Uint8Array): PackedPart {
  if (content.length > mostStored) throw new RangeError(`${content.length} bytes are not short`)
  const deflated = Buffer.alloc(5 + content.length)
  deflated.writeUInt16LE(content.length, 1)
  deflated.writeUInt16LE(content.length ^ 0xffff, 3)
  deflated.set(content, 5)
  const digest = createHash(digestName).update(content).digest()
  return { deflated, bytes: content.length, digest, crc: crc32(content), shift: shiftOf(content.length) }
}

const mostStored = 0xffff
const digestName = 'sha512'
const summedAtOnce = 256 * 1024

function* sumsOf(content: Uint8Array): Generator<undefined, Omit<PackedPart, 'deflated'>, void> {
  const hash = createHash(digestName)
  let crc = 0
  for (let at = 0; at < content.length; at += summedAtOnce) {
    const some = content.subarray(at, at + summedAtOnce)
    hash.update(some)
    crc = crc32(some, crc)
    yield
  }
  return { bytes: content.length, digest: hash.digest(), crc, shift: shiftOf(content.length) }
}

/** Changes when the content of a part does, or the order of the parts. There may be thousands of them: a step for each. */
export function* hashOf(parts: readonly PackedPart[]): Generator<undefined, string, void> {
  const hash = createHash(digestName)
  for (const { digest } of parts) {
    hash.update(digest)
    yield
  }
  return hash.digest('hex').toUpperCase()
}

/** No name, no time, no system: the same for the same content. */
const gzipHead = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)
const lastBlock = Uint8Array.of(3, 0)

/** The whole, with a step for each part. */
export function* joinParts(parts: readonly PackedPart[]): Generator<undefined, Buffer, void> {
  let crc = 0
  let bytes = 0
  let deflated = 0
  for (const part of parts) {
    crc = appended(crc, part)
    bytes += part.bytes
    deflated += part.deflated.length
    yield
  }
  // Every byte is written below.
  const joined = Buffer.allocUnsafeSlow(gzipHead.length + deflated + lastBlock.length + 8)
  joined.set(gzipHead)
  let at = gzipHead.length
  for (const part of parts) {
    joined.set(part.deflated, at)
    at += part.deflated.length
    yield
  }
  joined.set(lastBlock, at)
  at = joined.writeUInt32LE(crc, at + lastBlock.length)
  joined.writeUInt32LE(bytes % 2 ** 32, at)
  return joined
}

/** The checksum of everything up to the end of a part, out of that up to its beginning. */
const appended = (crc: number, part: PackedPart): number => (product(part.shift, crc) ^ part.crc) >>> 0

/** The polynomial of the checksum, and polynomials in general: the highest bit is the coefficient of 1. */
const polynomial = 0xedb88320
const one = 0x80000000

/** The product of two polynomials modulo that one. */
function product(a: number, b: number): number {
  let sum = 0
  let left = b
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) sum ^= left
    left = (left & 1) === 0 ? left >>> 1 : (left >>> 1) ^ polynomial
  }
  return sum >>> 0
}

/** x to the power of eight times the number of bytes: bytes behind move the sum of what stands before by as much. */
function shiftOf(bytes: number): number {
  let power = one
  let square = 0x00800000
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = product(square, power)
    square = product(square, square)
  }
  return power
}
