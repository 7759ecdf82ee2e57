// What a collector of garbage wants to know of an entry, read from its bytes without parsing its body: its uid, whether it is going, and whose it is.
//
// The version of an object belongs right behind its uid, and its times, labels, owners and finalizers follow in the order of the schema.

import type { ApiObject, OwnerReference } from '../api/object.js'
import { bodyStartOf, type EntryBytes, spliceOf } from './entry-header.js'

/** What the upper bits of a splice leave to the place. */
export const placeMask = 0x3fff_ffff
const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d

const generation = Buffer.from('"generation":')
const creation = Buffer.from('"creationTimestamp":')
const deletion = Buffer.from('"deletionTimestamp":"')
const references = Buffer.from('"ownerReferences":[')
const finalizers = Buffer.from('"finalizers":[')

/** Where the version of an object belongs, within its metadata. */
export const placeBehindUid = (entry: EntryBytes): number => bodyStartOf(entry) + (spliceOf(entry) & placeMask)

/** The uid of an entry of a kind: what stands before the place of the version is `"uid":"…",`. */
export function uidOf(entry: EntryBytes): string {
  const end = placeBehindUid(entry) - 2
  let start = end
  while (start > entry.start && entry.bytes[start - 1] !== quote) start -= 1
  return viewOf(entry, start, end).toString('latin1')
}

/** Whether two entries are of the same object, and not of two that had the same name. */
export function haveSameUid(one: EntryBytes, other: EntryBytes): boolean {
  const end = placeBehindUid(one) - 2
  const shift = placeBehindUid(other) - 2 - end
  // Both stand behind the same quote, so the first byte that differs, or the quote itself, ends the walk.
  for (let at = end; at >= one.start; at--) {
    const byte = one.bytes[at]
    if (byte !== other.bytes[at + shift]) return false
    if (byte === quote && at < end) return true
  }
  return false
}

/** Whether it was deleted and is held by something. */
export function isGoing(entry: EntryBytes): boolean {
  const { bytes } = entry
  let at = placeBehindUid(entry)
  if (standsAt(bytes, at, generation)) at = behindComma(entry, at + generation.length)
  if (standsAt(bytes, at, creation)) at = behindComma(entry, at + creation.length)
  return standsAt(bytes, at, deletion)
}

/** False where it has none; where it says true, something else may look like them. */
export const mayHaveFinalizers = (entry: EntryBytes): boolean => viewOf(entry, placeBehindUid(entry), entry.end).includes(finalizers)

const nobody: readonly OwnerReference[] = []

/** The references to the owners of an entry whose header names some. */
export function ownerReferencesIn(entry: EntryBytes): readonly OwnerReference[] {
  const rest = viewOf(entry, placeBehindUid(entry), entry.end)
  const found = rest.indexOf(references)
  if (found < 0) return nobody
  const start = found + references.length - 1
  return JSON.parse(rest.toString('utf8', start, endOfList(rest, start))) as readonly OwnerReference[]
}

/** The place behind the bracket that closes the one that stands at a place. */
function endOfList(bytes: Buffer, start: number): number {
  let depth = 0
  let isInText = false
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (isInText) {
      if (byte === backslash) at += 1
      else if (byte === quote) isInText = false
    } else if (byte === quote) isInText = true
    else if (byte === openBracket) depth += 1
    else if (byte === closeBracket) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return bytes.length
}

function behindComma({ bytes, end }: EntryBytes, place: number): number {
  let at = place
  while (at < end && bytes[at] !== comma) at += 1
  return at + 1
}

function standsAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false
  return true
}

const viewOf = ({ bytes }: EntryBytes, start: number, end: number): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.max(0, end - start))

const noUids: readonly string[] = []

/** The uids of the owners of an object, each once. */
export function ownerUids({ metadata }: ApiObject): readonly string[] {
  const owners = metadata?.ownerReferences
  if (owners === undefined || owners.length === 0) return noUids
  return [...new Set(owners.map(({ uid }) => uid ?? ''))]
}
