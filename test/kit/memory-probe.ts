// Loaded into a server with `--import` and `--expose-gc`: SIGWINCH makes it collect all garbage and say on stderr how much of its memory is in use.

import { setTimeout as sleep } from 'node:timers/promises'

const collect = (): void => {
  if (globalThis.gc === undefined) throw new Error('start it with --expose-gc')
  globalThis.gc()
}

process.on('SIGWINCH', async () => {
  // What one collection has found to be garbage, such as the bytes of buffers, is given back after it, and by the next one at the latest.
  collect()
  await sleep(100)
  collect()
  const { heapUsed, external } = process.memoryUsage()
  process.stderr.write(`memory in use ${heapUsed + external} bytes\n`)
})
