// How long the processors of a virtual machine were taken away by its host. The system counts most of that as time of whichever thread was running, so
// that a turn of an event loop looks as long as the host was away.

import { existsSync, readFileSync } from 'node:fs'

const path = '/proc/stat'
/** The unit of that file, in milliseconds: Linux shows a hundredth of a second to programs everywhere. */
const tickMs = 10
/** user, nice, system, idle, iowait, irq, softirq, steal */
const stealColumn = 8

/** In milliseconds since the machine was started, of all processors together; where the system does not tell, 0. */
export function stolenMs(): number {
  if (!existsSync(path)) return 0
  const [all = ''] = readFileSync(path, 'latin1').split('\n')
  return Number(all.split(/ +/)[stealColumn] ?? 0) * tickMs
}
