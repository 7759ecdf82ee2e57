// An object of a captured cluster, before it is decoded by the schema of its kind.

import type { DecodedObject, ExpectedType } from '@cluster-apiserver/api/codec/decode-object.js'
import { StartupError } from '../../../options/startup-error.js'

export interface CapturedObject {
  readonly apiVersion: string
  readonly kind: string
  /** File and line, or key in etcd, for messages. */
  readonly origin: string
  /** Place in etcd. Without it, metadata.resourceVersion is the revision. */
  readonly etcd?: { readonly key: string; readonly revision: number }
  /** Throws an ApiError if the object does not have the type. */
  decode(expected: ExpectedType): DecodedObject
}

export interface Capture {
  readonly objects: readonly CapturedObject[]
  /** Revision of the captured cluster; 0 if the capture does not have it. */
  readonly revision: number
  readonly warnings: readonly string[]
}

/** Explains why a capture is refused. */
export const refuse = (origin: string, reason: string): StartupError => new StartupError(`from: ${origin}: ${reason}`)

const maxListed = 20

/** At most twenty of the texts, and the number of the others. */
export function listed(texts: readonly string[]): string {
  const rest = texts.length - maxListed
  return rest > 0 ? `${texts.slice(0, maxListed).join(', ')} and ${rest} more` : texts.join(', ')
}

/** Backups have 6 bytes for a revision. Half of that leaves room for all later writes. */
const maxRevision = 2 ** 47

/** Undefined for text that is not a positive integer. */
export function revisionOf(resourceVersion: unknown, origin: string): number | undefined {
  if (typeof resourceVersion !== 'string' || !/^[1-9]\d*$/.test(resourceVersion)) return undefined
  const revision = Number(resourceVersion)
  if (revision > maxRevision) throw refuse(origin, `the resourceVersion ${resourceVersion} is greater than ${maxRevision}`)
  return revision
}
