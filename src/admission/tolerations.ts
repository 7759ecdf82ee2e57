// How lists of tolerations become one: of two of which one lets pass all that the other does, the wider one stays.

import { sameValue } from '../api/validation/same-value.js'
import type { Toleration } from '../resources/core/v1.schema.js'

/** All of both, but for those that another one includes. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second]
  const merged: Toleration[] = []
  for (const [i, toleration] of all.entries()) {
    if (merged.some((wider) => includesToleration(wider, toleration))) continue
    if (all.slice(i + 1).some((wider) => !sameValue(wider, toleration) && includesToleration(wider, toleration))) continue
    merged.push(toleration)
  }
  return merged
}

/** Whether one lets pass all that the other does, and for as long. */
export function includesToleration(wider: Toleration, narrower: Toleration): boolean {
  if (sameValue(wider, narrower)) return true
  const { key = '', operator = '', effect = '', value = '', tolerationSeconds } = wider
  if (key !== (narrower.key ?? '') && (key !== '' || operator !== 'Exists')) return false
  if (effect !== (narrower.effect ?? '') && effect !== '') return false
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (narrower.tolerationSeconds === undefined || narrower.tolerationSeconds > tolerationSeconds) return false
  }
  if (operator === 'Exists') return true
  // One that leaves its operator out is included by itself and by those for which any value will do, as in the reference.
  return narrower.operator === 'Equal' && value === (narrower.value ?? '')
}
