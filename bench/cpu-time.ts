// CPU time of a process (all threads, user and system) and its memory, as counted by the kernel.

import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The kernel counts processes in 10 ms units, and running threads in nanoseconds. */
const microsecondsPerTick = 10_000

export function cpuMicroseconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program name in brackets, which may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const coarse = (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick
  const fine = microsecondsOfThreads(pid)
  // Ended threads are counted in the process only.
  return Math.abs(fine - coarse) <= 2 * microsecondsPerTick ? fine : coarse
}

/** Use of one CPU by a process without requests. Waits first: Node.js collects the garbage of earlier requests some seconds later. */
export async function idleCpuPercent(pid: number, isQuick: boolean): Promise<number> {
  await sleep(isQuick ? 5000 : 30_000)
  const seconds = isQuick ? 20 : 120
  const before = cpuMicroseconds(pid)
  await sleep(seconds * 1000)
  return (cpuMicroseconds(pid) - before) / (seconds * 10_000)
}

function microsecondsOfThreads(pid: number): number {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'), 10) / 1000
    } catch (thrown) {
      // The thread has just ended, or the kernel lacks schedstat.
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT' && (thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown
    }
  }
  return sum
}

interface Memory {
  readonly residentBytes: number
  /** Without mapped files, whose pages the kernel can reclaim. */
  readonly anonymousBytes: number
}

export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kibibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)
  return { residentBytes: kibibytes('VmRSS') * 1024, anonymousBytes: kibibytes('RssAnon') * 1024 }
}
