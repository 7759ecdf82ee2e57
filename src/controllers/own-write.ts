// Writes of the server's loops to objects of any size: what is too heavy for the event loop is carried out elsewhere, as a request would be.

import { ApiError, notFound, type StatusBody } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { nowOrInPieces, Pieces } from '../base/pieces.js'
import type { Promised } from '../base/promised.js'
import { TooHeavyError } from '../base/weight.js'
import { sliceMembers } from '../codec/json-slices.js'
import { leanObject, leanText } from '../objects/lean-object.js'
import { writeAny } from '../schema/write.js'
import { remove } from '../verbs/delete.js'
import type { Elsewhere, Engine, OwnRequest } from '../verbs/engine.js'
import { patch } from '../verbs/patch.js'
import { update } from '../verbs/update.js'
import { type OwnTarget, ownCall, serverUser, userAgentOf } from './own-call.js'

type Answer = Awaited<ReturnType<NonNullable<Elsewhere['carryOut']>>>

/** A merge patch, of a subresource where the target names one; gives the revision afterwards, if something was written. */
export async function patchOwn(engine: Engine, target: OwnTarget, merged: object): Promise<number | undefined> {
  const here = async (isMovable: boolean): Promise<number | undefined> => {
    const { result } = await patch(engine, ownCall(engine, { ...target, isMovable }), { type: 'merge', patch: merged, duplicates: [] })
    return result.stored?.revision
  }
  const there = {
    method: 'PATCH',
    type: 'application/merge-patch+json',
    query: queryOf(target),
    body: () => writeAny(merged),
  } as const
  return hereOrThere(engine, target, { here, there, read: ({ body }) => nowOrInPieces(revisionIn(body), new Pieces()) })
}

/**
 * An update of the object that is there now, with other fields than metadata changed. Whoever decided on the change does so in the same turn of the
 * event loop.
 */
export async function updateOwn(engine: Engine, target: OwnTarget, change: (object: ApiObject) => ApiObject): Promise<void> {
  const { resource } = target
  const stored = engine.store.read(addressOf(target))
  if (stored === undefined) throw notFound(resource.subject, target.name)
  const here = async (isMovable: boolean): Promise<void> => {
    const call = ownCall(engine, { ...target, isMovable })
    call.checkWeight(stored.entry.value)
    await update(engine, call, { object: change(stored.decode(resource)) })
  }
  const body = (): string => leanText(stored, resource, change(leanObject(stored, resource)))
  const there = { method: 'PUT', type: 'application/json', query: queryOf(target), body } as const
  await hereOrThere(engine, target, { here, there, read: () => undefined })
}

/** An apply configuration, as JSON. */
export async function applyOwn(engine: Engine, target: OwnTarget, configuration: string): Promise<void> {
  const here = async (isMovable: boolean): Promise<void> => {
    const call = ownCall(engine, { ...target, isMovable })
    call.checkWeight(Buffer.from(configuration))
    await patch(engine, call, { type: 'apply', patch: JSON.parse(configuration), duplicates: [] })
  }
  const there = { method: 'PATCH', type: 'application/apply-patch+yaml', query: queryOf(target), body: () => configuration } as const
  await hereOrThere(engine, target, { here, there, read: () => undefined })
}

/** Whether it is gone now; if not, it is held by something. */
export async function removeOwn(engine: Engine, target: OwnTarget): Promise<boolean> {
  const here = async (isMovable: boolean): Promise<boolean> => (await remove(engine, ownCall(engine, { ...target, isMovable }))).removed
  const there = { method: 'DELETE', type: 'application/json', body: () => JSON.stringify(target.options ?? {}) } as const
  return hereOrThere(engine, target, { here, there, read: () => engine.store.read(addressOf(target)) === undefined })
}

interface TwoWays<T> {
  readonly here: (isMovable: boolean) => Promise<T>
  readonly there: { readonly method: OwnRequest['method']; readonly type: string; readonly query?: string; readonly body: () => string }
  readonly read: (answer: Answer) => Promised<T>
}

async function hereOrThere<T>(engine: Engine, target: OwnTarget, { here, there, read }: TwoWays<T>): Promise<T> {
  const carryOut = engine.elsewhere?.carryOut
  if (carryOut === undefined) return here(false)
  try {
    return await here(true)
  } catch (thrown) {
    if (!(thrown instanceof TooHeavyError)) throw thrown
  }
  const { identity } = engine
  const headers = {
    'content-type': there.type,
    // Only that is looked at of the answer.
    accept: `application/json;as=PartialObjectMetadata;g=${identity.group({ stem: 'meta' })};v=v1`,
    'user-agent': userAgentOf(identity),
  }
  const { method, query = '' } = there
  const request = { method, path: `${pathOf(target)}${query}`, headers, body: there.body(), user: serverUser }
  const answer = await carryOut(request, () => target.signal?.aborted !== true)
  // It is there, but nobody serves it in this version: then there is no path to it, and only here is it known.
  if (answer.code === 404 && engine.store.read(addressOf(target)) !== undefined) return here(false)
  if (answer.code >= 400) throw new ApiError(parse(answer.body) as StatusBody)
  return read(answer)
}

const bufferOf = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.length)
const parse = (body: Uint8Array): unknown => JSON.parse(bufferOf(body).toString())

/** The rest of the metadata may be long, and nobody asks for it. */
function* revisionIn(body: Uint8Array): Generator<undefined, number, void> {
  const { metadata } = Object.fromEntries(yield* sliceMembers(bufferOf(body), metadataOnly, { depth: Number.POSITIVE_INFINITY }))
  const text = metadata?.get('resourceVersion')
  return text === undefined ? Number.NaN : Number(parse(text))
}

const metadataOnly: ReadonlySet<string> = new Set(['metadata'])

const addressOf = ({ resource, namespace = '', name }: OwnTarget) => ({ resource, namespace, name })

function queryOf({ options: { fieldManager, force = false } = {} }: OwnTarget): string {
  if (fieldManager === undefined) return ''
  return `?fieldManager=${encodeURIComponent(fieldManager)}${force ? '&force=true' : ''}`
}

function pathOf({ resource, namespace = '', name, subresource }: OwnTarget): string {
  const { group, version, subject, namespaced }: Resource = resource
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const place = namespaced ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  const part = subresource === undefined ? '' : `/${subresource}`
  return `${base}${place}/${subject.resource}/${encodeURIComponent(name)}${part}`
}
