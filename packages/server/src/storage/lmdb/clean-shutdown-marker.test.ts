// The clean shutdown marker detects changes of the data file.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { Storage } from '../storage.js'
import { isUnchangedSinceShutdown } from './clean-shutdown-marker.js'
import { openLmdbStorage } from './lmdb-storage.js'

/** Longer than the resolution of file times. */
const waitForNewFileTime = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30))

test('a data file is trusted until it changes, and then checked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'closed-'))
  const path = join(folder, 'data.mdb')
  const openFolder = (): Promise<Storage> => openLmdbStorage({ folder, mark: 'test', clock: systemClock, logger: silentLogger })
  const storage = await openFolder()
  for (let i = 0; i < 500; i++) await storage.commit([{ key: `a/${i}`, value: Buffer.alloc(100, 'c'), expect: 0 }])
  await storage.close()
  assert.ok(isUnchangedSinceShutdown(path))
  await waitForNewFileTime()
  const again = await openFolder()
  assert.equal(again.count({ start: 'a/', end: 'a0' }), 500)
  await again.commit([{ key: 'a/x', value: Buffer.from('d'), expect: 0 }])
  assert.ok(isUnchangedSinceShutdown(path), 'the log was written to, and the file was not')
  await again.compact(1)
  assert.ok(!isUnchangedSinceShutdown(path), 'it was written to')
  await again.close()
  assert.ok(isUnchangedSinceShutdown(path))
  await waitForNewFileTime()
  const bytes = readFileSync(path)
  // Overwrite the header of every page except the two meta pages.
  for (let page = 2 * 4096; page < bytes.length; page += 4096) bytes.fill(0xff, page, page + 24)
  writeFileSync(path, bytes)
  assert.ok(!isUnchangedSinceShutdown(path), 'the file was written')
  await assert.rejects(openFolder(), /is damaged/)
  truncateSync(path, 3 * 4096)
  await assert.rejects(openFolder(), /is damaged/)
  rmSync(folder, { recursive: true })
})
