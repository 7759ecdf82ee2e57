// Writes of a lane (a client with its own objects) except patches of the spec: create, update, delete, deletecollection, status.

import type { JsonObject } from '../../kit/network/json-object.js'
import { laneLabel, requestAnnotation, type Version } from '../kinds.js'
import type { Lane } from '../lane.js'
import type { Key } from '../model.js'
import { contentTypes, encode, json, pickForObject, protobuf, withQuery } from '../representations.js'
import { payloadText } from './payload.js'

const withTimeoutStatus = (hasShortTimeout: boolean, ...statuses: readonly number[]): readonly number[] =>
  hasShortTimeout ? [...statuses, 504] : statuses

/** Replaces a request id by another of the same length, in bytes of any encoding. */
const replaceId = (bytes: Buffer, from: string, to: string): Buffer => Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1')

export async function create(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  if (lane.isFull(kind)) return remove(lane)
  await lane.deleteUncertain(kind)
  const key = lane.model.newKey(kind)
  const version = lane.newVersion(kind)
  const apiVersion = lane.pickApiVersion(kind)
  const encoding = lane.pickEncoding(kind)
  const { query, isDry, hasShortTimeout } = lane.pickQuery()
  const path = lane.collection(kind, apiVersion)
  const object = lane.object(key, version, apiVersion)
  const body = encoding === 'Protobuf' ? await asProtobuf(lane, path, object, version.id) : encode(object, encoding)
  if (body === undefined) return
  const called = await lane.client.call({
    verb: `create${isDry ? ' dry run' : ''}`,
    method: 'POST',
    path: withQuery(path, query),
    body,
    contentType: contentTypes[encoding],
    as: pickForObject(lane.random, kind.hasProtobuf),
    contains: [version.id, key.name],
    expect: withTimeoutStatus(hasShortTimeout, 201),
  })
  if (!isDry) lane.settle(key, version, called)
}

/** Converts by a dry run of the server. */
async function asProtobuf(lane: Lane, path: string, object: object, id: string): Promise<Buffer | undefined> {
  const draft = lane.ids.next()
  const called = await lane.client.call({
    verb: 'create dry run',
    method: 'POST',
    path: `${path}?dryRun=All`,
    body: replaceId(encode(object, 'JSON'), id, draft),
    as: protobuf,
    contains: [draft],
    expect: [201],
  })
  return called.isOk ? replaceId(called.response.body, draft, id) : undefined
}

export async function update(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const key = lane.pickKey(kind)
  if (key === undefined) return create(lane)
  const encoding = lane.pickEncoding(kind)
  const apiVersion = lane.pickApiVersion(kind)
  const written = encoding === 'Protobuf' ? await changedProtobuf(lane, key) : await changedObject(lane, key, apiVersion, encoding)
  if (written === undefined) return
  const { query, isDry, hasShortTimeout } = lane.pickQuery()
  const called = await lane.client.call({
    verb: `update${isDry ? ' dry run' : ''}`,
    method: 'PUT',
    path: withQuery(lane.pathOf(key, apiVersion), query),
    body: written.body,
    contentType: contentTypes[encoding],
    as: pickForObject(lane.random, kind.hasProtobuf),
    contains: [written.version.id, key.name],
    expect: withTimeoutStatus(hasShortTimeout, 200),
  })
  if (!isDry) lane.settle(key, written.version, called)
}

interface Written {
  readonly body: Buffer
  readonly version: Version
}

/** Conditional on the resourceVersion half of the time, and always for custom resources, which demand it. */
async function changedObject(lane: Lane, key: Key, apiVersion: string, encoding: 'JSON' | 'YAML'): Promise<Written | undefined> {
  const version = lane.newVersion(key.kind)
  const object = lane.object(key, version, apiVersion)
  if (key.kind.hasProtobuf && lane.random.below(2) === 0) return { version, body: encode(object, encoding) }
  const [before] = key.possible
  const path = lane.pathOf(key, apiVersion)
  const read = await lane.client.call({ verb: 'get', method: 'GET', path, contains: [before?.id ?? '', key.name], expect: [200] })
  if (!read.isOk) return undefined
  const { resourceVersion } = (JSON.parse(read.response.body.toString()) as JsonObject).metadata
  return { version, body: encode({ ...object, metadata: { ...object.metadata, resourceVersion } }, encoding) }
}

