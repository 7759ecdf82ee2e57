// Converts data folders, values and backups to the previous storage format.
// Written from the description of that format, without code of the server.
//
//   old value = [index length: u32][splice: u32, with flags][index: JSON][body]
//   new value = [meta length: u24][format: u8 = 1][splice][index version: u32][length: u8][apiVersion][owners]…[index][body]

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'

export const oldKey = (key: string): string => key.replace(/^unique\.([^./]+\/)/, 'claims.$1')

/** Values that are not objects stay unchanged. */
export function oldValue(key: string, value: Buffer): Buffer {
  if (/^(?:unique\.[^./]+|servers)\//.test(key)) return value
  if (value[3] !== 1) throw new Error(`${key} is of format ${value[3]}`)
  const bodyStart = 8 + (value.readUInt32LE(0) & 0xff_ffff)
  let at = 8 + 4 + 1 + (value[12] ?? 0)
  const varint = (): number => {
    let number = 0
    for (let shift = 0; ; shift += 7) {
      const byte = value[at++] ?? 0
      number += (byte & 0x7f) << shift
      if (byte < 0x80) return number
    }
  }
  for (let owners = varint(); owners > 0; owners--) {
    const length = varint()
    at += length
  }
  const header = Buffer.alloc(8)
  header.writeUInt32LE(bodyStart - at, 0)
  value.copy(header, 4, 4, 8)
  return Buffer.concat([header, value.subarray(at)])
}

const hasExpiry = 1
const valueStart = (row: Buffer): number => ((row[0] ?? 0) & hasExpiry ? 13 : 7)

function oldRow(key: string, row: Buffer): Buffer {
  const start = valueStart(row)
  return Buffer.concat([row.subarray(0, start), oldValue(key, row.subarray(start))])
}

interface FoundRow {
  readonly revision: number
  readonly expiresAtMs: number | undefined
  readonly value: Buffer
}

const openStore = (dataDir: string): RootDatabase =>
  open({
    path: join(dataDir, 'store', 'data.mdb'),
    noSubdir: true,
    maxDbs: 8,
    overlappingSync: false,
    keyEncoding: 'binary',
    encoding: 'binary',
  })

const table = (root: RootDatabase, name: string) => root.openDB<Buffer, Buffer>(name, { keyEncoding: 'binary', encoding: 'binary' })

/** All entries of a closed store, by key. */
export async function readRows(dataDir: string): Promise<ReadonlyMap<string, FoundRow>> {
  const root = openStore(dataDir)
  const rows = new Map<string, FoundRow>()
  for (const { key, value } of table(root, 'current').getRange()) {
    const row = Buffer.from(value)
    rows.set(key.toString(), {
      revision: row.readUIntBE(1, 6),
      expiresAtMs: (row[0] ?? 0) & hasExpiry ? row.readUIntBE(7, 6) : undefined,
      value: row.subarray(valueStart(row)),
    })
  }
  await root.close()
  return rows
}

/** Converts a closed data folder, including its history. */
export async function downgradeStore(dataDir: string): Promise<void> {
  const root = openStore(dataDir)
  const [current, history, counts, meta] = ['current', 'history', 'counts', 'meta'].map((name) => table(root, name))
  if (!current || !history || !counts || !meta) throw new Error('tables are missing')
  const rows = [...current.getRange()].map(({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value) }))
  const historyRows = [...history.getRange()].map(({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value) }))
  const countRows = [...counts.getRange()].map(({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value) }))
  await root.transaction(() => {
    for (const { key, value } of rows) {
      const [name, before] = [key.toString(), oldKey(key.toString())]
      if (before !== name) void current.remove(key)
      void current.put(Buffer.from(before), oldRow(name, value))
    }
    // History keys: revision (6 bytes), position (2), kind (1), then the key.
    for (const { key, value } of historyRows) {
      const name = key.toString('utf8', 9)
      const before = Buffer.concat([key.subarray(0, 9), Buffer.from(oldKey(name))])
      if (!before.equals(key)) void history.remove(key)
      void history.put(before, value.length > 1 ? oldRow(name, value) : value)
    }
    for (const { key, value } of countRows) {
      const before = oldKey(`${key}/`).slice(0, -1)
      if (before === key.toString()) continue
      void counts.remove(key)
      void counts.put(Buffer.from(before), value)
    }
    void meta.put(Buffer.from('format'), Buffer.from('2'))
  })
  await root.close()
}

export async function setFormat(dataDir: string, format: string): Promise<void> {
  const root = openStore(dataDir)
  await table(root, 'meta').put(Buffer.from('format'), Buffer.from(format))
  await root.close()
}

export async function formatOf(dataDir: string): Promise<string> {
  const root = openStore(dataDir)
  const meta = table(root, 'meta')
  const format = `${meta.get(Buffer.from('format'))}${meta.get(Buffer.from('upgrading')) === undefined ? '' : ', upgrading'}`
  await root.close()
  return format
}

/** Converts a backup. */
export function downgradeBackup(path: string): void {
  const bytes = readFileSync(path)
  let at = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1
  const entries: { readonly key: string; readonly bytes: Buffer }[] = []
  for (;;) {
    const keyLength = bytes.readUInt32BE(at)
    if (keyLength === 0) break
    const valueLength = bytes.readUInt32BE(at + 4)
    const key = bytes.toString('utf8', at + 20, at + 20 + keyLength)
    const value = oldValue(key, bytes.subarray(at + 20 + keyLength, at + 20 + keyLength + valueLength))
    const header = Buffer.from(bytes.subarray(at, at + 20))
    header.writeUInt32BE(value.length, 4)
    entries.push({ key: oldKey(key), bytes: Buffer.concat([header, Buffer.from(oldKey(key)), value]) })
    at += 20 + keyLength + valueLength
  }
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
  const head = bytes.toString('utf8', 0, bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1).replace('backup 2', 'backup 1')
  const content = Buffer.concat([Buffer.from(head), ...entries.map((entry) => entry.bytes), Buffer.alloc(4)])
  const sha256 = createHash('sha256').update(content).digest('hex')
  writeFileSync(path, Buffer.concat([content, Buffer.from(`${JSON.stringify({ count: entries.length, sha256 })}\n`)]))
}
