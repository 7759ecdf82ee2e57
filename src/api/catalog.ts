// What this server serves, at one moment: every kind bound to its identity, found by the words of a path. A catalog never changes; another
// one that shares everything but what is different takes its place (see catalog-source).

import type { StructNode } from '../schema/node.js'
import type { Subject } from './api-error.js'
import { type CatalogContents, changeContents, noContents } from './catalog-contents.js'
import type { Conversion } from './conversion.js'
import type { Deprecation, ResourceDefinition, RuleContext, SubresourceDefinition, Verb } from './definition.js'
import type { SelectableFields } from './field-selector.js'
import type { Identity } from './identity.js'
import type { ApiObject } from './object.js'

/** One kind in one served version. The same value in every catalog until its definition changes. */
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
  /** In which version objects are written to the store. */
  readonly storedApiVersion: string
  /** Of which version discovery gives the hash. */
  readonly hashedApiVersion: string
  /** From this version to the stored one and back; undefined where they are the same. */
  readonly toStored: ((object: ApiObject) => ApiObject) | undefined
  readonly fromStored: ((object: ApiObject) => ApiObject) | undefined
  /** Where this has to be asked for instead: then objects must have been converted before they are shown (objects/convert-ahead). */
  readonly conversion: Conversion | undefined
  /** Fills in what a client of this version left out. */
  readonly defaults: ((object: ApiObject, context: RuleContext) => ApiObject) | undefined
  readonly deprecation: Deprecation | undefined
  /** What a field selector may ask for. */
  readonly selectable: SelectableFields
  /** What the store's index says of an object besides its labels: the selectable fields of every kind that is stored so. */
  readonly indexedFields: NonNullable<ResourceDefinition['selectableFields']> | undefined
  /** Changes with those fields: see index-version. */
  readonly indexVersion: number
  readonly verbs: readonly Verb[]
  /** How errors name it. */
  readonly subject: Subject
  /** How errors of validation name it. */
  readonly invalidSubject: Pick<Subject, 'group' | 'kind'>
  /** Under which name its objects lie in the store; the same for all versions of a kind. */
  readonly collection: string
  /** What is stored in that collection, in every version that is known, served or not and in whatever group, by apiVersion. */
  readonly versions: ReadonlyMap<string, KnownVersion>
  /** By name. */
  readonly subresources: ReadonlyMap<string, Subresource>
}

/** A version of a kind as data may speak of it: the field owners of an object, and what was stored before another version was. */
export interface KnownVersion extends Pick<Resource, 'schema' | 'toStored' | 'fromStored'> {
  /** Where objects have the replicas that a Scale shows; left out: `spec.replicas`. */
  readonly replicasPath?: string | undefined
}

/** A subresource of one served version. */
export interface Subresource extends SubresourceDefinition {
  /** The resource as clients of the subresource see it: itself, or the kind that the view shows. */
  readonly shown: Resource
  /** What is sent and answered: the object, the kind of a view, or that of the body of an action. */
  readonly type: GroupVersion & { readonly apiVersion: string; readonly kind: string }
}

/** Decides whether a version of a group, or one resource in it, is served. */
export type ServedFilter = (version: { readonly group: string; readonly version: string; readonly resource: string }) => boolean

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

/** A group version with what it serves: the same value in every catalog until something in it changes. */
export interface ServedVersion extends GroupVersion {
  /** By name, in the order in which they were defined. */
  readonly resources: ReadonlyMap<string, Resource>
}

/** A group with what it serves: the same value in every catalog until something in it changes. */
export interface ServedGroup {
  readonly name: string
  /** By name, the most stable one first. */
  readonly versions: ReadonlyMap<string, ServedVersion>
}

/** Definitions that come, or take the place of those of the same group and resource; and such that go. */
export interface CatalogChange {
  readonly put?: readonly ResourceDefinition[]
  readonly remove?: readonly Pick<ResourceDefinition, 'group' | 'resource'>[]
}

export interface CatalogOptions {
  readonly identity: Identity
  readonly isServed: ServedFilter
}

export class Catalog {
  readonly identity: Identity
  private readonly options: CatalogOptions
  private readonly contents: CatalogContents
  private listed: readonly Resource[] | undefined
  private stored: readonly Resource[] | undefined
  private places: readonly ServedVersion[] | undefined

  constructor(
    options: CatalogOptions & { readonly definitions: readonly ResourceDefinition[] },
    contents = changeContents(noContents, { put: options.definitions }, options),
  ) {
    this.identity = options.identity
    this.options = options
    this.contents = contents
  }

  /** The catalog after a change. Whatever the change does not concern is the same value in both; where it changes nothing, so is the whole. */
  with(change: CatalogChange): Catalog {
    const contents = changeContents(this.contents, change, this.options)
    return contents === this.contents ? this : new Catalog({ ...this.options, definitions: [] }, contents)
  }

  find(group: string, version: string, resource: string): Resource | undefined {
    return this.contents.groups.get(group)?.versions.get(version)?.resources.get(resource)
  }

  /** Whether anything is served under a group version. */
  hasVersion(group: string, version: string): boolean {
    return this.contents.groups.get(group)?.versions.has(version) ?? false
  }

  /** Whether what a group serves is described by definitions in the store. */
  isCustomGroup(name: string): boolean {
    const [version] = this.contents.groups.get(name)?.versions.values() ?? []
    const [resource] = version?.resources.values() ?? []
    return resource?.definition.custom !== undefined
  }

  hasGroup(group: string): boolean {
    return this.contents.groups.has(group)
  }

  /** In the order in which they were defined. */
  groups(): ReadonlyMap<string, ServedGroup> {
    return this.contents.groups
  }

  /** The group versions in the order in which discovery names them: groups as they are defined, the most stable version first. */
  groupVersions(): readonly ServedVersion[] {
    this.places ??= [...this.contents.groups.values()].flatMap(({ versions }) => [...versions.values()])
    return this.places
  }

  all(): readonly Resource[] {
    this.listed ??= this.groupVersions().flatMap(({ resources }) => [...resources.values()])
    return this.listed
  }

  /** The first served version of each kind: one per collection in the store. */
  collections(): readonly Resource[] {
    this.stored ??= [...this.contents.collections.values()].flatMap(({ resources: [first] }) => first ?? [])
    return this.stored
  }

  /** The one of them that is kept in a collection. */
  inCollection(name: string): Resource | undefined {
    return this.contents.collections.get(name)?.resources[0]
  }
}
