// Writes of the Deployment controller to ReplicaSets and to the Deployment: create, scale, revisions, clean-up, status.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Deployment, DeploymentStatus, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import { ignoreErrors, isNamespaceTerminating, notFoundCodes } from '../../framework/internal-call.js'
import type { Outcome } from '../../framework/work-queue.js'
import { hashOf } from '../kit/template-hash.js'
import { controllerRefOf, isTerminating, newControllerRef, readObject, type WorkloadParts } from '../kit/workload-parts.js'
import type { Writer } from '../kit/writer.js'
import {
  countedStatus,
  hasProgressDeadline,
  historyLimitOf,
  newCondition,
  progressingOf,
  rolloutStatus,
  untilDeadlineMs,
  withDeploymentCondition,
} from './deployment-status.js'
import {
  byRevision,
  hashLabel,
  hasTemplate,
  maxRevision,
  replicasOf,
  revisionTextOf,
  splitReplicaSets,
  withNewAnnotations,
  withReplicaCounts,
  withRevision,
} from './replica-sets.js'
import { newReplicaSetSize, rollingLimits } from './rollout-plan.js'

export interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly deployments: Resource
  readonly replicaSets: Resource
  readonly pods: Resource
}

/** A Deployment and its ReplicaSets, as last written. */
export interface Rollout {
  readonly deployment: Deployment
  /** The ReplicaSet of the current template. */
  readonly current: ReplicaSet | undefined
  readonly old: readonly ReplicaSet[]
}

export const allOf = ({ current, old }: Rollout): readonly ReplicaSet[] => (current === undefined ? old : [...old, current])

const nowOf = ({ parts }: Context): number => parts.engine.clock.now()

const writeStatus = (context: Context, deployment: Deployment, status: DeploymentStatus): Promise<Deployment> =>
  context.writer.update(context.deployments, { ...deployment, status }, 'status')

/** Finds the ReplicaSet of the current template and gives it and the Deployment their revision. */
export async function findReplicaSets(context: Context, deployment: Deployment, replicaSets: readonly ReplicaSet[]): Promise<Rollout> {
  const { identity } = context.parts.engine
  const { current: found, old } = splitReplicaSets(deployment, replicaSets)
  if (found === undefined) return { deployment, current: undefined, old }
  const { minReadySeconds = 0 } = deployment.spec ?? {}
  const annotated = withNewAnnotations(identity, deployment, found, maxRevision(identity, old) + 1)
  if (annotated !== found || (found.spec?.minReadySeconds ?? 0) !== minReadySeconds) {
    const changed = { ...annotated, spec: { ...annotated.spec, minReadySeconds } } as ReplicaSet
    return { deployment, current: await context.writer.update(context.replicaSets, changed), old }
  }
  const revised = withRevision(identity, deployment, revisionTextOf(identity, found))
  const status = revised.status ?? {}
  const message = `Found new replica set ${JSON.stringify(found.metadata?.name)}`
  const noticed =
    hasProgressDeadline(deployment) && progressingOf(status) === undefined
      ? withDeploymentCondition(status, newCondition('Progressing', 'True', 'FoundNewReplicaSet', message, nowOf(context)))
      : status
  if (revised === deployment && noticed === status) return { deployment, current: found, old }
  return { deployment: await writeStatus(context, revised, noticed), current: found, old }
}

/** Creates the ReplicaSet of the current template. */
export async function createReplicaSet(context: Context, { deployment, old }: Rollout): Promise<Rollout> {
  const { identity } = context.parts.engine
  const revision = maxRevision(identity, old) + 1
  const wanted = newReplicaSet(context, deployment, old)
  const name = JSON.stringify(wanted.metadata?.name)
  const { current, isNew } = await createOrFind(context, deployment, wanted)
  const replicas = replicasOf(wanted)
  if (isNew && replicas > 0) await recordScaling(context, deployment, `Scaled up replica set ${current.metadata?.name} to ${replicas}`)
  const revised = withRevision(identity, deployment, String(revision))
  const status = revised.status ?? {}
  const created =
    isNew && hasProgressDeadline(deployment)
      ? withDeploymentCondition(
          status,
          newCondition('Progressing', 'True', 'NewReplicaSetCreated', `Created new replica set ${name}`, nowOf(context)),
        )
      : status
  if (revised === deployment && created === status) return { deployment, current, old }
  return { deployment: await writeStatus(context, revised, created), current, old }
}

