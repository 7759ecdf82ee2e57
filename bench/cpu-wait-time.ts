// How long a thread could have run and had no processor, because others had all of them. On a machine with few processors those others may be
// threads of the same server, such as the four that collect garbage: what is told here is not the fault of other programs alone.

import { existsSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { setPriority } from 'node:os'

/** In milliseconds since the thread began; where the system does not tell, 0. `task`: a folder of /proc. */
export function createReadyTime(task: string): () => number {
  const path = `${task}/schedstat`
  if (!existsSync(path)) return () => 0
  const file = openSync(path, 'r')
  const read = Buffer.alloc(64)
  return () => {
    const length = readSync(file, read, 0, read.length, 0)
    return Number(read.toString('latin1', 0, length).split(' ')[1]) / 1e6
  }
}

export const mainThread = (pid: number): string => `/proc/${pid}/task/${pid}`
export const thisThread = '/proc/thread-self'

/** Before others, as if it had a machine of its own; only root may do so. */
export function putThisThreadFirst(): void {
  if (process.getuid?.() === 0 && existsSync(thisThread)) setPriority(Number(readlinkSync(thisThread).split('/').at(-1)), -10)
}

/** All threads of a process behind others, as if it were on another machine. */
export function putLast(pid: number): void {
  const tasks = `/proc/${pid}/task`
  for (const thread of existsSync(tasks) ? readdirSync(tasks) : [pid]) setPriority(Number(thread), 10)
}
