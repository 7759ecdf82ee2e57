// Counts what passes by and computes its checksum, so that two stores can be compared without having both at hand.

import { createHash } from 'node:crypto'
import type { MovedEntry, MoveSummary } from './moved-entry.js'

export interface Tally {
  add(page: readonly MovedEntry[]): void
  /** So far. */
  readonly count: number
  readonly bytes: number
  finish(): MoveSummary
}

export function createTally(): Tally {
  const hash = createHash('sha256')
  const numbers = Buffer.alloc(16)
  let count = 0
  let bytes = 0
  return {
    get count() {
      return count
    },
    get bytes() {
      return bytes
    },
    add(page) {
      for (const { key, value, expiresAtMs } of page) {
        const keyBytes = Buffer.from(key)
        numbers.writeUInt32BE(keyBytes.length, 0)
        numbers.writeUInt32BE(value.length, 4)
        numbers.writeUIntBE(expiresAtMs ?? 0, 8, 6)
        hash.update(numbers).update(keyBytes).update(value)
        count += 1
        bytes += keyBytes.length + value.length
      }
    },
    finish: () => ({ count, bytes, checksum: hash.digest('hex') }),
  }
}
