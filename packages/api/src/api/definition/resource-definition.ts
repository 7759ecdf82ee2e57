// What a kind is: one value per kind, from which routes, discovery, validation and representations follow.

import type { StructNode } from '../schema/node.js'
import type { BatchConversion } from './conversion.js'
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
  /** Containers may not be privileged on this server. */
  readonly forbidsPrivileged?: boolean
  /** For development: webhooks on this machine need no TLS. */
  readonly allowsPlainHooks?: boolean
  /** Told of each rule that is written as an expression when it was asked; left out where nobody wants to know. */
  readonly onExpression?: (asked: AskedExpression) => void
  /** Called if the object is large though its body is small: later steps run in a worker thread. */
  markLarge?(): void
}

export interface AskedExpression {
  /** The value that it was asked about; empty for the whole object. */
  readonly path: string
  readonly text: string
  readonly cost: number
  readonly holds: boolean
  /** What its parts gave. */
  readonly trace: () => readonly { readonly text: string; readonly value: string }[]
}

export type FeatureGates = (name: string) => boolean

export interface ResourceVersionDefinition {
  /** Such as `v1`. */
  readonly name: string
  readonly schema: StructNode
  /** The version in which objects are stored; exactly one has it. */
  readonly stored?: boolean
  /** Objects may be stored in this version, but clients cannot ask for it. */
  readonly unserved?: true
  /** Between this version and the stored one, without loss; the same object when left out. */
  readonly toStored?: (object: ApiObject, identity: Identity) => ApiObject
  readonly fromStored?: (object: ApiObject, identity: Identity) => ApiObject
  /** Fills in what was left out in this version, where it differs from the kind's `defaults`. */
  readonly defaults?: (object: ApiObject, context: RuleContext) => ApiObject
  readonly deprecation?: Deprecation
  /** What this version has otherwise than the kind: custom kinds say it for each version. */
  readonly own?: Pick<ResourceDefinition, 'table' | 'subresources' | 'resetFields'>
  /** The JSON schema as its author wrote it: custom kinds publish this one, which says more than the schema language does. */
  readonly published?: { readonly [keyword: string]: unknown }
}

/** From when a version is discouraged and gone, and what to use: releases such as `1.26`. */
export interface Deprecation {
  /** All that is said, where somebody else wrote it. */
  readonly warning?: string
  readonly deprecatedIn: string
  readonly removedIn?: string
  readonly replacement?: { readonly group: GroupName; readonly version: string; readonly kind: string }
}

/** A subresource whose bodies are of another kind than the object: `scale` reads and writes a Scale. */
export interface SubresourceView<T extends ApiObject = ApiObject> {
  readonly group: GroupName
  readonly version: string
  readonly kind: string
  readonly schema: StructNode
  readonly read: (object: T) => ApiObject
  /** Why an object cannot be shown so; left out, or undefined: it can. */
  readonly refusal?: (object: T) => string | undefined
  /** The object with what the view says. */
  readonly write: (view: ApiObject, object: T, context: RuleContext) => T
  readonly validate?: (view: ApiObject, context: RuleContext) => readonly FieldError[]
  /** Where the object has the replicas that a Scale shows; left out: `spec.replicas`. */
  readonly replicasPath?: string
  /** Its rows in a table; `cells` gets the view. */
  readonly table?: ResourceDefinition['table']
}

/** Which part of an object a subresource writes, and how. */
export interface SubresourceDefinition<T extends ApiObject = ApiObject> {
  readonly name: string
  readonly verbs: readonly Verb[]
  readonly view?: SubresourceView<T>
  /** From what was sent and what is stored: what will be stored. */
  readonly prepareUpdate: (next: T, old: T, context: RuleContext) => T
  readonly validateUpdate?: (next: T, old: T, context: RuleContext) => readonly FieldError[]
  /** It is never shown as a table. */
  readonly hasNoTable?: boolean
  /** Field paths that this subresource does not write, and so never owns: `['spec']`. */
  readonly resetFields?: readonly string[]
  /** Which wish it takes: see `defineAction`. */
  readonly action?: ActionName
  /** Where it leads: see `defineConnection`. */
  readonly connection?: ConnectionName
  /** What is sent, where it is not the object: actions and connections. Discovery names it, with a group where it has its own. */
  readonly body?: SubresourceBody
  /** What the query may say, field by field, where that is more than for other requests: the options of connections and of logs. */
  readonly query?: StructNode
}

