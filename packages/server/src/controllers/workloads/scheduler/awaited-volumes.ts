// Pods that have a node and wait until the volumes of their claims are bound there.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { readObject, type WorkloadParts } from '../kit/workload-parts.js'
import { isFullyBound } from '../persistent-volume/volume-annotations.js'
import type { ClusterView } from './cluster-view.js'
import type { PendingPod } from './plugins/plugin.js'
import type { VolumePlan } from './plugins/volume-binding.js'
import type { SchedulerWrites } from './scheduler-writes.js'

/** A pod whose volumes are not bound after this time is scheduled again. */
const timeoutMs = 600_000

interface Awaiting {
  readonly pending: PendingPod
  readonly nodeName: string
  readonly plan: VolumePlan
  readonly untilMs: number
  /** False until the choice of volumes is stored. */
  isWritten: boolean
}

interface Settled extends Pick<Awaiting, 'pending' | 'nodeName'> {
  /** Undefined: all volumes are bound. */
  readonly problem: string | undefined
}

export class AwaitedVolumes {
  readonly #parts: WorkloadParts
  readonly #view: ClusterView
  readonly #writes: SchedulerWrites
  readonly #pods = new Map<string, Awaiting>()

  constructor(parts: WorkloadParts, view: ClusterView, writes: SchedulerWrites) {
    this.#parts = parts
    this.#view = view
    this.#writes = writes
  }

  get size(): number {
    return this.#pods.size
  }

  /** Milliseconds until a pod has waited too long. */
  get nextMs(): number {
    let next = timeoutMs
    const nowMs = this.#parts.engine.clock.now()
    for (const { untilMs } of this.#pods.values()) next = Math.min(next, Math.max(1, untilMs - nowMs))
    return next
  }

  /** Writes the choice of volumes; returns what went wrong. No other pod gets these volumes from now on. */
  async begin(pending: PendingPod, nodeName: string, plan: VolumePlan): Promise<string | undefined> {
    const volumes = this.#view.resource('', 'persistentvolumes')
    const claims = this.#view.resource('', 'persistentvolumeclaims')
    if (volumes === undefined || claims === undefined) return 'volumes are not served'
    const awaiting: Awaiting = { pending, nodeName, plan, untilMs: this.#parts.engine.clock.now() + timeoutMs, isWritten: false }
    this.#pods.set(pending.key, awaiting)
    for (const { volume } of plan.bindings) this.#view.reserved.add(volume.metadata?.name ?? '')
    try {
      await this.#writes.chooseVolumes(volumes, claims, plan, nodeName)
      awaiting.isWritten = true
      return undefined
    } catch (thrown) {
      this.drop(pending.key)
      return errorMessage(thrown)
    }
  }

  drop(key: string): void {
    const awaiting = this.#pods.get(key)
    if (awaiting === undefined) return
    this.#pods.delete(key)
    for (const { volume } of awaiting.plan.bindings) this.#view.reserved.delete(volume.metadata?.name ?? '')
  }

  /** Removes and returns the pods that need not wait any longer. */
  takeSettled(): readonly Settled[] {
    const settled: Settled[] = []
    for (const awaiting of [...this.#pods.values()]) {
      const state = this.#stateOf(awaiting)
      if (state === 'waiting') continue
      const { pending, nodeName } = awaiting
      this.drop(pending.key)
      settled.push({ pending, nodeName, problem: state === 'bound' ? undefined : `binding volumes: ${state.problem}` })
    }
    return settled
  }

  #stateOf({ plan, nodeName, untilMs, isWritten }: Awaiting): 'bound' | 'waiting' | { readonly problem: string } {
    const { identity, clock } = this.#parts.engine
    const resource = this.#view.resource('', 'persistentvolumeclaims')
    if (!isWritten || resource === undefined) return 'waiting'
    let isBound = true
    for (const claim of [...plan.bindings.map((binding) => binding.claim), ...plan.provisions]) {
      const { name = '', namespace = '' } = claim.metadata ?? {}
      const current = readObject<PersistentVolumeClaim>(this.#parts, { resource, namespace, name })
      if (current === undefined) return { problem: `persistentvolumeclaim "${name}" not found` }
      if (isFullyBound(identity, current)) continue
      isBound = false
      // A provisioner that cannot serve the node removes its name from the claim.
      const selected = current.metadata?.annotations?.[identity.label('selected-node', 'volume')]
      if (plan.provisions.includes(claim) && selected !== nodeName) return { problem: `provisioning failed for PVC "${name}"` }
    }
    if (isBound) return 'bound'
    return clock.now() < untilMs ? 'waiting' : { problem: 'timed out waiting for the condition' }
  }
}
