// Fields that managers can own: all except apiVersion, kind, and metadata such as name, namespace, uid and resourceVersion.

import type { StructNode } from '../../schema/node.js'
import { emptyStruct, type FieldTopology, type StructTopology, structOf, structTopology } from '../../schema/topology.js'
import { difference, type FieldSet, leaf, pathSet, union } from '../field-set/field-set.js'
import { fieldElement } from '../field-set/path-element.js'
import { isEqual, isRecord, type Members, own } from '../json-value.js'

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

export const isUnownedMetadata = (name: string): boolean => unownedNames.has(name)

const unowned: FieldSet = {
  ...Object.fromEntries(unownedRoot.map((name) => [fieldElement(name), leaf])),
  'f:metadata': { '.': leaf, ...Object.fromEntries(unownedMetadata.map((name) => [fieldElement(name), leaf])) },
}

export const ownable = (set: FieldSet | undefined): FieldSet | undefined => difference(set, unowned)

const compiled = new WeakMap<StructTopology, StructTopology>()

export function ownableTopology(schema: StructNode): StructTopology {
  const root = structTopology(schema)
  const cached = compiled.get(root)
  if (cached !== undefined) return cached
  const topology = structOf(
    [...root.fields.values()]
      .filter((field) => !unownedRoot.includes(field.name))
      .map((field) => (field.name === 'metadata' ? ownableMetadata(field) : field)),
    root,
  )
  compiled.set(root, topology)
  return topology
}

function ownableMetadata(field: FieldTopology): FieldTopology {
  if (field.node.kind !== 'struct') return field
  const fields = [...field.node.fields.values()].filter((member) => !unownedMetadata.includes(member.name))
  // Absent metadata counts as an empty struct: metadata itself is never owned, so it never counts as added.
  return { ...field, node: structOf(fields, { ...field.node, rest: undefined }), implied: emptyStruct }
}

const resets = new WeakMap<readonly string[], { readonly set: FieldSet | undefined }>()

/** Field set of paths such as `metadata.labels`, which an endpoint neither writes nor owns. */
export function resetFieldSet(paths: readonly string[]): FieldSet | undefined {
  const cached = resets.get(paths)
  if (cached !== undefined) return cached.set
  const set = paths.reduce<FieldSet | undefined>((all, path) => union(all, pathSet(path.split('.').map(fieldElement))), undefined)
  resets.set(paths, { set })
  return set
}

/** True if the configuration differs from the live object in unowned metadata, such as a stale resourceVersion. */
export function changesUnowned(live: Members, config: Members): boolean {
  const configured = own(config, 'metadata')
  if (!isRecord(configured)) return false
  const metadata = own(live, 'metadata')
  for (const name in configured) {
    const value = configured[name] ?? null
    if (value !== null && unownedNames.has(name) && !isEqual(value, isRecord(metadata) ? own(metadata, name) : undefined)) return true
  }
  return false
}

/** API versions of a kind: each managedFields entry refers to fields of the version in which it was written. */
export interface KindVersions {
  readonly schema: StructNode
  readonly apiVersion: string
  readonly schemaFor?: ((apiVersion: string) => StructNode | undefined) | undefined
  readonly convert?: ((object: object, to: string, from: string) => object | undefined) | undefined
}

/** Returns 'unknown' if the version no longer exists, undefined if there are no conversions. */
export function topologyAt(kind: KindVersions, apiVersion: string): StructTopology | 'unknown' | undefined {
  if (apiVersion === kind.apiVersion) return ownableTopology(kind.schema)
  if (kind.schemaFor === undefined) return undefined
  const schema = kind.schemaFor(apiVersion)
  return schema === undefined ? 'unknown' : ownableTopology(schema)
}

export const objectAt = (kind: KindVersions, object: Members, apiVersion: string): Members | undefined =>
  apiVersion === kind.apiVersion ? object : (kind.convert?.(object, apiVersion, kind.apiVersion) as Members | undefined)
