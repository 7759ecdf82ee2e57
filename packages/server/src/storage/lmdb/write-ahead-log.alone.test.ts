// The log of the embedded engine: what is read back after a crash at any byte, and what is not taken for a record.

import assert from 'node:assert/strict'
import fs, { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { type StagedWrite, stagedOf } from './commit-batch.js'
import { type LoggedWrite, logPaths, readLog, WriteAheadLog } from './write-ahead-log.js'

const seed = 12_345

type Done = (error: Error | null, written: number) => void
type Write = (descriptor: number, bytes: Buffer, offset: number, length: number, position: number, done: Done) => void
type Writev = (descriptor: number, pieces: readonly Buffer[], position: number, done: Done) => void
type Instead = (write: Write, descriptor: number, bytes: Buffer, position: number, done: Done) => void

function mockWrite(instead: Instead): void {
  const write = fs.write as Write
  mock.method(fs, 'write', (descriptor: number, bytes: Buffer, _offset: number, _length: number, position: number, done: Done) =>
    instead(write, descriptor, bytes, position, done),
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
    writes.map(({ revision: at, key, value }) => `${at} ${key}=${value ?? ''}`)
  const found = (after = checkpointed): readonly string[] => texts(readLog(path, seed, after).writes)
  const [first, second] = [0, 1].map((index) => () => logPaths(path)[index] as string) as [() => string, () => string]

  test('long values between short ones are written from where they are, also where the system takes less than all at once', async () => {
    const values = ['x'.repeat(9000), 'short', '', 'y'.repeat(20_000), 'z'.repeat(8192), 'w'.repeat(8193)]
    const batch = values.map((value, i) => staged(`key-${i}`, value))
    const expected = batch.map(({ change }) => `${change.revision} ${change.key}=${change.value ?? ''}`)
    await append(...batch)
    assert.deepEqual(found(), expected)
    let calls = 0
    const writev = fs.writev as unknown as Writev
    mock.method(fs, 'writev', (descriptor: number, pieces: readonly Buffer[], position: number, done: Done) => {
      calls += 1
      // The whole of the first piece, then a part of what follows, and so on.
      const some = calls % 2 === 1 ? pieces.slice(0, 1) : [(pieces[0] as Buffer).subarray(0, 777)]
      writev(descriptor, some, position, done)
    })
    syncBuiltinESMExports()
    const again = values.map((value, i) => staged(`again-${i}`, value))
    await append(...again)
    assert.ok(calls > 5)
    assert.deepEqual(
      found().slice(expected.length),
      again.map(({ change }) => `${change.revision} ${change.key}=${change.value ?? ''}`),
    )
  })

  test('gives back what was appended, batch by batch', async () => {
    await append(staged('a', 'one'), staged('ü😀', undefined), staged('c', '', 1_700_000_000_123))
    await put('d', 'x'.repeat(600_000))
    const { writes, lastNumber, gapUntil } = readLog(path, seed, 10)
    assert.deepEqual(
      writes.map(({ value, ...rest }) => ({ ...rest, length: value?.length })),
      [
        { revision: 11, position: 0, key: 'a', expiresAtMs: undefined, length: 3 },
        { revision: 12, position: 0, key: 'ü😀', expiresAtMs: undefined, length: undefined },
        { revision: 13, position: 0, key: 'c', expiresAtMs: 1_700_000_000_123, length: 0 },
        { revision: 14, position: 0, key: 'd', expiresAtMs: undefined, length: 600_000 },
      ],
    )
    assert.deepEqual([lastNumber, gapUntil], [2, undefined])
    assert.deepEqual(found(13).length, 1)
    assert.deepEqual(found(12).length, 0, 'the data file never has a batch in part')
    assert.equal(statSync(first()).mode & 0o777, 0o600)
  })

  test('ends with the last whole record, wherever it was cut or damaged', async () => {
    await put('a', 'one')
    await put('b', 'two')
    await put('c', 'three')
    const file = [first(), second()].find((name) => readFileSync(name).includes('three')) as string
    const whole = readFileSync(file)
    const end = whole.indexOf('three') + 5
    assert.deepEqual(found(), ['11 a=one', '12 b=two', '13 c=three'])
    for (const length of [end - 1, end - 8, end - 30]) {
      writeFileSync(file, whole.subarray(0, length))
      assert.deepEqual(found(), ['11 a=one', '12 b=two'])
    }
    for (let at = end - 40; at < end; at += 3) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ 0x10
      writeFileSync(file, damaged)
      assert.deepEqual(found(), ['11 a=one', '12 b=two'], `byte ${at}`)
    }
  })

  test('begins a file anew once all of it is in the data file, and what is left there does not count', async () => {
    for (let i = 0; i < 20; i++) await put('k', `value ${i}`)
    assert.equal(found().length, 20)
    const sizes = [first(), second()].map((name) => statSync(name).size)
    checkpointed = revision
    for (let i = 0; i < 3; i++) await put('n', `value ${i}`)
    assert.deepEqual(
      [first(), second()].map((name) => statSync(name).size),
      sizes,
    )
    assert.deepEqual(found(), ['31 n=value 0', '32 n=value 1', '33 n=value 2'])
  })

  test('never writes over what is not in the data file', async () => {
    for (let i = 0; i < 200; i++) {
      await put('k', `${i}`)
      // As checkpoints do: some time later, up to some revision.
      if (i % 7 === 3) checkpointed = revision - (i % 5)
      assert.equal(found().length, revision - checkpointed, `after ${i}`)
    }
  })

  test('says where something is missing', async () => {
    for (let i = 0; i < 4; i++) await put('k', `${i}`)
    const { writes, gapUntil } = readLog(path, seed, 5)
    assert.deepEqual([writes.length, gapUntil], [0, 10])
  })

  test('is not taken for the log of another data file', async () => {
    await put('a', 'one')
    assert.deepEqual(readLog(path, seed + 1, 10).writes, [])
  })

  test('a batch that failed but is there makes place for what was decided afterwards', async () => {
    await put('a', 'one')
    // Everything was written, and nobody was told.
    mockWrite((write, descriptor, bytes, position, done) =>
      write(descriptor, bytes, 0, bytes.length, position, () => done(new Error('EIO'), 0)),
    )
    await assert.rejects(append(staged('lost', 'no'), staged('lost', 'no')), /EIO/)
    assert.deepEqual(found(), ['11 a=one', '12 lost=no', '13 lost=no'])
    mock.restoreAll()
    syncBuiltinESMExports()
    revision = 11
    // Into the other file.
    checkpointed = 11
    await put('b', 'two')
    assert.deepEqual(found(), ['12 b=two'])
    await put('c', 'three')
    assert.deepEqual(found(), ['12 b=two', '13 c=three'])
  })

  test('a write of which the system took a part goes on', async () => {
    mockWrite((write, descriptor, bytes, position, done) => write(descriptor, bytes, 0, Math.min(bytes.length, 7), position, done))
    await put('a', 'some text')
    assert.deepEqual(found(), ['11 a=some text'])
  })

  test('goes on with greater numbers after a restart, and leaves nothing behind when all is done', async () => {
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
      [first(), second()].map((name) => statSync(name).size),
      [0, 0],
    )
    log = open()
  })
})
