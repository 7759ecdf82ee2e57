// Calls of the verbs by the server itself, as the user system:apiserver unless the target names another.

import { ApiError, notFound } from '@cluster-apiserver/api/api/api-error.js'
import { Call, type Caller, type CallOptions } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { authenticatedGroup, mastersGroup, type User } from '@cluster-apiserver/api/api/user.js'
import { remove } from '../../verbs/delete.js'
import type { Engine } from '../../verbs/engine.js'
import { patch } from '../../verbs/patch.js'
import { update } from '../../verbs/update.js'

const userAgentOf = (identity: Identity): string => identity.prefixed('apiserver')

const serverUser: User = { name: 'system:apiserver', uid: '', groups: [mastersGroup, authenticatedGroup], extra: {} }

export interface InternalTarget {
  readonly resource: Resource
  readonly namespace?: string
  readonly name: string
  readonly subresource?: string
  readonly options?: CallOptions
  readonly signal?: AbortSignal
  readonly as?: InternalUser
}

/** The user that admission sees, and the user agent, which names the field manager. */
export interface InternalUser {
  readonly user: User
  readonly userAgent: string
}

export const internalCall = (engine: Engine, target: InternalTarget): Call =>
  new Call(engine, internalCaller(engine, target), {
    resource: target.resource,
    subresource: target.subresource === undefined ? undefined : target.resource.subresources.get(target.subresource),
    namespace: target.namespace ?? '',
    name: target.name,
    options: target.options ?? {},
  })

const internalCaller = ({ identity, clock }: Engine, { signal, as }: InternalTarget): Caller => ({
  info: undefined,
  user: as?.user ?? serverUser,
  userAgent: as?.userAgent ?? userAgentOf(identity),
  now: clock.now(),
  signal,
  throwIfAborted: () => signal?.throwIfAborted(),
  warn: discard,
  annotate: discard,
})

const discard = (): void => undefined

export async function internalPatch(engine: Engine, target: InternalTarget, mergePatch: object): Promise<number | undefined> {
  const { result } = await patch(engine, internalCall(engine, target), { type: 'merge', patch: mergePatch, duplicates: [] })
  return result.stored?.revision
}

/** Updates the stored object. The caller must have read it in the same event-loop iteration. */
export async function internalUpdate(engine: Engine, target: InternalTarget, change: (object: ApiObject) => ApiObject): Promise<void> {
  const { resource, namespace = '', name } = target
  const stored = engine.store.read({ resource, namespace, name })
  if (stored === undefined) throw notFound(resource.subject, name)
  await update(engine, internalCall(engine, target), { object: change(stored.decode(resource)) })
}

export async function internalApply(engine: Engine, target: InternalTarget, configuration: string): Promise<void> {
  const call = internalCall(engine, target)
  const bytes = Buffer.from(configuration)
  call.noteBytes(bytes)
  await patch(engine, call, { type: 'apply', patch: JSON.parse(configuration), bytes, duplicates: [] })
}

/** Returns false if finalizers keep the object. */
export const internalDelete = async (engine: Engine, target: InternalTarget): Promise<boolean> =>
  (await remove(engine, internalCall(engine, target))).removed

/** Status codes after another writer's change, whose event queues the key again. */
export const notFoundOrConflict: readonly number[] = [404, 409]
export const notFoundCodes: readonly number[] = [404]

export async function ignoreErrors(codes: readonly number[], write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || !codes.includes(thrown.status.code)) throw thrown
  }
}

export const isNamespaceTerminating = (thrown: unknown): boolean =>
  thrown instanceof ApiError &&
  thrown.status.code === 403 &&
  (thrown.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating')
