// The logger: formats, levels, order, slow readers and full disks.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ApiError, tooManyRequests } from '@cluster-apiserver/api/api/api-error.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { LogWriter } from './log-writer.js'
import { createLogger, jsonLine, textLine } from './logger.js'

/** A logger that writes to a file, and its lines after close. */
async function linesOf(log: (logger: Logger) => void | Promise<void>): Promise<readonly Record<string, unknown>[]> {
  const text = await textOf(log)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

async function textOf(log: (logger: Logger) => void | Promise<void>, format: 'json' | 'text' = 'json'): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'))
  const path = join(folder, 'log')
  const fd = openSync(path, 'w')
  const logger = createLogger('info', { fd, format })
  await log(logger)
  await logger.close()
  logger.error({}, 'too late')
  closeSync(fd)
  const text = readFileSync(path, 'utf8')
  rmSync(folder, { recursive: true })
  return text
}

test('lines have time, level, fields and message; lines below the level or after close are dropped', async () => {
  const [up, down, ...rest] = await linesOf((logger) => {
    logger.debug({}, 'not this')
    logger.info({ port: 1 }, 'up')
    logger.error({ error: new TypeError('oops') }, 'down')
  })
  assert.deepEqual(rest, [])
  assert.deepEqual({ level: up?.['level'], port: up?.['port'], msg: up?.['msg'] }, { level: 'info', port: 1, msg: 'up' })
  assert.match(String(up?.['time']), /^\d{4}-\d\d-\d\dT/)
  const error = down?.['error'] as Record<string, unknown>
  assert.deepEqual({ type: error['type'], message: error['message'] }, { type: 'TypeError', message: 'oops' })
})

test('close keeps all lines in order, without repetition', async () => {
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

test('after a full disk lines are written again, and the dropped ones are counted', {
  skip: !existsSync('/dev/full'),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'))
  const path = join(folder, 'log')
  const fd = openSync('/dev/full', 'w')
  const writer = new LogWriter({ fd, maxQueuedBytes: 1 << 20, onDropped: (lines) => writer.write(`left out: ${lines}\n`) })
  for (const line of ['one\n', 'two\n']) writer.write(line)
  await writer.flush()
  closeSync(fd)
  // Space is free again: the new file gets the lowest free descriptor, which was just closed.
  assert.equal(openSync(path, 'w'), fd)
  writer.write('three\n')
  await writer.close()
  closeSync(fd)
  assert.equal(readFileSync(path, 'utf8'), 'three\nleft out: 2\n')
  rmSync(folder, { recursive: true })
})

/** A pipe whose reader has not started to read. */
async function withPipe(work: (reader: number, writer: number) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  await work(reader, writer)
  for (const fd of [reader, writer]) closeSync(fd)
  rmSync(folder, { recursive: true })
}

const logMany = (logger: Logger): void => {
  for (let number = 0; number < 5_000; number += 1) logger.info({ number, filling: 'x'.repeat(2000) }, 'line')
}

test('a reader that does not read blocks neither the server nor close', () =>
  withPipe(async (_, fd) => {
    const logger = createLogger('info', { fd })
    logMany(logger)
    await logger.close()
  }))

test('the queue for a slow reader is limited, and dropped lines are counted', () =>
  withPipe(async (reader, fd) => {
    const logger = createLogger('info', { fd })
    logMany(logger)
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
    const dropped = JSON.parse(lines.at(-1) ?? '{}')
    assert.deepEqual({ level: dropped.level, lines: dropped.lines }, { level: 'warn', lines: 5_000 - (lines.length - 1) })
    assert.ok(text.length < 6 << 20)
  }))

test('a logger that wrote nothing can be closed', () => createLogger('info').close())

for (const format of ['json', 'text'] as const) {
  test(`control characters of clients are escaped, as ${format}`, async () => {
    const agent = 'a\u001b[2J\u009b2J\u0085b\u2028c\u2029d\r\ne'
    const text = await textOf((logger) => logger.info({ agent }, 'request'), format)
    assert.ok(text.includes(String.raw`a\u001b[2J\u009b2J\u0085b\u2028c\u2029d\r\ne`), text)
    assert.deepEqual(
      [...text.matchAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu)].map(({ 0: found }) => found),
      ['\n'],
    )
  })
}

const time = Date.parse('2026-01-02T03:04:05.006Z')

test('a JSON line has level, time, fields and message', () => {
  assert.equal(
    jsonLine(time, 'info', { port: 6443, who: 'a "b"\n', list: [1, 'x'], left: undefined, none: null }, 'up and\nrunning'),
    '{"level":"info","time":"2026-01-02T03:04:05.006Z","port":6443,"who":"a \\"b\\"\\n","list":[1,"x"],"none":null,"msg":"up and\\nrunning"}\n',
  )
})

test('an error in JSON has type, code and causes', () => {
  class OddError extends TypeError {
    readonly code = 'EODD'
    readonly socket = { large: true }
  }
  const cause = new Error('the disk is full')
  const { error } = JSON.parse(jsonLine(time, 'warn', { error: new OddError('it failed', { cause }) }, 'm'))
  const { type, message, code, stack, ...rest } = error
  assert.deepEqual({ type, message, code, rest }, { type: 'OddError', message: 'it failed: the disk is full', code: 'EODD', rest: {} })
  assert.match(stack, /^.*it failed\n(.*\n)+caused by: Error: the disk is full\n/)
})

test('an error response of the API has no stack, also as the cause; an internal one has', () => {
  const error = tooManyRequests('please try again later', 1)
  const logged = (thrown: Error) => JSON.parse(jsonLine(time, 'info', { error: thrown }, 'm')).error
  const refused = logged(error)
  assert.deepEqual([refused.message, refused.stack], ['please try again later', undefined])
  const wrapped = logged(new Error('cannot delete', { cause: error }))
  assert.deepEqual([wrapped.message, wrapped.stack], ['cannot delete: please try again later', undefined])
  assert.ok(textLine(time, 'info', { error }, 'm').endsWith(' m error="please try again later"\n'))
  assert.match(logged(ApiError.from(new Error('broken'))).stack, /caused by: Error: broken/)
})

test('values that JSON cannot express are explained, not thrown', () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const error = new Error('round')
  error.cause = error
  const logged = JSON.parse(jsonLine(time, 'error', { circle, big: 1n, error, done: () => 1 }, 'm'))
  assert.match(logged.circle, /^\[not JSON: Converting circular structure/)
  assert.match(logged.big, /^\[not JSON: /)
  assert.equal(logged.error.message.split(': ').length, 8)
  assert.equal('done' in logged, false)
})

test('a text line has time, level, message and fields', () => {
  assert.equal(
    textLine(time, 'info', { port: 6443, path: '/api/v1', who: 'a b', list: [1, 'x'] }, 'up and running'),
    '2026-01-02T03:04:05.006Z info  up and running port=6443 path=/api/v1 who="a b" list="[1,\\"x\\"]"\n',
  )
})

test('values cannot add lines or fields to a text line', () => {
  const line = textLine(time, 'error', { err: new Error('a\nb'), agent: 'x\n2026 info  forged user=root' }, 'm\nn')
  assert.equal(line.indexOf('\n'), line.length - 1)
  assert.match(line, /error "m\\nn" err="Error: a\\nb/)
  assert.match(line, /agent="x\\n2026 info {2}forged user=root"/)
})
