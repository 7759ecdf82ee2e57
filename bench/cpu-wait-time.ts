// Time that a runnable thread waited for a CPU, and priorities of threads. On small machines a thread may wait for threads of its own
// process, such as garbage collection threads, not only for other programs.

import { existsSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Returns a reader of the CPU wait time of a thread since its start, in ms; 0 if the kernel does not report it.
 * `task`: folder of the thread in /proc.
 */
export function createCpuWaitReader(task: string): () => number {
  const path = `${task}/schedstat`
  if (!existsSync(path)) return () => 0
  const file = openSync(path, 'r')
  const buffer = Buffer.alloc(64)
  return () => {
    const length = readSync(file, buffer, 0, buffer.length, 0)
    return Number(buffer.toString('latin1', 0, length).split(' ')[1]) / 1e6
  }
}

export const mainThread = (pid: number): string => `/proc/${pid}/task/${pid}`
export const thisThread = '/proc/thread-self'

/** Raises the priority of this thread, as if it had its own machine. Does nothing without root. */
export function raisePriorityOfThisThread(): void {
  if (process.getuid?.() === 0 && existsSync(thisThread)) setPriority(Number(readlinkSync(thisThread).split('/').at(-1)), -10)
}

/** Lowers the priority of all threads of a process, as if it ran on another machine. */
export function lowerPriority(pid: number): void {
  const tasks = `/proc/${pid}/task`
  for (const thread of existsSync(tasks) ? readdirSync(tasks) : [pid]) setPriority(Number(thread), 10)
}
