// Upgrade of a data folder by processes that are killed at random times (CRASH_KILLS, default 6): after each kill every entry exists
// once, with its revision; at the end all have the current format. CRASH_SEED repeats the kill times approximately.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import { seededRandom } from '../../../../test/kit/seeded-random.js'
import { systemClock } from '../../../api/src/base/clock.js'
import { silentLogger } from '../../../api/src/base/logger.js'
import { box, boxes } from '../../src/objects/box-store.fixture.js'
import { oldEntry } from '../../src/objects/entry/format-0-entry.fixture.js'
import { encodeStored } from '../../src/objects/entry/stored-object.js'
import { entryUpgrade } from '../../src/objects/entry/upgrade-entries.js'
import { openLmdbStorage } from '../../src/storage/lmdb/lmdb-storage.js'
import { Snapshot } from '../../src/storage/lmdb/snapshot.js'
import { openTables } from '../../src/storage/lmdb/tables.js'
import type { Entry, FormatUpgrade, Storage } from '../../src/storage/storage.js'

const kills = Number(process.env['CRASH_KILLS'] ?? 6)
const count = 3000
const uniqueKeys = 200
const upgrade = entryUpgrade(new Map([['boxes', 'v1']]))
const childArgument = '--killed-upgrade'
const everything = { start: '', end: '\u{10ffff}' }

const openFolder = (folder: string, formatUpgrade: FormatUpgrade = upgrade): Promise<Storage> =>
  openLmdbStorage({ folder, mark: 'crash', upgrade: formatUpgrade, clock: systemClock, logger: silentLogger })

const childAt = process.argv.indexOf(childArgument)
if (childAt >= 0) await upgradeUntilKilled(process.argv.slice(childAt + 1))
else test('an upgrade survives being killed', { timeout: 300_000 }, surviveKills)

/** Child process: kills itself `afterMs` milliseconds after it has converted `entries` entries. */
async function upgradeUntilKilled([folder = '', entries = '0', afterMs = '0']: readonly string[]): Promise<void> {
  let left = Number(entries)
  const killSelf = (): void => void process.kill(process.pid, 'SIGKILL')
  const counting: FormatUpgrade = {
    ...upgrade,
    upgradeValue(key, value) {
      left -= 1
      if (left === 0) {
        if (afterMs === '0') killSelf()
        else setTimeout(killSelf, Number(afterMs))
      }
      return upgrade.upgradeValue(key, value)
    },
  }
  const storage = await openFolder(folder, counting)
  await storage.close()
}

function objectOf(i: number) {
  const { metadata, ...rest } = box(`b${String(i).padStart(5, '0')}`, { labels: { l: String(i % 7) }, color: 'x'.repeat(i % 900) })
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Box', name: 'o', uid: `uid-${i % 10}` }]
  return { metadata: { ...metadata, ...(i % 3 === 0 ? { ownerReferences } : {}) }, ...rest }
}

/** A data folder of the previous format. */
async function makeOldFolder(folder: string): Promise<void> {
  const storage = await openFolder(folder)
  const put = (key: string, value: Buffer, expiresAtMs?: number) =>
    storage.commit([{ key, value, expect: 0, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) }])
  const laterMs = systemClock.now() + 3_600_000
  const work: Promise<unknown>[] = []
  for (let i = 0; i < count; i++) {
    const object = objectOf(i)
    work.push(put(`boxes/n/${object.metadata?.name}`, oldEntry(boxes, object), i % 100 === 0 ? laterMs : undefined))
  }
  for (let i = 0; i < uniqueKeys; i++) work.push(put(`claims.ports/${i}`, Buffer.from('boxes/n/x')))
  work.push(put('servers/x', Buffer.from('10.0.0.1')))
  await Promise.all(work)
  await storage.close()
  const file = open({ path: join(folder, 'data.mdb'), noSubdir: true, overlappingSync: false })
  await file.openDB('meta', { encoding: 'binary', keyEncoding: 'binary' }).put(Buffer.from('format'), Buffer.from('2'))
  await file.close()
}

