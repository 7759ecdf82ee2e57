// A mirror fed by the memory engine in place of etcd: changes in memory, changes in the file, and killed processes.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { changesOf, randomNumbers, scanOf } from '../../contract/random-history.fixture.js'
import { openMemoryStorage } from '../../memory/memory-storage.js'
import { type Change, type Storage, StorageUnavailableError } from '../../storage.js'
import { Mirror, type MirroredStep } from './mirror.js'
import { MirrorFile } from './mirror-file.js'

const everything = { start: '', end: '\u{10ffff}' }

describe('a mirror', () => {
  let folder: string
  let source: Storage
  const opened: Mirror[] = []

  const openIn = async (mirrorFolder: string): Promise<Mirror> => {
    const file = await MirrorFile.open({ folder: mirrorFolder, source: 'memory', logger: silentLogger })
    const mirror = new Mirror({ file, positionOf: (revision) => revision, logger: silentLogger })
    if (!mirror.isLoaded) {
      await mirror.beginLoad()
      mirror.endLoad(source.compacted, source.compacted)
    }
    opened.push(mirror)
    return mirror
  }
  /** Applies the changes that the mirror lacks, one step per revision. */
  const feed = (mirror: Mirror): void => {
    const missing = source.changes({ ...everything, after: mirror.position, limit: 100_000 }).changes
    for (const { revision } of missing.filter((change, i) => missing[i - 1]?.revision !== change.revision)) {
      mirror.apply(stepOf(missing.filter((change) => change.revision === revision)))
    }
  }
  /** Reopens the file like a process after a kill. */
  const kill = async (): Promise<Mirror> => {
    const copy = join(folder, `left-${opened.length}`)
    cpSync(join(folder, opened.length === 1 ? 'first' : `left-${opened.length - 1}`), copy, { recursive: true })
    return openIn(copy)
  }
  const put = async (key: string, value: string | undefined): Promise<void> => {
    await source.commit([{ key, value: value === undefined ? undefined : Buffer.from(value), expect: undefined }])
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mirror-'))
    source = openMemoryStorage()
  })
  afterEach(async () => {
    for (const mirror of opened.splice(0)) await mirror.close()
    await source.close()
    rmSync(folder, { recursive: true })
  })

  test('continues after a kill at the last whole step in its file', async () => {
    const mirror = await openIn(join(folder, 'first'))
    for (let i = 0; i < 300; i += 1) await put(`pods/${i}`, 'x')
    feed(mirror)
    await new Promise((resolve) => setImmediate(resolve))
    const inFile = mirror.revision
    await source.commit([1, 2, 3].map((i) => ({ key: `nodes/${i}`, value: Buffer.from('y'), expect: undefined })))
    feed(mirror)
    const next = await kill()
    assert.deepEqual([next.revision, next.position, next.count({ start: 'nodes/', end: 'nodes0' })], [inFile, inFile, 0])
    feed(next)
    compare(next, source)
    assert.equal(next.count({ start: 'nodes/', end: 'nodes0' }), 3)
  })

  test('keeps changes in memory if its file cannot be written, rejects more when that is full, and loses nothing', async () => {
    const file = await MirrorFile.open({ folder: join(folder, 'first'), source: 'memory', logger: silentLogger })
    let isFull = false
    const failingFile = {
      get snapshot() {
        return file.snapshot
      },
      write: ((bytes, work) => {
        if (isFull) throw new StorageUnavailableError('the disk is full')
        file.write(bytes, work)
      }) satisfies MirrorFile['write'],
      recreate: () => file.recreate(),
      close: () => file.close(),
    }
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (_: unknown, text: string) => void warnings.push(text) }
    const mirror = new Mirror({ file: failingFile, positionOf: (revision) => revision, logger })
    opened.push(mirror)
    await mirror.beginLoad()
    mirror.endLoad(source.compacted, source.compacted)
    isFull = true
    for (let i = 0; i < 600; i += 1) await put(`pods/${i}`, 'x')
    assert.throws(() => feed(mirror), /the disk is full/)
    assert.equal(mirror.count({ start: 'pods/', end: 'pods0' }), 512)
    assert.equal(mirror.position, mirror.revision)
    await sleep(1200)
    assert.deepEqual(warnings, ['cannot write the local mirror of etcd; changes stay in memory: free disk space'])
    assert.throws(() => feed(mirror), /the disk is full/)
    isFull = false
    feed(mirror)
    compare(mirror, source)
    await put('pods/last', 'x')
    feed(mirror)
    isFull = true
    await mirror.close()
    const next = await openIn(join(folder, 'first'))
    assert.ok(next.position < source.revision)
    feed(next)
    compare(next, source)
  })

  test('equals its source after a random history of writes, compactions, restarts and kills', {
    timeout: 600_000,
  }, async (context) => {
    const seed = Number(process.env['STORAGE_HISTORY_SEED'] ?? Date.now() % 1_000_000)
    context.diagnostic(`STORAGE_HISTORY_SEED=${seed}`)
    const random = randomNumbers(seed)
    const pick = (below: number): number => Math.floor(random() * below)
    let mirror = await openIn(join(folder, 'first'))
    for (let step = 0; step < 300; step += 1) {
      for (let i = pick(20); i >= 0; i -= 1) {
        const keys = new Set(Array.from({ length: 1 + pick(3) }, () => `${['pods/a', 'pods/b', 'nodes'][pick(3)]}/${pick(40)}`))
        const textOf = (key: string) => (pick(4) === 0 ? undefined : Buffer.alloc(pick(1500), `${key}.${pick(1000)} `))
        await source.commit([...keys].map((key) => ({ key, value: textOf(key), expect: undefined })))
      }
      feed(mirror)
      const at = source.compacted + pick(source.revision - source.compacted + 1)
      compare(mirror, source, at)
      if (pick(4) === 0) await new Promise((resolve) => setImmediate(resolve))
      if (pick(20) === 0) await Promise.all([source.compact(at), mirror.compact(at)])
      if (pick(40) === 0) {
        mirror = await kill()
        // In place of compacted history the mirror gets the differences, as from the change feed.
        if (mirror.position < source.compacted) mirror.apply(stepOverGap(mirror, source))
        feed(mirror)
        compare(mirror, source)
      }
    }
  })
})

