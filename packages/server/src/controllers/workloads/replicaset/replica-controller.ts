// Controller of ReplicaSets and ReplicationControllers: as many active pods as `spec.replicas`, and the status that counts them.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { CompiledLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { ObjectAddress } from '../../../objects/object-store.js'
import { KeyedController } from '../../framework/controller.js'
import { isNamespaceTerminating } from '../../framework/internal-call.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { adoptersOf, type ClaimRequest, claimObjects } from '../kit/claim-objects.js'
import { dependentsSource, orphanOf, ownersSource } from '../kit/owner-keys.js'
import { createPod, deletePod, inSlowStartBatches, podOfTemplate } from '../kit/pod-control.js'
import { rankForDeletion } from '../kit/pod-ranking.js'
import { isActivePod, untilNextAvailableMs } from '../kit/pod-state.js'
import { addressOfKey, controllerRefOf, isTerminating, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { type ReplicaOwner, replicaStatus } from './replica-status.js'

interface ReplicaPlan<T extends ReplicaOwner> {
  readonly name: string
  /** Name of the ServiceAccount. */
  readonly account: string
  readonly find: (catalog: Catalog) => Resource | undefined
  readonly selectorOf: (owner: T) => CompiledLabelSelector
}

/** Maximum number of pods created or deleted in one run. */
const maxBurst = 500
const maxParallelDeletions = 50

export function replicaController<T extends ReplicaOwner>(parts: WorkloadParts, plan: ReplicaPlan<T>): Controller {
  const writer = new Writer(parts, plan.account)
  const resourcesIn = (catalog: Catalog): Resources | undefined => {
    const owners = plan.find(catalog)
    const pods = catalog.find('', 'v1', 'pods')
    return owners === undefined || pods === undefined ? undefined : { owners, pods }
  }
  return new KeyedController(parts, {
    name: plan.name,
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const found = resourcesIn(catalog)
      return found === undefined ? [] : [ownersSource(found.owners), dependentsSource(parts, found.pods, found.owners)]
    },
    work: async (key) => {
      const resources = resourcesIn(parts.catalogs.current)
      if (resources === undefined) return undefined
      const context: Context<T> = { parts, plan, writer, resources }
      const orphan = orphanOf(key)
      if (orphan === undefined) return reconcile(context, addressOfKey(resources.owners, key))
      return adoptersOf<T, Pod>(parts, {
        address: { resource: resources.pods, ...orphan },
        owners: resources.owners,
        requestOf: (owner) => claimOf(context, owner),
      })
    },
  })
}

interface Resources {
  readonly owners: Resource
  readonly pods: Resource
}

interface Context<T extends ReplicaOwner> {
  readonly parts: WorkloadParts
  readonly plan: ReplicaPlan<T>
  readonly writer: Writer
  readonly resources: Resources
}

const claimOf = <T extends ReplicaOwner>({ plan, resources }: Context<T>, owner: T): ClaimRequest<Pod> => ({
  owner,
  ownerResource: resources.owners,
  resource: resources.pods,
  selector: plan.selectorOf(owner),
  isCandidate: isActivePod,
})

async function reconcile<T extends ReplicaOwner>(context: Context<T>, address: ObjectAddress): Promise<Outcome> {
  const { parts, writer, resources } = context
  const owner = readObject<T>(parts, address)
  if (owner === undefined) return undefined
  const pods = await claimObjects(parts, writer, claimOf(context, owner))
  const failure = isTerminating(owner) ? undefined : await scale(context, owner, pods)
  const nowMs = parts.engine.clock.now()
  const status = replicaStatus(owner, { pods, failure, nowMs })
  if (!sameValue(owner.status ?? {}, status)) await writer.update<T>(resources.owners, { ...owner, status }, 'status')
  // The condition and an event report the failure.
  if (failure !== undefined) return 'again'
  const waitMs = untilNextAvailableMs(pods, owner.spec?.minReadySeconds ?? 0, nowMs)
  return waitMs === undefined ? undefined : { afterMs: waitMs }
}

type Failure = { readonly failure: unknown } | undefined

async function scale<T extends ReplicaOwner>(context: Context<T>, owner: T, pods: readonly Pod[]): Promise<Failure> {
  const { writer, resources } = context
  const missing = (owner.spec?.replicas ?? 1) - pods.length
  const podOwner = { owner, resource: resources.owners }
  if (missing > 0) {
    const pod = podOfTemplate(podOwner, owner.spec?.template ?? {})
    const failed = await inSlowStartBatches(Math.min(missing, maxBurst), () => createPod(writer, resources.pods, podOwner, pod))
    return failed !== undefined && isNamespaceTerminating(failed.failure) ? undefined : failed
  }
  if (missing === 0) return undefined
  try {
    const excess = await podsToDelete(context, owner, { pods, count: Math.min(-missing, maxBurst) })
    await inParallel(excess, maxParallelDeletions, (pod) => deletePod(writer, resources.pods, podOwner, pod))
    return undefined
  } catch (failure) {
    return { failure }
  }
}

interface Excess {
  readonly pods: readonly Pod[]
  readonly count: number
}

async function podsToDelete<T extends ReplicaOwner>(
  { parts, resources }: Context<T>,
  owner: T,
  { pods, count }: Excess,
): Promise<readonly Pod[]> {
  if (count >= pods.length) return pods
  const { clock, identity } = parts.engine
  const podsOnNode = new Map<string, number>()
  const controller = controllerRefOf(owner)
  const siblings = await parts.controlled.controlledBy(resources.owners, { ...owner.metadata, uid: controller?.uid ?? '' })
  for (const { metadata } of siblings) {
    for (const pod of await parts.controlled.controlledBy<Pod>(resources.pods, metadata ?? {})) {
      const node = pod.spec?.nodeName ?? ''
      if (isActivePod(pod)) podsOnNode.set(node, (podsOnNode.get(node) ?? 0) + 1)
    }
  }
  const rankOf = ({ spec }: Pod): number => podsOnNode.get(spec?.nodeName ?? '') ?? 0
  return rankForDeletion(pods, { identity, nowMs: clock.now(), rankOf }).slice(0, count)
}
