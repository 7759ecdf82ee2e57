// How long a pod may stay on a node with NoExecute taints.

import type { Taint, Toleration } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { tolerates } from '../kit/tolerations.js'

/** Seconds; 0: delete it now; undefined: it may stay. */
export function tolerationSeconds(taints: readonly Taint[], tolerations: readonly Toleration[]): number | undefined {
  let seconds = Number.POSITIVE_INFINITY
  for (const taint of taints) {
    if (taint.effect !== 'NoExecute') continue
    const used = tolerations.find((toleration) => tolerates(toleration, taint))
    if (used === undefined) return 0
    if (used.tolerationSeconds !== undefined) seconds = Math.min(seconds, Math.max(0, Number(used.tolerationSeconds)))
  }
  return Number.isFinite(seconds) ? seconds : undefined
}
