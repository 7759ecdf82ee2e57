// Deployment controller: one ReplicaSet per template, rolled out by the strategy, scaled, paused, rolled back and cleaned up.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { Deployment, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { partsOf } from '../../../objects/object-keys.js'
import type { ObjectAddress } from '../../../objects/object-store.js'
import { KeyedController, type Source } from '../../framework/controller.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { adoptersOf, type ClaimRequest, claimObjects } from '../kit/claim-objects.js'
import { controllerOfStored } from '../kit/controlled-objects.js'
import { dependentsSource, orphanOf, ownersSource } from '../kit/owner-keys.js'
import { isFinishedPod } from '../kit/pod-state.js'
import { addressOfKey, isTerminating, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { hasProgressDeadline, isComplete, newCondition, progressingOf, withDeploymentCondition } from './deployment-status.js'
import { desiredReplicasOf, replicasOf, rollbackRevisionOf } from './replica-sets.js'
import { rollBack } from './rollback.js'
import {
  allOf,
  type Context,
  createReplicaSet,
  deleteOldRevisions,
  findReplicaSets,
  type Rollout,
  scaleReplicaSet,
  writeCounts,
  writeProgress,
} from './rollout.js'
import { activeOrLatest, isRollingUpdate, isSaturated, newReplicaSetSize, oldReplicaSetSizes, proportionalSizes } from './rollout-plan.js'

export const deployments = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'deployment-controller')
  const contextOf = (catalog: Catalog): Context | undefined => {
    const [owners, replicaSets] = [catalog.find('apps', 'v1', 'deployments'), catalog.find('apps', 'v1', 'replicasets')]
    const pods = catalog.find('', 'v1', 'pods')
    if (owners === undefined || replicaSets === undefined || pods === undefined) return undefined
    return { parts, writer, deployments: owners, replicaSets, pods }
  }
  return new KeyedController(parts, {
    name: 'deployment',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const context = contextOf(catalog)
      if (context === undefined) return []
      const owners = context.deployments
      return [ownersSource(owners), dependentsSource(parts, context.replicaSets, owners), deletedPodsSource(context)]
    },
    work: async (key) => {
      const context = contextOf(parts.catalogs.current)
      if (context === undefined) return undefined
      const orphan = orphanOf(key)
      if (orphan === undefined) return reconcile(context, addressOfKey(context.deployments, key))
      return adoptersOf<Deployment, ReplicaSet>(parts, {
        address: { resource: context.replicaSets, ...orphan },
        owners: context.deployments,
        requestOf: (owner) => claimOf(context, owner),
      })
    },
  })
}

/** A deployment that recreates its pods waits until the old pods are deleted; their ReplicaSet does not change then. */
const deletedPodsSource = ({ parts, pods, replicaSets, deployments: owners }: Context): Source => ({
  resource: pods,
  namespace: '',
  onlyChanges: true,
  keyOf: (pod: StoredObject, eventType) => {
    const reference = eventType === 'DELETED' ? controllerOfStored(pod) : undefined
    if (reference?.kind !== replicaSets.kind) return undefined
    const { namespace } = partsOf(pods, pod.key)
    const replicaSet = parts.engine.store.read({ resource: replicaSets, namespace, name: reference.name ?? '' })
    const owner = replicaSet === undefined ? undefined : controllerOfStored(replicaSet)
    return owner?.kind === owners.kind ? `${namespace}/${owner.name}` : undefined
  },
})

const claimOf = ({ deployments: owners, replicaSets }: Context, owner: Deployment): ClaimRequest<ReplicaSet> => ({
  owner,
  ownerResource: owners,
  resource: replicaSets,
  selector: fromSelectorObject(owner.spec?.selector),
})

async function reconcile(context: Context, address: ObjectAddress): Promise<Outcome> {
  const { parts, writer, deployments: owners } = context
  const stored = readObject<Deployment>(parts, address)
  if (stored === undefined) return undefined
  if (fromSelectorObject(stored.spec?.selector).isEverything) return refuseToSelectAll(context, stored)
  const replicaSets = await claimObjects(parts, writer, claimOf(context, stored))
  if (isTerminating(stored)) return writeCounts(context, await findReplicaSets(context, stored, replicaSets))
  const pauseStatus = statusAfterPause(stored, parts.engine.clock.now())
  const deployment =
    pauseStatus === undefined ? stored : await writer.update<Deployment>(owners, { ...stored, status: pauseStatus }, 'status')
  const rollout = await findReplicaSets(context, deployment, replicaSets)
  if (deployment.spec?.paused === true) return scaleOnly(context, rollout)
  const rollbackTo = rollbackRevisionOf(deployment)
  if (rollbackTo !== undefined) return rollBack(context, rollout, rollbackTo)
  if (isScaled(context, rollout)) return scaleOnly(context, rollout)
  return isRollingUpdate(deployment) ? rollOut(context, rollout) : recreate(context, rollout)
}

async function refuseToSelectAll({ writer, deployments: owners }: Context, deployment: Deployment): Promise<Outcome> {
  const message = 'This deployment is selecting all pods. A non-empty selector is required.'
  await writer.event(owners, deployment, { type: 'Warning', reason: 'SelectingAll', message })
  const observedGeneration = deployment.metadata?.generation ?? 0
  if (Number(deployment.status?.observedGeneration ?? 0) < Number(observedGeneration))
    await writer.update(owners, { ...deployment, status: { ...deployment.status, observedGeneration } }, 'status')
  return undefined
}

