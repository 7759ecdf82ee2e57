// Which taints of a node a pod tolerates.

import type { Taint, Toleration } from '@cluster-apiserver/api/resources/core/v1.schema.js'

export const tolerates = (toleration: Toleration, taint: Taint): boolean => {
  const { effect = '', key = '', operator = '', value = '' } = toleration
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  return operator === 'Exists' || ((operator === '' || operator === 'Equal') && value === (taint.value ?? ''))
}

/** The first taint with one of these effects that no toleration tolerates. */
export const untoleratedTaint = (
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: ReadonlySet<string>,
): Taint | undefined => taints.find((taint) => effects.has(taint.effect ?? '') && !tolerations.some((it) => tolerates(it, taint)))

/** Effects that keep new pods away. */
export const schedulingEffects: ReadonlySet<string> = new Set(['NoSchedule', 'NoExecute'])
