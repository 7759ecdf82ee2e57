// How long the main thread has been on a processor, so that neither other threads (of the collector, the compiler) nor other processes count.

import { existsSync, openSync, readSync } from 'node:fs'

const path = `/proc/self/task/${process.pid}/schedstat`
const file = existsSync(path) ? openSync(path, 'r') : undefined
const read = Buffer.alloc(64)

/** In milliseconds; to be asked on the main thread. Where the system does not tell it for a thread, it is that of the process. */
export function threadMs(): number {
  // Asking for this makes the kernel bring the time of the thread that asks up to date; the file alone is as old as the last tick, some milliseconds.
  const { user, system } = process.cpuUsage()
  if (file === undefined) return (user + system) / 1000
  const length = readSync(file, read, 0, read.length, 0)
  return Number.parseInt(read.toString('latin1', 0, length), 10) / 1e6
}
