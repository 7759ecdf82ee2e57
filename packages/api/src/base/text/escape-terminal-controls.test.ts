// Tests of escapes of terminal control characters.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeTerminalControls, escapeTerminalLine } from './escape-terminal-controls.js'

test('control characters are escaped, and JSON stays JSON', () => {
  assert.equal(escapeTerminalControls('a\x1b[2J\x07b\r\n\tc\x7f\x9b2J\0 é'), 'a^[[2J^Gb\\r\n\tc\\u007f\\u009b2J^@ é')
  assert.equal(escapeTerminalLine('a\n\tb\x1b'), 'a\\n\\tb^[')
  assert.equal(JSON.parse(escapeTerminalControls(JSON.stringify('\x7f\x9b\x1b'))), '\x7f\x9b\x1b')
})
