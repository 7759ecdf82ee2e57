// Lines of the log for programs: JSON, one line each, whatever is in them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
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
