// Line pipe with a slow, stalled or closed reader: lost lines are counted, and no line is broken.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { AuditCounters } from './audit.js'
import type { AuditEvent, EventFacts } from './audit-record.js'
import { LinePipe } from './line-pipe.js'
import { LogBackend } from './log-backend.js'

const event = (text: string): AuditEvent => ({ text, shortened: () => [], facts: {} as EventFacts })
/** Longer than a page, so that the pipe may accept a part of a line. */
const line = (number: number): string => `${number} ${'ä'.repeat(3_000)}`

interface Reader {
  onEnd(close: () => unknown): void
  readonly descriptor: number
  read(): string
  end(): void
}

async function withPipe(work: (reader: Reader) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'line-pipe-'))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  const bytes = Buffer.alloc(1 << 20)
  const decoder = new TextDecoder()
  let isOpen = true
  const end = (): void => {
    if (isOpen) closeSync(reader)
    isOpen = false
  }
  const read = (): string => {
    try {
      return decoder.decode(bytes.subarray(0, readSync(reader, bytes)), { stream: true })
    } catch (thrown) {
      assert.equal((thrown as NodeJS.ErrnoException).code, 'EAGAIN')
      return ''
    }
  }
  const cleanups: (() => unknown)[] = []
  try {
    await work({ descriptor, end, read, onEnd: (close) => void cleanups.push(close) })
  } finally {
    end()
    for (const close of cleanups) await close()
    closeSync(descriptor)
    rmSync(folder, { recursive: true })
  }
}

const defaults = { maxQueuedBytes: 64 << 20, stallTimeoutMs: 10_000 }

function open({ descriptor, onEnd }: Reader, limits: typeof defaults, isStrict: boolean) {
  const counters = new AuditCounters()
  const writer = new LinePipe({ descriptor, ...limits })
  const log = new LogBackend({ writer, counters, logger: silentLogger, format: 'json', isStrict })
  onEnd(() => log.close())
  return { counters, log }
}

for (const isStrict of [false, true])
  test(`a slow reader gets every line, whole and in order${isStrict ? ', in blocking mode' : ''}`, () =>
    withPipe(async (reader) => {
      const { log, counters } = open(reader, defaults, isStrict)
      const results: (boolean | Promise<boolean>)[] = []
      for (let number = 0; number < 1_000; number++) {
        results.push(log.process([event(line(number))]))
        await Promise.resolve()
      }
      const first = await Promise.race([results.at(-1), setTimeout(0, 'waits')])
      assert.equal(first, 'waits', 'the line was written although the reader has not read')
      let text = ''
      for (let waited = 0; waited < 10_000 && !text.includes(`${line(999)}\n`); waited++) {
        text += reader.read()
        await setTimeout(1)
      }
      await log.close()
      const lines = text.split('\n').slice(0, -1)
      assert.deepEqual(
        lines,
        Array.from({ length: 1_000 }, (_, number) => line(number)),
      )
      assert.deepEqual([(await Promise.all(results)).every(Boolean), counters.errors.size], [true, 0])
    }))

test('a stalled reader loses queued lines, but the started line is completed before new ones', () =>
  withPipe(async (reader) => {
    const { log, counters } = open(reader, { maxQueuedBytes: 64 << 20, stallTimeoutMs: 30 }, true)
    const results = await Promise.all(Array.from({ length: 500 }, (_, number) => log.process([event(line(number))])))
    const lost = results.filter((each) => !each).length
    assert.ok(lost > 400 && lost < 500)
    assert.equal(await log.process([event('x')]), false, 'the stalled reader is not waited for again')
    assert.equal(counters.errors.get('log'), lost + 1)
    let text = ''
    for (let more = reader.read(); more !== ''; more = reader.read()) text += more
    assert.ok(!text.endsWith('\n'), 'the pipe must end in a partial line')
    assert.equal(await log.process([event('y')]), true)
    text += reader.read()
    const lines = text.split('\n').slice(0, -1)
    // The started line counts as lost although it is completed.
    assert.deepEqual(lines, [...Array.from({ length: 500 - lost + 1 }, (_, number) => line(number)), 'y'])
    await log.close()
  }))

test('queued lines are limited in bytes', () =>
  withPipe(async (reader) => {
    const { log, counters } = open(reader, { ...defaults, maxQueuedBytes: 100_000 }, true)
    for (let number = 0; number < 1_000; number++) void log.process([event(line(number))])
    await setTimeout(0)
    const lost = counters.errors.get('log') ?? 0
    assert.ok(lost > 500 && lost < 1_000)
    const closing = log.close()
    let text = ''
    for (let waited = 0; waited < 10_000 && text.split('\n').length <= 1_000 - lost; waited++) {
      text += reader.read()
      await setTimeout(1)
    }
    await closing
    assert.deepEqual([text.split('\n').length - 1, counters.errors.get('log')], [1_000 - lost, lost])
  }))

test('a closed reader loses all queued lines at once', () =>
  withPipe(async (reader) => {
    const { log, counters } = open(reader, defaults, true)
    const results = Array.from({ length: 200 }, (_, number) => log.process([event(line(number))]))
    reader.end()
    const lost = (await Promise.all(results)).filter((each) => !each).length
    assert.ok(lost > 0)
    assert.equal(await log.process([event('x')]), false)
    assert.equal(counters.errors.get('log'), lost + 1)
    await log.close()
  }))

test('close does not wait for a stalled reader longer than the timeout', () =>
  withPipe(async (reader) => {
    const { log, counters } = open(reader, { maxQueuedBytes: 64 << 20, stallTimeoutMs: 50 }, false)
    log.process(Array.from({ length: 500 }, (_, number) => event(line(number))))
    await log.close()
    const lost = counters.errors.get('log') ?? 0
    assert.ok(lost > 400 && lost <= 500, String(lost))
  }))
