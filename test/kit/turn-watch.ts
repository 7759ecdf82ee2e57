// Loaded into a server with `--import`: how long the longest turn of its event loop was, in processor time of its main thread, so that neither
// other threads nor other processes count. SIGUSR2 makes it say so on stderr, and begin anew.

import { openSync, readSync } from 'node:fs'

const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
const read = Buffer.alloc(64)

/** The first number is the time on a processor, in nanoseconds. */
function spentMs(): number {
  const length = readSync(file, read, 0, read.length, 0)
  return Number.parseInt(read.toString('latin1', 0, length), 10) / 1e6
}

let last = spentMs()
let longest = 0

function look(): void {
  const now = spentMs()
  longest = Math.max(longest, now - last)
  last = now
}

// A timer has its turn between two others, and costs little while nothing happens.
setInterval(look, 1)
process.on('SIGUSR2', () => {
  process.stderr.write(`longest turn ${longest.toFixed(1)} ms\n`)
  longest = 0
})
