// What every verb works with: the store and the rules on one side, one request on the other.

import type { Admission } from '../admission/admission.js'
import type { Resource, Subresource } from '../api/catalog.js'
import type { FeatureGates, RuleContext } from '../api/definition.js'
import type { Identity } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import type { User } from '../api/user.js'
import type { Authenticator } from '../auth/authenticate.js'
import type { Authorizer } from '../auth/authorize.js'
import type { Clock } from '../base/clock.js'
import type { ObjectAddress, ObjectStore } from '../objects/object-store.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { Reserver } from './reserve.js'

export interface Engine {
  readonly store: ObjectStore
  readonly identity: Identity
  readonly gates: FeatureGates
  /** Containers may not be privileged on this server. */
  readonly forbidsPrivileged: boolean
  readonly admission: Admission
  readonly clock: Clock
  /** Who is asked about users and their rights, for kinds that are questions. */
  readonly access: { readonly authenticators: readonly Authenticator[]; readonly authorizers: readonly Authorizer[] }
  /** Other parts of the control plane, which are asked whether they are well. */
  readonly components?: readonly ComponentProbe[]
  /** The kinds that take what only one object may have. */
  readonly reservers: readonly Reserver[]
  readonly newUid: () => string
  /** A random letter or digit sequence for generated names. */
  readonly randomSuffix: (length: number) => string
}

export interface ComponentProbe {
  readonly name: string
  probe(patienceMs: number): Promise<{ readonly isWell: boolean; readonly message: string }>
}

/** One request on one resource. */
export interface Call {
  readonly resource: Resource
  readonly subresource: Subresource | undefined
  /** Empty for cluster-scoped resources and for all namespaces. */
  readonly namespace: string
  readonly name: string
  readonly user: User
  readonly userAgent: string
  readonly rules: RuleContext
  readonly warn: (text: string) => void
  /** Aborted when the client has gone or the time is up. */
  readonly signal: AbortSignal | undefined
}

/**
 * Begins every write: what is stored is looked at as it is now, so that a client that comes from another replica meets what it was told there.
 * Nothing has to be waited for where nobody else writes.
 */
export function upToDate({ store }: Engine): undefined | Promise<unknown> {
  const waiting = store.readIndex('write')
  return waiting instanceof Promise ? waiting : undefined
}

export const addressOf = (call: Call, name = call.name): ObjectAddress => ({ resource: call.resource, namespace: call.namespace, name })

/** What every write may be asked besides its body. */
export interface WriteOptions {
  readonly dryRun?: readonly string[]
  readonly fieldManager?: string
}

/** What a write leaves behind: the stored object, or for a dry run the object as it would be. */
export interface Written {
  readonly created: boolean
  readonly result: WrittenObject
}

export type WrittenObject =
  | { readonly stored: StoredObject; readonly object?: undefined }
  | { readonly stored?: undefined; readonly object: ApiObject }
