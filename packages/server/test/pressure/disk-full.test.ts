// Full disk: writes fail with a Status that says why, reads and watches work, and the server recovers.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { ApiResponse } from '../../../../test/kit/api-client.js'
import { configMapOf, configMaps, expectFailure, expectStatus, untilStatus } from '../../../../test/kit/fixtures.js'
import { runCommand, ServerProcess, untilOnWorkers } from '../../../../test/kit/server-process.js'

const disk = mkdtempSync(join(tmpdir(), 'pressure-disk-'))
const canMount = tryMount()
after(() => {
  if (canMount) execFileSync('umount', ['-l', disk])
  rmSync(disk, { recursive: true, force: true })
})

function tryMount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function fillDisk(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (;;) writeSync(file, Buffer.alloc(4096))
  } catch {
    closeSync(file)
  }
}

test('a full disk at start: one sentence, no stack trace', {
  skip: canMount ? false : 'mounting is not allowed here',
}, async () => {
  const filler = join(disk, 'filler')
  const file = openSync(filler, 'w')
  for (let i = 0; i < 62; i++) writeSync(file, Buffer.alloc(1 << 20))
  closeSync(file)
  const { code, stderr } = await runCommand(['--secure-port=0', `--data-dir=${join(disk, 'full')}`])
  rmSync(filler)
  assert.equal(code, 1)
  assert.match(stderr, /^cluster-apiserver: .*(?:no space left|no room|disk is full).*$/im)
  assert.doesNotMatch(stderr, /\n\s+at /)
})

test('writes fail, reads work, and the server recovers', {
  skip: canMount ? false : 'mounting a small disk is not allowed here',
}, async () => {
  const server = await ServerProcess.start({ dataDir: join(disk, 'data') })
  const { client } = server
  const text = 'x'.repeat(900_000)
  expectStatus(await client.post(configMaps('default'), configMapOf('first', { data: { text } })), 201)
  const watch = await client.watch(`${configMaps('default')}?watch=1`)
  const filler = join(disk, 'filler')
  fillDisk(filler)
  // Pages that are already reserved may take a few more objects.
  let created = 0
  let rejected: ApiResponse
  do rejected = await client.post(configMaps('default'), configMapOf(`more-${++created}`, { data: { text } }))
  while (rejected.status === 201 && created < 100)
  const { message } = expectFailure(rejected, 503, 'ServiceUnavailable')
  assert.match(String(message), /the data folder has no space for the write/)
  assert.equal(rejected.headers['retry-after'], '1')
  const storedCount = created
  for (let i = 0; i < 5; i++) expectStatus(await client.post(configMaps('default'), configMapOf(`no-${i}`, { data: { text } })), 503)
  assert.equal(expectStatus(await client.get(configMaps('default')), 200).json.items.length, storedCount)
  expectStatus(await client.get(configMaps('default', 'first')), 200)
  expectStatus(await client.get('/readyz'), 500)
  rmSync(filler)
  await untilStatus(() => client.post(configMaps('default'), configMapOf('again', { data: { text } })), 201)
  // A worker that rejected a write reports it for 10 s.
  await untilOnWorkers(
    () => client.get('/readyz'),
    ({ status }) => status === 200,
  )
  const events = await watch.atLeast(storedCount + 1)
  assert.equal(events.at(-1)?.object.metadata.name, 'again')
  watch.close()
  await server.stop()
})
