// Loaded into a server with `--import` and `--expose-gc`: SIGWINCH collects garbage and prints the memory in use to stderr.

import { setTimeout as sleep } from 'node:timers/promises'

const collect = (): void => {
  if (globalThis.gc === undefined) throw new Error('start it with --expose-gc')
  globalThis.gc()
}

process.on('SIGWINCH', async () => {
  // Buffers found by one collection are freed after it, or by the next one at the latest.
  collect()
  await sleep(100)
  collect()
  const { heapUsed, external } = process.memoryUsage()
  process.stderr.write(`memory in use ${heapUsed + external} bytes\n`)
})
