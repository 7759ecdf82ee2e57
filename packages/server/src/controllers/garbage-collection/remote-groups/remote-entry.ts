// An object of another server, as far as owners are concerned. Whatever that server says, nothing else is taken from it.

import type { ApiObject, OwnerReference } from '../../../api/object.js'
import { isRecord } from '../../../schema/read.js'
import type { Entry } from '../graph.js'
import { type RemoteKind, remoteKey } from './remote-kinds.js'

export interface RemoteEntry extends Entry {
  readonly revision: string
  readonly finalizers: readonly string[]
}

/** Most have none of either. */
const noFinalizers: readonly string[] = []
const noReferences: readonly OwnerReference[] = []

/** Undefined: that is no object. */
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
    isGoing: isText(metadata['deletionTimestamp']),
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

/** The same as an object of this server would say. */
export const metadataOf = ({ isGoing, finalizers }: RemoteEntry): ApiObject =>
  ({ metadata: { finalizers, ...(isGoing ? { deletionTimestamp: 'yes' } : {}) } }) as ApiObject

/** What a reference is beside its letters, and what the index of owners has of it. */
const referenceLetters = 200

/** About as many as are kept of it: a server may name thousands of owners in each object. */
export function lettersIn({ key, uid, revision, finalizers, references }: RemoteEntry): number {
  let letters = key.length + uid.length + revision.length
  for (const finalizer of finalizers) letters += finalizer.length
  for (const { apiVersion, kind, name, uid: owner } of references)
    letters += referenceLetters + textLength(apiVersion) + textLength(kind) + textLength(name) + textLength(owner)
  return letters
}

const textLength = (text = ''): number => text.length