/** The object as it is read in Protobuf, with another request id. */
async function changedProtobuf(lane: Lane, key: Key): Promise<Written | undefined> {
  const [before] = key.possible
  if (before === undefined) return undefined
  const called = await lane.client.call({
    verb: 'get',
    method: 'GET',
    path: lane.pathOf(key),
    as: protobuf,
    contains: [before.id, key.name],
    expect: [200],
  })
  if (!called.isOk) return undefined
  const id = lane.ids.next()
  const payloadId = before.payloadId === before.id ? id : before.payloadId
  return { body: replaceId(called.response.body, before.id, id), version: { ...before, id, payloadId } }
}

export async function remove(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const key = lane.pickKey(kind)
  if (key === undefined) return
  const { query, isDry, hasShortTimeout } = lane.pickQuery()
  const called = await lane.client.call({
    verb: `delete${isDry ? ' dry run' : ''}`,
    method: 'DELETE',
    path: withQuery(lane.pathOf(key), query.replace(/fieldManager=[^&]*/, 'propagationPolicy=Background')),
    as: pickForObject(lane.random, kind.hasProtobuf),
    contains: [key.name],
    expect: withTimeoutStatus(hasShortTimeout, 200),
  })
  if (!isDry) lane.settle(key, undefined, called)
}

/** Deletes at most `limit` of the lane's objects, and checks how many are left. */
export async function removeSome(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const before = lane.model.present(kind)
  if (before.length === 0) return
  const limit = 1 + lane.random.below(3)
  const selector = `labelSelector=${encodeURIComponent(`${laneLabel}=${lane.model.lane}`)}`
  const path = lane.collection(kind)
  const called = await lane.client.call({
    verb: 'deletecollection',
    method: 'DELETE',
    path: withQuery(path, selector, `limit=${limit}`),
    as: pickForObject(lane.random, kind.hasProtobuf),
    expect: [200],
  })
  const remaining = await lane.client.call({
    verb: 'list',
    method: 'GET',
    path: withQuery(path, selector),
    as: json,
    expect: [200],
    isUndisturbed: true,
  })
  // The selector also matches objects with unknown state, which may be deleted now.
  for (const key of lane.model.uncertain(kind)) lane.model.addPossible(key, undefined)
  if (!called.isKnown || !remaining.isOk) {
    for (const key of before) lane.model.addPossible(key, undefined)
    return
  }
  const { items } = JSON.parse(remaining.response.body.toString()) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[]
  }
  const names = new Set(items.map(({ metadata }) => metadata.name))
  const deletedKeys = before.filter(({ name }) => !names.has(name))
  const uncertain = lane.model.uncertain(kind).length
  if (deletedKeys.length > limit || (deletedKeys.length === 0 && uncertain === 0))
    lane.client.checks.addFinding('deletecollection limit', `limit=${limit} deleted ${deletedKeys.length} of ${before.length} in ${path}`)
  for (const key of deletedKeys) key.possible = [undefined]
}

/** Writes the status of a custom resource, which leaves the rest as it is. */
export async function writeStatus(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const key = lane.pickKey(kind)
  if (key === undefined || kind.hasProtobuf) return
  const apiVersion = lane.pickApiVersion(kind)
  const id = lane.ids.next()
  const { mark } = lane.tenant
  const status = { id, [mark]: mark, lines: payloadText(mark, id, lane.random.pick([100, 30_000])).split('\n') }
  // Keeps the request id of the last write of the spec.
  const [before] = key.possible
  await lane.client.call({
    verb: 'patch status',
    method: 'PATCH',
    path: withQuery(`${lane.pathOf(key, apiVersion)}/status`, `fieldManager=${mark}`),
    body: encode({ status, metadata: { annotations: { [requestAnnotation]: before?.id } } }, 'JSON'),
    contentType: 'application/merge-patch+json',
    as: pickForObject(lane.random, false),
    contains: [key.name],
    expect: [200],
  })
}
