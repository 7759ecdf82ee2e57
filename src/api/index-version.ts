// Which fields the index beside a stored object has, as a number that entries carry: one whose number differs is indexed anew when it is asked.

import { sortTexts } from '../base/text-order.js'

/** To be raised when a field keeps its path and changes its meaning. */
const generation = 1

/** The same for the same paths, in whatever order (32-bit FNV-1a). */
export function indexVersionFor(paths: readonly string[]): number {
  let hash = 0x811c9dc5
  const text = `${generation}\n${sortTexts([...paths]).join('\n')}`
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
