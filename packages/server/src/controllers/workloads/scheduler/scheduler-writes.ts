// What the scheduler writes: bindings, conditions and events of pods, evictions, and the choice of volumes.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { authenticatedGroup } from '@cluster-apiserver/api/api/user.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { bind } from '../../../verbs/virtual/pod-binding.js'
import { ignoreErrors, notFoundCodes, notFoundOrConflict } from '../../framework/internal-call.js'
import { podConditionOf } from '../kit/pod-state.js'
import { addressOfKey, readObject, type WorkloadParts } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import type { VolumePlan } from './plugins/volume-binding.js'

export const schedulerName = 'default-scheduler'
const maxEventMessage = 1024

export interface FailureReport {
  readonly reason: 'Unschedulable' | 'SchedulerError'
  readonly message: string
  /** Undefined: keep it; empty: clear it. */
  readonly nominatedNode: string | undefined
}

export class SchedulerWrites {
  readonly #parts: WorkloadParts
  readonly #writer: Writer

  constructor(parts: WorkloadParts) {
    const { identity } = parts.engine
    this.#parts = parts
    const user = { name: `system:${identity.prefixed('scheduler')}`, uid: '', groups: [authenticatedGroup], extra: {} }
    this.#writer = new Writer(parts, { user, userAgent: identity.prefixed('scheduler') }, schedulerName)
  }

  async bind(pods: Resource, pod: Pod, nodeName: string): Promise<void> {
    const { name = '', namespace = '', uid = '' } = pod.metadata ?? {}
    const body = { metadata: { name, namespace, uid }, target: { kind: 'Node', name: nodeName } } as ApiObject
    await this.#writer.act(pods, pod, { subresource: 'binding', action: bind, body })
    const message = `Successfully assigned ${namespace}/${name} to ${nodeName}`
    await this.#writer.event(pods, pod, { type: 'Normal', reason: 'Scheduled', message })
  }

  /** Event and condition of a pod that found no node. */
  async report(pods: Resource, pod: Pod, report: FailureReport): Promise<void> {
    const message = cut(report.message)
    const event = this.#writer.event(pods, pod, { type: 'Warning', reason: 'FailedScheduling', message })
    const patch = this.#failureStatus(pod, report)
    if (patch !== undefined) await ignoreErrors(notFoundOrConflict, this.#patchStatus(pods, pod, patch))
    await event
  }

  async skip(pods: Resource, pod: Pod): Promise<void> {
    const { name, namespace } = pod.metadata ?? {}
    const message = `skip schedule deleting pod: ${namespace}/${name}`
    await this.#writer.event(pods, pod, { type: 'Warning', reason: 'FailedScheduling', message })
  }

  async clearNomination(pods: Resource, key: string): Promise<void> {
    const pod = readObject<Pod>(this.#parts, addressOfKey(pods, key))
    if ((pod?.status?.nominatedNodeName ?? '') === '' || pod === undefined) return
    await ignoreErrors(notFoundOrConflict, this.#patchStatus(pods, pod, { nominatedNodeName: null }))
  }

  /** Makes room on a node for a pod of higher priority. */
  async evict(pods: Resource, key: string, nodeName: string): Promise<void> {
    const { engine } = this.#parts
    const pod = readObject<Pod>(this.#parts, addressOfKey(pods, key))
    if (pod === undefined) return
    if (engine.gates('PodDisruptionConditions')) {
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'PreemptionByKubeScheduler',
        message: `${schedulerName}: preempting to accommodate a higher priority pod`,
        lastTransitionTime: timeOf(engine.clock.now()),
      }
      await ignoreErrors(notFoundCodes, this.#patchStatus(pods, pod, { conditions: [condition] }))
    }
    await ignoreErrors(notFoundOrConflict, this.#writer.delete(pods, pod))
    await this.#writer.event(pods, pod, { type: 'Normal', reason: 'Preempted', message: `Preempted by a pod on node ${nodeName}` })
  }

  /** Names the claim in each chosen volume, and the node in each claim to provision. Fails if one of them has changed. */
  async chooseVolumes(volumes: Resource, claims: Resource, plan: VolumePlan, nodeName: string): Promise<void> {
    const { identity } = this.#parts.engine
    for (const { volume, claim } of plan.bindings) {
      const { name, namespace, uid, resourceVersion } = claim.metadata ?? {}
      if (volume.spec?.claimRef?.uid === uid) continue
      const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion }
      const isOurs = volume.spec?.claimRef === undefined
      const mark = isOurs ? { [identity.label('bound-by-controller', 'pv')]: 'yes' } : {}
      await this.#writer.update(volumes, withAnnotations({ ...volume, spec: { ...volume.spec, claimRef } } as ApiObject, mark))
    }
    for (const claim of plan.provisions) {
      const key = identity.label('selected-node', 'volume')
      if (claim.metadata?.annotations?.[key] === nodeName) continue
      await this.#writer.update(claims, withAnnotations(claim as ApiObject, { [key]: nodeName }))
    }
  }

  #failureStatus(pod: Pod, { reason, message, nominatedNode }: FailureReport): object | undefined {
    const before = podConditionOf(pod, 'PodScheduled')
    const isSame = before?.status === 'False' && before.reason === reason && before.message === message
    const isNominated = nominatedNode === undefined || nominatedNode === (pod.status?.nominatedNodeName ?? '')
    if (isSame && isNominated) return undefined
    const time = before?.status === 'False' ? {} : { lastTransitionTime: timeOf(this.#parts.engine.clock.now()) }
    return {
      ...(isSame ? {} : { conditions: [{ type: 'PodScheduled', status: 'False', reason, message, ...time }] }),
      ...(isNominated ? {} : { nominatedNodeName: nominatedNode === '' ? null : nominatedNode }),
    }
  }

  #patchStatus(pods: Resource, pod: Pod, status: object): Promise<unknown> {
    return this.#writer.patch(pods, pod as ApiObject, { type: 'strategic', patch: { status }, subresource: 'status' })
  }
}

const cut = (message: string): string => (message.length <= maxEventMessage ? message : `${message.slice(0, maxEventMessage - 4)} ...`)

const withAnnotations = (object: ApiObject, annotations: Readonly<Record<string, string>>): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata?.annotations, ...annotations } },
})
