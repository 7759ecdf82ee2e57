// A stored object without what anybody may hang on it, labels and annotations, and without the owners of its fields: what loops look at. Of what is
// large these are not parsed, and the owners of fields not even walked over, so that a megabyte of them takes a millisecond or two.

import { type ApiObject, members, type ObjectMeta } from '../api/object.js'
import { parseJson } from '../codec/json.js'
import { type KeptMembers, membersWithout } from '../codec/json-slices.js'
import { isLoose } from '../schema/node.js'
import { readValue } from '../schema/read.js'
import { writeAny } from '../schema/write.js'
import { bodyStartOf, bytesOf, spliceOf, spliceOffset } from './entry-header.js'
import { mostReadAtOnce } from './fields-in-steps.js'
import { placeBehindUid, placeMask } from './owner-fields.js'
import { encodeStored, isCurrent, type StoredKind, type StoredObject } from './stored-object.js'

/** What is read of metadata, which are the same in all versions. The owners of fields stand last in the schema. */
export type KnownMeta = Omit<ObjectMeta, 'labels' | 'annotations' | 'managedFields'>

const last = 'managedFields'
const unread = { names: new Set(['labels', 'annotations']), last }
const unlessAnnotated = { names: new Set(['labels']), last }
const opening = Buffer.from('"metadata":{')
const closeBrace = 0x7d

/** Of an object of any version. */
export const metadataOf = (stored: StoredObject, resource: StoredKind): KnownMeta => readMetadata(stored, resource, unread)

/** The same with annotations. */
export const annotatedMetadataOf = (stored: StoredObject, resource: StoredKind): KnownMeta & Pick<ObjectMeta, 'annotations'> =>
  readMetadata(stored, resource, unlessAnnotated)

function readMetadata(stored: StoredObject, resource: StoredKind, left: typeof unread): KnownMeta {
  if (stored.size <= mostReadAtOnce) return stored.inAnyVersion(resource).metadata ?? {}
  const { value } = stored.entry
  const { within, members } = keptMetadata(value, stored.key, left)
  // Only names stand between the two, in which quotes are escaped.
  const start = value.lastIndexOf(opening, within)
  if (start < 0) throw new Error(`${stored.key} has no metadata`)
  // Without the comma behind the uid.
  const all = [value.toString('utf8', start + opening.length, within - 1), ...members]
  return { ...(JSON.parse(`{${all.join(',')}}`) as KnownMeta), resourceVersion: stored.resourceVersion }
}

/** In the version that is stored now. One that was written in another version, or is small, is decoded whole. */
export const leanObject = (stored: StoredObject, resource: StoredKind): ApiObject => leanly(stored, resource, unread)

/** The same with annotations. */
export const leanAnnotated = (stored: StoredObject, resource: StoredKind): ApiObject => leanly(stored, resource, unlessAnnotated)

function leanly(stored: StoredObject, resource: StoredKind, left: typeof unread): ApiObject {
  const lean = readLean(stored, resource, left)
  if (lean === undefined) return stored.decode(resource)
  const parsed = { ...lean.front, ...lean.rest }
  const object = (flagsOf(stored) === 0 ? parsed : readValue(resource.storedSchema, parsed).value) as ApiObject
  return { ...object, metadata: { ...object.metadata, resourceVersion: stored.resourceVersion } }
}

/** The bytes of what `leanObject` gave, with other fields than metadata changed: these stay as they are stored. */
export function encodeLean(stored: StoredObject, resource: StoredKind, object: ApiObject): Buffer {
  if (!isIndexedByMetadata(resource)) throw new Error(`${resource.kind}: other fields than metadata are indexed`)
  const lean = readLean(stored, resource, unread)
  if (lean === undefined) return encodeStored(resource, object)
  const own = encodeStored(resource, object)
  const ownBytes = bytesOf({ value: own })
  const { end } = keptMetadata(own, stored.key)
  const value = Buffer.concat([stored.entry.value.subarray(0, lean.end), own.subarray(end)])
  value.writeUInt32LE((spliceOf(bytesOf({ value })) | (spliceOf(ownBytes) & ~placeMask)) >>> 0, spliceOffset)
  return value
}

