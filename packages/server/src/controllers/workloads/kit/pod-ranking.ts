// The order in which pods are deleted when a ReplicaSet, a ReplicationController or a Job has too many.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { own } from '@cluster-apiserver/api/base/own-property.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isReadyPod, maxContainerRestarts, readySinceMs } from './pod-state.js'

interface RankingInput {
  readonly identity: Identity
  readonly nowMs: number
  /** Number of related active pods on the node of a pod: pods on crowded nodes go first. */
  readonly rankOf?: (pod: Pod) => number
  /** Pods of Jobs: the annotation with the deletion cost is not read, and ages are compared exactly. */
  readonly isOfJob?: boolean
}

type Comparison = (one: Pod, other: Pod) => number

const phaseOrder: { readonly [phase: string]: number } = { Pending: 0, Unknown: 1, Running: 2 }

/** Pods in the order of deletion: unassigned, pending, not ready, cheap, crowded, ready late, restarted often, young. */
export function rankForDeletion(
  pods: readonly Pod[],
  { identity, nowMs, rankOf = () => 0, isOfJob = false }: RankingInput,
): readonly Pod[] {
  const byNumber =
    (numberOf: (pod: Pod) => number): Comparison =>
    (one, other) =>
      numberOf(one) - numberOf(other)
  const comparisons: readonly Comparison[] = [
    byNumber(({ spec }) => (spec?.nodeName ? 1 : 0)),
    byNumber(({ status }) => own(phaseOrder, status?.phase ?? '') ?? 0),
    byNumber((pod) => (isReadyPod(pod) ? 1 : 0)),
    byNumber((pod) => (isOfJob ? 0 : deletionCostOf(pod, identity))),
    byNumber((pod) => -rankOf(pod)),
    (one, other) => (isReadyPod(one) && isReadyPod(other) ? compareAges(one, other, { timeOf: readySinceMs, nowMs, isExact: isOfJob }) : 0),
    byNumber((pod) => -maxContainerRestarts(pod)),
    (one, other) => compareAges(one, other, { timeOf: createdMs, nowMs, isExact: isOfJob }),
  ]
  return pods.toSorted((one, other) => {
    for (const compare of comparisons) {
      const result = compare(one, other)
      if (result !== 0) return result
    }
    return 0
  })
}

const createdMs = ({ metadata }: Pod): number | undefined =>
  metadata?.creationTimestamp === undefined ? undefined : Date.parse(metadata.creationTimestamp)

/** An annotation that is no 32-bit integer counts as 0. */
function deletionCostOf({ metadata }: Pod, identity: Identity): number {
  const text = own(metadata?.annotations, identity.label('pod-deletion-cost', 'controller')) ?? ''
  const cost = /^(?:0|-\d+|[1-9]\d*)$/.test(text) ? Number(text) : 0
  return cost === (cost | 0) ? cost : 0
}

interface AgeInput {
  readonly timeOf: (pod: Pod) => number | undefined
  readonly nowMs: number
  readonly isExact: boolean
}

/** Younger first. Unless `isExact`, ages within the same power of two count as equal: then the uid decides, which spreads deletions over time. */
function compareAges(one: Pod, other: Pod, { timeOf, nowMs, isExact }: AgeInput): number {
  const [a, b] = [timeOf(one), timeOf(other)]
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1
  if (isExact) return b - a
  const difference = magnitudeOf(nowMs - a) - magnitudeOf(nowMs - b)
  if (difference !== 0) return difference
  return compareText(one.metadata?.uid ?? '', other.metadata?.uid ?? '')
}

/** In nanoseconds, as kube-controller-manager measures ages. */
const magnitudeOf = (ageMs: number): number => (ageMs > 0 ? Math.trunc(Math.log2(ageMs * 1e6)) : -1)
