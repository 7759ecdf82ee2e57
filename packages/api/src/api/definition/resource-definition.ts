// ResourceDefinition: the declaration of one kind. Routes, discovery, validation, storage and printer columns follow from it.

import type { StructNode } from '../../schema/node.js'
import type { FieldError } from '../field-error.js'
import type { GroupName, Identity } from '../identity.js'
import type { ApiObject } from '../object.js'
import type { User } from '../user.js'
import type { BatchConversion } from './conversion-webhook.js'

export interface RuleContext {
  readonly identity: Identity
  readonly now: number
  readonly gates: FeatureGates
  readonly user: User
  readonly version: string
  readonly forbidsPrivileged?: boolean
  /** For development: webhooks on loopback need no TLS. */
  readonly allowsPlainWebhooks?: boolean
  /** Called for each evaluated CEL rule. */
  readonly onExpression?: (expression: EvaluatedExpression) => void
  /** Called if the object is large though its body is small: later steps run in a worker thread. */
  markLarge?(): void
}

export interface EvaluatedExpression {
  /** Empty for the whole object. */
  readonly path: string
  readonly text: string
  readonly cost: number
  readonly isTrue: boolean
  readonly trace: () => readonly { readonly text: string; readonly value: string }[]
}

export type FeatureGates = (name: string) => boolean

export interface ResourceVersionDefinition {
  readonly name: string
  readonly schema: StructNode
  /** True for exactly one version of a kind; for none if the kind has `storedAs`. */
  readonly stored?: boolean
  /** A version that may be in storage, but that clients cannot request. */
  readonly unserved?: true
  /** Lossless conversion to the stored version. Without it, objects are stored unchanged. */
  readonly toStored?: (object: ApiObject, identity: Identity) => ApiObject
  readonly fromStored?: (object: ApiObject, identity: Identity) => ApiObject
  /** Overrides the `defaults` of the kind. */
  readonly defaults?: (object: ApiObject, context: RuleContext) => ApiObject
  readonly deprecation?: Deprecation
  /** Replaces members of the kind: CRDs set them per version. */
  readonly overrides?: Pick<ResourceDefinition, 'table' | 'subresources' | 'resetFields'>
  /** The JSON schema of the CRD, for OpenAPI. */
  readonly published?: { readonly [keyword: string]: unknown }
}

/** Releases such as `1.26`. */
export interface Deprecation {
  readonly warning?: string
  readonly deprecatedIn: string
  readonly removedIn?: string
  readonly replacement?: { readonly group: GroupName; readonly version: string; readonly kind: string }
}

/** Bodies of another kind than the object: `scale` reads and writes a Scale. */
export interface SubresourceView<T extends ApiObject = ApiObject> {
  readonly group: GroupName
  readonly version: string
  readonly kind: string
  readonly schema: StructNode
  readonly read: (object: T) => ApiObject
  /** Error message if the object has no such view. */
  readonly refusal?: (object: T) => string | undefined
  readonly write: (view: ApiObject, object: T, context: RuleContext) => T
  readonly validate?: (view: ApiObject, context: RuleContext) => readonly FieldError[]
  /** Path of the replicas that `scale` writes. Default: `spec.replicas`. */
  readonly replicasPath?: string
  /** Printer columns of the view: `cells` receives the view. */
  readonly table?: ResourceDefinition['table']
}

export interface SubresourceDefinition<T extends ApiObject = ApiObject> {
  readonly name: string
  readonly verbs: readonly Verb[]
  readonly view?: SubresourceView<T>
  readonly prepareUpdate: (next: T, old: T, context: RuleContext) => T
  readonly validateUpdate?: (next: T, old: T, context: RuleContext) => readonly FieldError[]
  readonly hasNoTable?: boolean
  /** Field paths that this subresource neither writes nor owns: `['spec']`. */
  readonly resetFields?: readonly string[]
  readonly action?: ActionName
  readonly connection?: ConnectionName
  /** Body that is not the object: actions and connections. */
  readonly body?: SubresourceBody
  /** Schema of the query options of a connection. */
  readonly query?: StructNode
}

export interface SubresourceBody {
  readonly kind: string
  readonly group?: GroupName
  readonly version?: string
  /** Older versions that are accepted as well, such as `v1beta1`. */
  readonly alsoVersions?: readonly string[]
  /** Left out for connections, which have no body. */
  readonly schema?: StructNode
  readonly defaults?: (body: ApiObject, context: RuleContext) => ApiObject
  readonly validate?: (body: ApiObject, context: RuleContext) => readonly FieldError[]
}

/** Subresources that run an action of the server instead of updating the object. */
export type ActionName = 'bind' | 'evict' | 'issueToken'

export type ConnectionName = 'attach' | 'exec' | 'log' | 'portforward' | 'proxyToNode' | 'proxyToPod' | 'proxyToService'

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

/** Validation steps: common metadata rules, common rules of metadata changes, and the functions of the kind. */
export type Check = 'metadata' | 'metadataChange' | 'validate' | 'validateUpdate'

/** A step that kube-apiserver runs twice is listed twice, and reports its errors twice. */
export interface CheckOrder {
  /** Default: `metadata`, `validate`. If `metadata` is left out, the common rules run when the kind reported no error. */
  readonly create?: readonly Extract<Check, 'metadata' | 'validate'>[]
  /** Default: `metadataChange`, `validateUpdate`. */
  readonly update?: readonly Check[]
}

interface CustomKind {
  readonly singular: string
  readonly listKind: string
  /** Fields of the CRD from which a worker thread builds the same kind. */
  readonly source?: object
}

