// Finds damage in a data file before LMDB maps it into memory, where a missing or invalid page would end the process with a signal.
// Checks all branch pages, and leaf pages up to a limit: each page contains its own number, so lost, overwritten or displaced pages are
// found. Values have no checksum. Pages 0 and 1 are meta pages, with the roots of two trees: free pages, and tables by name.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const pageHeaderBytes = 24
const magic = 0xbeefc0de
const dataVersion = 2
const branchPageFlag = 1
const leafPageFlag = 2
const overflowPageFlag = 4
const metaPageFlag = 8
const overflowNodeFlag = 1
const tableNodeFlag = 2
const noRoot = 2n ** 64n - 1n

/** About a quarter of a second. */
const maxLeafReads = 100_000

interface Tree {
  readonly depth: number
  readonly branchPages: number
  readonly leafPages: number
  readonly overflowPages: number
  readonly entries: number
  readonly root: number | undefined
}

interface Header {
  readonly pageBytes: number
  readonly lastPage: number
  readonly transaction: number
  readonly free: Tree
  readonly main: Tree
}

interface Counter {
  branchPages: number
  leafPages: number
  overflowPages: number
  entries: number
}

interface DataFile {
  readonly descriptor: number
  readonly bytes: number
  readonly header: Header
}

interface Walk {
  readonly file: DataFile
  leafReads: number
  readonly tables: Tree[]
}

class Damage extends Error {}

