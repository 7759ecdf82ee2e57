// Sets DisruptionTarget to False for pods that were not deleted within two minutes after the condition announced it.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { Matcher } from '../../objects/list/selection.js'
import type { ObjectAddress } from '../../objects/object-store.js'
import type { ControllerParts } from '../framework/controller.js'
import { ignoreErrors, internalUpdate, notFoundOrConflict } from '../framework/internal-call.js'
import type { Outcome } from '../framework/work-queue.js'

const staleAfterMs = 2 * 60_000
const target = 'DisruptionTarget'
const targetBytes = Buffer.from(JSON.stringify(target))

export const mayBeDisrupted: Matcher = ({ entry }) => entry.value.includes(targetBytes)

/** Returns the delay until the condition of the pod becomes stale. A kubelet may take any time to end the pod. */
export async function endStaleDisruption({ engine }: ControllerParts, address: ObjectAddress): Promise<Outcome> {
  if (!engine.gates('PodDisruptionConditions')) return undefined
  const pod = engine.store.read(address)?.decode(address.resource) as Pod | undefined
  const condition = pod?.status?.conditions?.find(({ type, status }) => type === target && status === 'True')
  if (pod === undefined || condition === undefined || condition.reason === 'TerminationByKubelet') return undefined
  const { metadata, status: { phase } = {} } = pod
  if (metadata?.deletionTimestamp !== undefined || phase === 'Succeeded' || phase === 'Failed') return undefined
  const nowMs = engine.clock.now()
  const leftMs = Date.parse(condition.lastTransitionTime ?? timeOf(0)) + staleAfterMs - nowMs
  if (leftMs > 0) return { afterMs: leftMs }
  const ended = { ...condition, status: 'False', lastTransitionTime: timeOf(nowMs) }
  const withEnded = (object: ApiObject): ApiObject => {
    const { status } = object as Pod
    const conditions = status?.conditions?.map((each) => (each.type === target ? ended : each))
    return { ...object, status: { ...status, conditions } } as ApiObject
  }
  await ignoreErrors(notFoundOrConflict, internalUpdate(engine, { ...address, subresource: 'status' }, withEnded))
  return undefined
}
