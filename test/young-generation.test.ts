// The space for new objects, as large as it may become before a start makes any.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { repoRoot } from './kit/paths.js'

test('the space for new objects has its full size, and compiled code is still taken from caches', () => {
  const script = `
    const { Script } = require('node:vm')
    const { getHeapSpaceStatistics } = require('node:v8')
    const text = 'function one() { return 1 }'
    const cachedData = new Script(text).createCachedData()
    require(${JSON.stringify(join(repoRoot, 'bin', 'grow-young-generation.js'))}).growYoungGeneration()
    console.log(JSON.stringify({
      bytes: getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size,
      isRefused: new Script(text, { cachedData }).cachedDataRejected,
    }))`
  const { bytes, isRefused } = JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', env: {} }))
  // It has two halves, of which what stays is copied from one into the other.
  assert.ok(bytes >= 2 * (16 << 20), `${bytes} bytes`)
  assert.equal(isRefused, false)
})
