// Reserves disk space before LMDB writes: on a full disk the lmdb package overflows the buffer of its error message and may crash.
// On a nearly full disk space is reserved by writing zeros after the last page, which fails cleanly.

import { closeSync, openSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { StorageUnavailableError } from '../storage.js'

/** With more free space, the disk does not fill up between the check and the write. */
const reserveBelowBytes = 64 << 20
const ampleFreeBytes = 256 << 20
const uncheckedFreeBytes = 1 << 30
const recheckMs = 10
const zeros = Buffer.alloc(1 << 16)

export interface DiskSpace {
  isAmple(): boolean
  /** Throws StorageUnavailableError if `bytes` do not fit after the used pages. */
  ensure(bytes: number, usedBytes: () => number): void
}

export function createDiskSpace(path: string): DiskSpace {
  const folder = dirname(path)
  let reservedBytes = 0
  let recheckAtMs = 0

  const reserve = (bytes: number, usedBytes: number): void => {
    const start = Math.max(usedBytes, reservedBytes)
    if (start < usedBytes + bytes) reservedBytes = writeZeros(path, start, usedBytes + bytes)
  }

  /** Infinity for a while after a check that found much more than `bytes`. */
  const freeBytes = (bytes: number): number => {
    const nowMs = performance.now()
    if (nowMs < recheckAtMs) return Number.POSITIVE_INFINITY
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize > uncheckedFreeBytes + bytes) recheckAtMs = nowMs + recheckMs
    return bavail * bsize
  }

  return {
    isAmple: () => freeBytes(0) > ampleFreeBytes,
    ensure(bytes, usedBytes) {
      try {
        if (freeBytes(bytes) < reserveBelowBytes + bytes) reserve(bytes, usedBytes())
      } catch (error) {
        throw new StorageUnavailableError(`the data folder has no space for the write: ${reasonOf(error)}`)
      }
    },
  }
}

export function reasonOf(error: unknown): string {
  const reason = errorMessage(error)
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? `the disk is full (${reason})` : reason
}

/** Returns the end of the zeros: `end` or a little after. */
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
