// The part of an object that can have owners: what the server itself sets belongs to nobody.

import type { StructNode } from '../schema/node.js'
import { emptyStruct, type FieldTopology, type StructTopology, structOf, structTopology } from '../schema/topology.js'
import { difference, type FieldSet, leaf, pathSet, union } from './field-set.js'
import type { Members } from './members.js'
import { fieldElement } from './path-element.js'
import { isEqual, isRecord, own } from './plain.js'

const unownedRoot = ['apiVersion', 'kind']
const unownedMetadata = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]
const unownedNames: ReadonlySet<string> = new Set(unownedMetadata)

/** Whether a member of the metadata of an object belongs to nobody. */
export const isUnownedMetadata = (name: string): boolean => unownedNames.has(name)

const unowned: FieldSet = {
  ...Object.fromEntries(unownedRoot.map((name) => [fieldElement(name), leaf])),
  'f:metadata': { '.': leaf, ...Object.fromEntries(unownedMetadata.map((name) => [fieldElement(name), leaf])) },
}

/** A set without the fields that have no owner. */
export const ownable = (set: FieldSet | undefined): FieldSet | undefined => difference(set, unowned)

const compiled = new WeakMap<StructTopology, StructTopology>()

/** The topology of a kind without the fields that have no owner, so that comparing does not look at them. */
export function ownableTopology(schema: StructNode): StructTopology {
  const root = structTopology(schema)
  const known = compiled.get(root)
  if (known !== undefined) return known
  const made = structOf(
    [...root.fields.values()]
      .filter((field) => !unownedRoot.includes(field.name))
      .map((field) => (field.name === 'metadata' ? ownableMetadata(field) : field)),
    root,
  )
  compiled.set(root, made)
  return made
}

function ownableMetadata(field: FieldTopology): FieldTopology {
  if (field.node.kind !== 'struct') return field
  const fields = [...field.node.fields.values()].filter((member) => !unownedMetadata.includes(member.name))
  // Metadata are always there, and so are never owned themselves.
  return { ...field, node: structOf(fields, { ...field.node, rest: undefined }), implied: emptyStruct }
}

const resets = new WeakMap<readonly string[], { readonly set: FieldSet | undefined }>()

/** The fields that an endpoint does not write, and so never owns: `resetFieldSet(['status', 'metadata.labels'])`. */
export function resetFieldSet(paths: readonly string[]): FieldSet | undefined {
  const known = resets.get(paths)
  if (known !== undefined) return known.set
  const set = paths.reduce<FieldSet | undefined>((all, path) => union(all, pathSet(path.split('.').map(fieldElement))), undefined)
  resets.set(paths, { set })
  return set
}

/** Whether a configuration says of what has no owner something else than the object: a version that is not the latest, say. */
export function changesUnowned(live: Members, config: Members): boolean {
  const wanted = own(config, 'metadata')
  if (!isRecord(wanted)) return false
  const metadata = own(live, 'metadata')
  for (const name in wanted) {
    const value = wanted[name] ?? null
    if (value !== null && unownedNames.has(name) && !isEqual(value, isRecord(metadata) ? own(metadata, name) : undefined)) return true
  }
  return false
}
