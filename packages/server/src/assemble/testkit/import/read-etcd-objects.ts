// Objects in an etcd snapshot of a cluster: Protobuf or JSON, as kube-apiserver stores them.

import type { Identity, IdentityName } from '@cluster-apiserver/api/api/identity.js'
import { ProtobufReadError } from '@cluster-apiserver/api/base/protobuf/protobuf-reader.js'
import { decodeProtobufObject, shapeObject } from '@cluster-apiserver/api/codec/decode-object.js'
import { parseJson } from '@cluster-apiserver/api/codec/json/json.js'
import { isEnvelope, readEnvelope } from '@cluster-apiserver/api/codec/protobuf-envelope.js'
import { JsonSyntaxError } from '@cluster-apiserver/api/schema/json/parse-json.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import { type Capture, type CapturedObject, listed, refuse } from './captured-object.js'
import type { EtcdSnapshot, SnapshotEntry } from './etcd-snapshot.js'

/** Identity of the names in an etcd of kube-apiserver. */
const etcdIdentity: IdentityName = 'kubernetes'
const encryptedPrefix = Buffer.from('k8s:enc:')
const openBrace = '{'.charCodeAt(0)
/** Key of the compaction of kube-apiserver, which is no object. */
const compactionKey = 'compact_rev_key'
/** Key under which cluster-apiserver describes its own format: `<prefix>.format`. */
const ownFormatKey = /^\/[^/]+\.format$/

/** Yields between objects, so that the caller can yield to the event loop. */
export function* readEtcdObjects(
  path: string,
  { entries, revision }: EtcdSnapshot,
  identity: Identity,
): Generator<undefined, Capture, void> {
  const objects: CapturedObject[] = []
  const otherKeys: string[] = []
  for (const [key, entry] of entries) {
    if (ownFormatKey.test(key))
      throw refuse(path, 'it is a snapshot of a store of cluster-apiserver: export it with `cluster-apiserver backup` instead')
    const object = readObject(path, key, entry)
    if (object !== undefined) objects.push(object)
    else if (key !== compactionKey) otherKeys.push(key)
    yield undefined
  }
  if (identity.name !== etcdIdentity)
    throw refuse(path, `an etcd snapshot has the names of the identity "${etcdIdentity}": start with identity ${etcdIdentity}`)
  const warnings = otherKeys.length === 0 ? [] : [`${path}: keys that are no objects were left out: ${listed(otherKeys)}`]
  return { objects, revision, warnings }
}

/** Undefined for a value that is no object. */
function readObject(path: string, key: string, { value, revision }: SnapshotEntry): CapturedObject | undefined {
  const origin = `${path}: ${key}`
  if (value.subarray(0, encryptedPrefix.length).equals(encryptedPrefix))
    throw refuse(
      origin,
      'the value is encrypted at rest: import `kubectl get -o yaml` of the objects instead, or a snapshot of an etcd without encryption',
    )
  const etcd = { key, revision }
  if (isEnvelope(value)) {
    const { apiVersion, kind } = envelopeType(value, origin)
    return { apiVersion, kind, origin, etcd, decode: (expected) => decodeProtobufObject(value, expected) }
  }
  if (value[0] !== openBrace) return undefined
  const parsed = parseObject(value, origin)
  if (!isRecord(parsed.value)) return undefined
  const { apiVersion, kind } = parsed.value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined
  return { apiVersion, kind, origin, etcd, decode: (expected) => shapeObject(parsed, value, expected) }
}

function envelopeType(value: Buffer, origin: string): { readonly apiVersion: string; readonly kind: string } {
  try {
    return readEnvelope(value)
  } catch (thrown) {
    if (thrown instanceof ProtobufReadError) throw refuse(origin, thrown.message)
    throw thrown
  }
}

function parseObject(value: Buffer, origin: string): ReturnType<typeof parseJson> {
  try {
    return parseJson(value)
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError) throw refuse(origin, thrown.message)
    throw thrown
  }
}
