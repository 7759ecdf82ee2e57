// Marks: one secret text per tenant, written into everything the tenant sends, and the search for other tenants' marks in bytes.

import { createHash } from 'node:crypto'

/** Common to all marks. Nine characters, so that each base64 alignment has at least two whole groups of it. */
const prefix = 'zqtenmark'
const markLength = 24
/** Letters and digits only: valid in labels, keys and names, and not escaped in JSON, YAML and URLs. */
const isMarkByte = (byte: number): boolean => (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a)

/** `owner` is one letter. The rest follows from the seed, so that a run can be repeated. */
export function newMark(seed: number, owner: string): string {
  const digest = createHash('sha256').update(`${seed} ${owner}`).digest('hex')
  return `${prefix}${owner}${digest}`.slice(0, markLength)
}

interface FoundMark {
  /** The mark as far as it was found; longer or shorter than a mark where bytes are damaged. */
  readonly text: string
  readonly offset: number
  readonly isBase64: boolean
}

/** The base64 characters of the prefix that do not depend on its neighbours, for each of the three alignments. */
const encodedPrefixes = [0, 2, 1].map((skipped) => {
  const bytes = Buffer.from(prefix).subarray(skipped)
  const text = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64')
  return { skipped, needle: Buffer.from(text) }
})
const rawNeedle = Buffer.from(prefix)

/** Marks in the bytes other than `ownMark`, raw or in base64. A mark that is cut off counts as own if `ownMark` begins with it. */
export function foreignMarks(bytes: Buffer, ownMark: string, maxFound = 5): readonly FoundMark[] {
  const found: FoundMark[] = []
  const collect = (text: string, offset: number, isBase64: boolean): void => {
    if (!ownMark.startsWith(text) || text === '') found.push({ text, offset, isBase64 })
  }
  for (let at = bytes.indexOf(rawNeedle); at >= 0 && found.length < maxFound; at = bytes.indexOf(rawNeedle, at + 1))
    collect(markAt(bytes, at), at, false)
  for (const { skipped, needle } of encodedPrefixes) {
    for (let at = bytes.indexOf(needle); at >= 0 && found.length < maxFound; at = bytes.indexOf(needle, at + 1)) {
      // The needle begins with a whole group, and so do the bytes after the skipped ones.
      const decoded = Buffer.from(bytes.toString('latin1', at, at + 4 * Math.ceil(markLength / 3)), 'base64')
      collect(prefix.slice(0, skipped) + markAt(decoded, 0, markLength - skipped), at, true)
    }
  }
  return found
}

function markAt(bytes: Buffer, start: number, maxLength = markLength): string {
  let end = start
  while (end < bytes.length && end - start < maxLength && isMarkByte(bytes[end] as number)) end++
  return bytes.toString('latin1', start, end)
}

/** The letter of a mark's owner; undefined if the mark is cut off before the letter. */
export const ownerOf = (mark: string): string | undefined => mark[prefix.length]
