// What a process keeps counts as memory in use, in its heap and in buffers, and what it has dropped does not.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { memoryInUse, memoryWatchFlags } from './memory-in-use.js'

const mebibyte = 1 << 20

/** Keeps what it is told to, and has as much garbage. */
const program = (kept: string): string => `
  const make = () => [Buffer.alloc(20 << 20, 1), Array.from({ length: 1 << 19 }, (_, i) => [i])]
  const dropped = [make()]
  globalThis.kept = ${kept}
  dropped.length = 0
  setInterval(() => undefined, 1000)
  process.stdout.write('ready')`

async function inUse(kept: string): Promise<number> {
  const child = spawn(process.execPath, [...memoryWatchFlags, '-e', program(kept)], { stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  await once(child.stdout, 'data')
  const server = {
    signal: (name: NodeJS.Signals): void => void child.kill(name),
    get stderr() {
      return stderr
    },
  }
  const bytes = await memoryInUse(server)
  child.kill('SIGKILL')
  await once(child, 'close')
  return bytes / mebibyte
}

test('memory in use is what is kept', async () => {
  const nothing = await inUse('[]')
  const buffer = await inUse('make()[0]')
  const objects = await inUse('make()[1]')
  assert.ok(nothing < 16, `${nothing} MiB for nothing`)
  assert.ok(Math.abs(buffer - nothing - 20) < 2, `${buffer - nothing} MiB for a buffer of 20`)
  assert.ok(objects - nothing > 16, `${objects - nothing} MiB for half a million objects`)
})
