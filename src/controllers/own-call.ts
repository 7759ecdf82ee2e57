// Writes of the server itself: the same verbs that clients use, called by its own user.

import { Call, type Caller, type CallOptions } from '../api/call.js'
import type { Resource } from '../api/catalog.js'
import type { Identity } from '../api/identity.js'
import { authenticatedGroup, mastersGroup, type User } from '../api/user.js'
import type { Engine } from '../verbs/engine.js'

export const userAgentOf = (identity: Identity): string => identity.prefixed('apiserver')

export const serverUser: User = { name: 'system:apiserver', uid: '', groups: [mastersGroup, authenticatedGroup], extra: {} }

export interface OwnTarget {
  readonly resource: Resource
  readonly namespace?: string
  readonly name: string
  readonly subresource?: string
  readonly options?: CallOptions
  /** Ends what the call does where its loop ends. */
  readonly signal?: AbortSignal
}

export const ownCall = (engine: Engine, target: OwnTarget): Call =>
  new Call(engine, ownCaller(engine, target), {
    resource: target.resource,
    subresource: target.subresource === undefined ? undefined : target.resource.subresources.get(target.subresource),
    namespace: target.namespace ?? '',
    name: target.name,
    options: target.options ?? {},
  })

const ownCaller = ({ identity, clock }: Engine, { signal }: OwnTarget): Caller => ({
  info: undefined,
  user: serverUser,
  userAgent: userAgentOf(identity),
  now: clock.now(),
  signal,
  throwIfAborted: () => signal?.throwIfAborted(),
  warn: nobodyReads,
  annotate: nobodyReads,
})

const nobodyReads = (): void => undefined
