// A full disk below a running server: writes fail with a Status that says why, reads and watches go on, and it recovers by itself.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Answer } from '../kit/api-client.js'
import { configMapOf, configMaps, expectFailure, expectStatus, until } from '../kit/fixtures.js'
import { runCommand, ServerProcess } from '../kit/server-process.js'

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

test('a disk that is full at the start: one sentence, and no stack', {
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

test('writes fail, reads go on, and it recovers', { skip: canMount ? false : 'mounting a small disk is not allowed here' }, async () => {
  const server = await ServerProcess.start({ dataDir: join(disk, 'data') })
  const { client } = server
  const text = 'x'.repeat(900_000)
  expectStatus(await client.post(configMaps('default'), configMapOf('first', { data: { text } })), 201)
  const watch = await client.watch(`${configMaps('default')}?watch=1`)
  const filler = join(disk, 'filler')
  fillDisk(filler)
  // What was reserved before may still hold a few.
  let made = 0
  let refused: Answer
  do refused = await client.post(configMaps('default'), configMapOf(`more-${++made}`, { data: { text } }))
  while (refused.status === 201 && made < 100)
  const { message } = expectFailure(refused, 503, 'ServiceUnavailable')
  assert.match(String(message), /the data folder has no room for the write/)
  assert.equal(refused.headers['retry-after'], '1')
  const held = made
  for (let i = 0; i < 5; i++) expectStatus(await client.post(configMaps('default'), configMapOf(`no-${i}`, { data: { text } })), 503)
  assert.equal(expectStatus(await client.get(configMaps('default')), 200).json.items.length, held)
  expectStatus(await client.get(configMaps('default', 'first')), 200)
  expectStatus(await client.get('/readyz'), 500)
  rmSync(filler)
  await until(
    () => client.post(configMaps('default'), configMapOf('again', { data: { text } })),
    ({ status }) => status === 201,
  )
  expectStatus(await client.get('/readyz'), 200)
  const events = await watch.atLeast(held + 1)
  assert.equal(events.at(-1)?.object.metadata.name, 'again')
  watch.close()
  await server.stop()
})