/** Describes the damage as the end of a sentence; undefined if there is none. */
export function findDamage(path: string, { isTrusted = false }: { readonly isTrusted?: boolean } = {}): string | undefined {
  const descriptor = openSync(path, 'r')
  try {
    inspect(descriptor, isTrusted)
    return undefined
  } catch (error) {
    if (error instanceof Damage) return error.message
    if (error instanceof RangeError) return 'a page has no sense'
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** `isTrusted`: reads leaf pages of tables and of free pages only if the file is shorter than its header says. */
function inspect(descriptor: number, isTrusted: boolean): void {
  const file: DataFile = { descriptor, bytes: fstatSync(descriptor).size, header: readHeader(descriptor) }
  const { free, main, lastPage, pageBytes } = file.header
  const walk: Walk = { file, leafReads: 0, tables: [] }
  // The last pages may have been free when the file was written.
  const isShort = file.bytes < (lastPage + 1) * pageBytes
  const leafReadLimit = isShort ? Number.POSITIVE_INFINITY : isTrusted ? 0 : maxLeafReads
  walkTree(walk, main, Number.POSITIVE_INFINITY)
  for (const tree of [free, ...walk.tables]) walkTree(walk, tree, leafReadLimit)
}

function readHeader(descriptor: number): Header {
  const first = parseHeader(descriptor, 0)
  const second = parseHeader(descriptor, first.pageBytes)
  if (second.pageBytes !== first.pageBytes) throw new Damage('its two headers contradict each other')
  return second.transaction > first.transaction ? second : first
}

function parseHeader(descriptor: number, offset: number): Header {
  const bytes = readBytes(descriptor, offset, 168)
  if (bytes.readUInt32LE(24) !== magic || bytes.readUInt16LE(18) !== metaPageFlag) throw new Damage('its header is not that of a data file')
  if (bytes.readUInt32LE(28) !== dataVersion) throw new Damage('its header is of an unknown version')
  const pageBytes = bytes.readUInt32LE(48)
  if (pageBytes < 256 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0) throw new Damage('its header has no sense')
  const transaction = readCount(bytes, 152)
  if (transaction % 2 !== (offset === 0 ? 0 : 1) && transaction !== 0) throw new Damage('its headers are out of turn')
  return { pageBytes, lastPage: readCount(bytes, 144), transaction, free: readTree(bytes, 48), main: readTree(bytes, 96) }
}

function walkTree(walk: Walk, tree: Tree, leafReadLimit: number): void {
  if (tree.root === undefined) {
    if (tree.entries !== 0) throw new Damage('a tree without a root claims to have entries')
    return
  }
  const withLeaves = walk.leafReads + tree.leafPages <= leafReadLimit
  const counted: Counter = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
  walkPage(walk, { number: tree.root, level: tree.depth, withLeaves, counted })
  const isComplete =
    counted.leafPages === tree.leafPages && counted.entries === tree.entries && counted.overflowPages === tree.overflowPages
  if (counted.branchPages !== tree.branchPages || (withLeaves && !isComplete))
    throw new Damage('a tree does not have the pages it claims to have')
}

interface PageVisit {
  readonly number: number
  /** 1 for leaves. */
  readonly level: number
  readonly withLeaves: boolean
  readonly counted: Counter
}

function walkPage(walk: Walk, pageVisit: PageVisit): void {
  const { number, level, withLeaves, counted } = pageVisit
  if (level < 1) throw new Damage('a tree is deeper than it claims to be')
  if (level === 1 && !withLeaves) {
    checkPageNumber(walk.file, number, 1)
    return
  }
  const page = readPage(walk.file, number, level === 1 ? leafPageFlag : branchPageFlag)
  if (level === 1) {
    counted.leafPages += 1
    walk.leafReads += 1
    for (const node of nodesOf(page)) checkLeafNode(walk, counted, { page, node })
    return
  }
  counted.branchPages += 1
  for (const node of nodesOf(page)) {
    const child = page.readUInt32LE(node) + page.readUInt16LE(node + 4) * 2 ** 32
    walkPage(walk, { ...pageVisit, number: child, level: level - 1 })
  }
}

function checkLeafNode(walk: Walk, counted: Counter, { page, node }: { readonly page: Buffer; readonly node: number }): void {
  counted.entries += 1
  const flags = page.readUInt16LE(node + 4)
  const data = node + 8 + page.readUInt16LE(node + 6)
  if (flags & overflowNodeFlag) {
    const number = readCount(page, data)
    const pages = readCount(page, data + 16)
    const neededPages = Math.floor((pageHeaderBytes - 1 + page.readUInt32LE(node)) / page.length) + 1
    // More is valid: a shorter value may have taken the pages of a longer one.
    if (pages < neededPages) throw new Damage('a page has no sense')
    checkPageNumber(walk.file, number, pages)
    readPage(walk.file, number, overflowPageFlag)
    walk.leafReads += 1
    counted.overflowPages += pages
    return
  }
  if (data + page.readUInt32LE(node) > page.length) throw new Damage('a page has no sense')
  if (flags & tableNodeFlag) walk.tables.push(readTree(page, data))
}

function readPage(file: DataFile, number: number, kind: number): Buffer {
  checkPageNumber(file, number, 1)
  const { pageBytes, transaction } = file.header
  const page = readBytes(file.descriptor, number * pageBytes, kind === overflowPageFlag ? pageHeaderBytes : pageBytes)
  const isValid = readCount(page, 0) === number && readCount(page, 8) <= transaction && (page.readUInt16LE(18) & 15) === kind
  if (!isValid) throw new Damage(`page ${number} is not what it should be`)
  return page
}

function checkPageNumber({ header, bytes }: DataFile, number: number, pages: number): void {
  if (number < 2 || number + pages - 1 > header.lastPage) throw new Damage(`page ${number} is outside of the file`)
  if ((number + pages) * header.pageBytes > bytes) throw new Damage(`it ends before page ${number + pages - 1}`)
}

function readBytes(descriptor: number, offset: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  if (readSync(descriptor, bytes, 0, size, offset) !== size) throw new Damage('it ends too early')
  return bytes
}

function nodesOf(page: Buffer): readonly number[] {
  const lower = page.readUInt16LE(20)
  const upper = page.readUInt16LE(22)
  if (lower > upper || upper + pageHeaderBytes > page.length) throw new Damage('a page has no sense')
  return Array.from({ length: lower >> 1 }, (_, index) => {
    const node = page.readUInt16LE(pageHeaderBytes + 2 * index) + pageHeaderBytes
    if (node < lower || node + 8 + page.readUInt16LE(node + 6) > page.length) throw new Damage('a page has no sense')
    return node
  })
}

function readTree(bytes: Buffer, offset: number): Tree {
  const root = bytes.readBigUInt64LE(offset + 40)
  return {
    depth: bytes.readUInt16LE(offset + 6),
    branchPages: readCount(bytes, offset + 8),
    leafPages: readCount(bytes, offset + 16),
    overflowPages: readCount(bytes, offset + 24),
    entries: readCount(bytes, offset + 32),
    root: root === noRoot ? undefined : Number(root),
  }
}

function readCount(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 2 ** 32
}
