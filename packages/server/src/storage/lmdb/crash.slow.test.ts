// Kills a writing process at random times: the folder must have every acknowledged write, and history without gaps.
// Every run prints its seed; STORAGE_CRASH_SEED repeats the times of the kills as far as possible.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { changesOf, randomNumbers } from '../contract/random-history.fixture.js'
import type { Change, KeyRange, Storage } from '../storage.js'
import { openLmdbStorage } from './lmdb-storage.js'

interface Acknowledged {
  readonly revision: number
  readonly key: string
  /** Empty for a delete. */
  readonly value: string
}

const rounds = 15
const firstRevision = 1
/** Work of a follower, such as a controller, for each change. */
const followerMs = 0.05
const everything: KeyRange = { start: '', end: '\u{10ffff}' }
const writerArgument = '--crash-writer'
const writerFolder = process.argv[process.argv.indexOf(writerArgument) + 1]

const openFolder = (folder: string): Promise<Storage> =>
  openLmdbStorage({ folder, mark: 'crash', clock: systemClock, logger: silentLogger })

if (process.argv.includes(writerArgument) && writerFolder) {
  await writeUntilKilled(writerFolder)
} else {
  test('a process killed while writing loses nothing it acknowledged', { timeout: 300_000 }, surviveKills)
}

/** Eight writers with their own keys, one with large values, and large batches for a slow follower; prints a line per acknowledged write. */
async function writeUntilKilled(folder: string): Promise<void> {
  const storage = await openFolder(folder)
  storage.follow((changes) => {
    for (const untilMs = performance.now() + changes.length * followerMs; performance.now() < untilMs; );
  })
  const write = async (writer: number): Promise<void> => {
    for (let index = 0; ; index += 1) {
      const key = `k/w${writer}/${index % 20}`
      const value = index % 7 === 6 ? '' : `${process.pid}.${index}`.padEnd(writer === 0 ? 9000 : 200, '.')
      const expect = storage.read(key)?.revision ?? 0
      const outcome = await storage.commit([{ key, value: value === '' ? undefined : Buffer.from(value), expect }])
      assert.ok(outcome.ok)
      if (value !== '' || expect !== 0) printLine(`${JSON.stringify({ revision: outcome.revision, key, value } satisfies Acknowledged)}\n`)
      if (index % 50 === 49) await storage.compact(storage.revision - 300)
    }
  }
  const writeBatches = async (): Promise<void> => {
    for (let round = 0; ; round += 1) {
      const put = async (i: number): Promise<void> => {
        const [key, value] = [`k/batch/${i}`, `${process.pid}.${round}`]
        const outcome = await storage.commit([{ key, value: Buffer.from(value), expect: undefined }])
        assert.ok(outcome.ok)
        printLine(`${JSON.stringify({ revision: outcome.revision, key, value } satisfies Acknowledged)}\n`)
      }
      await Promise.all(Array.from({ length: 200 }, (_, i) => put(i)))
    }
  }
  await Promise.all([...Array.from({ length: 8 }, (_, writer) => write(writer)), writeBatches()])
}

/** Writes a line to stdout synchronously; waits while the pipe is full. */
function printLine(line: string): void {
  const bytes = Buffer.from(line)
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(1, bytes, offset)
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

async function surviveKills(context: TestContext): Promise<void> {
  const seed = Number(process.env['STORAGE_CRASH_SEED'] ?? Date.now() % 1_000_000)
  context.diagnostic(`STORAGE_CRASH_SEED=${seed}`)
  const random = randomNumbers(seed)
  const folder = mkdtempSync(join(tmpdir(), 'storage-crash-'))
  try {
    let revisionBefore = 0
    let total = 0
    for (let round = 0; round < rounds; round += 1) {
      // Every fourth kill is late enough for several checkpoints.
      const acknowledged = await killWriter(folder, 5 + random() * (round % 4 === 3 ? 700 : 150))
      const storage = await openFolder(folder)
      try {
        checkSurvivors(storage, acknowledged, revisionBefore)
        revisionBefore = storage.revision
      } finally {
        await storage.close()
      }
      total += acknowledged.length
    }
    assert.ok(total > rounds, `only ${total} writes were acknowledged`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function killWriter(folder: string, afterMs: number): Promise<readonly Acknowledged[]> {
  const child = spawn(process.execPath, [import.meta.filename, writerArgument, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const acknowledged: Acknowledged[] = []
  const lines = createInterface({ input: child.stdout })
  // The kill may cut off the last line.
  lines.on('line', (line) => line.endsWith('}') && acknowledged.push(JSON.parse(line)))
  const closed = once(lines, 'close')
  const exited = once(child, 'exit')
  const work = once(lines, 'line').then(() => sleep(afterMs))
  await Promise.race([work, exited.then(() => assert.fail('the writer ended by itself'))])
  child.kill('SIGKILL')
  await Promise.all([closed, exited])
  return acknowledged
}

function checkSurvivors(storage: Storage, acknowledged: readonly Acknowledged[], revisionBefore: number): void {
  const history = changesOf(storage, { ...everything, after: storage.compacted })
  const revisions = history.map(({ revision }) => revision)
  assert.deepEqual(
    revisions,
    revisions.map((_, index) => Math.max(storage.compacted, firstRevision) + 1 + index),
    'history has no gaps',
  )
  assert.equal(revisions.at(-1) ?? Math.max(storage.compacted, firstRevision), storage.revision)
  checkLinks(storage, history)

  const byRevision = new Map(history.map((change) => [change.revision, change]))
  assert.equal(new Set(acknowledged.map(({ revision }) => revision)).size, acknowledged.length, 'no revision is given twice')
  for (const { revision, key, value } of acknowledged) {
    assert.ok(revision > revisionBefore, `revision ${revision} is used again`)
    assert.ok(revision <= storage.revision, `revision ${revision} is lost`)
    const current = storage.read(key)
    if (revision <= storage.compacted) {
      if (current?.revision === revision) assert.equal(current.value.toString(), value)
      continue
    }
    const change = byRevision.get(revision)
    assert.equal(change?.key, key)
    assert.equal(change?.value?.toString() ?? '', value)
  }
}

/** Each change's previous value is the value of the change before; the last values are the current entries. */
function checkLinks(storage: Storage, history: readonly Change[]): void {
  const { entries } = storage.range({ ...everything, limit: Number.POSITIVE_INFINITY })
  const state = new Map(storage.range({ ...everything, limit: 10_000, at: storage.compacted }).entries.map((entry) => [entry.key, entry]))
  for (const { revision, key, value, previous } of history) {
    assert.deepEqual(previous, state.get(key), `previous of ${revision}`)
    if (value) state.set(key, { key, revision, value })
    else state.delete(key)
  }
  const expected = [...state.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
  assert.deepEqual(entries, expected)
  assert.equal(storage.count({ start: 'k/', end: 'k0' }), entries.length)
}
