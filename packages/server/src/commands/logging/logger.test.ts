// The log: JSON lines, from the level that was asked for.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Logger } from '../base/logger.js'
import { LogWriter } from './log-writer.js'
import { createLogger } from './logger.js'

/** A logger into a file, and the lines of it once the logger is closed. */
async function linesOf(say: (logger: Logger) => void | Promise<void>): Promise<readonly Record<string, unknown>[]> {
  const text = await textOf(say)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

async function textOf(say: (logger: Logger) => void | Promise<void>, format: 'json' | 'text' = 'json'): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'))
  const path = join(folder, 'log')
  const fd = openSync(path, 'w')
  const logger = createLogger('info', { fd, format })
  await say(logger)
  await logger.close()
  logger.error({}, 'too late')
  closeSync(fd)
  const text = readFileSync(path, 'utf8')
  rmSync(folder, { recursive: true })
  return text
}

test('the first line loads nothing: it may come while others wait', async () => {
  const loaded = (): number => Object.keys(createRequire(import.meta.url).cache).length
  const before = loaded()
  await linesOf((logger) => logger.warn({ error: new Error('oops') }, 'down'))
  assert.equal(loaded(), before)
})

test('lines have time, level, fields and message; what is below the level or after the end is left out', async () => {
  const [up, down, ...rest] = await linesOf((logger) => {
    logger.debug({}, 'not this')
    logger.info({ port: 1 }, 'up')
    logger.error({ error: new TypeError('oops') }, 'down')
  })
  assert.deepEqual(rest, [])
  assert.deepEqual({ level: up?.['level'], port: up?.['port'], msg: up?.['msg'] }, { level: 'info', port: 1, msg: 'up' })
  assert.ok(Math.abs(Date.parse(String(up?.['time'])) - Date.now()) < 10_000)
  const error = down?.['error'] as Record<string, unknown>
  assert.deepEqual({ type: error['type'], message: error['message'] }, { type: 'TypeError', message: 'oops' })
})

test('lines keep their order and none is lost or repeated, whatever is under way at the end', async () => {
  for (let round = 0; round < 50; round += 1) {
    const lines = await linesOf(async (logger) => {
      for (let number = 0; number < 20; number += 1) {
        logger.info({ number, filling: 'x'.repeat(2000) }, 'line')
        if (number === round % 20) await new Promise((resolve) => setImmediate(resolve))
      }
    })
    assert.deepEqual(
      lines.map(({ number }) => number),
      Array.from({ length: 20 }, (_, index) => index),
    )
  }
})

test('a disk that was full is written to again, and the lines that found no room are counted', {
  skip: !existsSync('/dev/full'),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'))
  const path = join(folder, 'log')
  const fd = openSync('/dev/full', 'w')
  const writer = new LogWriter({ fd, mostWaitingBytes: 1 << 20, onLeftOut: (lines) => writer.write(`left out: ${lines}\n`) })
  for (const line of ['one\n', 'two\n']) writer.write(line)
  await writer.flush()
  closeSync(fd)
  // As if there were room again: the lowest free number is the one that was just given back.
  assert.equal(openSync(path, 'w'), fd)
  writer.write('three\n')
  await writer.close()
  closeSync(fd)
  assert.equal(readFileSync(path, 'utf8'), 'three\nleft out: 2\n')
  rmSync(folder, { recursive: true })
})

/** A pipe with a reader that reads nothing yet. */
async function withPipe(work: (reader: number, writer: number) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  await work(reader, writer)
  for (const each of [reader, writer]) closeSync(each)
  rmSync(folder, { recursive: true })
}

const saySome = (logger: Logger): void => {
  for (let number = 0; number < 5_000; number += 1) logger.info({ number, filling: 'x'.repeat(2000) }, 'line')
}

test('a reader that does not read holds up neither the server nor its end', () =>
  withPipe(async (_, fd) => {
    const logger = createLogger('info', { fd })
    saySome(logger)
    const startMs = performance.now()
    await logger.close()
    assert.ok(performance.now() - startMs < 30_000)
  }))

test('what waits for a slow reader is bounded, and it is told how many lines were left out', () =>
  withPipe(async (reader, fd) => {
    const logger = createLogger('info', { fd })
    saySome(logger)
    const bytes = Buffer.alloc(1 << 20)
    let text = ''
    for (let waited = 0; !text.includes('log lines dropped') && waited < 6000; waited += 1) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      try {
        text += bytes.toString('utf8', 0, readSync(reader, bytes))
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN')
      }
    }
    await logger.close()
    const lines = text.split('\n').slice(0, -1)
    const told = JSON.parse(lines.at(-1) ?? '{}')
    assert.deepEqual({ level: told.level, lines: told.lines }, { level: 'warn', lines: 5_000 - (lines.length - 1) })
    assert.ok(text.length < 6 << 20)
  }))

test('a logger that wrote nothing can be closed', () => createLogger('info').close())

for (const format of ['json', 'text'] as const) {
  test(`a client cannot make the log control a terminal or seem to have more lines, as ${format}`, async () => {
    const agent = 'a\u001b[2J\u009b2J\u0085b\u2028c\u2029d\r\ne'
    const text = await textOf((logger) => logger.info({ agent }, 'request'), format)
    assert.ok(text.includes(String.raw`a\u001b[2J\u009b2J\u0085b\u2028c\u2029d\r\ne`), text)
    assert.deepEqual(
      [...text.matchAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu)].map(({ 0: found }) => found),
      ['\n'],
    )
  })
}
