// Log rotation: backups, compression, removal, and partial lines.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { RotatingLogFile } from './rotating-log-file.js'

const dayMs = 86_400_000
const start = Date.parse('2026-01-10T00:00:00.000Z')

function inFolder(): { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'audit-log-'))
  return { folder, path: join(folder, 'audit.log') }
}

const rotation = { maxBytes: 10, maxAgeDays: 0, maxBackups: 0, shouldCompress: false }

test('a full file is renamed with a timestamp', async () => {
  const { folder, path } = inFolder()
  let now = start
  const file = new RotatingLogFile({ ...rotation, path }, { now: () => now })
  for (const line of ['one\n', 'two\n', 'three\n', 'a line that is longer than a file\n', 'x\n']) {
    await file.append(Buffer.from(line))
    now += 1
  }
  await file.close()
  const names = readdirSync(folder).sort()
  assert.equal(names.length, 4)
  assert.equal(names[0], 'audit-2026-01-10T00-00-00.002.log')
  assert.equal(readFileSync(join(folder, names[0] ?? ''), 'utf8'), 'one\ntwo\n')
  assert.equal(readFileSync(path, 'utf8'), 'x\n')
  rmSync(folder, { recursive: true })
})

test('an existing file is continued', async () => {
  const { folder, path } = inFolder()
  writeFileSync(path, 'before\n')
  const file = new RotatingLogFile({ ...rotation, path }, { now: () => start })
  await file.append(Buffer.from('a\n'))
  await file.append(Buffer.from('b\n'))
  await file.close()
  assert.equal(readFileSync(join(folder, 'audit-2026-01-10T00-00-00.000.log'), 'utf8'), 'before\na\n')
  rmSync(folder, { recursive: true })
})

test('backups are cleaned up at start, too', async () => {
  const { folder, path } = inFolder()
  for (const day of ['01', '08', '09']) writeFileSync(join(folder, `audit-2026-01-${day}T00-00-00.000.log`), `${day}\n`)
  const file = new RotatingLogFile({ ...rotation, path, maxAgeDays: 3, shouldCompress: true }, { now: () => start })
  await file.close()
  const names = ['audit-2026-01-08T00-00-00.000.log.gz', 'audit-2026-01-09T00-00-00.000.log.gz', 'audit.log']
  assert.deepEqual(readdirSync(folder).sort(), names)
  rmSync(folder, { recursive: true })
})

test('two rotations within a millisecond have different names', async () => {
  const { folder, path } = inFolder()
  const file = new RotatingLogFile({ ...rotation, maxBytes: 1, path }, { now: () => start })
  for (const line of ['a\n', 'b\n', 'c\n']) await file.append(Buffer.from(line))
  await file.close()
  assert.equal(readdirSync(folder).length, 3)
  rmSync(folder, { recursive: true })
})

test('backups are compressed, and removed by number and age', async () => {
  const { folder, path } = inFolder()
  let now = start
  writeFileSync(join(folder, 'audit-2026-01-01T00-00-00.000.log'), 'too old\n')
  writeFileSync(join(folder, 'audit-other.log'), 'other program\n')
  const file = new RotatingLogFile({ path, maxBytes: 1, maxAgeDays: 3, maxBackups: 2, shouldCompress: true }, { now: () => now })
  for (const line of ['a\n', 'b\n', 'c\n', 'd\n']) {
    await file.append(Buffer.from(line))
    now += dayMs / 2
  }
  await file.close()
  const names = readdirSync(folder).sort()
  assert.deepEqual(names, ['audit-2026-01-11T00-00-00.000.log.gz', 'audit-2026-01-11T12-00-00.000.log.gz', 'audit-other.log', 'audit.log'])
  assert.equal(gunzipSync(readFileSync(join(folder, names[1] ?? ''))).toString(), 'c\n')
  rmSync(folder, { recursive: true })
})

test('a moved or removed file is created again, with its folder', async () => {
  const { folder, path } = inFolder()
  const file = new RotatingLogFile({ ...rotation, path: join(folder, 'sub', 'audit.log') }, { now: () => start })
  const append = (line: string): Promise<void> => file.append(Buffer.from(`${line}\n`))
  await append('12345678')
  renameSync(join(folder, 'sub', 'audit.log'), path)
  await append('23456789')
  rmSync(join(folder, 'sub'), { recursive: true })
  await append('34567890')
  await file.close()
  assert.deepEqual(readdirSync(join(folder, 'sub')), ['audit.log'])
  assert.equal(readFileSync(join(folder, 'sub', 'audit.log'), 'utf8'), '34567890\n')
  assert.equal(readFileSync(path, 'utf8'), '12345678\n')
  rmSync(folder, { recursive: true })
})

test('a file that cannot be renamed is continued, with one warning', async () => {
  const { folder, path } = inFolder()
  const warnings: string[] = []
  // The name of the backup file is too long for the file system, so the rename fails.
  const long = join(folder, `${'x'.repeat(250)}.log`)
  const file = new RotatingLogFile(
    { ...rotation, path: long },
    { logger: { ...silentLogger, warn: (_, message) => void warnings.push(message) } },
  )
  for (const line of ['12345678\n', '23456789\n', '34567890\n']) await file.append(Buffer.from(line))
  await file.close()
  assert.equal(readFileSync(long, 'utf8'), '12345678\n23456789\n34567890\n')
  assert.equal(warnings.length, 1)
  rmSync(dirname(path), { recursive: true })
})

test('a device or pipe is not rotated', async () => {
  const { folder, path } = inFolder()
  symlinkSync('/dev/null', path)
  const file = new RotatingLogFile({ ...rotation, path })
  for (const line of ['12345678\n', '23456789\n']) await file.append(Buffer.from(line))
  await file.close()
  assert.deepEqual(readdirSync(folder), ['audit.log'])
  rmSync(folder, { recursive: true })
})

test('a partial line is ended before the next line', async () => {
  const { folder, path } = inFolder()
  writeFileSync(path, 'a\nhalf of')
  const file = new RotatingLogFile({ ...rotation, maxBytes: 100, path })
  for (const line of ['b\n', 'c\n']) await file.append(Buffer.from(line))
  await file.close()
  assert.equal(readFileSync(path, 'utf8'), 'a\nhalf of\nb\nc\n')
  rmSync(folder, { recursive: true })
})

test('a full disk leaves no partial line', () => {
  const { folder, path } = inFolder()
  // In another process, whose file size limit stands for a full disk.
  const script = `
    import { RotatingLogFile } from ${JSON.stringify(new URL('./rotating-log-file.js', import.meta.url).href)}
    const file = new RotatingLogFile({ path: ${JSON.stringify(path)}, maxBytes: 1e9, maxAgeDays: 0, maxBackups: 0, shouldCompress: false })
    for (const line of ['a'.repeat(500), 'b'.repeat(1000), 'c'])
      try { await file.append(Buffer.from(line + '\\n')); console.log('written') } catch (thrown) { console.log(thrown.code) }
    await file.close()`
  const output = execFileSync('sh', ['-c', 'ulimit -f 1 && exec "$0" --input-type=module -e "$1"', process.execPath, script], {
    encoding: 'utf8',
  })
  assert.equal(output, 'written\nEFBIG\nwritten\n')
  assert.equal(readFileSync(path, 'utf8'), `${'a'.repeat(500)}\nc\n`)
  rmSync(folder, { recursive: true })
})
