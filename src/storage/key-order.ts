// The order of keys, which is that of their UTF-8 bytes, and what an engine accepts as a key.

import type { KeyRange } from './storage.js'

/** LMDB's own limit is 1978 bytes with pages of 4 KiB; the history puts a few bytes before the key. */
export const longestKeyBytes = 1900

const loneSurrogate = /\p{Surrogate}/u

/** Negative when `a` comes first. JavaScript compares UTF-16 units, which differs from bytes only where surrogates are involved. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0
  if (hasSurrogates(a) || hasSurrogates(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}

export function isInRange(key: string, range: KeyRange): boolean {
  return compareKeys(key, range.start) >= 0 && compareKeys(key, range.end) < 0
}

/** Throws when no engine could give the key back as it was written. */
export function checkKey(key: string): void {
  if (key === '') throw new RangeError('a storage key must not be empty')
  if (isTooLong(key)) throw new RangeError(`a storage key must not be longer than ${longestKeyBytes} bytes`)
  if (hasSurrogates(key) && loneSurrogate.test(key)) throw new RangeError('a storage key must be well-formed Unicode')
}

/** A loop, because keys are short and every write and comparison asks: a regular expression costs several times as much. */
function hasSurrogates(key: string): boolean {
  for (let index = 0; index < key.length; index += 1) {
    const unit = key.charCodeAt(index)
    if (unit >= 0xd800 && unit <= 0xdfff) return true
  }
  return false
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