function newReplicaSet({ parts, deployments }: Context, deployment: Deployment, old: readonly ReplicaSet[]): ReplicaSet {
  const { identity } = parts.engine
  const { name = '', namespace = '' } = deployment.metadata ?? {}
  const { template, selector, minReadySeconds } = deployment.spec ?? {}
  const hash = hashOf(template, deployment.status?.collisionCount)
  const labels = { ...template?.metadata?.labels, [hashLabel]: hash }
  const unsized = {
    metadata: { name: `${name}-${hash}`, namespace, labels, ownerReferences: [newControllerRef(deployment, deployments)] },
    spec: {
      replicas: newReplicaSetSize(deployment, old, 0),
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  } as ReplicaSet
  const annotated = withNewAnnotations(identity, deployment, unsized, maxRevision(identity, old) + 1)
  const wanted = replicasOf(deployment)
  return withReplicaCounts(identity, annotated, wanted, wanted + rollingLimits(deployment).maxSurge)
}

interface CreatedReplicaSet {
  readonly current: ReplicaSet
  readonly isNew: boolean
}

/** If another template has the same hash, the collision count is raised, which gives another name to the next attempt. */
async function createOrFind(context: Context, deployment: Deployment, wanted: ReplicaSet): Promise<CreatedReplicaSet> {
  const { parts, writer, deployments, replicaSets } = context
  const { name = '', namespace = '' } = wanted.metadata ?? {}
  try {
    return { current: await writer.create(replicaSets, wanted), isNew: true }
  } catch (thrown) {
    if (isNamespaceTerminating(thrown)) throw thrown
    if (!(thrown instanceof ApiError) || thrown.status.reason !== 'AlreadyExists') {
      const message = `Failed to create new replica set ${JSON.stringify(name)}: ${errorMessage(thrown)}`
      await reportFailedCreation(context, deployment, message)
      throw thrown
    }
    const existing = readObject<ReplicaSet>(parts, { resource: replicaSets, namespace, name })
    const isOwn = existing !== undefined && controllerRefOf(existing)?.uid === deployment.metadata?.uid && hasTemplate(existing, deployment)
    if (isOwn) return { current: existing, isNew: false }
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
    await writer.update(deployments, { ...deployment, status: { ...deployment.status, collisionCount } }, 'status')
    throw thrown
  }
}

async function reportFailedCreation(context: Context, deployment: Deployment, message: string): Promise<void> {
  const reason = 'ReplicaSetCreateError'
  await context.writer.event(context.deployments, deployment, { type: 'Warning', reason, message })
  if (!hasProgressDeadline(deployment)) return
  const status = deployment.status ?? {}
  const failed = withDeploymentCondition(status, newCondition('Progressing', 'False', reason, message, nowOf(context)))
  if (failed.conditions !== status.conditions) await ignoreErrors([404, 409], writeStatus(context, deployment, failed))
}

const recordScaling = ({ writer, deployments }: Context, deployment: Deployment, message: string): Promise<void> =>
  writer.event(deployments, deployment, { type: 'Normal', reason: 'ScalingReplicaSet', message })

/** Scales a ReplicaSet of the rollout, and notes for which size of the Deployment. Returns the same rollout if nothing changes. */
export async function scaleReplicaSet(context: Context, rollout: Rollout, target: ReplicaSet, replicas: number): Promise<Rollout> {
  const { deployment } = rollout
  const wanted = replicasOf(deployment)
  const before = replicasOf(target)
  const annotated = withReplicaCounts(context.parts.engine.identity, target, wanted, wanted + rollingLimits(deployment).maxSurge)
  if (annotated === target && before === replicas) return rollout
  const scaled = await context.writer.update(context.replicaSets, { ...annotated, spec: { ...annotated.spec, replicas } } as ReplicaSet)
  const direction = replicas > before ? 'up' : 'down'
  if (replicas !== before)
    await recordScaling(context, deployment, `Scaled ${direction} replica set ${target.metadata?.name} to ${replicas} from ${before}`)
  return replaceIn(rollout, scaled)
}

const replaceIn = ({ deployment, current, old }: Rollout, changed: ReplicaSet): Rollout => {
  const isSame = ({ metadata }: ReplicaSet): boolean => metadata?.uid === changed.metadata?.uid
  return {
    deployment,
    current: current !== undefined && isSame(current) ? changed : current,
    old: old.map((each) => (isSame(each) ? changed : each)),
  }
}

/** Deletes the oldest revisions beyond `revisionHistoryLimit`, unless they still have replicas. */
export async function deleteOldRevisions({ parts, writer, replicaSets }: Context, { deployment, old }: Rollout): Promise<void> {
  const limit = historyLimitOf(deployment)
  if (limit === undefined) return
  const candidates = old.filter((each) => !isTerminating(each)).toSorted(byRevision(parts.engine.identity))
  for (const replicaSet of candidates.slice(0, Math.max(0, candidates.length - limit))) {
    const { metadata, status } = replicaSet
    const isObserved = Number(metadata?.generation ?? 0) <= Number(status?.observedGeneration ?? 0)
    if (replicasOf(replicaSet) === 0 && (status?.replicas ?? 0) === 0 && isObserved)
      await ignoreErrors(notFoundCodes, writer.delete(replicaSets, replicaSet))
  }
}

/** Writes the counts and the condition Available: while the Deployment is scaled, paused or deleted. */
export async function writeCounts(context: Context, rollout: Rollout): Promise<Outcome> {
  const { deployment, current } = rollout
  const status = countedStatus(deployment, { current, all: allOf(rollout), nowMs: nowOf(context) })
  if (!sameValue(deployment.status ?? {}, status)) await writeStatus(context, deployment, status)
  return undefined
}

/** Writes the status of a rollout; if it is unchanged, waits for the deadline. */
export async function writeProgress(context: Context, rollout: Rollout): Promise<Outcome> {
  const { deployment, current } = rollout
  const nowMs = nowOf(context)
  const status = rolloutStatus(deployment, { current, all: allOf(rollout), nowMs })
  if (!sameValue(deployment.status ?? {}, status)) {
    await writeStatus(context, deployment, status)
    return undefined
  }
  const afterMs = untilDeadlineMs(deployment, status, nowMs)
  return afterMs === undefined ? undefined : { afterMs }
}
