// Metrics of the process: process_* from the operating system, nodejs_* from the runtime.

import { readdir, readFile } from 'node:fs/promises'
import type { Family } from './prometheus-exposition.js'

const processFamily = (type: Family['type'], name: string, help: string, value: number | undefined): readonly Family[] =>
  value === undefined ? [] : [{ name, type, help, labels: [], rows: [{ labels: [], value }] }]

export async function processFamilies(): Promise<readonly Family[]> {
  const { user, system } = process.cpuUsage()
  const memory = process.memoryUsage()
  const [status, limits, openFiles] = await Promise.all([readProc('status'), readProc('limits'), countOpenFiles()])
  return [
    ...processFamily('counter', 'process_cpu_seconds_total', 'CPU time of the process in seconds.', (user + system) / 1e6),
    ...processFamily('gauge', 'process_resident_memory_bytes', 'Resident memory of the process in bytes.', memory.rss),
    ...processFamily('gauge', 'process_virtual_memory_bytes', 'Virtual memory of the process in bytes.', kilobytesIn(status, 'VmSize')),
    ...processFamily(
      'gauge',
      'process_virtual_memory_max_bytes',
      'Maximum virtual memory of the process in bytes; -1: no limit.',
      limitIn(limits, 'Max address space'),
    ),
    ...processFamily('gauge', 'process_open_fds', 'Open file descriptors.', openFiles),
    ...processFamily('gauge', 'process_max_fds', 'Maximum number of open file descriptors.', limitIn(limits, 'Max open files')),
    ...processFamily('gauge', 'process_start_time_seconds', 'Start time of the process in seconds since 1970.', startSeconds),
    ...processFamily('gauge', 'nodejs_heap_size_total_bytes', 'Total size of the V8 heap in bytes.', memory.heapTotal),
    ...processFamily('gauge', 'nodejs_heap_size_used_bytes', 'Used size of the V8 heap in bytes.', memory.heapUsed),
    ...processFamily('gauge', 'nodejs_external_memory_bytes', 'Memory outside of the V8 heap in bytes, such as buffers.', memory.external),
    ...processFamily(
      'counter',
      'nodejs_eventloop_active_seconds_total',
      'Time in which the event loop was busy, in seconds.',
      activeSeconds(),
    ),
    nodeVersion,
  ]
}

const startSeconds = Math.round(Date.now() / 1000 - process.uptime())

const activeSeconds = (): number => performance.eventLoopUtilization().active / 1000

const nodeVersion: Family = {
  name: 'nodejs_version_info',
  type: 'gauge',
  help: 'The version of Node.js.',
  labels: ['version'],
  rows: [{ labels: [process.version], value: 1 }],
}

/** Reads a file of /proc/self; undefined where there is no procfs. */
const readProc = (file: string): Promise<string | undefined> => readFile(`/proc/self/${file}`, 'utf8').catch(() => undefined)

const countOpenFiles = (): Promise<number | undefined> =>
  readdir('/proc/self/fd').then(
    ({ length }) => length,
    () => undefined,
  )

function kilobytesIn(text: string | undefined, name: string): number | undefined {
  const found = lineIn(text, `${name}:`)?.match(/\d+/)?.[0]
  return found === undefined ? undefined : Number(found) * 1024
}

function limitIn(text: string | undefined, name: string): number | undefined {
  const found = lineIn(text, name)?.slice(name.length).trim().split(/\s+/)[0]
  return found === undefined ? undefined : found === 'unlimited' ? -1 : Number(found)
}

const lineIn = (text: string | undefined, start: string): string | undefined => text?.split('\n').find((line) => line.startsWith(start))