export interface ResourceDefinition<T extends ApiObject = ApiObject> {
  readonly group: GroupName
  readonly kind: string
  readonly resource: string
  /** Set for kinds of CustomResourceDefinitions. */
  readonly custom?: CustomKind
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly namespaced: boolean
  /** Group in validation errors, for kinds that moved to another group. */
  readonly errorGroup?: GroupName
  /** Feature gate without which the kind is not served. */
  readonly gate?: string
  /** Default: all verbs. */
  readonly verbs?: readonly Verb[]
  /** Set for reviews: POST returns the validated object with its status filled in; nothing is stored. */
  readonly review?: string
  /** Set for kinds whose objects are computed on every read, such as ComponentStatus. */
  readonly computed?: string
  /** POST is forwarded to this subresource of the object with the same name. */
  readonly postsTo?: { readonly resource: string; readonly subresource: string }
  readonly versions: readonly ResourceVersionDefinition[]
  /** Admission and validation see the requested version. Then the object is converted, and pruned by the schema of the stored version. */
  readonly validatesRequestVersion?: true
  /** Conversion webhook: no version has `toStored`, and only the stored one `fromStored`. */
  readonly conversion?: BatchConversion
  readonly subresources?: readonly SubresourceDefinition<T>[]
  /** Storage uses the group, version and schema of another kind. */
  readonly storedAs?: { readonly group: GroupName; readonly version: string; readonly schema: StructNode }
  /** Version in the storageVersionHash of discovery, if it is not the stored one. */
  readonly hashedVersion?: string
  /** Field selectors beyond `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: { readonly [path: string]: (object: T) => string }
  /** Error message for an unsupported field selector. */
  readonly fieldRefusal?: (path: string) => string
  /** Cells are cached until the object changes: ages must come from `ageOf`, which leaves a placeholder in cached cells. */
  readonly table?: {
    readonly columns: readonly Column[]
    readonly cells: (object: T, context: RuleContext) => readonly unknown[]
    /** `cells` receives the requested version instead of the stored one. */
    readonly fromRequestedVersion?: true
    readonly conditions?: (object: T) => readonly RowCondition[]
    /** Default: by name. */
    readonly order?: (a: T, b: T) => number
  }
  /** `prefix` is true for generateName. */
  readonly nameProblems: (name: string, prefix: boolean) => readonly string[]
  /** Applied to every decoded object. */
  readonly defaults?: (object: T, context: RuleContext) => T
  readonly prepareCreate?: (object: T, context: RuleContext) => T
  readonly prepareUpdate?: (next: T, old: T, context: RuleContext) => T
  /** `old` is set on update. */
  readonly validate?: (object: T, context: RuleContext, old?: T) => readonly FieldError[]
  readonly validateUpdate?: (next: T, old: T, context: RuleContext) => readonly FieldError[]
  /** CEL rules; yields between rules. `errors`: findings of the other checks. */
  readonly expressions?: (
    object: T,
    old: T | undefined,
    context: RuleContext,
    errors: readonly FieldError[],
  ) => Generator<undefined, readonly FieldError[]>
  /** True if compiling patterns or CEL takes long for the size of the object: validation then runs in a worker thread. */
  readonly isCostlyToValidate?: (object: T, bytes: number) => boolean
  readonly checks?: CheckOrder
  /** Error message for an object that matches the schema but cannot be decoded. */
  readonly unreadable?: (object: T) => string | undefined
  /** Annotations that replace removed fields: PartialObjectMetadata omits them. */
  readonly fieldAnnotations?: (identity: Identity) => readonly string[]
  /** Accepts finalizers without a domain. */
  readonly anyFinalizer?: boolean
  readonly warnings?: (object: T, old: T | undefined, context: RuleContext) => readonly string[]
  /** Throws once the kind accepts no new objects. */
  readonly checkCreatable?: () => void
  /** Applies the current schema to an object stored under an older one. */
  readonly readStored?: (object: T) => T
  /** PUT creates the object if it does not exist. */
  readonly createOnUpdate?: boolean
  /** PUT without a resourceVersion is rejected. */
  readonly versionRequiredOnUpdate?: boolean
  /** True while the kind itself blocks deletion, in addition to finalizers. */
  readonly isDeletionBlocked?: (object: T) => boolean
  /** The first DELETE only sets deletionTimestamp; the object is removed once nothing blocks deletion. */
  readonly firstDeleteMarks?: boolean
  /** Changes the object when a DELETE is blocked. Such kinds have no grace period and keep their generation. */
  readonly prepareDelete?: (object: T, context: RuleContext) => T
  /** Contains other objects, as a namespace does: its failed delete preconditions have another error message. */
  readonly containsObjects?: boolean
  /** Error message for objects that cannot be deleted. */
  readonly deleteProblem?: (object: T) => string | undefined
  /** Grace period in seconds. Kinds without it are deleted immediately. */
  readonly gracePeriodSeconds?: (object: T, requested: number | undefined) => number
  /** DELETE without a propagation policy orphans dependents, and sends `warning` if it is set. */
  readonly orphansByDefault?: { readonly warning?: string }
  /** Deletion neither waits for dependents nor orphans them. */
  readonly ignoresDependents?: boolean
  /** DELETE returns the object, not a Status. */
  readonly deleteReturnsObject?: boolean
  /** Field paths that the main resource neither writes nor owns: `['status']`. */
  readonly resetFields?: readonly string[]
  /** TTL of objects in seconds, given --event-ttl. */
  readonly ttlSeconds?: (eventTtlSeconds: number) => number
}

/** Erases the type `T`, so that definitions of all kinds have one type. */
export const defineResource = <T extends ApiObject>(definition: ResourceDefinition<T>): ResourceDefinition =>
  definition as unknown as ResourceDefinition
