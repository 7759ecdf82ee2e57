// Ranges of keys, whose order is that of their UTF-8 bytes (base/text-order), and what an engine accepts as a key.

import { compareText, comparisonOf } from '../base/text-order.js'
import type { KeyRange } from './storage.js'

/** LMDB's own limit is 1978 bytes with pages of 4 KiB; the history puts a few bytes before the key. */
export const longestKeyBytes = 1900

export function isInRange(key: string, range: KeyRange): boolean {
  const compare = comparisonOf(key)
  return compare(key, range.start) >= 0 && compare(key, range.end) < 0
}

/** Whether no key can lie in it. */
export const isEmptyRange = ({ start, end }: KeyRange): boolean => compareText(start, end) >= 0

/** Throws when no engine could give the key back as it was written. */
export function checkKey(key: string): void {
  if (key === '') throw new RangeError('a storage key must not be empty')
  if (isTooLong(key)) throw new RangeError(`a storage key must not be longer than ${longestKeyBytes} bytes`)
  if (!key.isWellFormed()) throw new RangeError('a storage key must be well-formed Unicode')
}

export function isTooLong(key: string): boolean {
  return key.length * 3 > longestKeyBytes && Buffer.byteLength(key) > longestKeyBytes
}

/** A bound no longer than a key can be: no stored key lies between it and the original but, at most, itself. */
export function clipBound(bound: string): string {
  return isTooLong(bound)
    ? Buffer.from(bound)
        .toString('utf8', 0, longestKeyBytes)
        .replace(/\ufffd+$/, '')
    : bound
}