export interface SubresourceBody {
  readonly kind: string
  readonly group?: GroupName
  readonly version?: string
  /** Versions of old that are understood as well, such as `v1beta1`. */
  readonly alsoVersions?: readonly string[]
  /** Left out for connections, which have no body: their kind is that of their options. */
  readonly schema?: StructNode
  /** As for a kind of its own: what is filled in, and what is wrong, before anything is done. */
  readonly defaults?: (body: ApiObject, context: RuleContext) => ApiObject
  readonly validate?: (body: ApiObject, context: RuleContext) => readonly FieldError[]
}

/** What is done with a wish that is sent to a subresource; verbs/special has a function for each. */
export type ActionName = 'bind' | 'evict' | 'issueToken'

/** Where a subresource leads, and how; verbs/special has a function for each. */
export type ConnectionName = 'attach' | 'exec' | 'log' | 'portforward' | 'proxyToNode' | 'proxyToPod' | 'proxyToService'

/** What a row of a table says of its object besides the cells. */
export interface RowCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
}

export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string
  readonly priority?: number
  readonly description?: string
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

/** One round of checks of a write: of metadata, of its change, of the kind's own fields (`validate`), of their change (`validateUpdate`). */
export type Check = 'metadata' | 'metadataChange' | 'own' | 'ownChange'

/** The order of the checks; each list in the order of execution. */
export interface CheckOrder {
  /** By default `metadata`, `own`. Without `metadata` the common rules look at it when the kind has found nothing. */
  readonly create?: readonly Extract<Check, 'metadata' | 'own'>[]
  /** By default `metadataChange`, `ownChange`. */
  readonly update?: readonly Check[]
}

/** What only kinds that a CustomResourceDefinition describes have. */
export interface CustomKind {
  readonly singular: string
  readonly listKind: string
  /** The CustomResourceDefinition, as far as the kind is made of it. */
  readonly source?: object
}

