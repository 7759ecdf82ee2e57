// Writes of the StatefulSet controller: pods with their claims, owners of claims, and the events about them.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { StatefulSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { PersistentVolumeClaim, Pod, PodTemplateSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isNamespaceTerminating } from '../../framework/internal-call.js'
import { isTerminating, readObject, type WorkloadParts } from '../kit/workload-parts.js'
import type { Writer } from '../kit/writer.js'
import { followsPolicy, isStaleClaim, withPolicy } from './claim-retention.js'
import { type Step, startOrdinalOf } from './stateful-plan.js'
import { claimsOf, hasIdentity, hasStorage, statefulPod, withIdentity, withStorage } from './stateful-pods.js'

export interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly sets: Resource
  readonly pods: Resource
  readonly claims: Resource
  readonly revisions: Resource
}

const hasRetention = ({ parts }: Context): boolean => parts.engine.gates('StatefulSetAutoDeletePVC')

/** Stored claims of the pod with this ordinal. */
const storedClaims = ({ parts, claims }: Context, set: StatefulSet, ordinal: number): readonly PersistentVolumeClaim[] =>
  [...claimsOf(set, ordinal).values()].flatMap(({ metadata }) => {
    const { namespace = '', name = '' } = metadata ?? {}
    return readObject<PersistentVolumeClaim>(parts, { resource: claims, namespace, name }) ?? []
  })

export const isAnyClaimStale = (context: Context, set: StatefulSet, ordinal: number): boolean =>
  hasRetention(context) && storedClaims(context, set, ordinal).some((claim) => isStaleClaim(set, claim, `${set.metadata?.name}-${ordinal}`))

const isScaledDown = ({ parts }: Context, set: StatefulSet, ordinal: number): boolean => {
  const start = startOrdinalOf(set, parts.engine.gates('StatefulSetStartOrdinal'))
  return ordinal < start || ordinal >= start + (set.spec?.replicas ?? 1)
}

interface SetPod {
  readonly set: StatefulSet
  readonly pod: Pod
  readonly ordinal: number
}

export const areClaimsOwned = (context: Context, { set, pod, ordinal }: SetPod): boolean =>
  !hasRetention(context) ||
  storedClaims(context, set, ordinal).every((claim) =>
    followsPolicy(claim, { set, pod, isScaledDown: isScaledDown(context, set, ordinal) }),
  )

export const isConsistent = (context: Context, setPod: SetPod): boolean =>
  hasIdentity(context.parts.engine.identity, setPod.pod) &&
  hasStorage(setPod.set, setPod.pod, setPod.ordinal) &&
  areClaimsOwned(context, setPod)

async function ownClaims(context: Context, { set, pod, ordinal }: SetPod): Promise<void> {
  if (!hasRetention(context)) return
  const owners = { set, pod, isScaledDown: isScaledDown(context, set, ordinal) }
  for (const claim of storedClaims(context, set, ordinal))
    if (!followsPolicy(claim, owners)) await context.writer.update(context.claims, withPolicy(claim, owners))
}

/** `templateOf`: the template of a revision. */
export async function performStep(
  context: Context,
  set: StatefulSet,
  step: Step,
  templateOf: (revision: string) => PodTemplateSpec,
): Promise<void> {
  const { parts, sets, writer } = context
  switch (step.action) {
    case 'create': {
      const { ordinal, revision } = step
      const wanted = { template: templateOf(revision), ordinal, revision }
      return createPod(context, { set, ordinal, pod: statefulPod(parts.engine.identity, { owner: set, resource: sets }, wanted) })
    }
    case 'recreate': {
      const { namespace, name } = set.metadata ?? {}
      const message = `StatefulSet ${namespace}/${name} is recreating failed Pod ${step.pod.metadata?.name}`
      await writer.event(sets, set, { type: 'Warning', reason: 'RecreatingFailedPod', message })
      return deletePod(context, { ...step, set })
    }
    case 'delete':
      return deletePod(context, { ...step, set })
    case 'repair':
      return repairPod(context, { ...step, set })
    case 'ownClaims':
      return ownClaims(context, { ...step, set })
  }
}

