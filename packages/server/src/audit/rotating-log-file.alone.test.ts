// Rotation: what is put aside, compressed and removed, and when.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { silentLogger } from '../base/logger.js'
import { LogFile } from './log-file.js'

const day = 86_400_000
const start = Date.parse('2026-01-10T00:00:00.000Z')

function inFolder(): { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'audit-log-'))
  return { folder, path: join(folder, 'audit.log') }
}

const rotation = { maxBytes: 10, maxAgeDays: 0, maxBackups: 0, compresses: false }

test('a file that is full is put aside under the time of day', async () => {
  const { folder, path } = inFolder()
  let now = start
  const file = new LogFile({ ...rotation, path }, { now: () => now })
  for (const line of ['one\n', 'two\n', 'three\n', 'a line that is longer than a file\n', 'x\n']) {
    file.append(Buffer.from(line))
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

test('what was there before is continued', async () => {
  const { folder, path } = inFolder()
  writeFileSync(path, 'before\n')
  const file = new LogFile({ ...rotation, path }, { now: () => start })
  file.append(Buffer.from('a\n'))
  file.append(Buffer.from('b\n'))
  await file.close()
  assert.equal(readFileSync(join(folder, 'audit-2026-01-10T00-00-00.000.log'), 'utf8'), 'before\na\n')
  rmSync(folder, { recursive: true })
})

test('old ones are seen to at a start, too', async () => {
  const { folder, path } = inFolder()
  for (const day of ['01', '08', '09']) writeFileSync(join(folder, `audit-2026-01-${day}T00-00-00.000.log`), `${day}\n`)
  const file = new LogFile({ ...rotation, path, maxAgeDays: 3, compresses: true }, { now: () => start })
  await file.close()
  const names = ['audit-2026-01-08T00-00-00.000.log.gz', 'audit-2026-01-09T00-00-00.000.log.gz', 'audit.log']
  assert.deepEqual(readdirSync(folder).sort(), names)
  rmSync(folder, { recursive: true })
})

test('it is told when old ones cannot be seen to', async () => {
  const { folder, path } = inFolder()
  const said: string[] = []
  const logger = { ...silentLogger, warn: (_: unknown, message: string) => void said.push(message) }
  // A folder in the place of the compressed file.
  writeFileSync(join(folder, 'audit-2026-01-09T00-00-00.000.log'), 'x\n')
  mkdirSync(join(folder, 'audit-2026-01-09T00-00-00.000.log.gz.tmp'))
  const file = new LogFile({ ...rotation, path, compresses: true }, { now: () => start, logger })
  await file.close()
  assert.deepEqual(said, ['cannot compress or remove old audit logs'])
  rmSync(folder, { recursive: true })
})

test('of two within a millisecond none is lost', async () => {
  const { folder, path } = inFolder()
  const file = new LogFile({ ...rotation, maxBytes: 1, path }, { now: () => start })
  for (const line of ['a\n', 'b\n', 'c\n']) file.append(Buffer.from(line))
  await file.close()
  assert.equal(readdirSync(folder).length, 3)
  rmSync(folder, { recursive: true })
})

test('old ones are compressed, and removed by number and age', async () => {
  const { folder, path } = inFolder()
  let now = start
  writeFileSync(join(folder, 'audit-2026-01-01T00-00-00.000.log'), 'too old\n')
  writeFileSync(join(folder, 'audit-other.log'), 'somebody else\n')
  const file = new LogFile({ path, maxBytes: 1, maxAgeDays: 3, maxBackups: 2, compresses: true }, { now: () => now })
  for (const line of ['a\n', 'b\n', 'c\n', 'd\n']) {
    file.append(Buffer.from(line))
    now += day / 2
  }
  await file.close()
  const names = readdirSync(folder).sort()
  assert.deepEqual(names, ['audit-2026-01-11T00-00-00.000.log.gz', 'audit-2026-01-11T12-00-00.000.log.gz', 'audit-other.log', 'audit.log'])
  assert.equal(gunzipSync(readFileSync(join(folder, names[1] ?? ''))).toString(), 'c\n')
  rmSync(folder, { recursive: true })
})

test('a file that somebody moved or removed, with its folder or without, is made anew', async () => {
  const { folder, path } = inFolder()
  const file = new LogFile({ ...rotation, path: join(folder, 'sub', 'audit.log') }, { now: () => start })
  const append = (line: string): undefined => file.append(Buffer.from(`${line}\n`))
  append('12345678')
  renameSync(join(folder, 'sub', 'audit.log'), path)
  append('23456789')
  rmSync(join(folder, 'sub'), { recursive: true })
  append('34567890')
  await file.close()
  assert.deepEqual(readdirSync(join(folder, 'sub')), ['audit.log'])
  assert.equal(readFileSync(join(folder, 'sub', 'audit.log'), 'utf8'), '34567890\n')
  assert.equal(readFileSync(path, 'utf8'), '12345678\n')
  rmSync(folder, { recursive: true })
})

test('a file that cannot be put aside is continued, and that is said once', async () => {
  const { folder, path } = inFolder()
  const said: string[] = []
  // Its backup would have too long a name.
  const long = join(folder, `${'x'.repeat(250)}.log`)
  const file = new LogFile({ ...rotation, path: long }, { logger: { ...silentLogger, warn: (_, message) => void said.push(message) } })
  for (const line of ['12345678\n', '23456789\n', '34567890\n']) file.append(Buffer.from(line))
  await file.close()
  assert.equal(readFileSync(long, 'utf8'), '12345678\n23456789\n34567890\n')
  assert.equal(said.length, 1)
  rmSync(dirname(path), { recursive: true })
})

test('what is no file stays where it is', async () => {
  const { folder, path } = inFolder()
  symlinkSync('/dev/null', path)
  const file = new LogFile({ ...rotation, path })
  for (const line of ['12345678\n', '23456789\n']) file.append(Buffer.from(line))
  await file.close()
  assert.deepEqual(readdirSync(folder), ['audit.log'])
  rmSync(folder, { recursive: true })
})

test('a part of a line that was left is ended before the next line', async () => {
  const { folder, path } = inFolder()
  writeFileSync(path, 'a\nhalf of')
  const file = new LogFile({ ...rotation, maxBytes: 100, path })
  for (const line of ['b\n', 'c\n']) file.append(Buffer.from(line))
  await file.close()
  assert.equal(readFileSync(path, 'utf8'), 'a\nhalf of\nb\nc\n')
  rmSync(folder, { recursive: true })
})

test('a disk that is full leaves no part of a line', () => {
  const { folder, path } = inFolder()
  // In another process, as the largest size of its files is what stands for the disk.
  const script = `
    import { LogFile } from ${JSON.stringify(new URL('./log-file.js', import.meta.url).href)}
    const file = new LogFile({ path: ${JSON.stringify(path)}, maxBytes: 1e9, maxAgeDays: 0, maxBackups: 0, compresses: false })
    for (const line of ['a'.repeat(500), 'b'.repeat(1000), 'c'])
      try { file.append(Buffer.from(line + '\\n')); console.log('written') } catch (thrown) { console.log(thrown.code) }
    await file.close()`
  const said = execFileSync('sh', ['-c', 'ulimit -f 1 && exec "$0" --input-type=module -e "$1"', process.execPath, script], {
    encoding: 'utf8',
  })
  assert.equal(said, 'written\nEFBIG\nwritten\n')
  assert.equal(readFileSync(path, 'utf8'), `${'a'.repeat(500)}\nc\n`)
  rmSync(folder, { recursive: true })
})
