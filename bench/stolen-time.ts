// Steal time: CPU time that the host took from a virtual machine. The kernel counts most of it for the running thread, so event-loop
// blocks look longer.

import { existsSync, readFileSync } from 'node:fs'

const path = '/proc/stat'
/** Unit of /proc/stat in milliseconds (USER_HZ is 100). */
const tickMs = 10
/** Columns of /proc/stat after the name: user, nice, system, idle, iowait, irq, softirq, steal. */
const stealColumn = 8

/** Steal time of all CPUs since boot, in milliseconds; 0 if the kernel does not report it. */
export function stolenMs(): number {
  if (!existsSync(path)) return 0
  const [all = ''] = readFileSync(path, 'latin1').split('\n')
  return Number(all.split(/ +/)[stealColumn] ?? 0) * tickMs
}
