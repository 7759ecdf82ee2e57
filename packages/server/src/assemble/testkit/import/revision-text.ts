// Revision in a resourceVersion of a capture.

import { refuse } from './captured-object.js'

/** Backups have 6 bytes for a revision. Half of that leaves room for all later writes. */
const maxRevision = 2 ** 47

/** Undefined for text that is not a positive integer. */
export function revisionOf(resourceVersion: unknown, origin: string): number | undefined {
  if (typeof resourceVersion !== 'string' || !/^[1-9]\d*$/.test(resourceVersion)) return undefined
  const revision = Number(resourceVersion)
  if (revision > maxRevision) throw refuse(origin, `the resourceVersion ${resourceVersion} is greater than ${maxRevision}`)
  return revision
}
