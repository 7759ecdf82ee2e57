// Finds damage in a data file before LMDB maps it into memory, where a missing or senseless page would end the process with a signal.
//
// The file is a row of pages. Pages 0 and 1 are headers, written in turns; the one with the higher transaction number counts. A header
// names the roots of two trees: the free pages, and the tables by name. Every page knows its own number, so a page that was lost,
// overwritten or displaced shows. The check follows all branches of all trees; leaves too, within a budget that bounds the time to start.
// Values have no checksum: a changed bit inside one goes unnoticed.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const pageHeaderBytes = 24
const magic = 0xbeefc0de
const dataVersion = 2
const isBranch = 1
const isLeaf = 2
const isOverflow = 4
const isMeta = 8
const hasOwnPages = 1
const isTable = 2
const noRoot = 2n ** 64n - 1n

/** Reads that the leaves may cost: about a quarter of a second. */
const leafBudget = 100_000

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

/** What has been met of a tree, to be compared with what its record says. */
interface Tally {
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
  /** The tables that the tree of tables names. */
  readonly tables: Tree[]
}

class Damage extends Error {}

/** What is wrong with the file, as the end of a sentence; undefined when nothing is. */
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

/** Of a file that is as it was when it was closed, the branches alone are looked at. */
function inspect(descriptor: number, isTrusted: boolean): void {
  const file: DataFile = { descriptor, bytes: fstatSync(descriptor).size, header: readHeader(descriptor) }
  const { free, main, lastPage, pageBytes } = file.header
  const walk: Walk = { file, leafReads: 0, tables: [] }
  // A file that ends early is not always short of something: its last pages may have been free when it was written.
  const isShort = file.bytes < (lastPage + 1) * pageBytes
  const budget = isShort ? Number.POSITIVE_INFINITY : isTrusted ? 0 : leafBudget
  walkTree(walk, main, Number.POSITIVE_INFINITY)
  for (const tree of [free, ...walk.tables]) walkTree(walk, tree, budget)
}

function readHeader(descriptor: number): Header {
  const first = parseHeader(descriptor, 0)
  const second = parseHeader(descriptor, first.pageBytes)
  if (second.pageBytes !== first.pageBytes) throw new Damage('its two headers contradict each other')
  return second.transaction > first.transaction ? second : first
}

function parseHeader(descriptor: number, offset: number): Header {
  const bytes = readBytes(descriptor, offset, 168)
  if (bytes.readUInt32LE(24) !== magic || bytes.readUInt16LE(18) !== isMeta) throw new Damage('its header is not that of a data file')
  if (bytes.readUInt32LE(28) !== dataVersion) throw new Damage('its header is of an unknown version')
  const pageBytes = bytes.readUInt32LE(48)
  if (pageBytes < 256 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0) throw new Damage('its header has no sense')
  const transaction = readCount(bytes, 152)
  if (transaction % 2 !== (offset === 0 ? 0 : 1) && transaction !== 0) throw new Damage('its headers are out of turn')
  return { pageBytes, lastPage: readCount(bytes, 144), transaction, free: readTree(bytes, 48), main: readTree(bytes, 96) }
}

function walkTree(walk: Walk, tree: Tree, budget: number): void {
  if (tree.root === undefined) {
    if (tree.entries !== 0) throw new Damage('a tree without a root claims to have entries')
    return
  }
  const withLeaves = walk.leafReads + tree.leafPages <= budget
  const met: Tally = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
  walkPage(walk, { number: tree.root, level: tree.depth, withLeaves, met })
  const isComplete = met.leafPages === tree.leafPages && met.entries === tree.entries && met.overflowPages === tree.overflowPages
  if (met.branchPages !== tree.branchPages || (withLeaves && !isComplete))
    throw new Damage('a tree does not have the pages it claims to have')
}

interface Step {
  readonly number: number
  /** 1 for leaves. */
  readonly level: number
  readonly withLeaves: boolean
  readonly met: Tally
}

function walkPage(walk: Walk, step: Step): void {
  const { number, level, withLeaves, met } = step
  if (level < 1) throw new Damage('a tree is deeper than it claims to be')
  if (level === 1 && !withLeaves) {
    checkNumber(walk.file, number, 1)
    return
  }
  const page = readPage(walk.file, number, level === 1 ? isLeaf : isBranch)
  if (level === 1) {
    met.leafPages += 1
    walk.leafReads += 1
    for (const node of nodesOf(page)) checkLeafNode(walk, met, { page, node })
    return
  }
  met.branchPages += 1
  for (const node of nodesOf(page)) {
    const child = page.readUInt32LE(node) + page.readUInt16LE(node + 4) * 2 ** 32
    walkPage(walk, { ...step, number: child, level: level - 1 })
  }
}

function checkLeafNode(walk: Walk, met: Tally, { page, node }: { readonly page: Buffer; readonly node: number }): void {
  met.entries += 1
  const flags = page.readUInt16LE(node + 4)
  const data = node + 8 + page.readUInt16LE(node + 6)
  if (flags & hasOwnPages) {
    const number = readCount(page, data)
    const pages = readCount(page, data + 16)
    const neededPages = Math.floor((pageHeaderBytes - 1 + page.readUInt32LE(node)) / page.length) + 1
    // More than needed is right: a shorter value may have taken the pages of a longer one.
    if (pages < neededPages) throw new Damage('a page has no sense')
    checkNumber(walk.file, number, pages)
    readPage(walk.file, number, isOverflow)
    walk.leafReads += 1
    met.overflowPages += pages
    return
  }
  if (data + page.readUInt32LE(node) > page.length) throw new Damage('a page has no sense')
  if (flags & isTable) walk.tables.push(readTree(page, data))
}

function readPage(file: DataFile, number: number, kind: number): Buffer {
  checkNumber(file, number, 1)
  const { pageBytes, transaction } = file.header
  const page = readBytes(file.descriptor, number * pageBytes, kind === isOverflow ? pageHeaderBytes : pageBytes)
  const isRight = readCount(page, 0) === number && readCount(page, 8) <= transaction && (page.readUInt16LE(18) & 15) === kind
  if (!isRight) throw new Damage(`page ${number} is not what it should be`)
  return page
}

function checkNumber({ header, bytes }: DataFile, number: number, pages: number): void {
  if (number < 2 || number + pages - 1 > header.lastPage) throw new Damage(`page ${number} is outside of the file`)
  if ((number + pages) * header.pageBytes > bytes) throw new Damage(`it ends before page ${number + pages - 1}`)
}

function readBytes(descriptor: number, offset: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  if (readSync(descriptor, bytes, 0, size, offset) !== size) throw new Damage('it ends too early')
  return bytes
}

/** Where the nodes of a branch or leaf page begin. */
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
