// Loaded into a server with `--import`: measures the longest block of the event loop in CPU time of the main thread, so that other
// threads and processes do not count. SIGUSR2 prints it to stderr and resets it.

import { threadCpuMs } from '../../packages/api/src/base/testing/thread-cpu-time.fixture.js'

let lastCpuMs = threadCpuMs()
let lastWallMs = performance.now()
let longestMs = 0

function measure(): void {
  const cpuMs = threadCpuMs()
  const wallMs = performance.now()
  longestMs = Math.max(longestMs, Math.min(cpuMs - lastCpuMs, wallMs - lastWallMs))
  lastCpuMs = cpuMs
  lastWallMs = wallMs
}

// A timer runs between two other callbacks and costs little when idle.
setInterval(measure, 1)
process.on('SIGUSR2', () => {
  process.stderr.write(`longest block ${longestMs.toFixed(1)} ms\n`)
  longestMs = 0
})
