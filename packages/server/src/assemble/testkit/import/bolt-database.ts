// Reads a bbolt database, the file format of etcd, page by page. Checks every length and reference, so a damaged file ends in an error.
//
//   page    = [id: u64][flags: u16][count: u16][overflow: u32][elements][keys and values]; `overflow` pages follow it without a header
//   meta    = [magic: u32][version: u32][page size: u32][flags: u32][root bucket][freelist: u64][end of pages: u64][txid: u64][FNV-1a: u64]
//   branch  = [position: u32][key size: u32][page: u64], leaf = [flags: u32][position: u32][key size: u32][value size: u32]
//   bucket  = [root page: u64][sequence: u64]; root page 0: the bucket is inline, its only leaf page follows
//
// Numbers are little-endian; positions are relative to their element. Pages 0 and 1 are metas: the valid one with the higher txid counts.

/** Reads `length` bytes at `offset`; both lie within `size`. */
export interface RandomAccess {
  readonly size: number
  read(offset: number, length: number): Buffer
}

export interface BoltEntry {
  readonly key: Buffer
  readonly value: Buffer
  /** Offset of its page in the file, for errors. */
  readonly position: number
}

/** The database is damaged; `position` is the offset of the page in the file. */
export class BoltError extends Error {
  override readonly name = 'BoltError'
  constructor(position: number, problem: string) {
    super(`at byte ${position}: ${problem}`)
  }
}

const magic = 0xed0cdaed
const formatVersion = 2
const headerBytes = 16
const elementBytes = 16
const metaBytes = 64
const checksumOffset = 56
const branchFlag = 1
const leafFlag = 2
const bucketFlag = 1
/** A tree of this depth would have more keys than a file can. */
const maxDepth = 64
/** Far more than one page of objects: etcd refuses values above 1.5 MiB by default. */
const maxRunBytes = 256 << 20

/** Page sizes that bbolt writes are powers of two in this range. */
const minPageBytes = 512
const maxPageBytes = 1 << 16

/** First bytes of a file that `isBoltDatabase` needs. */
export const boltHeadBytes = maxPageBytes + headerBytes + metaBytes

/** True if `head` has meta 0 or meta 1; the other one may be damaged. */
export function isBoltDatabase(head: Buffer): boolean {
  return possibleMetas(head.length).some((offset) => head.readUInt32LE(offset + headerBytes) === magic)
}

/** Offsets of meta 0, and of meta 1 for every page size. */
function possibleMetas(size: number): readonly number[] {
  const offsets = [0]
  for (let bytes = minPageBytes; bytes <= maxPageBytes; bytes *= 2) offsets.push(bytes)
  return offsets.filter((offset) => offset + headerBytes + metaBytes <= size)
}

/** Entries of a bucket at the root, in key order; undefined if there is no such bucket. */
export function readBucket(file: RandomAccess, name: string): Iterable<BoltEntry> | undefined {
  const database = new BoltDatabase(file)
  const wanted = Buffer.from(name)
  for (const { key, value, isBucket, position } of database.elements(database.rootPage, 0)) {
    if (isBucket && key.equals(wanted)) return database.bucket(value, position)
  }
  return undefined
}

interface Meta {
  readonly pageBytes: number
  readonly root: number
  readonly pages: number
  readonly txid: number
}

interface Page {
  readonly bytes: Buffer
  /** Offset in the file, for errors. */
  readonly position: number
  readonly count: number
  readonly isLeaf: boolean
}

interface LeafElement extends BoltEntry {
  readonly isBucket: boolean
}

class BoltDatabase {
  readonly #file: RandomAccess
  readonly #meta: Meta
  /** One byte per page: each page belongs to one tree, so no walk is longer than the file. */
  readonly #isRead: Uint8Array

  constructor(file: RandomAccess) {
    this.#file = file
    this.#meta = readMeta(file)
    this.#isRead = new Uint8Array(this.#meta.pages)
  }

  get rootPage(): number {
    return this.#meta.root
  }

  *bucket(value: Buffer, position: number): Generator<BoltEntry, void, undefined> {
    if (value.length < headerBytes) throw new BoltError(position, 'a bucket is shorter than its header')
    const root = readUint64(value, 0)
    if (root === 0) yield* leafElements(parsePage(value.subarray(headerBytes), position))
    else yield* this.elements(root, position)
  }

