// The log: JSON lines, from the level that was asked for.

import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLogger } from './logger.js'

test('lines have time, level, fields and message; what is below the level is left out; close writes the rest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'))
  const path = join(folder, 'log')
  const fd = openSync(path, 'w')
  const logger = createLogger('info', { fd })
  logger.debug({}, 'not this')
  logger.info({ port: 1 }, 'up')
  logger.error({ error: new TypeError('oops') }, 'down')
  await new Promise((resolve) => setImmediate(resolve))
  logger.close()
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const [up, down] = lines.map((line) => JSON.parse(line))
  assert.equal(lines.length, 2)
  assert.deepEqual({ level: up.level, port: up.port, msg: up.msg }, { level: 'info', port: 1, msg: 'up' })
  assert.ok(Math.abs(Date.parse(up.time) - Date.now()) < 10_000)
  assert.deepEqual({ type: down.error.type, message: down.error.message }, { type: 'TypeError', message: 'oops' })
  closeSync(fd)
  rmSync(folder, { recursive: true })
})

test('a logger that wrote nothing can be closed', () => createLogger('info').close())
