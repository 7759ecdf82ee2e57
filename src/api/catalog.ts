// What this server serves now: every kind bound to its identity, found by the words of a path.

import { getOrInsert } from '../base/get-or-insert.js'
import type { StructNode } from '../schema/node.js'
import type { Subject } from './api-error.js'
import type { Deprecation, ResourceDefinition, ResourceVersionDefinition, SubresourceDefinition, Verb } from './definition.js'
import type { Identity } from './identity.js'
import type { ApiObject } from './object.js'

/** One kind in one served version. */
export interface Resource {
  readonly definition: ResourceDefinition
  readonly group: string
  readonly version: string
  /** `v1`, or group and version. */
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespaced: boolean
  readonly schema: StructNode
  readonly storedSchema: StructNode
  /** As discovery tells it. */
  readonly storedApiVersion: string
  /** From this version to the stored one and back; undefined where they are the same. */
  readonly toStored: ((object: ApiObject) => ApiObject) | undefined
  readonly fromStored: ((object: ApiObject) => ApiObject) | undefined
  readonly deprecation: Deprecation | undefined
  /** What the store's index says of an object besides its labels: the selectable fields of every kind that is stored so. */
  readonly indexedFields: SelectableFields | undefined
  readonly verbs: readonly Verb[]
  /** How errors name it. */
  readonly subject: Subject
  /** How errors of validation name it. */
  readonly invalidSubject: Pick<Subject, 'group' | 'kind'>
  /** Under which name its objects lie in the store; the same for all versions of a kind. */
  readonly collection: string
}

/** Decides whether a version of a group, or one resource in it, is served. */
export type ServedFilter = (version: { readonly group: string; readonly version: string; readonly resource: string }) => boolean

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

export class Catalog {
  readonly identity: Identity
  private readonly byPath = new Map<string, Resource>()
  private readonly served: Resource[] = []
  private readonly byCollection = new Map<string, Resource[]>()

  constructor(options: {
    readonly identity: Identity
    readonly definitions: readonly ResourceDefinition[]
    readonly isServed: ServedFilter
  }) {
    this.identity = options.identity
    const indexed = indexedFieldsOf(options.identity, options.definitions)
    for (const definition of options.definitions) {
      const group = options.identity.group(definition.group)
      for (const version of definition.versions) {
        if (options.isServed({ group, version: version.name, resource: definition.resource }))
          this.add(bind({ identity: options.identity, definition, version, indexed }))
      }
    }
  }

  find(group: string, version: string, resource: string): Resource | undefined {
    return this.byPath.get(`${group}/${version}/${resource}`)
  }

  /** Whether anything is served under a group version. */
  hasVersion(group: string, version: string): boolean {
    return this.served.some((resource) => resource.group === group && resource.version === version)
  }

  /** The kind in all versions in which it is served, in whatever group. */
  siblings(resource: Resource): readonly Resource[] {
    return this.byCollection.get(resource.collection) ?? []
  }

  hasGroup(group: string): boolean {
    return this.served.some((resource) => resource.group === group)
  }

  all(): readonly Resource[] {
    return this.served
  }

  /** The first served version of each kind: one per collection in the store. */
  collections(): readonly Resource[] {
    return [...this.byCollection.values()].flatMap(([first]) => first ?? [])
  }

  /** The group versions in the order in which discovery names them: groups as they are defined, the most stable version first. */
  groupVersions(): readonly GroupVersion[] {
    const seen = new Map<string, GroupVersion>()
    for (const { group, version } of this.served) seen.set(`${group}/${version}`, { group, version })
    const groups = [...new Set([...seen.values()].map(({ group }) => group))]
    return groups.flatMap((name) =>
      [...seen.values()].filter(({ group }) => group === name).sort((a, b) => compareVersions(a.version, b.version)),
    )
  }

  private add(resource: Resource): void {
    this.served.push(resource)
    getOrInsert(this.byCollection, resource.collection, () => []).push(resource)
    this.byPath.set(`${resource.group}/${resource.version}/${resource.name}`, resource)
  }
}

const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

const storedForm = ({ version, schema }: NonNullable<ResourceDefinition['storedAs']>): ResourceVersionDefinition => ({
  name: version,
  schema,
})

type SelectableFields = NonNullable<ResourceDefinition['selectableFields']>

const collectionOf = (identity: Identity, definition: ResourceDefinition): string => {
  const group = identity.group(definition.storedAs?.group ?? definition.group)
  return group === '' ? definition.resource : `${definition.resource}.${group}`
}

function indexedFieldsOf(identity: Identity, definitions: readonly ResourceDefinition[]): ReadonlyMap<string, SelectableFields> {
  const indexed = new Map<string, SelectableFields>()
  for (const definition of definitions) {
    if (definition.selectableFields === undefined) continue
    const collection = collectionOf(identity, definition)
    indexed.set(collection, { ...indexed.get(collection), ...definition.selectableFields })
  }
  return indexed
}

interface Binding {
  readonly identity: Identity
  readonly definition: ResourceDefinition
  readonly version: ResourceVersionDefinition
  readonly indexed: ReadonlyMap<string, SelectableFields>
}

function bind({ identity, definition, version, indexed }: Binding): Resource {
  const group = identity.group(definition.group)
  const collection = collectionOf(identity, definition)
  const storedGroup = definition.storedAs === undefined ? group : identity.group(definition.storedAs.group)
  const stored =
    definition.storedAs === undefined
      ? (definition.versions.find((candidate) => candidate.stored) ?? version)
      : storedForm(definition.storedAs)
  const apiVersionOf = (of: string, name: string): string => (of === '' ? name : `${of}/${name}`)
  return {
    definition,
    group,
    version: version.name,
    apiVersion: apiVersionOf(group, version.name),
    kind: definition.kind,
    name: definition.resource,
    namespaced: definition.namespaced,
    schema: version.schema,
    storedSchema: stored.schema,
    storedApiVersion: apiVersionOf(storedGroup, definition.hashedVersion ?? stored.name),
    toStored: inIdentity(version.toStored, identity),
    fromStored: inIdentity(version.fromStored, identity),
    deprecation: version.deprecation,
    verbs: definition.verbs ?? allVerbs,
    subject: { group, resource: definition.resource, kind: definition.kind },
    invalidSubject: { group: identity.group(definition.errorGroup ?? definition.group), kind: definition.kind },
    indexedFields: indexed.get(collection),
    collection,
  }
}

/** A conversion with the names that it needs, once they are known. */
const inIdentity = (convert: ResourceVersionDefinition['toStored'], identity: Identity): Resource['toStored'] =>
  convert === undefined ? undefined : (object) => convert(object, identity)

export const subresourceOf = (resource: Resource, name: string): SubresourceDefinition | undefined =>
  resource.definition.subresources?.find((candidate) => candidate.name === name)

/** Stable before beta before alpha, and of these the newest first. */
function compareVersions(a: string, b: string): number {
  const rank = (version: string): readonly number[] => {
    const [, major = '0', level = '', minor = '0'] = /^v(\d+)(alpha|beta)?(\d+)?$/.exec(version) ?? []
    return [level === '' ? 2 : level === 'beta' ? 1 : 0, Number(major), Number(minor)]
  }
  const [one, other] = [rank(a), rank(b)]
  const place = one.findIndex((value, i) => value !== other[i])
  return place < 0 ? 0 : (other[place] ?? 0) - (one[place] ?? 0)
}
