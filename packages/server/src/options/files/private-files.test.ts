// Errors of writing private files. The test of a full disk needs permission to mount.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { explainStartupError } from '../startup-error.js'
import { writePrivateFile } from './private-files.js'

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

test('a full disk is reported, and the old content stays', { skip: canMount ? false : 'mounting is not allowed here' }, () => {
  const path = join(disk, 'admin.conf')
  writePrivateFile(path, 'old')
  assert.throws(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(1 << 20)))
  assert.throws(
    () => writePrivateFile(path, 'new'.repeat(5000)),
    (error) => explainStartupError(error) === `cannot use ${path}: the disk is full`,
  )
  assert.ok(existsSync(path))
  assert.deepEqual(readdirSync(disk).sort(), ['admin.conf', 'filler'])
})

test('an existing draft of another user is not written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'private-files-'))
  const [path, planted] = [join(folder, 'ca.key'), join(folder, 'planted')]
  writeFileSync(planted, 'planted', { mode: 0o644 })
  const draft = `${path}.${process.pid}.draft`
  symlinkSync(planted, draft)
  writePrivateFile(path, 'secret')
  assert.equal(readFileSync(planted, 'utf8'), 'planted')
  writeFileSync(draft, '', { mode: 0o644 })
  writePrivateFile(path, 'secret')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  rmSync(folder, { recursive: true })
})

test('a failed rename is reported and leaves no draft', () => {
  const folder = mkdtempSync(join(tmpdir(), 'private-files-'))
  const folderPath = join(folder, 'taken')
  writePrivateFile(join(folderPath, 'inside'), 'a folder has its name')
  assert.throws(() => writePrivateFile(folderPath, 'first'), { path: folderPath })
  assert.deepEqual(readdirSync(folder), ['taken'])
  rmSync(folder, { recursive: true })
})
