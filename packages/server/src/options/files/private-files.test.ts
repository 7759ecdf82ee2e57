// What the operator is told when a small file cannot be written. Needs the right to mount a small disk.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { PendingFiles, writePrivateFile } from './private-files.js'
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

test('files that are made beside other work are in their places once they are written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pending-files-'))
  const [one, other] = [join(folder, 'pki', 'one'), join(folder, 'other')]
  const files = new PendingFiles()
  files.write(one, 'first')
  files.write(other, 'second')
  assert.equal(existsSync(one), false)
  await files.written()
  assert.deepEqual([readFileSync(one, 'utf8'), readFileSync(other, 'utf8')], ['first', 'second'])
  assert.equal(statSync(one).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(folder).sort(), ['other', 'pki'])
  rmSync(folder, { recursive: true })
})

test('a draft that another user put there is not written to', () => {
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

test('one that cannot be put in its place is told of, and leaves no draft; the others are', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pending-files-'))
  const [taken, free] = [join(folder, 'taken'), join(folder, 'free')]
  const files = new PendingFiles()
  writePrivateFile(join(taken, 'inside'), 'a folder has its name')
  files.write(taken, 'first')
  files.write(free, 'second')
  await assert.rejects(files.written(), { path: taken })
  assert.deepEqual(readdirSync(folder).sort(), ['free', 'taken'])
  await files.written()
  rmSync(folder, { recursive: true })
})
