// Decides the next writes of a StatefulSet: pods by ordinal, ordered or in parallel, rolling update; counts of its status.

import type { StatefulSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { resolveIntOrPercent } from '../kit/int-or-percent.js'
import { isAvailablePod, isReadyPod } from '../kit/pod-state.js'
import { isTerminating } from '../kit/workload-parts.js'
import { ordinalOf, revisionOfPod } from './stateful-pods.js'

export interface Counts {
  readonly replicas: number
  readonly readyReplicas: number
  readonly availableReplicas: number
  readonly currentReplicas: number
  readonly updatedReplicas: number
}

export type Step =
  /** `recreate`: a failed pod, which the next step creates again. */
  | {
      readonly action: 'delete' | 'recreate' | 'repair' | 'ownClaims'
      readonly pod: Pod
      readonly ordinal: number
      readonly counts: Counts
    }
  | { readonly action: 'create'; readonly ordinal: number; readonly revision: string; readonly counts: Counts }

interface StatefulPlan {
  readonly initial: Counts
  readonly steps: readonly Step[]
  /** True if a pod cannot be created before its old claim is deleted. */
  readonly waitsForClaim: boolean
}

export interface PlanInput {
  readonly set: StatefulSet
  /** Pods of the StatefulSet; all have an ordinal. */
  readonly pods: readonly Pod[]
  /** Names of ControllerRevisions. */
  readonly current: string
  readonly update: string
  readonly nowMs: number
  readonly isMaxUnavailableEnabled: boolean
  readonly isStartOrdinalEnabled: boolean
  /** True if a claim of the missing pod belongs to its predecessor. */
  readonly isClaimStale: (ordinal: number) => boolean
  /** True if identity, volumes and owners of claims are as specified. */
  readonly isConsistent: (pod: Pod, ordinal: number) => boolean
  /** True if the claims of a pod that will be removed have the owners of the retention policy. */
  readonly isReadyForRemoval: (pod: Pod, ordinal: number) => boolean
}

export const startOrdinalOf = ({ spec }: StatefulSet, isEnabled: boolean): number => (isEnabled ? (spec?.ordinals?.start ?? 0) : 0)

interface Slot {
  readonly ordinal: number
  /** Undefined if the pod is missing or was created in this run. */
  readonly pod: Pod | undefined
}

/** Maximum number of pods created in one run. */
const maxCreations = 500

const isRunning = ({ status }: Pod): boolean => status?.phase === 'Running'
const isHealthy = (pod: Pod | undefined): boolean => pod !== undefined && isRunning(pod) && isReadyPod(pod) && !isTerminating(pod)

export function planStatefulSet(input: PlanInput): StatefulPlan {
  const planner = new Planner(input)
  // A terminating StatefulSet only counts its pods.
  if (!isTerminating(input.set)) planner.plan()
  return { initial: planner.initial, steps: planner.steps, waitsForClaim: planner.waitsForClaim }
}

class Planner {
  readonly initial: Counts
  readonly steps: Step[] = []
  waitsForClaim = false
  readonly #input: PlanInput
  readonly #isOrdered: boolean
  readonly #minReadySeconds: number
  readonly #startOrdinal: number
  readonly #slots: Slot[]
  /** True if `replicas` is too large for one run: at least `maxCreations` pods of `#slots` are missing. */
  readonly #hasMoreSlots: boolean
  /** Pods beyond the replicas, in descending order. */
  readonly #condemned: readonly { readonly ordinal: number; readonly pod: Pod }[]
  #counts: Counts

  constructor(input: PlanInput) {
    const { set, pods } = input
    const { spec } = set
    this.#input = input
    this.#isOrdered = spec?.podManagementPolicy !== 'Parallel'
    this.#minReadySeconds = spec?.minReadySeconds ?? 0
    this.#startOrdinal = startOrdinalOf(set, input.isStartOrdinalEnabled)
    const replicas = spec?.replicas ?? 1
    const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod, set.metadata?.name ?? '') ?? 0, pod]))
    this.#slots = Array.from({ length: Math.min(replicas, pods.length + maxCreations) }, (_, i) => {
      const ordinal = this.#startOrdinal + i
      return { ordinal, pod: byOrdinal.get(ordinal) }
    })
    this.#hasMoreSlots = this.#slots.length < replicas
    this.#condemned = Array.from(byOrdinal, ([ordinal, pod]) => ({ ordinal, pod }))
      .filter(({ ordinal }) => ordinal < this.#startOrdinal || ordinal >= this.#startOrdinal + replicas)
      .sort((one, other) => other.ordinal - one.ordinal)
    this.initial = this.#counts = countsOf(input)
  }

  plan(): void {
    if (!this.#fillSlots() || !this.#removeCondemned()) return
    const { updateStrategy } = this.#input.set.spec ?? {}
    if (updateStrategy?.type === 'OnDelete') return
    if (this.#input.isMaxUnavailableEnabled) this.#replaceSeveral()
    else this.#replaceNext()
  }

  /** Returns false if later stages must wait. */
  #fillSlots(): boolean {
    for (const [i, { ordinal, pod: stored }] of this.#slots.entries()) {
      let pod = stored
      if (pod?.status?.phase === 'Failed') {
        this.#addStep('recreate', pod, ordinal, { replicas: -1, ...this.#revisionChange(revisionOfPod(pod), -1) })
        pod = undefined
        this.#slots[i] = { ordinal, pod }
      }
      if (pod === undefined) {
        if (this.#input.isClaimStale(ordinal)) {
          this.waitsForClaim = true
          return false
        }
        this.#addCreation(ordinal)
        if (this.#isOrdered) return false
        continue
      }
      if (this.#isOrdered && (!isHealthy(pod) || !this.#isAvailable(pod))) return false
      if (!this.#input.isConsistent(pod, ordinal)) this.#addStep('repair', pod, ordinal, {})
    }
    return !this.#hasMoreSlots
  }

  #removeCondemned(): boolean {
    for (const { pod, ordinal } of this.#condemned.toReversed())
      if (!this.#input.isReadyForRemoval(pod, ordinal)) this.#addStep('ownClaims', pod, ordinal, {})
    const firstUnhealthy = this.#condemned.findLast(({ pod }) => !isHealthy(pod))
    for (const each of this.#condemned) {
      const { pod, ordinal } = each
      if (isTerminating(pod)) {
        if (this.#isOrdered) return false
        continue
      }
      if (this.#isOrdered && each !== firstUnhealthy && (!isHealthy(pod) || !this.#isAvailable(pod))) return false
      this.#addStep('delete', pod, ordinal, this.#revisionChange(revisionOfPod(pod), -1))
      if (this.#isOrdered) return false
    }
    return true
  }

  /** Slots from the last to the partition. */
  get #updatable(): readonly Slot[] {
    return this.#slots.slice(this.#input.set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0).reverse()
  }

  #isOutdated({ pod }: Slot): boolean {
    return pod !== undefined && revisionOfPod(pod) !== this.#input.update && !isTerminating(pod)
  }

  /** One pod at a time: deletes the last outdated pod if all pods after it are healthy. */
  #replaceNext(): void {
    for (const slot of this.#updatable) {
      if (slot.pod !== undefined && this.#isOutdated(slot)) {
        this.#addStep('delete', slot.pod, slot.ordinal, { currentReplicas: -1 })
        return
      }
      if (!isHealthy(slot.pod)) return
    }
  }

  /** Up to maxUnavailable pods at a time; pods below the partition count, too. */
  #replaceSeveral(): void {
    const { maxUnavailable = 1 } = this.#input.set.spec?.updateStrategy?.rollingUpdate ?? {}
    const allowed = Math.max(1, resolveIntOrPercent(maxUnavailable, this.#slots.length, 'down'))
    const unhealthy = this.#slots.filter(({ pod }) => !isHealthy(pod)).length
    const outdated = this.#updatable.filter((slot) => this.#isOutdated(slot)).slice(0, Math.max(0, allowed - unhealthy))
    for (const { pod, ordinal } of outdated) if (pod !== undefined) this.#addStep('delete', pod, ordinal, { currentReplicas: -1 })
  }

  #isAvailable(pod: Pod): boolean {
    return isAvailablePod(pod, this.#minReadySeconds, this.#input.nowMs)
  }

  #addCreation(ordinal: number): void {
    const revision = this.#needsCurrentRevision(ordinal) ? this.#input.current : this.#input.update
    this.#change({ replicas: 1, ...this.#revisionChange(revision, 1) })
    this.steps.push({ action: 'create', ordinal, revision, counts: this.#counts })
  }

  /** Pods below the partition, or the pods that are not updated yet, keep the current revision. */
  #needsCurrentRevision(ordinal: number): boolean {
    const { spec, status } = this.#input.set
    const { type, rollingUpdate } = spec?.updateStrategy ?? {}
    const kept =
      rollingUpdate === undefined ? (type === 'RollingUpdate' ? (status?.currentReplicas ?? 0) : 0) : (rollingUpdate.partition ?? 0)
    return ordinal < this.#startOrdinal + kept
  }

  #revisionChange(revision: string, change: number): Partial<Counts> {
    const { current, update } = this.#input
    return { currentReplicas: revision === current ? change : 0, updatedReplicas: revision === update ? change : 0 }
  }

  #addStep(action: Exclude<Step['action'], 'create'>, pod: Pod, ordinal: number, change: Partial<Counts>): void {
    this.#change(change)
    this.steps.push({ action, pod, ordinal, counts: this.#counts })
  }

  #change(change: Partial<Counts>): void {
    const { replicas, currentReplicas, updatedReplicas } = this.#counts
    this.#counts = {
      ...this.#counts,
      replicas: replicas + (change.replicas ?? 0),
      currentReplicas: Math.max(0, currentReplicas + (change.currentReplicas ?? 0)),
      updatedReplicas: Math.max(0, updatedReplicas + (change.updatedReplicas ?? 0)),
    }
  }
}

function countsOf({ set, pods, current, update, nowMs }: PlanInput): Counts {
  const ready = pods.filter((pod) => isRunning(pod) && isReadyPod(pod))
  const living = pods.filter((pod) => !isTerminating(pod))
  return {
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailablePod(pod, set.spec?.minReadySeconds ?? 0, nowMs)).length,
    currentReplicas: living.filter((pod) => revisionOfPod(pod) === current).length,
    updatedReplicas: living.filter((pod) => revisionOfPod(pod) === update).length,
  }
}

/** A rolling update is complete when all pods are updated and ready: the update revision becomes the current one. */
export function statusAfter(
  { set, current, update }: Pick<PlanInput, 'set' | 'current' | 'update'>,
  counts: Counts,
  collisionCount: number,
): NonNullable<StatefulSet['status']> {
  const { replicas, updatedReplicas, readyReplicas, availableReplicas } = counts
  const isComplete = set.spec?.updateStrategy?.type === 'RollingUpdate' && updatedReplicas === replicas && readyReplicas === replicas
  const currentReplicas = isComplete ? updatedReplicas : counts.currentReplicas
  return {
    observedGeneration: set.metadata?.generation ?? 0,
    replicas,
    ...(readyReplicas === 0 ? {} : { readyReplicas }),
    ...(currentReplicas === 0 ? {} : { currentReplicas }),
    ...(updatedReplicas === 0 ? {} : { updatedReplicas }),
    currentRevision: isComplete ? update : current,
    updateRevision: update,
    collisionCount,
    availableReplicas,
  } as NonNullable<StatefulSet['status']>
}
