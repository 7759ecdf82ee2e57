// --workers: numbers, auto, and what it cannot be combined with.

import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { parseFlags } from './flags/parse-flags.js'
import { readSettings } from './read-settings.js'

const workersOf = async (...flags: readonly string[]): Promise<number> => (await readSettings(parseFlags(flags))).workers

test('the number of workers', async () => {
  assert.equal(await workersOf(), 1)
  assert.equal(await workersOf('--workers=4'), 4)
  assert.equal(await workersOf('--workers=auto'), Math.min(64, availableParallelism()))
  assert.equal(await workersOf('--workers=1', '--storage-backend=memory'), 1)
  for (const text of ['0', '65', '-1', '2.5', 'many', '']) await assert.rejects(workersOf(`--workers=${text}`), /neither auto nor a number/)
})

test('workers are refused where processes cannot share the store or the port', async () => {
  await assert.rejects(workersOf('--workers=2', '--storage-backend=memory'), /--workers: needs a store in a file/)
  await assert.rejects(workersOf('--workers=2', '--etcd-servers=http://127.0.0.1:1'), /--workers: needs the embedded store; with etcd/)
  await assert.rejects(workersOf('--workers=2', '--testkit'), /--workers: cannot be combined with --testkit/)
})
