// Reads the objects of a YAML or JSON text: documents, and Lists as `kubectl get -o yaml` prints them.

import { shapeObject } from '@cluster-apiserver/api/codec/decode-object.js'
import { YamlError } from '@cluster-apiserver/api/codec/yaml/yaml-error.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import { manifestDocuments } from '../../../options/files/manifest-files.js'
import { type Capture, type CapturedObject, refuse, revisionOf } from './captured-object.js'

const noBytes = new Uint8Array()

export function readManifests(path: string, bytes: Buffer): Capture {
  const objects: CapturedObject[] = []
  let revision = 0
  for (const { value, line, duplicates } of documentsOf(path, bytes)) {
    const origin = `${path}:${line}`
    if (duplicates[0] !== undefined) throw refuse(origin, duplicates[0])
    revision = Math.max(revision, addDocument(value, origin, objects))
  }
  return { objects, revision, warnings: [] }
}

/** Returns the resourceVersion of a List, or 0. */
function addDocument(value: unknown, origin: string, objects: CapturedObject[]): number {
  if (!isRecord(value)) throw refuse(origin, 'an object is expected')
  const { apiVersion, kind, items } = value
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) {
    objects.push(objectOf(value, origin, {}))
    return 0
  }
  // Items of a typed list, such as a PodList, may lack kind and apiVersion.
  const itemType = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) }
  items.forEach((item: unknown, i) => {
    if (!isRecord(item)) throw refuse(`${origin}, item ${i}`, 'an object is expected')
    objects.push(objectOf(item, `${origin}, item ${i}`, itemType))
  })
  const { resourceVersion } = isRecord(value['metadata']) ? value['metadata'] : {}
  return revisionOf(resourceVersion, origin) ?? 0
}

function objectOf(item: Record<string, unknown>, origin: string, itemType: Record<string, unknown>): CapturedObject {
  const { apiVersion = itemType['apiVersion'], kind = itemType['kind'] } = item
  if (typeof kind !== 'string' || kind === '') throw refuse(origin, 'it has no kind')
  if (typeof apiVersion !== 'string' || apiVersion === '') throw refuse(origin, 'it has no apiVersion')
  const value = { ...item, apiVersion, kind }
  return { apiVersion, kind, origin, decode: (expected) => shapeObject({ value }, noBytes, expected) }
}

function documentsOf(path: string, bytes: Buffer): ReturnType<typeof manifestDocuments> {
  try {
    return manifestDocuments(bytes)
  } catch (thrown) {
    if (thrown instanceof YamlError) throw refuse(path, thrown.message)
    throw thrown
  }
}
