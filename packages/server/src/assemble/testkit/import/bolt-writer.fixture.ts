// Writes bbolt databases for tests: meta, freelist, branch, leaf and overflow pages, nested and inline buckets.

import { createHash } from 'node:crypto'
import { fnv1a } from './bolt-database.js'

export interface BucketContent {
  readonly name: string
  readonly entries: readonly (readonly [key: Buffer, value: Buffer])[]
  readonly isInline?: boolean
}

interface Element {
  readonly flags: number
  readonly key: Buffer
  readonly value: Buffer
}

const headerBytes = 16
const elementBytes = 16
const [branchFlag, leafFlag, metaFlag, freelistFlag] = [1, 2, 4, 16]
const bucketFlag = 1
/** Few children per branch page, so that small databases have several levels. */
const maxChildren = 3

class PageFile {
  readonly pageBytes: number
  readonly pages: Buffer[] = []

  constructor(pageBytes: number) {
    this.pageBytes = pageBytes
  }

  /** Appends a page, with overflow pages if the content is long, and returns its id. */
  append(flags: number, count: number, content: Buffer): number {
    const id = this.pages.length
    const length = Math.ceil((headerBytes + content.length) / this.pageBytes)
    const bytes = Buffer.alloc(length * this.pageBytes)
    pageHeader(id, flags, count, length - 1).copy(bytes)
    content.copy(bytes, headerBytes)
    for (let i = 0; i < length; i++) this.pages.push(bytes.subarray(i * this.pageBytes, (i + 1) * this.pageBytes))
    return id
  }

  /** Appends a tree and returns the id of its root. */
  appendTree(elements: readonly Element[]): number {
    let level = this.#split(elements).map((leaf) => ({
      key: leaf[0]?.key ?? Buffer.alloc(0),
      id: this.append(leafFlag, leaf.length, leafContent(leaf)),
    }))
    while (level.length > 1) {
      const parents: typeof level = []
      for (let i = 0; i < level.length; i += maxChildren) {
        const children = level.slice(i, i + maxChildren)
        parents.push({ key: children[0]?.key ?? Buffer.alloc(0), id: this.append(branchFlag, children.length, branchContent(children)) })
      }
      level = parents
    }
    return level[0]?.id ?? 0
  }

  #split(elements: readonly Element[]): readonly (readonly Element[])[] {
    const leaves: Element[][] = [[]]
    let free = this.pageBytes - headerBytes
    for (const element of elements) {
      const size = elementBytes + element.key.length + element.value.length
      if (size > free && (leaves.at(-1)?.length ?? 0) > 0) {
        leaves.push([])
        free = this.pageBytes - headerBytes
      }
      leaves.at(-1)?.push(element)
      free -= size
    }
    return leaves
  }
}

function pageHeader(id: number, flags: number, count: number, overflow: number): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeBigUInt64LE(BigInt(id), 0)
  header.writeUInt16LE(flags, 8)
  header.writeUInt16LE(count, 10)
  header.writeUInt32LE(overflow, 12)
  return header
}

function leafContent(elements: readonly Element[]): Buffer {
  const table = Buffer.alloc(elements.length * elementBytes)
  let end = table.length
  elements.forEach(({ flags, key, value }, i) => {
    const at = i * elementBytes
    table.writeUInt32LE(flags, at)
    table.writeUInt32LE(end - at, at + 4)
    table.writeUInt32LE(key.length, at + 8)
    table.writeUInt32LE(value.length, at + 12)
    end += key.length + value.length
  })
  return Buffer.concat([table, ...elements.flatMap(({ key, value }) => [key, value])])
}

function branchContent(children: readonly { readonly key: Buffer; readonly id: number }[]): Buffer {
  const table = Buffer.alloc(children.length * elementBytes)
  let end = table.length
  children.forEach(({ key, id }, i) => {
    const at = i * elementBytes
    table.writeUInt32LE(end - at, at)
    table.writeUInt32LE(key.length, at + 4)
    table.writeBigUInt64LE(BigInt(id), at + 8)
    end += key.length
  })
  return Buffer.concat([table, ...children.map(({ key }) => key)])
}

