// The write-ahead log: recovery after a crash at any byte, and bytes that are not records.

import assert from 'node:assert/strict'
import fs, { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { type StagedWrite, stagedOf } from '../commit-queue.js'
import { type LoggedWrite, logPaths, readLog, WriteAheadLog } from './write-ahead-log.js'

const seed = 12_345

type Done = (error: Error | null, written: number) => void
type Write = (descriptor: number, bytes: Buffer, offset: number, length: number, position: number, done: Done) => void
type Writev = (descriptor: number, chunks: readonly Buffer[], position: number, done: Done) => void
type ReplacedWrite = (write: Write, descriptor: number, bytes: Buffer, position: number, done: Done) => void

function mockWrite(replacement: ReplacedWrite): void {
  const write = fs.write as Write
  mock.method(fs, 'write', (descriptor: number, bytes: Buffer, _offset: number, _length: number, position: number, done: Done) =>
    replacement(write, descriptor, bytes, position, done),
  )
  syncBuiltinESMExports()
}

describe('the write-ahead log', () => {
  let folder: string
  let path: string
  let log: WriteAheadLog
  let checkpointed: number
  let revision: number

  const open = (lastNumber = 0): WriteAheadLog => new WriteAheadLog({ path, seed, lastNumber, checkpointed: () => checkpointed })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'storage-log-'))
    path = join(folder, 'data.mdb')
    checkpointed = 10
    revision = 10
    log = open()
  })
  afterEach(async () => {
    mock.restoreAll()
    syncBuiltinESMExports()
    await log.close(false)
    rmSync(folder, { recursive: true })
  })

  const staged = (key: string, value: string | undefined, expiresAtMs?: number): StagedWrite => {
    revision += 1
    return stagedOf({
      write: { key, value: value === undefined ? undefined : Buffer.from(value), expiresAtMs },
      previousRow: undefined,
      position: 0,
      revision,
    })
  }
  const append = (...writes: readonly StagedWrite[]): Promise<void> => log.append(writes, (writes[0]?.change.revision ?? 0) - 1)
  const put = (key: string, value: string): Promise<void> => append(staged(key, value))
  const texts = (writes: readonly LoggedWrite[]): readonly string[] =>
    writes.map(({ revision: writtenRevision, key, value }) => `${writtenRevision} ${key}=${value ?? ''}`)
  const loggedTexts = (after = checkpointed): readonly string[] => texts(readLog(path, seed, after).writes)
  const [firstFile, secondFile] = [0, 1].map((index) => () => logPaths(path)[index] as string) as [() => string, () => string]

  test('long values between short ones, and partial writes of the system', async () => {
    const values = ['x'.repeat(9000), 'short', '', 'y'.repeat(20_000), 'z'.repeat(8192), 'w'.repeat(8193)]
    const batch = values.map((value, i) => staged(`key-${i}`, value))
    const expected = batch.map(({ change }) => `${change.revision} ${change.key}=${change.value ?? ''}`)
    await append(...batch)
    assert.deepEqual(loggedTexts(), expected)
    let calls = 0
    const writev = fs.writev as unknown as Writev
    mock.method(fs, 'writev', (descriptor: number, chunks: readonly Buffer[], position: number, done: Done) => {
      calls += 1
      // Writes the whole first chunk and a part of the next one at each call.
      const partialChunks = calls % 2 === 1 ? chunks.slice(0, 1) : [(chunks[0] as Buffer).subarray(0, 777)]
      writev(descriptor, partialChunks, position, done)
    })
    syncBuiltinESMExports()
    const again = values.map((value, i) => staged(`again-${i}`, value))
    await append(...again)
    assert.ok(calls > 5)
    assert.deepEqual(
      loggedTexts().slice(expected.length),
      again.map(({ change }) => `${change.revision} ${change.key}=${change.value ?? ''}`),
    )
  })

  test('ends with the last complete record, wherever it was truncated or damaged', async () => {
    await put('a', 'one')
    await put('b', 'two')
    await put('c', 'three')
    const file = [firstFile(), secondFile()].find((name) => readFileSync(name).includes('three')) as string
    const whole = readFileSync(file)
    const end = whole.indexOf('three') + 5
    assert.deepEqual(loggedTexts(), ['11 a=one', '12 b=two', '13 c=three'])
    for (const length of [end - 1, end - 8, end - 30]) {
      writeFileSync(file, whole.subarray(0, length))
      assert.deepEqual(loggedTexts(), ['11 a=one', '12 b=two'])
    }
    for (let offset = end - 40; offset < end; offset += 3) {
      const damaged = Buffer.from(whole)
      damaged[offset] = (damaged[offset] ?? 0) ^ 0x10
      writeFileSync(file, damaged)
      assert.deepEqual(loggedTexts(), ['11 a=one', '12 b=two'], `byte ${offset}`)
    }
  })

  test('overwrites a file once the data file has its records, and ignores the old ones', async () => {
    for (let i = 0; i < 20; i++) await put('k', `value ${i}`)
    assert.equal(loggedTexts().length, 20)
    const sizes = [firstFile(), secondFile()].map((name) => statSync(name).size)
    checkpointed = revision
    for (let i = 0; i < 3; i++) await put('n', `value ${i}`)
    assert.deepEqual(
      [firstFile(), secondFile()].map((name) => statSync(name).size),
      sizes,
    )
    assert.deepEqual(loggedTexts(), ['31 n=value 0', '32 n=value 1', '33 n=value 2'])
  })

  test('reports a gap', async () => {
    for (let i = 0; i < 4; i++) await put('k', `${i}`)
    const { writes, gapUntil } = readLog(path, seed, 5)
    assert.deepEqual([writes.length, gapUntil], [0, 10])
  })

  test('is ignored by another data file', async () => {
    await put('a', 'one')
    assert.deepEqual(readLog(path, seed + 1, 10).writes, [])
  })

  test('a complete record of a failed batch is replaced by the next batch', async () => {
    await put('a', 'one')
    // The record was written, but its write reported an error.
    mockWrite((write, descriptor, bytes, position, done) =>
      write(descriptor, bytes, 0, bytes.length, position, () => done(new Error('EIO'), 0)),
    )
    await assert.rejects(append(staged('lost', 'no'), staged('lost', 'no')), /EIO/)
    assert.deepEqual(loggedTexts(), ['11 a=one', '12 lost=no', '13 lost=no'])
    mock.restoreAll()
    syncBuiltinESMExports()
    revision = 11
    // The next record goes to the other file.
    checkpointed = 11
    await put('b', 'two')
    assert.deepEqual(loggedTexts(), ['12 b=two'])
    await put('c', 'three')
    assert.deepEqual(loggedTexts(), ['12 b=two', '13 c=three'])
  })

  test('continues with greater numbers after a restart, and is truncated at close', async () => {
    await put('a', 'one')
    await log.close(false)
    const { lastNumber } = readLog(path, seed, 10)
    assert.equal(lastNumber, 1)
    checkpointed = 11
    log = open(lastNumber)
    await put('b', 'two')
    assert.equal(readLog(path, seed, 10).lastNumber, 2)
    await log.close(true)
    assert.deepEqual(
      [firstFile(), secondFile()].map((name) => statSync(name).size),
      [0, 0],
    )
    log = open()
  })
})
