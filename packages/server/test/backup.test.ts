// Backup of a running server and restore into another one, by the commands `backup` and `restore`.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { configMapOf, configMaps, expectStatus, makeConfigMap } from '../../../test/kit/fixtures.js'
import { commandPath } from '../../../test/kit/paths.js'
import { ServerProcess } from '../../../test/kit/server-process.js'

const folder = mkdtempSync(join(tmpdir(), 'backup-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const command = (...args: readonly string[]) => promisify(execFile)(process.execPath, [commandPath, ...args])

test('backup of a running server, and restore', async () => {
  const file = join(folder, 'one.backup')
  const first = await ServerProcess.start()
  const created = await makeConfigMap(first.client, 'default', configMapOf('kept', { data: { a: 'ü' } }))
  let isDone = false
  const writing = (async () => {
    for (let i = 0; !isDone; i += 1) await makeConfigMap(first.client, 'default', configMapOf(`more-${i}`))
  })()
  const { stdout } = await command('backup', `--from=${first.dataDir}`, `--to=${file}`)
  assert.match(stdout, /^backup: \d+ objects, [\d.]+ MB, checksum [0-9a-f]{64}\n$/)
  isDone = true
  await writing
  await assert.rejects(command('backup', `--from=${first.dataDir}`, `--to=${file}`), /exists already/)
  const after = await makeConfigMap(first.client, 'default', configMapOf('after'))
  await assert.rejects(command('migrate', `--from=${first.dataDir}`, `--to=${join(folder, 'other')}`), /is in use by process/)
  await first.stop()

  const dataDir = join(folder, 'restored')
  await command('restore', `--from=${file}`, `--to=${dataDir}`)
  assert.ok(!existsSync(join(dataDir, 'pki')), 'keys are no part of a backup')
  await assert.rejects(command('restore', `--from=${file}`, `--to=${dataDir}`), /has a store already/)
  const second = await ServerProcess.start({ dataDir })
  const kept = expectStatus(await second.client.get(configMaps('default', 'kept')), 200).json
  assert.deepEqual(kept, created)
  expectStatus(await second.client.get(configMaps('default', 'after')), 404)
  // The restored server never reuses a resourceVersion and knows no earlier history.
  const next = await makeConfigMap(second.client, 'default', configMapOf('next'))
  assert.ok(Number(next.metadata.resourceVersion) > Number(after.metadata.resourceVersion))
  const watch = await second.client.watch(`${configMaps('default')}?watch=1&resourceVersion=${created.metadata.resourceVersion}`)
  assert.equal(watch.status === 410 || (await watch.atLeast(1))[0]?.type === 'ERROR', true)
  watch.close()
  await second.stop()
})

test('a wrong command line is explained', async () => {
  await assert.rejects(command('backup', '--from=/nowhere'), { code: 2, stderr: /^cluster-apiserver backup: --to is missing\n\nusage: / })
  await assert.rejects(command('backup', '--from=/nowhere', `--to=${join(folder, 'x')}`), { code: 1, stderr: /there is no store in/ })
})
