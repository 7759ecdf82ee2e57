// What the operator is told when a small file cannot be written. Needs the right to mount a small disk.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { writePrivateFile } from './private-files.js'
import { explainStartFailure } from './start-failure.js'

const disk = mkdtempSync(join(tmpdir(), 'private-files-'))
const canMount = tryMount()

function tryMount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

after(() => {
  if (canMount) execFileSync('umount', [disk])
  rmSync(disk, { recursive: true })
})

test('a full disk is named, and leaves the old content', { skip: canMount ? false : 'mounting is not allowed here' }, () => {
  const path = join(disk, 'admin.conf')
  writePrivateFile(path, 'old')
  assert.throws(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(1 << 20)))
  assert.throws(
    () => writePrivateFile(path, 'new'.repeat(5000)),
    (error) => explainStartFailure(error) === `cannot use ${path}: the disk is full`,
  )
  assert.ok(existsSync(path))
  assert.deepEqual(readdirSync(disk).sort(), ['admin.conf', 'filler'])
})
