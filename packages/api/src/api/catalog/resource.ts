// Resource: a ResourceDefinition bound to one version and an identity. Groups and versions of resources as the catalog serves them.

import type { StructNode } from '../../schema/node.js'
import type { ErrorSubject } from '../api-error.js'
import type { Conversion } from '../definition/conversion-webhook.js'
import type { Deprecation, ResourceDefinition, RuleContext, SubresourceDefinition, Verb } from '../definition/resource-definition.js'
import type { Identity } from '../identity.js'
import type { ApiObject } from '../object.js'
import type { SelectableFields } from '../selectors/field-selector.js'

/** The same value in every catalog until its definition changes. */
export interface Resource {
  readonly definition: ResourceDefinition
  readonly group: string
  readonly version: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespaced: boolean
  readonly schema: StructNode
  readonly storedSchema: StructNode
  readonly storedApiVersion: string
  /** apiVersion in the storageVersionHash of discovery. */
  readonly hashedApiVersion: string
  /** Conversion to the stored version; undefined if objects of this version are stored unchanged. */
  readonly toStored: ((object: ApiObject) => ApiObject) | undefined
  readonly fromStored: ((object: ApiObject) => ApiObject) | undefined
  /** Set for a conversion webhook: stored objects must be converted, asynchronously, before they are encoded. */
  readonly conversion: Conversion | undefined
  readonly defaults: ((object: ApiObject, context: RuleContext) => ApiObject) | undefined
  readonly deprecation: Deprecation | undefined
  readonly selectable: SelectableFields
  /** Selectable fields of all kinds of the collection. */
  readonly indexedFields: NonNullable<ResourceDefinition['selectableFields']> | undefined
  /** Hash of the indexed paths: an entry that was indexed with another version is indexed again. */
  readonly indexVersion: number
  readonly verbs: readonly Verb[]
  readonly subject: ErrorSubject
  readonly invalidSubject: Pick<ErrorSubject, 'group' | 'kind'>
  /** Name of the storage collection, the same for all versions of a kind. */
  readonly collection: string
  /** All known versions, served or not, by apiVersion. */
  readonly versions: ReadonlyMap<string, KnownVersion>
  readonly subresources: ReadonlyMap<string, Subresource>
}

/** A version that stored data may mention: in managedFields, or as an older stored version. */
export interface KnownVersion extends Pick<Resource, 'schema' | 'toStored' | 'fromStored'> {
  /** Path of the replicas that the `scale` subresource writes. Default: `spec.replicas`. */
  readonly replicasPath?: string | undefined
}

export interface Subresource extends SubresourceDefinition {
  /** Type of the response: the view, such as Scale, or the resource itself. */
  readonly shown: Resource
  readonly type: GroupVersion & { readonly apiVersion: string; readonly kind: string }
}

export type ServedFilter = (version: { readonly group: string; readonly version: string; readonly resource: string }) => boolean

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

export interface ServedVersion extends GroupVersion {
  readonly resources: ReadonlyMap<string, Resource>
}

export interface ServedGroup {
  readonly name: string
  /** Most stable first. */
  readonly versions: ReadonlyMap<string, ServedVersion>
}

export interface CatalogChange {
  readonly put?: readonly ResourceDefinition[]
  readonly remove?: readonly Pick<ResourceDefinition, 'group' | 'resource'>[]
}

export interface CatalogOptions {
  readonly identity: Identity
  readonly isServed: ServedFilter
}
