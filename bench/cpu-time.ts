// How much processor time a process has used: all of its threads, user and system, as the kernel counts it.

import { readdirSync, readFileSync } from 'node:fs'

/** The kernel tells of a process in hundredths of a second, and of each thread that lives in nanoseconds. */
const microsecondsPerTick = 10_000

export function cpuMicroseconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program comes second, in brackets, and may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const coarse = (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick
  const fine = microsecondsOfThreads(pid)
  // Threads that have ended are counted in the one and not in the other.
  return Math.abs(fine - coarse) <= 2 * microsecondsPerTick ? fine : coarse
}

function microsecondsOfThreads(pid: number): number {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'), 10) / 1000
    } catch (thrown) {
      // It has just ended, or the kernel was built without.
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT' && (thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown
    }
  }
  return sum
}

export interface Memory {
  readonly residentBytes: number
  /** Without files that are mapped into memory, whose pages the kernel takes back when it needs them. */
  readonly ownBytes: number
}

export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kibibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)
  return { residentBytes: kibibytes('VmRSS') * 1024, ownBytes: kibibytes('RssAnon') * 1024 }
}
