// A mirror of the memory engine, which tells it of changes as etcd would: what is in memory only, what is in the file, and what a process leaves
// that ends in between.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger } from '../base/logger.js'
import { openMemoryStorage } from './memory.js'
import { Mirror, type MirroredStep } from './mirror.js'
import { MirrorFile } from './mirror-file.js'
import { type Change, type Storage, StorageUnavailableError } from './storage.js'
import { changesOf, randomNumbers, scanOf } from './story.fixture.js'

const everything = { start: '', end: '\u{10ffff}' }

describe('a mirror', () => {
  let folder: string
  let source: Storage
  const opened: Mirror[] = []
  const files = new Map<Mirror, MirrorFile>()

  const openIn = async (where: string): Promise<Mirror> => {
    const file = await MirrorFile.open({ folder: where, source: 'memory', logger: silentLogger })
    const mirror = new Mirror({ file, positionOf: (revision) => revision, logger: silentLogger })
    if (!mirror.isLoaded) {
      await mirror.beginLoad()
      mirror.endLoad(source.compacted, source.compacted)
    }
    opened.push(mirror)
    files.set(mirror, file)
    return mirror
  }
  /** What the source has and the mirror has not, one step for each revision. */
  const feed = (mirror: Mirror): void => {
    const missing = source.changes({ ...everything, after: mirror.position, limit: 100_000 }).changes
    for (const { revision } of missing.filter((change, i) => missing[i - 1]?.revision !== change.revision)) {
      mirror.apply(stepOf(missing.filter((change) => change.revision === revision)))
    }
  }
  /** As a process that was killed would find it when it starts again. */
  const kill = async (): Promise<Mirror> => {
    const left = join(folder, `left-${opened.length}`)
    cpSync(join(folder, opened.length === 1 ? 'first' : `left-${opened.length - 1}`), left, { recursive: true })
    return openIn(left)
  }
  const rowInFile = (mirror: Mirror, key: string) => files.get(mirror)?.snapshot.row(key)
  const put = async (key: string, value: string | undefined): Promise<void> => {
    await source.commit([{ key, value: value === undefined ? undefined : Buffer.from(value), expect: undefined }])
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mirror-'))
    source = openMemoryStorage()
  })
  afterEach(async () => {
    for (const mirror of opened.splice(0)) await mirror.close()
    files.clear()
    await source.close()
    rmSync(folder, { recursive: true })
  })

  test('shows at once what has arrived, and brings it into its file within about a second', async () => {
    const mirror = await openIn(join(folder, 'first'))
    await put('pods/a', 'one')
    feed(mirror)
    assert.equal(mirror.read('pods/a')?.value.toString(), 'one')
    assert.equal(mirror.count({ start: 'pods/', end: 'pods0' }), 1)
    assert.equal(rowInFile(mirror, 'pods/a'), undefined)
    await sleep(1500)
    assert.equal(rowInFile(mirror, 'pods/a')?.value.toString(), 'one')
    assert.equal(mirror.read('pods/a')?.value.toString(), 'one')
  })

  test('brings much into its file at once, in a turn of its own', async () => {
    const mirror = await openIn(join(folder, 'first'))
    for (let i = 0; i < 300; i += 1) await put(`pods/${i}`, 'x')
    feed(mirror)
    assert.equal(rowInFile(mirror, 'pods/0'), undefined)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(rowInFile(mirror, 'pods/299')?.value.toString(), 'x')
  })

  test('whose process was killed goes on where its file ends, at the end of a step', async () => {
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

  test('whose file cannot be written goes on in memory, refuses more when that is full, and loses nothing', async () => {
    const file = await MirrorFile.open({ folder: join(folder, 'first'), source: 'memory', logger: silentLogger })
    let isFull = false
    const refusing = {
      get snapshot() {
        return file.snapshot
      },
      write: ((bytes, work) => {
        if (isFull) throw new StorageUnavailableError('the disk is full')
        file.write(bytes, work)
      }) satisfies MirrorFile['write'],
      startAnew: () => file.startAnew(),
      close: () => file.close(),
    }
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (_: unknown, text: string) => void warnings.push(text) }
    const mirror = new Mirror({ file: refusing, positionOf: (revision) => revision, logger })
    opened.push(mirror)
    await mirror.beginLoad()
    mirror.endLoad(source.compacted, source.compacted)
    isFull = true
    for (let i = 0; i < 600; i += 1) await put(`pods/${i}`, 'x')
    assert.throws(() => feed(mirror), /the disk is full/)
    assert.equal(mirror.count({ start: 'pods/', end: 'pods0' }), 512)
    assert.equal(mirror.position, mirror.revision)
    await sleep(1200)
    assert.deepEqual(warnings, ['the local mirror of etcd cannot be written; what has arrived stays in memory'])
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

  test('agrees with its source through a long random story of writes, compactions, restarts and ends in between', {
    timeout: 600_000,
  }, async (context) => {
    const seed = Number(process.env['STORAGE_STORY_SEED'] ?? Date.now() % 1_000_000)
    context.diagnostic(`STORAGE_STORY_SEED=${seed}`)
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
        // What the source has given up meanwhile is bridged by the feed of etcd; here it is told whole.
        if (mirror.position < source.compacted) mirror.apply(bridge(mirror, source))
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

function bridge(mirror: Mirror, source: Storage): MirroredStep {
  const { entries } = source.range({ ...everything, limit: 100_000, at: source.compacted })
  const kept = new Set(entries.map(({ key }) => key))
  const gone = [...mirror.entries(everything)].filter(({ key }) => !kept.has(key))
  const puts = entries.filter(({ key, revision }) => mirror.read(key)?.revision !== revision)
  return {
    writes: [
      ...gone.map(({ key }) => ({ key, revision: mirror.revision + 1, value: undefined })),
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
