// Limits of the data file.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Snapshot } from './snapshot.js'
import { openTables } from './tables.js'

test('64 workers can have two snapshots each, beside those of the primary', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tables-'))
  const tables = openTables({ path: join(folder, 'data.mdb'), create: true, noSync: true })
  assert.ok(tables)
  const snapshots: Snapshot[] = []
  for (let i = 0; i < 2 * 64 + 2; i++) {
    // After a write, so that it is a transaction of its own.
    await tables.root.batch(() => tables.meta.put('turn', Buffer.from(`${i}`)))
    snapshots.push(new Snapshot(tables))
  }
  for (const snapshot of snapshots) snapshot.close()
  await tables.root.close()
  rmSync(folder, { recursive: true })
})
