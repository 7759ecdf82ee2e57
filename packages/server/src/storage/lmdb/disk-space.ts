// Makes sure that LMDB never meets a full disk. When a page cannot be written, the lmdb package formats its error message into memory that
// is too short for it and the process may die of that, so the room is taken before the batch is handed over: near the end of the disk
// by writing zeros after the last page, which fails cleanly here when there is none.

import { closeSync, openSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { StorageUnavailableError } from './storage.js'

/** With this much left on the disk nobody fills it between the check and the write; with much more, nor until the next look. */
const plentyBytes = 64 << 20
const ampleBytes = 256 << 20
const abundantBytes = 1 << 30
const lookAgainMs = 10
const zeros = Buffer.alloc(1 << 16)

export interface DiskSpace {
  /** Whether there is room for whatever is written in the next moments. */
  isAmple(): boolean
  /** Throws StorageUnavailableError when `bytes` more would not fit behind the end of the pages in use. */
  ensure(bytes: number, usedBytes: () => number): void
}

export function createDiskSpace(path: string): DiskSpace {
  const folder = dirname(path)
  /** Up to here the file has blocks of its own. */
  let reservedBytes = 0
  let lookAgainAtMs = 0

  const reserve = (bytes: number, usedBytes: number): void => {
    const start = Math.max(usedBytes, reservedBytes)
    if (start < usedBytes + bytes) reservedBytes = writeZeros(path, start, usedBytes + bytes)
  }

  /** Nothing is known for a while where there is much more than `bytes`. */
  const freeBytes = (bytes: number): number => {
    const nowMs = performance.now()
    if (nowMs < lookAgainAtMs) return Number.POSITIVE_INFINITY
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize > abundantBytes + bytes) lookAgainAtMs = nowMs + lookAgainMs
    return bavail * bsize
  }

  return {
    isAmple: () => freeBytes(0) > ampleBytes,
    ensure(bytes, usedBytes) {
      try {
        if (freeBytes(bytes) < plentyBytes + bytes) reserve(bytes, usedBytes())
      } catch (error) {
        throw new StorageUnavailableError(`the data folder has no room for the write: ${reasonOf(error)}`)
      }
    },
  }
}

/** What a system error means for who may make room. */
export function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? `the disk is full (${reason})` : reason
}

/** Returns where it ended, which is `end` or a little after. */
function writeZeros(path: string, start: number, end: number): number {
  const file = openSync(path, 'r+')
  try {
    let position = start
    while (position < end) position += writeSync(file, zeros, 0, zeros.length, position)
    return position
  } finally {
    closeSync(file)
  }
}