/** The same as JSON, for whoever reads it with labels and all. */
export function leanText(stored: StoredObject, resource: StoredKind, object: ApiObject): string {
  const { kind, storedApiVersion: apiVersion } = resource
  const lean = readLean(stored, resource, unread)
  if (lean === undefined) return writeAny({ apiVersion, kind, ...object })
  const { value } = stored.entry
  const bytes = bytesOf(stored.entry)
  const within = placeBehindUid(bytes)
  const { metadata: _, ...others } = members(object)
  const version = `"resourceVersion":${JSON.stringify(stored.resourceVersion)},`
  const metadata = `${value.toString('utf8', bodyStartOf(bytes), within)}${version}${value.toString('utf8', within, lean.end)}}`
  return `{${metadata},${writeAny({ apiVersion, kind, ...others }).slice(1)}`
}

interface Lean {
  readonly front: { readonly metadata?: ObjectMeta }
  readonly rest: object
  /** Where the brace stands that closes metadata. */
  readonly end: number
}

/** Where the brace stands that closes metadata, unless something in them looks like it; undefined where the object is to be decoded whole. */
export function endOfMetadata(
  stored: StoredObject,
  resource: StoredKind,
  kept = keptMetadata(stored.entry.value, stored.key),
): number | undefined {
  const bytes = bytesOf(stored.entry)
  const { value } = stored.entry
  if (stored.size <= mostReadAtOnce || !isCurrent(bytes, resource) || isLoose(resource.storedSchema)) return undefined
  // So it is with every kind of the server itself.
  if (!value.subarray(bodyStartOf(bytes)).subarray(0, opening.length).equals(opening)) return undefined
  return value[kept.end] === closeBrace ? kept.end : endOfOwners(value, kept.end, resource)
}

/** Undefined where the object is to be decoded whole. */
function readLean(stored: StoredObject, resource: StoredKind, left: typeof unread): Lean | undefined {
  if (stored.size <= mostReadAtOnce) return undefined
  const { value } = stored.entry
  const bytes = bytesOf(stored.entry)
  const kept = keptMetadata(value, stored.key, left)
  const { within, members } = kept
  const end = endOfMetadata(stored, resource, kept)
  if (end === undefined) return undefined
  const parse = flagsOf(stored) === 0 ? (text: string): unknown => JSON.parse(text) : (text: string) => parseJson(Buffer.from(text)).value
  try {
    const front = parse(`{${[value.toString('utf8', bodyStartOf(bytes), within - 1), ...members].join(',')}}}`) as Lean['front']
    // Where the end is not that of metadata, some bracket in the rest has no other.
    return { front, rest: parse(`{${value.toString('utf8', end + 2)}}`) as object, end }
  } catch {
    return undefined
  }
}

/** What is kept of metadata behind the uid. */
function keptMetadata(value: Buffer, key: string, left = unread): KeptMembers & { readonly within: number } {
  const within = placeBehindUid(bytesOf({ value }))
  const kept = membersWithout(value, within, left)
  if (kept === undefined) throw new Error(`${key} has no metadata`)
  return { ...kept, within }
}

/**
 * Where the brace stands that closes metadata, from the owners of fields on. These have no lists in them, and quotes in texts are escaped: what closes
 * one in front of the name of a field of the kind is the list of owners itself.
 */
function endOfOwners(value: Buffer, from: number, { storedSchema }: StoredKind): number {
  let first = value.length
  for (const name of Object.keys(storedSchema.fields)) {
    const found = value.indexOf(`]},${JSON.stringify(name)}:`, from)
    if (found >= 0 && found < first) first = found
  }
  return first === value.length ? first - 1 : first + 1
}

/** What a plain parse of the body would get wrong; 0: nothing. */
export const flagsOf = ({ entry }: StoredObject): number => spliceOf(bytesOf(entry)) & ~placeMask

const isIndexedByMetadata = ({ indexedFields = {} }: StoredKind): boolean =>
  Object.keys(indexedFields).every((path) => path.startsWith('metadata.'))
