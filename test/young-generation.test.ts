// The space for new objects, as large as it may become before a start makes any.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandPath, repoRoot } from './kit/paths.js'

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

/** How large the space is when the command ends. */
function bytesOf(...argv: readonly string[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'young-generation-'))
  const hook = join(folder, 'hook.cjs')
  writeFileSync(
    hook,
    `const { getHeapSpaceStatistics } = require('node:v8')
    const bytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size
    process.on('exit', () => process.stderr.write('bytes: ' + bytes()))`,
  )
  try {
    const { stderr } = spawnSync(process.execPath, ['--require', hook, commandPath, ...argv], { encoding: 'utf8', env: {} })
    return Number(/bytes: (\d+)$/.exec(stderr)?.[1])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a server has it of that size from its beginning, and no other command has', () => {
  const [server, other] = [bytesOf('--no-such-flag'), bytesOf('codec', '--no-such-flag')]
  assert.ok(server >= 2 * (16 << 20), `${server} bytes`)
  assert.ok(other < 2 * (16 << 20), `${other} bytes`)
})
