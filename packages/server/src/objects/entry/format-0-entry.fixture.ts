// Fixture: encodes entries of the old storage format 0. `splice` is the offset in the body at which readers insert the resourceVersion.
//
//   value = [index length: u32][splice and flags: u32][index: JSON][body: JSON of the object without its braces]

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { writeAny, writeStoredFields } from '@cluster-apiserver/api/schema/json/write.js'
import type { StoredKind } from './stored-object.js'

export function oldEntry(resource: Pick<StoredKind, 'storedSchema' | 'indexedFields'>, object: ApiObject): Buffer {
  const text = writeStoredFields(resource.storedSchema, object)
  const uid = `"uid":"${object.metadata?.uid}",`
  const splice = Buffer.byteLength(text.slice(0, text.indexOf(uid) + uid.length))
  const labels = object.metadata?.labels && Object.fromEntries(Object.entries(object.metadata.labels).sort(([a], [b]) => compareText(a, b)))
  const fields =
    resource.indexedFields && Object.fromEntries(Object.entries(resource.indexedFields).map(([path, get]) => [path, get(object)]))
  const index = labels === undefined && fields === undefined ? '' : writeAny({ l: labels, f: fields })
  const header = Buffer.alloc(8)
  header.writeUInt32LE(Buffer.byteLength(index), 0)
  header.writeUInt32LE((splice | (text.includes(':null') ? 0x4000_0000 : 0)) >>> 0, 4)
  return Buffer.concat([header, Buffer.from(index), Buffer.from(text)])
}
