// Lines of the log for people: one line each, whatever is in them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textLine } from './text-line.js'

const time = Date.parse('2026-01-02T03:04:05.006Z')

test('time, level, message, fields', () => {
  assert.equal(
    textLine(time, 'info', { port: 6443, path: '/api/v1', who: 'a b', list: [1, 'x'] }, 'up and running'),
    '2026-01-02T03:04:05.006Z info  up and running port=6443 path=/api/v1 who="a b" list="[1,\\"x\\"]"\n',
  )
})

test('nothing that is logged makes a second line or a field of its own', () => {
  const line = textLine(time, 'error', { err: new Error('a\nb'), agent: 'x\n2026 info  forged user=root' }, 'm\nn')
  assert.equal(line.indexOf('\n'), line.length - 1)
  assert.match(line, /error "m\\nn" err="Error: a\\nb/)
  assert.match(line, /agent="x\\n2026 info {2}forged user=root"/)
})
