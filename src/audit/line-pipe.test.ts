// A pipe whose reader is slow or gone: no line is lost or broken while it can be waited for, and the wait is bounded.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { silentLogger } from '../base/logger.js'
import { type Closing, timedTest } from '../base/timed-test.fixture.js'
import { AuditTallies } from './backend.js'
import { LinePipe } from './line-pipe.js'
import { LogBackend } from './log-backend.js'
import type { AuditEvent, EventFacts } from './record.js'

const event = (text: string): AuditEvent => ({ text, shortened: () => [], facts: {} as EventFacts })
/** A few of them fill a pipe, and as they are longer than a page it may take a part of one. */
const line = (number: number): string => `${number} ${'ä'.repeat(3_000)}`

interface Reader extends Closing {
  readonly descriptor: number
  read(): string
  end(): void
}

/** A pipe with a reader that reads when it is told to. */
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
  const opened: (() => unknown)[] = []
  try {
    await work({ descriptor, end, read, after: (close) => void opened.push(close) })
  } finally {
    end()
    for (const close of opened) await close()
    closeSync(descriptor)
    rmSync(folder, { recursive: true })
  }
}

const usual = { mostWaitingBytes: 64 << 20, patienceMs: 10_000 }

function open({ descriptor, after }: Reader, bounds: typeof usual, isStrict: boolean) {
  const tallies = new AuditTallies()
  const target = new LinePipe({ descriptor, ...bounds })
  const log = new LogBackend({ target, tallies, logger: silentLogger, format: 'json', isStrict })
  after(() => log.close())
  return { tallies, log }
}

for (const isStrict of [false, true])
  test(`a slow reader gets every line, whole and in order${isStrict ? ', when whoever sends it waits' : ''}`, () =>
    withPipe(async (reader) => {
      const { log, tallies } = open(reader, usual, isStrict)
      const taken: (boolean | Promise<boolean>)[] = []
      for (let number = 0; number < 1_000; number++) {
        taken.push(log.process([event(line(number))]))
        await Promise.resolve()
      }
      assert.ok(taken.at(-1) instanceof Promise, 'nobody waits for the reader')
      let text = ''
      for (let waited = 0; waited < 10_000 && !text.includes(`${line(999)}\n`); waited++) {
        text += reader.read()
        await setTimeout(1)
      }
      await log.close()
      const numbers = text.split('\n').slice(0, -1)
      assert.deepEqual(
        numbers,
        Array.from({ length: 1_000 }, (_, number) => line(number)),
      )
      assert.deepEqual([(await Promise.all(taken)).every(Boolean), tallies.errors.size], [true, 0])
    }))

timedTest('a reader that takes nothing is given up, the line it had begun to read is ended, and then it gets new lines', () =>
  withPipe(async (reader) => {
    const { log, tallies } = open(reader, { mostWaitingBytes: 64 << 20, patienceMs: 30 }, true)
    const taken = await Promise.all(Array.from({ length: 500 }, (_, number) => log.process([event(line(number))])))
    const lost = taken.filter((each) => !each).length
    assert.ok(lost > 400 && lost < 500)
    assert.equal(log.process([event('x')]), false, 'one that is given up is waited for again')
    assert.equal(tallies.errors.get('log'), lost + 1)
    let text = ''
    for (let more = reader.read(); more !== ''; more = reader.read()) text += more
    assert.ok(!text.endsWith('\n'), 'no line was broken off, so that this shows nothing')
    assert.equal(log.process([event('y')]), true)
    text += reader.read()
    const lines = text.split('\n').slice(0, -1)
    // The one that had begun counts as lost, and is whole nevertheless.
    assert.deepEqual(lines, [...Array.from({ length: 500 - lost + 1 }, (_, number) => line(number)), 'y'])
    await log.close()
  }),
)

test('what waits is bounded in bytes', () =>
  withPipe(async (reader) => {
    const { log, tallies } = open(reader, { ...usual, mostWaitingBytes: 100_000 }, true)
    const taken = Array.from({ length: 1_000 }, (_, number) => log.process([event(line(number))]))
    const lost = taken.filter((each) => each === false).length
    assert.ok(lost > 500 && lost < 1_000)
    const ended = log.close()
    let text = ''
    for (let waited = 0; waited < 10_000 && text.split('\n').length <= 1_000 - lost; waited++) {
      text += reader.read()
      await setTimeout(1)
    }
    await ended
    assert.deepEqual([text.split('\n').length - 1, tallies.errors.get('log')], [1_000 - lost, lost])
  }))

test('a reader that has gone loses all that waits for it, at once', () =>
  withPipe(async (reader) => {
    const { log, tallies } = open(reader, usual, true)
    const taken = Array.from({ length: 200 }, (_, number) => log.process([event(line(number))]))
    const waiting = taken.filter((each) => each instanceof Promise)
    reader.end()
    assert.ok((await Promise.all(waiting)).every((each) => !each))
    assert.equal(log.process([event('x')]), false)
    assert.equal(tallies.errors.get('log'), waiting.length + 1)
    await log.close()
  }))

test('the end is not held up by a reader that takes nothing', () =>
  withPipe(async (reader) => {
    const { log, tallies } = open(reader, { mostWaitingBytes: 64 << 20, patienceMs: 50 }, false)
    log.process(Array.from({ length: 500 }, (_, number) => event(line(number))))
    await log.close()
    const lost = tallies.errors.get('log') ?? 0
    // The pipe itself takes a few.
    assert.ok(lost > 400 && lost <= 500, String(lost))
  }))

test('a line that a full disk broke off is ended when there is room, before the next', () => {
  const folder = mkdtempSync(join(tmpdir(), 'line-pipe-'))
  const path = join(folder, 'lines')
  // In another process, as the largest size of its files is what stands for the disk.
  const script = `
    import { openSync, readFileSync, truncateSync, writeSync } from 'node:fs'
    import { LinePipe } from ${JSON.stringify(new URL('./line-pipe.js', import.meta.url).href)}
    const descriptor = openSync(${JSON.stringify(path)}, 'a')
    const pipe = new LinePipe({ descriptor, mostWaitingBytes: 1 << 20, patienceMs: 10_000 })
    const append = async (line) => { try { await pipe.append(Buffer.from(line + '\\n')); return 'written' } catch (thrown) { return thrown.code } }
    const said = []
    for (let number = 0; number < 9; number++) said.push(await append('a'.repeat(300)))
    const beginning = readFileSync(${JSON.stringify(path)}, 'utf8')
    truncateSync(${JSON.stringify(path)})
    said.push(await append('b'))
    await pipe.close()
    writeSync(1, JSON.stringify([said, beginning.split('\\n').at(-1), beginning + readFileSync(${JSON.stringify(path)}, 'utf8')]))`
  const output = execFileSync('sh', ['-c', 'ulimit -f 1 && exec "$0" --input-type=module -e "$1"', process.execPath, script], {
    encoding: 'utf8',
  })
  const [said, broken, text] = JSON.parse(output) as [string[], string, string]
  const written = said.indexOf('EFBIG')
  assert.deepEqual(said, [...Array(written).fill('written'), ...Array(9 - written).fill('EFBIG'), 'written'])
  assert.notEqual(broken, '', 'no line was broken off, so that this shows nothing')
  assert.equal(text, `${`${'a'.repeat(300)}\n`.repeat(written + 1)}b\n`)
  rmSync(folder, { recursive: true })
})
