// What the command prepares for a server before it is loaded is prepared for servers, and for nothing else.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../src/server/main.js'
import { moveCommands } from '../src/server/move/move-commands.js'
import { repoRoot } from './kit/paths.js'

const { isServer }: { isServer(argv: readonly string[]): boolean } = createRequire(import.meta.url)(join(repoRoot, 'bin', 'is-server.js'))

/** Whether the command would have put a server together. */
async function serves(argv: readonly string[]): Promise<boolean> {
  let isAsked = false
  await new Promise<void>((resolve) => {
    const surroundings = {
      print: () => resolve(),
      complain: () => undefined,
      loadAssemble: () => {
        isAsked = true
        return Promise.reject(new Error('none is needed'))
      },
      exit: () => resolve(),
    }
    void main(argv, surroundings)
  })
  return isAsked
}

test('the command begins as a server exactly where it becomes one', async () => {
  for (const argv of [
    [],
    ['--secure-port=0'],
    ['--secure-port', '0', '--bind-address', '127.0.0.1'],
    ['--identity=kubernetes'],
    ['--help'],
    ['-h'],
    ['--help=true'],
    ['--help=false'],
    ['--version'],
    ['--version=true'],
    ['--version=false'],
    ['--identity', 'kubernetes', '--help'],
    ['--secure-port=0', '--version'],
    ['no-such-command'],
    ...['check', 'admission', 'codec', 'credentials', ...moveCommands].map((command) => [command, '--no-such-flag']),
  ])
    assert.equal(isServer(argv), await serves(argv), argv.join(' '))
})
