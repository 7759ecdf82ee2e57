// Time zones by their names: what is kept of them does not grow with the names that clients make up.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatOf } from './times.js'

test('other names of a zone, which the platform takes in any case, share what is kept', () => {
  const format = formatOf('America/Argentina/Buenos_Aires')
  assert.notEqual(format, undefined)
  // Newer platforms know how other names are spelt, and then they are unknown.
  for (const name of ['America/ARGENTINA/Buenos_Aires', 'America/Argentina/BUENOS_AIRES'])
    assert.ok([format, undefined].includes(formatOf(name)), name)
  assert.equal(formatOf('Mars/Olympus'), undefined)
})