/** The status with a condition that the Deployment was paused or resumed; undefined if that is reported already. */
function statusAfterPause(deployment: Deployment, nowMs: number): Deployment['status'] | undefined {
  const status = deployment.status ?? {}
  const reason = progressingOf(status)?.reason
  const isPaused = deployment.spec?.paused === true
  if (!hasProgressDeadline(deployment) || reason === 'ProgressDeadlineExceeded' || isPaused === (reason === 'DeploymentPaused'))
    return undefined
  const condition = isPaused
    ? newCondition('Progressing', 'Unknown', 'DeploymentPaused', 'Deployment is paused', nowMs)
    : newCondition('Progressing', 'Unknown', 'DeploymentResumed', 'Deployment is resumed', nowMs)
  return withDeploymentCondition(status, condition)
}

/**
 * True if an active ReplicaSet was scaled for another size of the Deployment. Recreate does not scale several active ReplicaSets, but deletes
 * the old pods; kube-controller-manager waits forever if the strategy became Recreate during a rolling update.
 */
function isScaled({ parts }: Context, rollout: Rollout): boolean {
  const wanted = replicasOf(rollout.deployment)
  const active = allOf(rollout).filter((each) => replicasOf(each) > 0)
  if (active.length > 1 && !isRollingUpdate(rollout.deployment)) return false
  return active.some((each) => {
    const desired = desiredReplicasOf(parts.engine.identity, each)
    return desired !== undefined && desired !== wanted
  })
}

async function scaleOnly(context: Context, rollout: Rollout): Promise<Outcome> {
  const { identity } = context.parts.engine
  const scaled = await scaleAll(context, rollout, resizes())
  const { deployment } = rollout
  // A requested rollback needs its revision when the Deployment is resumed.
  if (deployment.spec?.paused === true && rollbackRevisionOf(deployment) === undefined) await deleteOldRevisions(context, scaled)
  return writeCounts(context, scaled)

  function resizes(): readonly { readonly replicaSet: ReplicaSet; readonly replicas: number }[] {
    const { deployment, current, old } = rollout
    const only = activeOrLatest(current, old)
    const wanted = replicasOf(deployment)
    if (only !== undefined) return replicasOf(only) === wanted ? [] : [{ replicaSet: only, replicas: wanted }]
    const active = allOf(rollout).filter((each) => replicasOf(each) > 0)
    if (isSaturated(identity, deployment, current))
      return active.filter((each) => each !== current).map((replicaSet) => ({ replicaSet, replicas: 0 }))
    return isRollingUpdate(deployment) ? proportionalSizes(identity, deployment, active) : []
  }
}

async function scaleAll(
  context: Context,
  rollout: Rollout,
  resizes: readonly { readonly replicaSet: ReplicaSet; readonly replicas: number }[],
): Promise<Rollout> {
  let scaled = rollout
  for (const { replicaSet, replicas } of resizes) {
    const latest = allOf(scaled).find(({ metadata }) => metadata?.uid === replicaSet.metadata?.uid) ?? replicaSet
    scaled = await scaleReplicaSet(context, scaled, latest, replicas)
  }
  return scaled
}

/** One step of a rolling update: grow the new ReplicaSet, or else shrink old ones. Changes of the ReplicaSets queue the next step. */
async function rollOut(context: Context, found: Rollout): Promise<Outcome> {
  const rollout = found.current === undefined ? await createReplicaSet(context, found) : found
  const { deployment, current, old } = rollout
  if (current === undefined) return undefined
  const size = replicasOf(current)
  const grown = newReplicaSetSize(deployment, allOf(rollout), size)
  if (grown !== size) return writeProgress(context, await scaleReplicaSet(context, rollout, current, grown))
  const shrunk = await scaleAll(context, rollout, oldReplicaSetSizes(deployment, current, old))
  if (shrunk === rollout && isComplete(deployment, deployment.status ?? {})) await deleteOldRevisions(context, rollout)
  return writeProgress(context, shrunk)
}

/** Removes all old pods before it creates new ones. */
async function recreate(context: Context, found: Rollout): Promise<Outcome> {
  const active = found.old.filter((each) => replicasOf(each) > 0)
  const shrunk = await scaleAll(
    context,
    found,
    active.map((replicaSet) => ({ replicaSet, replicas: 0 })),
  )
  if (shrunk !== found || (await hasOldPods(context, found))) return writeProgress(context, shrunk)
  const rollout = found.current === undefined ? await createReplicaSet(context, found) : found
  const { deployment, current } = rollout
  if (current === undefined) return undefined
  const wanted = replicasOf(deployment)
  const scaled = replicasOf(current) === wanted ? rollout : await scaleReplicaSet(context, rollout, current, wanted)
  if (isComplete(deployment, deployment.status ?? {})) await deleteOldRevisions(context, scaled)
  return writeProgress(context, scaled)
}

/** Terminating pods count: they may still run. */
async function hasOldPods({ parts, pods }: Context, { old }: Rollout): Promise<boolean> {
  for (const { metadata, status } of old) {
    if ((status?.replicas ?? 0) > 0) return true
    const owned = await parts.controlled.controlledBy<Pod>(pods, metadata ?? {})
    if (owned.some((pod) => !isFinishedPod(pod))) return true
  }
  return false
}
