// A definition without the schemas of its versions, which may be megabytes, and without what anybody may hang on it: what most loops look at. Each
// version of a large one is read once for all of them.

import type { Resource } from '../../api/catalog.js'
import { onceFor } from '../../base/once-for.js'
import { parseJson } from '../../codec/json.js'
import { endOfMember, endOfString, membersWithout } from '../../codec/json-slices.js'
import { mostReadAtOnce } from '../../objects/fields-in-steps.js'
import { endOfMetadata, flagsOf, leanObject, metadataOf } from '../../objects/lean-object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { StoredObject } from '../../objects/stored-object.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'
import { readValue } from '../../schema/read.js'

/** Of large definitions, each without its schemas. */
const mostKept = 64
const keptOf = onceFor((_: Pick<ObjectStore, 'read'>) => new Map<string, Kept>())

interface Kept {
  readonly revision: number
  readonly definition: CustomResourceDefinition
}

export function leanDefinition(store: Pick<ObjectStore, 'read'>, stored: StoredObject, resource: Resource): CustomResourceDefinition {
  if (stored.size <= mostReadAtOnce) return stored.decode(resource) as CustomResourceDefinition
  const known = keptOf(store)
  const before = known.get(stored.key)
  if (before?.revision === stored.revision) return before.definition
  const definition = withoutSchemas(stored, resource) ?? (leanObject(stored, resource) as CustomResourceDefinition)
  if (known.size >= mostKept) known.clear()
  known.set(stored.key, { revision: stored.revision, definition })
  return definition
}

const [openBracket, closeBracket, openBrace, comma] = [0x5b, 0x5d, 0x7b, 0x2c]
const schemas = { names: new Set(['schema']), last: '' }

/** Undefined where the bytes are not as they are written now. */
function withoutSchemas(stored: StoredObject, resource: Resource): CustomResourceDefinition | undefined {
  const end = endOfMetadata(stored, resource)
  if (end === undefined) return undefined
  try {
    const text = `{${restOf(stored.entry.value, end + 2)}}`
    const isPlain = flagsOf(stored) === 0
    const rest = (isPlain ? JSON.parse(text) : parseJson(Buffer.from(text)).value) as object
    const definition = { metadata: metadataOf(stored, resource), ...rest }
    return (isPlain ? definition : readValue(resource.storedSchema, definition).value) as CustomResourceDefinition
  } catch {
    return undefined
  }
}

/** What stands behind metadata, up to the end. */
function restOf(bytes: Buffer, from: number): string {
  const members: string[] = []
  const end = eachMember(bytes, from, (name, at, value) => {
    const memberEnd = name === 'spec' ? addSpec(bytes, value, members) : endOfMember(bytes, value)
    if (name !== 'spec') members.push(bytes.toString('utf8', at, memberEnd < 0 ? bytes.length : memberEnd))
    return memberEnd
  })
  if (end !== bytes.length) throw new Error('the definition goes on behind its end')
  return members.join(',')
}

function addSpec(bytes: Buffer, from: number, into: string[]): number {
  const members: string[] = []
  const end = eachMember(bytes, from + 1, (name, at, value) => {
    const memberEnd = name === 'versions' && bytes[value] === openBracket ? addVersions(bytes, value, members) : endOfMember(bytes, value)
    if (name !== 'versions' || bytes[value] !== openBracket) members.push(bytes.toString('utf8', at, memberEnd))
    return memberEnd
  })
  into.push(`"spec":{${members.join(',')}}`)
  return end + 1
}

function addVersions(bytes: Buffer, from: number, into: string[]): number {
  const versions: string[] = []
  let at = from + 1
  while (bytes[at] === openBrace) {
    const kept = membersWithout(bytes, at + 1, schemas)
    if (kept === undefined) throw new Error('a version of the definition has no end')
    versions.push(`{${kept.members.join(',')}}`)
    at = bytes[kept.end + 1] === comma ? kept.end + 2 : kept.end + 1
  }
  if (bytes[at] !== closeBracket) throw new Error('the versions of the definition have no end')
  into.push(`"versions":[${versions.join(',')}]`)
  return at + 1
}

/** Of bytes without blanks. `visit` gives the place behind the value of a member; a negative one is the end of all. Gives the place behind the last. */
function eachMember(bytes: Buffer, from: number, visit: (name: string, at: number, value: number) => number): number {
  for (let at = from; ; ) {
    const nameEnd = endOfString(bytes, at + 1)
    if (nameEnd < 0) throw new Error('a name has no end')
    const end = visit(bytes.toString('utf8', at + 1, nameEnd), at, nameEnd + 2)
    if (end < 0) return bytes.length
    if (bytes[end] !== comma) return end
    at = end + 1
  }
}
