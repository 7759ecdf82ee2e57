// Version of the field index of a stored entry: a hash of the indexed paths. An entry with another version is indexed again when
// a field selector reads it.

import { sortTexts } from '../../base/text-order.js'

/** Increase when a field keeps its path but changes its meaning. */
const indexFormat = 1

/** 32-bit FNV-1a hash, independent of the order of the paths. */
export function indexVersionFor(paths: readonly string[]): number {
  let hash = 0x811c9dc5
  const text = `${indexFormat}\n${sortTexts([...paths]).join('\n')}`
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
