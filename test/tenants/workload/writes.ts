// Writes of a lane: create, update, every patch type, delete, deletecollection, status; in JSON, YAML and Protobuf.

import type { Wire } from '../kit/wire.js'
import { laneLabel, requestAnnotation, type Version } from './kinds.js'
import type { Lane } from './lane.js'
import type { Key } from './model.js'
import { payloadText } from './payload.js'
import { contentTypes, encode, json, pickForObject, protobuf, withQuery } from './representations.js'

const shortStatuses = (isShort: boolean, ...statuses: readonly number[]): readonly number[] => (isShort ? [...statuses, 504] : statuses)

/** Puts one request id in the place of another of the same length, in bytes of any encoding. */
const replaceId = (bytes: Buffer, from: string, to: string): Buffer => Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1')

export async function create(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  if (lane.isFull(kind)) return remove(lane)
  await lane.deleteDoubtful(kind)
  const key = lane.model.newKey(kind)
  const version = lane.newVersion(kind)
  const apiVersion = lane.pickApiVersion(kind)
  const encoding = lane.pickEncoding(kind)
  const { query, isDry, isShort } = lane.pickQuery()
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
    expect: shortStatuses(isShort, 201),
  })
  if (!isDry) lane.settle(key, version, called)
}

/** The server itself translates, in a dry run. */
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
  return called.isOk ? replaceId(called.answer.body, draft, id) : undefined
}

export async function update(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const key = lane.pickKey(kind)
  if (key === undefined) return create(lane)
  const encoding = lane.pickEncoding(kind)
  const apiVersion = lane.pickApiVersion(kind)
  const written = encoding === 'Protobuf' ? await changedProtobuf(lane, key) : await changedObject(lane, key, apiVersion, encoding)
  if (written === undefined) return
  const { query, isDry, isShort } = lane.pickQuery()
  const called = await lane.client.call({
    verb: `update${isDry ? ' dry run' : ''}`,
    method: 'PUT',
    path: withQuery(lane.pathOf(key, apiVersion), query),
    body: written.body,
    contentType: contentTypes[encoding],
    as: pickForObject(lane.random, kind.hasProtobuf),
    contains: [written.version.id, key.name],
    expect: shortStatuses(isShort, 200),
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
  const { resourceVersion } = (JSON.parse(read.answer.body.toString()) as Wire).metadata
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
  return { body: replaceId(called.answer.body, before.id, id), version: { ...before, id, payloadId } }
}

export async function remove(lane: Lane): Promise<void> {
  const kind = lane.pickKind()
  const key = lane.pickKey(kind)
  if (key === undefined) return
  const { query, isDry, isShort } = lane.pickQuery()
  const called = await lane.client.call({
    verb: `delete${isDry ? ' dry run' : ''}`,
    method: 'DELETE',
    path: withQuery(lane.pathOf(key), query.replace(/fieldManager=[^&]*/, 'propagationPolicy=Background')),
    as: pickForObject(lane.random, kind.hasProtobuf),
    contains: [key.name],
    expect: shortStatuses(isShort, 200),
  })
  if (!isDry) lane.settle(key, undefined, called)
}

/** Deletes at most `limit` of the lane's objects, and counts what is left. */
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
  const left = await lane.client.call({
    verb: 'list',
    method: 'GET',
    path: withQuery(path, selector),
    as: json,
    expect: [200],
    isPatient: true,
  })
  // They have the label, too.
  for (const key of lane.model.doubtful(kind)) lane.model.doubt(key, undefined)
  if (!called.isKnown || !left.isOk) {
    for (const key of before) lane.model.doubt(key, undefined)
    return
  }
  const { items } = JSON.parse(left.answer.body.toString()) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[]
  }
  const names = new Set(items.map(({ metadata }) => metadata.name))
  const gone = before.filter(({ name }) => !names.has(name))
  const doubtful = lane.model.doubtful(kind).length
  if (gone.length > limit || (gone.length === 0 && doubtful === 0))
    lane.client.checks.find('deletecollection limit', `limit=${limit} deleted ${gone.length} of ${before.length} in ${path}`)
  for (const key of gone) key.possible = [undefined]
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
  // Metadata of this write is not for the spec's version.
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
