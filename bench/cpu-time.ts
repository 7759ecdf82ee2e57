// How much processor time a process has used: all of its threads, user and system, as the kernel counts it.

import { readFileSync } from 'node:fs'

/** The kernel counts in hundredths of a second, which is why measurements must last a while. */
const microsecondsPerTick = 10_000

export function cpuMicroseconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program comes second, in brackets, and may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick
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
