// A file that is as its server left it is known as such, and one that was touched is not.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { isAsClosed } from './closed-note.js'
import { openLmdbStorage } from './lmdb.js'
import type { Storage } from './storage.js'

/** Longer than the steps in which file systems tell the time. */
const aWhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30))

test('a data file is as it was closed until somebody writes to it, and is looked through then', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'closed-'))
  const path = join(folder, 'data.mdb')
  const opened = (): Promise<Storage> => openLmdbStorage({ folder, mark: 'test', clock: systemClock, logger: silentLogger })
  const storage = await opened()
  for (let i = 0; i < 500; i++) await storage.commit([{ key: `a/${i}`, value: Buffer.alloc(100, 'c'), expect: 0 }])
  await storage.close()
  assert.ok(isAsClosed(path))
  await aWhile()
  const again = await opened()
  assert.equal(again.count({ start: 'a/', end: 'a0' }), 500)
  await again.commit([{ key: 'a/x', value: Buffer.from('d'), expect: 0 }])
  assert.ok(isAsClosed(path), 'the log was written to, and the file was not')
  await again.compact(1)
  assert.ok(!isAsClosed(path), 'it was written to')
  await again.close()
  assert.ok(isAsClosed(path))
  await aWhile()
  const bytes = readFileSync(path)
  // All that a page says of itself, on every page but the two headers.
  for (let page = 2 * 4096; page < bytes.length; page += 4096) bytes.fill(0xff, page, page + 24)
  writeFileSync(path, bytes)
  assert.ok(!isAsClosed(path), 'somebody has written')
  await assert.rejects(opened(), /is damaged/)
  truncateSync(path, 3 * 4096)
  await assert.rejects(opened(), /is damaged/)
  rmSync(folder, { recursive: true })
})
