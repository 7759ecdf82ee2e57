// What the operating system and the runtime know of this process.

import { readdir, readFile } from 'node:fs/promises'
import type { Family } from './exposition.js'

const of = (type: Family['type'], name: string, help: string, value: number | undefined): readonly Family[] =>
  value === undefined ? [] : [{ name, type, help, labels: [], rows: [{ labels: [], value }] }]

export async function processFamilies(): Promise<readonly Family[]> {
  const { user, system } = process.cpuUsage()
  const memory = process.memoryUsage()
  const [status, limits, openFiles] = await Promise.all([ofSystem('status'), ofSystem('limits'), countOpenFiles()])
  return [
    ...of('counter', 'process_cpu_seconds_total', 'Processor time of this process, in seconds.', (user + system) / 1e6),
    ...of('gauge', 'process_resident_memory_bytes', 'Memory of this process.', memory.rss),
    ...of('gauge', 'process_virtual_memory_bytes', 'Addresses that this process has taken.', kilobytesIn(status, 'VmSize')),
    ...of('gauge', 'process_virtual_memory_max_bytes', 'Addresses that it may take; -1: no limit.', limitIn(limits, 'Max address space')),
    ...of('gauge', 'process_open_fds', 'Files and connections that are open.', openFiles),
    ...of('gauge', 'process_max_fds', 'How many may be open.', limitIn(limits, 'Max open files')),
    ...of('gauge', 'process_start_time_seconds', 'When this process began, since 1970.', startSeconds),
    ...of('gauge', 'nodejs_heap_size_total_bytes', 'Memory that objects of the runtime have at hand.', memory.heapTotal),
    ...of('gauge', 'nodejs_heap_size_used_bytes', 'Memory that objects of the runtime use.', memory.heapUsed),
    ...of('gauge', 'nodejs_external_memory_bytes', 'Memory outside of the heap that its objects hold.', memory.external),
    ...of('counter', 'nodejs_eventloop_active_seconds_total', 'Time in which the event loop was not idle.', activeSeconds()),
    nodeVersion,
  ]
}

const startSeconds = Math.round(Date.now() / 1000 - process.uptime())

const activeSeconds = (): number => performance.eventLoopUtilization().active / 1000

const nodeVersion: Family = {
  name: 'nodejs_version_info',
  type: 'gauge',
  help: 'The version of the runtime.',
  labels: ['version'],
  rows: [{ labels: [process.version], value: 1 }],
}

/** Undefined where the system has no such files. */
const ofSystem = (file: string): Promise<string | undefined> => readFile(`/proc/self/${file}`, 'utf8').catch(() => undefined)

const countOpenFiles = (): Promise<number | undefined> =>
  readdir('/proc/self/fd').then(
    ({ length }) => length,
    () => undefined,
  )

function kilobytesIn(text: string | undefined, name: string): number | undefined {
  const found = lineIn(text, `${name}:`)?.match(/\d+/)?.[0]
  return found === undefined ? undefined : Number(found) * 1024
}

/** The soft limit. */
function limitIn(text: string | undefined, name: string): number | undefined {
  const found = lineIn(text, name)?.slice(name.length).trim().split(/\s+/)[0]
  return found === undefined ? undefined : found === 'unlimited' ? -1 : Number(found)
}

const lineIn = (text: string | undefined, start: string): string | undefined => text?.split('\n').find((line) => line.startsWith(start))
