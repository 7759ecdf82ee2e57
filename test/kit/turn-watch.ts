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
let lastWallMs = performance.now()
let longest = 0

/** The system counts the time on a processor in steps of a few milliseconds: it may seem longer than the turn has lasted, and never was. */
function look(): void {
  const now = spentMs()
  const wallMs = performance.now()
  longest = Math.max(longest, Math.min(now - last, wallMs - lastWallMs))
  last = now
  lastWallMs = wallMs
}

// A timer has its turn between two others, and costs little while nothing happens.
setInterval(look, 1)
process.on('SIGUSR2', () => {
  process.stderr.write(`longest turn ${longest.toFixed(1)} ms\n`)
  longest = 0
})
