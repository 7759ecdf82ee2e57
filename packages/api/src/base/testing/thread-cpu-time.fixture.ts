// CPU time of the main thread, without threads of the garbage collector and the compiler; of the whole process without schedstat.

import { existsSync, openSync, readSync } from 'node:fs'

const path = `/proc/self/task/${process.pid}/schedstat`
const file = existsSync(path) ? openSync(path, 'r') : undefined
const read = Buffer.alloc(64)

export function threadCpuMs(): number {
  // Makes the kernel update schedstat, which otherwise lags by some milliseconds.
  const { user, system } = process.cpuUsage()
  if (file === undefined) return (user + system) / 1000
  const length = readSync(file, read, 0, read.length, 0)
  return Number.parseInt(read.toString('latin1', 0, length), 10) / 1e6
}
