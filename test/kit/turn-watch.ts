// Loaded into a server with `--import`: how long the longest turn of its event loop was, in processor time of its main thread, so that neither
// other threads nor other processes count. SIGUSR2 makes it say so on stderr, and begin anew.

import { threadMs } from '../../src/base/thread-time.fixture.js'

let last = threadMs()
let lastWallMs = performance.now()
let longest = 0

function look(): void {
  const now = threadMs()
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
