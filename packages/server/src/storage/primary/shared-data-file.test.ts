// The data file on a disk that became read-only. Needs permission to mount.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openTables } from '../lmdb/tables.js'
import { SharedDataFile } from './shared-data-file.js'

const mount = (...args: readonly string[]) => execFileSync('mount', args, { stdio: 'ignore' })

test('a data file whose readers cannot be registered is refused', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'read-only-'))
  const path = join(folder, 'data.mdb')
  await openTables({ path, create: true })?.root.close()
  try {
    mount('--bind', folder, folder)
  } catch {
    rmSync(folder, { recursive: true })
    context.skip('no permission to mount')
    return
  }
  try {
    mount('-o', 'remount,ro,bind', folder)
    assert.throws(() => new SharedDataFile(path), /the lock file .*data\.mdb-lock cannot be written/)
    mount('-o', 'remount,rw,bind', folder)
    await new SharedDataFile(path).close()
  } finally {
    execFileSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true })
  }
})
