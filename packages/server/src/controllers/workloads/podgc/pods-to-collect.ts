// Order in which finished pods above the threshold are deleted.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'

/** Evicted pods first, because no controller needs them; then the oldest. */
export const podsAboveThreshold = (finished: readonly Pod[], threshold: number): readonly Pod[] =>
  finished.length <= threshold ? [] : finished.toSorted(compareForDeletion).slice(0, finished.length - threshold)

const isEvicted = ({ status }: Pod): boolean => status?.phase === 'Failed' && status.reason === 'Evicted'

const compareForDeletion = (a: Pod, b: Pod): number =>
  Number(isEvicted(b)) - Number(isEvicted(a)) ||
  compareText(a.metadata?.creationTimestamp ?? '', b.metadata?.creationTimestamp ?? '') ||
  compareText(a.metadata?.name ?? '', b.metadata?.name ?? '')