async function createPod(context: Context, setPod: SetPod): Promise<void> {
  await recordFailure(context, 'create', setPod, createClaims(context, setPod))
  try {
    const pod = await context.writer.create(context.pods, setPod.pod)
    await recordFailure(context, 'update', setPod, ownClaims(context, { ...setPod, pod }))
  } catch (thrown) {
    // A retry finds the existing pod; nobody can read events of a terminating namespace.
    const isQuiet = thrown instanceof ApiError && (thrown.status.reason === 'AlreadyExists' || isNamespaceTerminating(thrown))
    if (!isQuiet) await podEvent(context, 'create', setPod, { failure: thrown })
    throw thrown
  }
  await podEvent(context, 'create', setPod)
}

async function deletePod(context: Context, setPod: SetPod): Promise<void> {
  await recordFailure(context, 'delete', setPod, context.writer.delete(context.pods, setPod.pod))
  await podEvent(context, 'delete', setPod)
}

async function repairPod(context: Context, setPod: SetPod): Promise<void> {
  const { set, pod, ordinal } = setPod
  const isStored = hasStorage(set, pod, ordinal)
  const repaired = withIdentity(context.parts.engine.identity, isStored ? pod : withStorage(set, pod, ordinal))
  const repair = async (): Promise<void> => {
    if (!isStored) await createClaims(context, setPod)
    await ownClaims(context, setPod)
    await context.writer.update(context.pods, repaired)
  }
  await recordFailure(context, 'update', setPod, repair())
  await podEvent(context, 'update', setPod)
}

/** Creates missing claims; a claim that is terminating or cannot be created fails. */
async function createClaims(context: Context, setPod: SetPod): Promise<void> {
  const { parts, writer, claims } = context
  const failures: string[] = []
  for (const claim of claimsOf(setPod.set, setPod.ordinal).values()) {
    const { namespace = '', name = '' } = claim.metadata ?? {}
    const stored = readObject<PersistentVolumeClaim>(parts, { resource: claims, namespace, name })
    if (stored !== undefined) {
      if (isTerminating(stored)) failures.push(`pvc ${name} is being deleted`)
      continue
    }
    try {
      await writer.create(claims, claim)
      await claimEvent(context, setPod, name)
    } catch (failure) {
      if (isNamespaceTerminating(failure)) throw failure
      failures.push(`failed to create PVC ${name}: ${errorMessage(failure)}`)
      await claimEvent(context, setPod, name, { failure })
    }
  }
  if (failures.length > 0) throw new Error(failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`)
}

type Failure = { readonly failure: unknown } | undefined

async function recordFailure(context: Context, verb: Verb, setPod: SetPod, writes: Promise<void>): Promise<void> {
  try {
    await writes
  } catch (thrown) {
    if (!isNamespaceTerminating(thrown)) await podEvent(context, verb, setPod, { failure: thrown })
    throw thrown
  }
}

type Verb = 'create' | 'update' | 'delete'
const reasonOf = { create: 'Create', update: 'Update', delete: 'Delete' } as const

function podEvent(context: Context, verb: Verb, { set, pod }: SetPod, failed?: Failure): Promise<void> {
  const action = `${verb} Pod ${pod.metadata?.name} in StatefulSet ${set.metadata?.name}`
  return event(
    context,
    set,
    verb,
    failed === undefined ? `${action} successful` : `${action} failed error: ${errorMessage(failed.failure)}`,
    failed,
  )
}

function claimEvent(context: Context, { set, pod }: SetPod, claim: string, failed?: Failure): Promise<void> {
  const [name, setName] = [pod.metadata?.name, set.metadata?.name]
  const message =
    failed === undefined
      ? `create Claim ${claim} Pod ${name} in StatefulSet ${setName} success`
      : `create Claim ${claim} for Pod ${name} in StatefulSet ${setName} failed error: ${errorMessage(failed.failure)}`
  return event(context, set, 'create', message, failed)
}

const event = ({ writer, sets }: Context, set: StatefulSet, verb: Verb, message: string, failed: Failure): Promise<void> =>
  writer.event(sets, set, {
    type: failed === undefined ? 'Normal' : 'Warning',
    reason: `${failed === undefined ? 'Successful' : 'Failed'}${reasonOf[verb]}`,
    message,
  })