  /** `position`: offset of the page that refers to the root. */
  *elements(root: number, position: number): Generator<LeafElement, void, undefined> {
    const rootPage = this.#page(root, position)
    const stack = [{ page: rootPage, children: childrenOf(rootPage) }]
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const child = top.children.next()
      if (child.done) {
        stack.pop()
        continue
      }
      if (typeof child.value !== 'number') {
        yield child.value
        continue
      }
      const page = this.#page(child.value, top.page.position)
      if (stack.length >= maxDepth) throw new BoltError(page.position, `pages are nested more than ${maxDepth} deep`)
      stack.push({ page, children: childrenOf(page) })
    }
  }

  #page(id: number, from: number): Page {
    const { pageBytes, pages } = this.#meta
    const position = id * pageBytes
    if (id < 2 || id >= pages) throw new BoltError(from, `a reference to page ${id}, but the file has the pages 2 to ${pages - 1}`)
    const header = this.#file.read(position, headerBytes)
    if (readUint64(header, 0) !== id) throw new BoltError(position, `page ${id} has another number: ${readUint64(header, 0)}`)
    const runLength = header.readUInt32LE(12) + 1
    if (id + runLength > pages) throw new BoltError(position, `page ${id} is longer than the file`)
    if (runLength * pageBytes > maxRunBytes) throw new BoltError(position, `page ${id} is longer than 256 MiB`)
    for (let next = id; next < id + runLength; next++) {
      if (this.#isRead[next] !== 0) throw new BoltError(position, `page ${next} is used twice`)
      this.#isRead[next] = 1
    }
    return parsePage(this.#file.read(position, runLength * pageBytes), position)
  }
}

function parsePage(bytes: Buffer, position: number): Page {
  if (bytes.length < headerBytes) throw new BoltError(position, 'a page is shorter than its header')
  const flags = bytes.readUInt16LE(8)
  const count = bytes.readUInt16LE(10)
  if (flags !== branchFlag && flags !== leafFlag) throw new BoltError(position, `a branch or leaf page is expected, not flags ${flags}`)
  if (headerBytes + count * elementBytes > bytes.length) throw new BoltError(position, `a page has no room for ${count} elements`)
  return { bytes, position, count, isLeaf: flags === leafFlag }
}

/** Page ids of a branch page, elements of a leaf page. */
const childrenOf = (page: Page): Generator<number | LeafElement, void, undefined> => (page.isLeaf ? leafElements(page) : branchPages(page))

function* branchPages({ bytes, count }: Page): Generator<number, void, undefined> {
  for (let i = 0; i < count; i++) yield readUint64(bytes, headerBytes + i * elementBytes + 8)
}

/** Data of elements must not overlap, so that reading a page takes time in proportion to its size. */
function* leafElements({ bytes, position, count }: Page): Generator<LeafElement, void, undefined> {
  let free = headerBytes + count * elementBytes
  for (let i = 0; i < count; i++) {
    const at = headerBytes + i * elementBytes
    const start = at + bytes.readUInt32LE(at + 4)
    const keyEnd = start + bytes.readUInt32LE(at + 8)
    const end = keyEnd + bytes.readUInt32LE(at + 12)
    if (start < free || end > bytes.length)
      throw new BoltError(position, `element ${i} of a page lies outside of it, or in another element`)
    free = end
    const isBucket = (bytes.readUInt32LE(at) & bucketFlag) !== 0
    yield { key: bytes.subarray(start, keyEnd), value: bytes.subarray(keyEnd, end), isBucket, position }
  }
}

function readMeta(file: RandomAccess): Meta {
  let newest: Meta | undefined
  for (const offset of possibleMetas(file.size)) {
    const meta = parseMeta(file.read(offset + headerBytes, metaBytes))
    // Meta 1 lies behind the first page; a meta at another offset is data.
    if (meta === undefined || (offset !== 0 && offset !== meta.pageBytes)) continue
    if (newest === undefined || meta.txid > newest.txid) newest = meta
  }
  if (newest === undefined) throw new BoltError(0, 'both meta pages are damaged')
  const { pages, pageBytes } = newest
  if (pages * pageBytes > file.size)
    throw new BoltError(file.size, `the file ends here, but has ${pages} pages of ${pageBytes} bytes: it is truncated`)
  return newest
}

/** Undefined if the meta is damaged. */
function parseMeta(bytes: Buffer): Meta | undefined {
  if (bytes.readUInt32LE(0) !== magic || bytes.readUInt32LE(4) !== formatVersion) return undefined
  if (bytes.readBigUInt64LE(checksumOffset) !== fnv1a(bytes.subarray(0, checksumOffset))) return undefined
  const pageBytes = bytes.readUInt32LE(8)
  if (pageBytes < minPageBytes || pageBytes > maxPageBytes || (pageBytes & (pageBytes - 1)) !== 0) return undefined
  return { pageBytes, root: readUint64(bytes, 16), pages: readUint64(bytes, 40), txid: readUint64(bytes, 48) }
}

const fnvStart = 0xcbf29ce484222325n
const fnvPrime = 0x100000001b3n

export function fnv1a(bytes: Uint8Array): bigint {
  let hash = fnvStart
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * fnvPrime)
  return hash
}

/** Numbers beyond 2^53 are rounded: page ids of this size are out of range in any case. */
const readUint64 = (bytes: Buffer, offset: number): number => bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 2 ** 32
