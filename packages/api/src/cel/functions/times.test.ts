// Tests of the cache of time zone formats: spellings of one zone, unknown zones.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatOf } from './times.js'

test('spellings of a zone share one format or are unknown', () => {
  const format = formatOf('America/Argentina/Buenos_Aires')
  assert.notEqual(format, undefined)
  // Newer ICU versions return the canonical spelling, so other spellings are unknown.
  for (const name of ['America/ARGENTINA/Buenos_Aires', 'America/Argentina/BUENOS_AIRES'])
    assert.ok([format, undefined].includes(formatOf(name)), name)
  assert.equal(formatOf('Mars/Olympus'), undefined)
})