/** Entries of a closed data file. */
async function readFolder(folder: string): Promise<{ readonly entries: readonly Entry[]; readonly isDone: boolean }> {
  const tables = openTables({ path: join(folder, 'data.mdb'), create: false })
  assert.ok(tables)
  const snapshot = new Snapshot(tables)
  const entries = [...snapshot.entries(everything)]
  snapshot.close()
  const transaction = tables.root.useReadTransaction()
  const [format, upgrading] = ['format', 'upgrading'].map((name) => tables.meta.get(name, { transaction })?.toString())
  transaction.done()
  await tables.root.close()
  return { entries, isDone: format === '4' && upgrading === undefined }
}

const upgradedEntry = ({ key, revision, value }: Entry): Entry => ({
  key: upgrade.upgradeKey(key),
  revision,
  value: upgrade.upgradeValue(key, value),
})

/** Checks that every entry exists once, in the old or the new format. */
function check(found: readonly Entry[], before: ReadonlyMap<string, Entry>): void {
  assert.equal(found.length, before.size)
  const seen = new Set<string>()
  for (const entry of found) {
    const key = entry.key.replace(/^unique\.ports/, 'claims.ports')
    assert.ok(!seen.has(key), `${entry.key} is there twice`)
    seen.add(key)
    const old = before.get(key)
    assert.ok(old, `${entry.key} came from nowhere`)
    assert.equal(entry.revision, old.revision, entry.key)
    assert.ok(entry.value.equals(old.value) || entry.value.equals(upgradedEntry(old).value), `${entry.key} has bytes that it never had`)
  }
}

async function surviveKills(context: TestContext): Promise<void> {
  const random = seededRandom('CRASH_SEED')
  context.diagnostic(`CRASH_SEED=${random.seed}`)
  const base = mkdtempSync(join(tmpdir(), 'upgrade-'))
  try {
    const old = join(base, 'old')
    await makeOldFolder(old)
    const { entries } = await readFolder(old)
    const before = new Map(entries.map((entry) => [entry.key, entry]))
    let killed = 0
    let partlyUpgraded = 0
    for (let copy = 0; killed < kills; copy++) {
      const folder = join(base, String(copy))
      cpSync(old, folder, { recursive: true })
      for (let isDone = false; !isDone; ) {
        const isKilled = await runChild(
          folder,
          killed < kills ? [1 + random.below(count), random.below(3) === 0 ? 0 : random.below(40)] : [],
        )
        if (isKilled) killed += 1
        const state = await readFolder(folder)
        check(state.entries, before)
        isDone = state.isDone
        if (!isDone && state.entries.some(({ value }) => value[3] === 1)) partlyUpgraded += 1
        assert.ok(isKilled || isDone)
      }
      await checkEnd(folder, entries)
      rmSync(folder, { recursive: true, force: true })
    }
    context.diagnostic(`${killed} times killed, ${partlyUpgraded} times with some of the entries upgraded`)
    assert.ok(partlyUpgraded > 0)
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

/** True if the process was killed, false if it finished. */
async function runChild(folder: string, numbers: readonly number[]): Promise<boolean> {
  const args = [fileURLToPath(import.meta.url), childArgument, folder, ...numbers.map(String)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  assert.ok(signal === 'SIGKILL' || code === 0, `the upgrade ended with ${code ?? signal}`)
  return signal === 'SIGKILL'
}

async function checkEnd(folder: string, old: readonly Entry[]): Promise<void> {
  const storage = await openFolder(folder)
  const { entries } = storage.range({ ...everything, limit: Number.POSITIVE_INFINITY })
  const expected = old.map(upgradedEntry).sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
  assert.deepEqual(entries, expected)
  assert.deepEqual(storage.read('boxes/n/b00003')?.value, encodeStored(boxes, objectOf(3)))
  assert.equal(storage.revision, Math.max(...old.map(({ revision }) => revision)))
  const counts = ['boxes', 'boxes/n', 'unique.ports', 'claims.ports', 'servers'].map((name) =>
    storage.count({ start: `${name}/`, end: `${name}0` }),
  )
  assert.deepEqual(counts, [count, count, uniqueKeys, 0, 1])
  const { changes } = storage.changes({ start: 'boxes/', end: 'boxes0', after: storage.compacted, limit: 10 })
  assert.equal(changes[0]?.key, 'boxes/n/b00000', 'history goes on where it was')
  await storage.close()
}
