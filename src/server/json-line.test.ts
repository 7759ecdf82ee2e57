// Lines of the log for programs: JSON, one line each, whatever is in them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { jsonLine } from './json-line.js'

const time = Date.parse('2026-01-02T03:04:05.006Z')

test('level, time, fields, message', () => {
  assert.equal(
    jsonLine(time, 'info', { port: 6443, who: 'a "b"\n', list: [1, 'x'], left: undefined, none: null }, 'up and\nrunning'),
    '{"level":"info","time":"2026-01-02T03:04:05.006Z","port":6443,"who":"a \\"b\\"\\n","list":[1,"x"],"none":null,"msg":"up and\\nrunning"}\n',
  )
})

test('an error is told with its type, its code, and what caused it', () => {
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

test('what is no JSON does not make a line fail', () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const error = new Error('round')
  error.cause = error
  const said = JSON.parse(jsonLine(time, 'error', { circle, big: 1n, error, done: () => 1 }, 'm'))
  assert.match(said.circle, /^\[no JSON: Converting circular structure/)
  assert.match(said.big, /^\[no JSON: /)
  assert.equal(said.error.message.split(': ').length, 8)
  assert.equal('done' in said, false)
})

/** The same by pino. */
function pinoLine(fields: object, message: string): string {
  let line = ''
  const options = {
    base: null,
    timestamp: () => `,"time":"${new Date(time).toISOString()}"`,
    formatters: { level: (level: string) => ({ level }) },
    serializers: { error: pino.stdSerializers.err },
  }
  const write = (text: string): void => {
    line = text
  }
  pino(options, { write }).warn(fields, message)
  return line
}

/** But for half of a surrogate pair, of which pino makes a line that is no UTF-8. */
test('to the letter what pino writes, for whatever is JSON', () => {
  let state = 11
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const texts = ['', 'plain', 'a "b" \\ c', '\n\r\t\b\f', '\u0000\u001f\u007f', 'ä€😀', '\u2028\u2029', 'x'.repeat(200), '__proto__']
  const text = (): string => texts[random(texts.length)] as string
  const value = (depth: number): unknown => {
    const plain = [text(), random(1000), -0.5e-9, 1e300, Number.NaN, Number.POSITIVE_INFINITY, true, false, null, undefined, new Date(time)]
    const sort = random(depth > 3 ? plain.length : plain.length + 6)
    if (sort < plain.length) return plain[sort]
    const items = Array.from({ length: random(4) }, () => value(depth + 1))
    return sort % 2 === 0 ? items : Object.fromEntries(items.map((item) => [text(), item]))
  }
  for (let round = 0; round < 500; round++) {
    const fields = Object.fromEntries(Array.from({ length: random(5) }, (_, i) => [`f${i}${text()}`, value(0)]))
    const message = text()
    assert.equal(jsonLine(time, 'warn', fields, message), pinoLine(fields, message))
  }
})

test('errors, too, but for what they hold that is not plain', () => {
  const odd = Object.assign(new RangeError('odd'), { code: 'EODD', errno: -5, syscall: 'read' })
  for (const error of [new Error('plain'), new TypeError(''), odd, new Error('outer', { cause: new Error('inner', { cause: odd }) })]) {
    const [got, wanted] = [jsonLine(time, 'warn', { error }, 'm'), pinoLine({ error }, 'm')].map((line) => JSON.parse(line))
    assert.deepEqual(got, wanted)
  }
})