function bucketValue(file: PageFile, { entries, isInline = false }: BucketContent): Buffer {
  const elements = entries.map(([key, value]) => ({ flags: 0, key, value }))
  const header = Buffer.alloc(headerBytes)
  if (isInline) return Buffer.concat([header, pageHeader(0, leafFlag, elements.length, 0), leafContent(elements)])
  header.writeBigUInt64LE(BigInt(file.appendTree(elements)), 0)
  return header
}

/** Writes a wrong checksum if `isValid` is false. */
function metaPage(
  file: PageFile,
  meta: { readonly id: number; readonly root: number; readonly pages: number; readonly txid: number; readonly isValid: boolean },
): Buffer {
  const page = Buffer.alloc(file.pageBytes)
  pageHeader(meta.id, metaFlag, 0, 0).copy(page)
  const bytes = page.subarray(headerBytes)
  bytes.writeUInt32LE(0xed0cdaed, 0)
  bytes.writeUInt32LE(2, 4)
  bytes.writeUInt32LE(file.pageBytes, 8)
  bytes.writeBigUInt64LE(BigInt(meta.root), 16)
  bytes.writeBigUInt64LE(2n, 32)
  bytes.writeBigUInt64LE(BigInt(meta.pages), 40)
  bytes.writeBigUInt64LE(BigInt(meta.txid), 48)
  bytes.writeBigUInt64LE(fnv1a(bytes.subarray(0, 56)) ^ (meta.isValid ? 0n : 1n), 56)
  return page
}

export interface BoltOptions {
  readonly pageBytes?: number
  readonly damagedMetas?: readonly (0 | 1)[]
  /** Adds the SHA-256 of the database, as `etcdctl snapshot save` does. */
  readonly hasChecksum?: boolean
}

export function writeBolt(
  buckets: readonly BucketContent[],
  { pageBytes = 4096, damagedMetas = [], hasChecksum = false }: BoltOptions = {},
): Buffer {
  const file = new PageFile(pageBytes)
  // The metas are written last; the freelist is empty.
  file.append(metaFlag, 0, Buffer.alloc(0))
  file.append(metaFlag, 0, Buffer.alloc(0))
  file.append(freelistFlag, 0, Buffer.alloc(0))
  const roots = buckets.map((bucket) => ({ flags: bucketFlag, key: Buffer.from(bucket.name), value: bucketValue(file, bucket) }))
  const root = file.appendTree(roots)
  const pages = file.pages.length
  for (const id of [0, 1] as const) file.pages[id] = metaPage(file, { id, root, pages, txid: 8 + id, isValid: !damagedMetas.includes(id) })
  const database = Buffer.concat(file.pages)
  return hasChecksum ? Buffer.concat([database, createHash('sha256').update(database).digest()]) : database
}

/** A write in etcd; without a value a deletion. */
export interface EtcdWrite {
  readonly key: string
  readonly value?: Buffer
  readonly revision: number
}

/** Snapshot of an etcd after these writes, which are ordered by revision. */
export const writeSnapshot = (writes: readonly EtcdWrite[], options: BoltOptions = { hasChecksum: true }): Buffer =>
  writeBolt(
    [
      { name: 'alarm', entries: [], isInline: true },
      {
        name: 'key',
        entries: writes.map(({ key, value, revision }) => [revisionKey(revision, value === undefined), keyValue(key, value)]),
      },
      { name: 'meta', entries: [[Buffer.from('consistent_index'), Buffer.alloc(8)]], isInline: true },
    ],
    options,
  )

export function revisionKey(revision: number, isDeletion: boolean): Buffer {
  const key = Buffer.alloc(isDeletion ? 18 : 17)
  key.writeBigUInt64BE(BigInt(revision), 0)
  key.write('_', 8)
  if (isDeletion) key.write('t', 17)
  return key
}

function keyValue(key: string, value: Buffer | undefined): Buffer {
  const keyBytes = Buffer.from(key)
  const parts = [Buffer.of(0x0a), varint(keyBytes.length), keyBytes]
  // Fields 2 to 4: revisions and version, which the reader skips.
  if (value !== undefined) parts.push(Buffer.of(0x10, 1, 0x18, 1, 0x20, 1, 0x2a), varint(value.length), value)
  return Buffer.concat(parts)
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}