export interface ResourceDefinition<T extends ApiObject = ApiObject> {
  readonly group: GroupName
  readonly kind: string
  /** The plural, as it stands in paths. */
  readonly resource: string
  /** Described by a definition in the store. Clients see a few things differently from kinds that a server is built with. */
  readonly custom?: CustomKind
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly namespaced: boolean
  /** The group that errors of validation name, where a kind moved and kept its first name there. */
  readonly errorGroup?: GroupName
  /** The feature gate without which the kind is not served. */
  readonly gate?: string
  /** All of them unless said otherwise. */
  readonly verbs?: readonly Verb[]
  /** Objects of this kind are questions, which are answered and not kept: see `defineReview`. */
  readonly review?: string
  /** Objects of this kind are found out and not kept: see `defineComputed`. */
  readonly computed?: string
  /** What is sent goes to a subresource of the object of the same name, in the same group and version, and is not kept. */
  readonly postsTo?: { readonly resource: string; readonly subresource: string }
  readonly versions: readonly ResourceVersionDefinition[]
  /** Where somebody else converts between the versions; they have no `toStored` then, and `fromStored` only the stored one. */
  readonly conversion?: BatchConversion
  readonly subresources?: readonly SubresourceDefinition<T>[]
  /** Where a kind keeps its objects as those of another kind: under that group, in that form. */
  readonly storedAs?: { readonly group: GroupName; readonly version: string; readonly schema: StructNode }
  /** The version of which discovery gives the hash, where that is known to clients as the stored one and another one is stored. */
  readonly hashedVersion?: string
  /** Field selectors beyond `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: { readonly [path: string]: (object: T) => string }
  /** What is said of a field that cannot be asked for, where the kind has words of its own. */
  readonly refuseField?: (path: string) => string
  /** Table columns and the cells of one object. Cells are kept while the object does not change: what grows with time comes from `ageOf`. */
  readonly table?: {
    readonly columns: readonly Column[]
    readonly cells: (object: T, context: RuleContext) => readonly unknown[]
    /** Cells are read from the version that is shown, and not from the stored one. */
    readonly asShown?: true
    /** Marks rows of objects that have come to an end; none where left out. */
    readonly conditions?: (object: T) => readonly RowCondition[]
    /** The order of rows in a list, where it is not that of names. */
    readonly order?: (a: T, b: T) => number
  }
  /** What is wrong with a name, one sentence each; `prefix` is true for generateName. */
  readonly nameProblems: (name: string, prefix: boolean) => readonly string[]
  /** Fills in what was left out, on everything that is decoded. */
  readonly defaults?: (object: T, context: RuleContext) => T
  readonly prepareCreate?: (object: T, context: RuleContext) => T
  readonly prepareUpdate?: (next: T, old: T, context: RuleContext) => T
  /** What is wrong with an object; `old` is there where it is checked as part of a change. */
  readonly validate?: (object: T, context: RuleContext, old?: T) => readonly FieldError[]
  /** What is wrong with an object in the version in which it was sent, where somebody else converts it before it is validated. */
  readonly validateSent?: (object: T, context: RuleContext, subresource: string) => readonly FieldError[]
  /** What is wrong with the change; the checks of `validate` are included where the kind wants them. */
  readonly validateUpdate?: (next: T, old: T, context: RuleContext) => readonly FieldError[]
  /** Rules that somebody wrote as expressions, which may take long: gives way where it yields. `errors` is what other checks have found. */
  readonly expressions?: (
    object: T,
    old: T | undefined,
    context: RuleContext,
    errors: readonly FieldError[],
  ) => Generator<undefined, readonly FieldError[]>
  /** True if validation takes long for the size of the object, because patterns or expressions are compiled: it runs in a worker thread. */
  readonly isCostlyToValidate?: (object: T, bytes: number) => boolean
  readonly checks?: CheckOrder
  /** Why an object cannot be understood though its schema is met; undefined where it can. */
  readonly unreadable?: (object: T) => string | undefined
  /** Annotations that stand for fields of old: metadata that are shown alone do not have them. */
  readonly fieldAnnotations?: (identity: Identity) => readonly string[]
  /** Finalizers without a domain are accepted, as on custom resources. */
  readonly anyFinalizer?: boolean
  readonly warnings?: (object: T, old: T | undefined, context: RuleContext) => readonly string[]
  /** Throws where no object of the kind may be made any more, however far its request has come. */
  readonly checkCreatable?: () => void
  /** What was stored as it is read by the schema of today, for kinds whose schema may be younger than their objects. */
  readonly readStored?: (object: T) => T
  /** A PUT on a name that does not exist creates it. */
  readonly createOnUpdate?: boolean
  /** A PUT without a resourceVersion is refused. */
  readonly versionRequiredOnUpdate?: boolean
  /** Whether the kind itself holds an object that is being deleted, besides its finalizers. */
  readonly isHeld?: (object: T) => boolean
  /** The first DELETE only marks an object; another one, or an update, removes it once nothing holds it. */
  readonly firstDeleteMarks?: boolean
  /** What a DELETE does to an object that is held. */
  readonly prepareDelete?: (object: T, context: RuleContext) => T
  /** Other objects live in one of these: conditions of its deletion are refused in the name of the collection. */
  readonly holdsOthers?: boolean
  /** Why an object can never be deleted; undefined where it can. */
  readonly deleteProblem?: (object: T) => string | undefined
  /** How many seconds an object has left once it is deleted, given what the caller asks for; kinds without it go at once. */
  readonly gracePeriodSeconds?: (object: T, requested: number | undefined) => number
  /** Dependents are orphaned where DELETE does not say otherwise, and the caller is warned of that. */
  readonly orphansByDefault?: { readonly warning?: string }
  /** Dependents are never waited for nor orphaned when an object of this kind goes. */
  readonly ignoresDependents?: boolean
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
