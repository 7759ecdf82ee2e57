// What a kind is: one value per kind, from which routes, discovery, validation and representations follow.

import type { StructNode } from '../schema/node.js'
import type { FieldError } from './field-error.js'
import type { GroupName, Identity } from './identity.js'
import type { ApiObject } from './object.js'
import type { User } from './user.js'

/** What the rules of a kind may know besides the object. */
export interface RuleContext {
  readonly identity: Identity
  /** Milliseconds since 1970. */
  readonly now: number
  readonly gates: FeatureGates
  readonly user: User
  /** The version in which the object was sent. */
  readonly version: string
}

export type FeatureGates = (name: string) => boolean

export interface ResourceVersionDefinition {
  /** Such as `v1`. */
  readonly name: string
  readonly schema: StructNode
  /** The version in which objects are stored; exactly one has it. */
  readonly stored?: boolean
}

/** Which part of an object a subresource writes, and how. */
export interface SubresourceDefinition<T extends ApiObject = ApiObject> {
  readonly name: string
  readonly verbs: readonly Verb[]
  /** From what was sent and what is stored: what will be stored. */
  readonly prepareUpdate: (next: T, old: T, context: RuleContext) => T
  readonly validateUpdate?: (next: T, old: T, context: RuleContext) => readonly FieldError[]
  /** Field paths that this subresource does not write, and so never owns: `['spec']`. */
  readonly resetFields?: readonly string[]
}

export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string
  readonly priority?: number
  readonly description?: string
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

export interface ResourceDefinition<T extends ApiObject = ApiObject> {
  readonly group: GroupName
  readonly kind: string
  /** The plural, as it stands in paths. */
  readonly resource: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly namespaced: boolean
  /** All of them unless said otherwise. */
  readonly verbs?: readonly Verb[]
  readonly versions: readonly ResourceVersionDefinition[]
  readonly subresources?: readonly SubresourceDefinition<T>[]
  /** Field selectors beyond `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: { readonly [path: string]: (object: T) => string }
  /** Table columns and the cells of one object; the age is given in milliseconds since 1970 by the context. */
  readonly table?: { readonly columns: readonly Column[]; readonly cells: (object: T, context: RuleContext) => readonly unknown[] }
  /** What is wrong with a name, one sentence each; `prefix` is true for generateName. */
  readonly nameProblems: (name: string, prefix: boolean) => readonly string[]
  /** Fills in what was left out, on everything that is decoded. */
  readonly defaults?: (object: T, context: RuleContext) => T
  readonly prepareCreate?: (object: T, context: RuleContext) => T
  readonly prepareUpdate?: (next: T, old: T, context: RuleContext) => T
  readonly validate?: (object: T, context: RuleContext) => readonly FieldError[]
  /** What is wrong with the change; the checks of `validate` are included where the kind wants them. */
  readonly validateUpdate?: (next: T, old: T, context: RuleContext) => readonly FieldError[]
  readonly warnings?: (object: T, old: T | undefined, context: RuleContext) => readonly string[]
  /** A PUT on a name that does not exist creates it. */
  readonly createOnUpdate?: boolean
  /** A PUT without a resourceVersion is refused. */
  readonly versionRequiredOnUpdate?: boolean
  /** DELETE answers with the object and not with a Status. */
  readonly deleteReturnsObject?: boolean
  /** Field paths that the main resource does not write, and so never owns: `['status']`. */
  readonly resetFields?: readonly string[]
  /** How long an object is kept, in seconds, given the setting for events. */
  readonly ttlSeconds?: (eventTtlSeconds: number) => number
}

/** Keeps the kind's own type inside, and forgets it outside. */
export const defineResource = <T extends ApiObject>(definition: ResourceDefinition<T>): ResourceDefinition =>
  definition as unknown as ResourceDefinition
