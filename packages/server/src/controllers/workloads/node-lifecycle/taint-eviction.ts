// Deletes pods that do not tolerate a NoExecute taint of their node, or whose tolerationSeconds have passed.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { Run } from '../../framework/controller.js'
import { ignoreErrors, notFoundOrConflict } from '../../framework/internal-call.js'
import type { Outcome } from '../../framework/work-queue.js'
import { untoleratedTaint } from '../kit/tolerations.js'
import { readObject, type WorkloadParts } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { podsOnNode } from './pods-on-node.js'
import { tolerationSeconds } from './toleration-time.js'

const noExecute: ReadonlySet<string> = new Set(['NoExecute'])

interface Resources {
  readonly nodes: Resource
  readonly pods: Resource
}

interface ScheduledPod {
  readonly pod: Pod
  /** A later change of the taints does not move this time, as in kube-controller-manager. */
  readonly atMs: number
  /** The DELETE was sent. It is not repeated when the taints change later; kube-controller-manager repeats it. */
  readonly isEvicted: boolean
}

export class TaintEviction {
  readonly #parts: WorkloadParts
  readonly #writer: Writer
  /** Pods that were evicted or tolerate the taints for a time, by node name and uid. After a restart of the server their times begin again. */
  readonly #scheduled = new Map<string, Map<string, ScheduledPod>>()

  constructor(parts: WorkloadParts) {
    this.#parts = parts
    this.#writer = new Writer(parts, 'node-controller', 'taint-controller')
  }

  /** Checks the pods of one node. */
  async reconcile(name: string, { nodes, pods }: Resources, run: Run): Promise<Outcome> {
    const { clock } = this.#parts.engine
    const node = readObject<Node>(this.#parts, { resource: nodes, namespace: '', name })
    if (node === undefined) {
      this.#scheduled.delete(name)
      return undefined
    }
    const scheduled = getOrInsert(this.#scheduled, name, () => new Map<string, ScheduledPod>())
    const seen = new Set<string>()
    const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
    const nowMs = clock.now()
    let nextMs = Number.POSITIVE_INFINITY
    for (const pod of taints.length === 0 ? [] : await podsOnNode(this.#parts, pods, { node: name, run })) {
      const { tolerations = [] } = pod.spec ?? {}
      const seconds = tolerationSeconds(taints, tolerations)
      if (seconds === undefined) continue
      const uid = pod.metadata?.uid ?? ''
      const known = scheduled.get(uid)
      const isTolerated = untoleratedTaint(taints, tolerations, noExecute) === undefined
      const atMs = isTolerated ? (known?.atMs ?? nowMs + seconds * 1000) : nowMs
      const isDue = atMs <= nowMs
      if (known?.isEvicted !== true && isDue) {
        if (known !== undefined && !isTolerated) await this.#cancel(pods, pod)
        await this.#evict(pods, pod)
      }
      // Set after each pod, so that a retry does not evict it again.
      scheduled.set(uid, { pod, atMs, isEvicted: isDue })
      seen.add(uid)
      if (!isDue) nextMs = Math.min(nextMs, atMs)
    }
    for (const [uid, { pod, isEvicted }] of scheduled) {
      if (seen.has(uid)) continue
      if (!isEvicted) await this.#cancel(pods, pod)
      scheduled.delete(uid)
    }
    if (scheduled.size === 0) this.#scheduled.delete(name)
    return Number.isFinite(nextMs) ? { afterMs: nextMs - nowMs } : undefined
  }

  async #evict(pods: Resource, pod: Pod): Promise<void> {
    const { gates, clock } = this.#parts.engine
    await this.#writer.event(pods, pod, {
      type: 'Normal',
      reason: 'TaintManagerEviction',
      message: `Marking for deletion Pod ${pod.metadata?.namespace}/${pod.metadata?.name}`,
    })
    if (gates('PodDisruptionConditions')) {
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByTaintManager',
        message: 'Taint manager: deleting due to NoExecute taint',
        lastTransitionTime: timeOf(clock.now()),
      }
      const patch = { status: { conditions: [condition] } }
      await ignoreErrors(notFoundOrConflict, this.#writer.patch(pods, pod, { type: 'strategic', patch, subresource: 'status' }))
    }
    await ignoreErrors(notFoundOrConflict, this.#writer.delete(pods, pod))
  }

  async #cancel(pods: Resource, pod: Pod): Promise<void> {
    await this.#writer.event(pods, pod, {
      type: 'Normal',
      reason: 'TaintManagerEviction',
      message: `Cancelling deletion of Pod ${pod.metadata?.namespace}/${pod.metadata?.name}`,
    })
  }
}
