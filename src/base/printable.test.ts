// Control characters are shown, and do nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printable, printableLine } from './printable.js'

test('control characters are shown', () => {
  assert.equal(printable('a\x1b[2J\x07b\r\n\tc\x7f\x9b2J\0 é'), 'a^[[2J^Gb\\r\n\tc\\u007f\\u009b2J^@ é')
  assert.equal(printableLine('a\n\tb\x1b'), 'a\\n\\tb^[')
  assert.equal(JSON.parse(printable(JSON.stringify('\x7f\x9b\x1b'))), '\x7f\x9b\x1b')
})