function stepOf(changes: readonly Change[]): MirroredStep {
  return {
    writes: changes.map(({ key, revision, value }) => ({ key, revision, value })),
    position: changes.at(-1)?.revision ?? 0,
  }
}

function stepOverGap(mirror: Mirror, source: Storage): MirroredStep {
  const { entries } = source.range({ ...everything, limit: 100_000, at: source.compacted })
  const presentKeys = new Set(entries.map(({ key }) => key))
  const deleted = [...mirror.entries(everything)].filter(({ key }) => !presentKeys.has(key))
  const puts = entries.filter(({ key, revision }) => mirror.read(key)?.revision !== revision)
  return {
    writes: [
      ...deleted.map(({ key }) => ({ key, revision: mirror.revision + 1, value: undefined })),
      ...puts.toSorted((a, b) => a.revision - b.revision),
    ],
    position: source.compacted,
    compacted: source.compacted,
  }
}

function compare(mirror: Mirror, source: Storage, at = source.revision): void {
  assert.equal(mirror.revision, source.revision)
  for (const query of [
    { ...everything, limit: 30 },
    { start: 'pods/a/', end: 'pods/a0', limit: 7, at },
    { start: 'pods/', end: 'pods0', limit: 1000, at },
  ]) {
    assert.deepEqual(mirror.range(query), source.range(query))
    assert.equal(mirror.count(query), source.count(query))
    assert.equal(mirror.count(query, query.at), source.count(query, query.at))
  }
  const all = { ...everything, limit: 100_000 }
  assert.deepEqual(scanOf(mirror, all), scanOf(source, all))
  const after = Math.max(at, mirror.compacted, source.compacted)
  assert.deepEqual(changesOf(mirror, { ...everything, after }), changesOf(source, { ...everything, after }))
  const isNewestKept = source.compacted < source.revision && changesOf(source, { ...everything, after: source.revision - 1 }).length > 0
  assert.equal(mirror.hasChangeAt(source.revision), isNewestKept)
  assert.equal(mirror.hasChangeAt(source.revision + 1), false)
}
