// The owner references, finalizers and uid of an object of an extension API server, validated.

import type { ApiObject, OwnerReference } from '@cluster-apiserver/api/api/object.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import type { Entry } from '../owner-entry.js'
import { type RemoteKind, remoteKey } from './remote-kinds.js'

export interface RemoteEntry extends Entry {
  readonly revision: string
  readonly finalizers: readonly string[]
}

const noFinalizers: readonly string[] = []
const noReferences: readonly OwnerReference[] = []

export function readEntry(kind: RemoteKind, object: unknown): RemoteEntry | undefined {
  const metadata = isRecord(object) ? object['metadata'] : undefined
  if (!isRecord(metadata)) return undefined
  const { name, namespace = '', uid, resourceVersion = '' } = metadata
  if (!isText(name) || !isText(uid) || typeof namespace !== 'string' || typeof resourceVersion !== 'string') return undefined
  if (name.includes('/') || namespace.includes('/') || kind.namespaced !== (namespace !== '')) return undefined
  const finalizers = Array.isArray(metadata['finalizers']) ? metadata['finalizers'].filter(isText) : []
  const references = Array.isArray(metadata['ownerReferences']) ? metadata['ownerReferences'].flatMap(readReference) : []
  return {
    key: remoteKey(kind, namespace, name),
    revision: resourceVersion,
    uid,
    isTerminating: isText(metadata['deletionTimestamp']),
    mayHaveFinalizers: finalizers.length > 0,
    finalizers: finalizers.length === 0 ? noFinalizers : finalizers,
    references: references.length === 0 ? noReferences : references,
  }
}

function readReference(value: unknown): readonly OwnerReference[] {
  if (!isRecord(value)) return []
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = value
  if (!isText(apiVersion) || !isText(kind) || !isText(name) || !isText(uid)) return []
  return [
    {
      apiVersion,
      kind,
      name,
      uid,
      ...(typeof controller === 'boolean' ? { controller } : {}),
      ...(typeof blockOwnerDeletion === 'boolean' ? { blockOwnerDeletion } : {}),
    },
  ]
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

export const metadataOf = ({ isTerminating, finalizers }: RemoteEntry): ApiObject =>
  ({ metadata: { finalizers, ...(isTerminating ? { deletionTimestamp: 'yes' } : {}) } }) as ApiObject

/** Overhead of a reference in memory, with its entry in the owner index. */
const referenceChars = 200

/** Approximate memory of an entry: a server may return thousands of owner references per object. */
export function cachedChars({ key, uid, revision, finalizers, references }: RemoteEntry): number {
  let chars = key.length + uid.length + revision.length
  for (const finalizer of finalizers) chars += finalizer.length
  for (const { apiVersion, kind, name, uid: owner } of references)
    chars += referenceChars + textLength(apiVersion) + textLength(kind) + textLength(name) + textLength(owner)
  return chars
}

const textLength = (text = ''): number => text.length
