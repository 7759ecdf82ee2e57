// Rotation: what is put aside, compressed and removed, and when.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
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
  const file = new LogFile({ ...rotation, path }, () => now)
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
  const file = new LogFile({ ...rotation, path }, () => start)
  file.append(Buffer.from('a\n'))
  file.append(Buffer.from('b\n'))
  await file.close()
  assert.equal(readFileSync(join(folder, 'audit-2026-01-10T00-00-00.000.log'), 'utf8'), 'before\na\n')
  rmSync(folder, { recursive: true })
})

test('of two within a millisecond none is lost', async () => {
  const { folder, path } = inFolder()
  const file = new LogFile({ ...rotation, maxBytes: 1, path }, () => start)
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
  const file = new LogFile({ path, maxBytes: 1, maxAgeDays: 3, maxBackups: 2, compresses: true }, () => now)
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
