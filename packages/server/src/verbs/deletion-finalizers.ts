// Graceful deletion: finalizers, propagation policy and grace period decide if a DELETE removes an object or only sets deletionTimestamp.

import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { propagationOf } from '@cluster-apiserver/api/api/options/delete-options.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'

const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

export const isDeletionBlocked = (resource: Resource, object: ApiObject): boolean =>
  (object.metadata?.finalizers?.length ?? 0) > 0 || (resource.definition.isDeletionBlocked?.(object) ?? false)

interface DeletionPlan {
  /** The terminating object, or the removed one in its last state. */
  readonly object: ApiObject
  readonly stays: boolean
}

/** `ignoresDependents`: no garbage collector runs, so no finalizer may wait for it. */
export function planDeletion(call: Call, live: ApiObject, ignoresDependents = false): DeletionPlan {
  const { resource } = call
  const before = live.metadata?.finalizers ?? []
  const finalizers = ignoresDependents ? before : finalizersFor(call, live)
  const isChanged = finalizers.length !== before.length || finalizers.some((name, i) => name !== before[i])
  if (resource.definition.gracePeriodSeconds !== undefined && !isGraceOver(live)) return planGracefulDeletion(call, live, finalizers)
  if (resource.definition.firstDeleteMarks) {
    if (live.metadata?.deletionTimestamp === undefined) return { object: markTerminating(call, live, finalizers), stays: true }
    // A second DELETE of a blocked object changes nothing.
    if (resource.definition.isDeletionBlocked?.(live)) return { object: live, stays: true }
  }
  if (!isDeletionBlocked(resource, live) && !isChanged) return { object: live, stays: false }
  const object = markTerminating(call, live, finalizers)
  return { object, stays: isDeletionBlocked(resource, object) }
}

/** Warns about kinds that orphan dependents if no propagation policy is given, also if the object does not exist. */
export function warnOfOrphans({ resource, warn, options }: Call): void {
  const warning = resource.definition.orphansByDefault?.warning
  if (warning !== undefined && propagationOf(options) === undefined) warn(warning)
}

/** Adds or removes `orphan` and `foregroundDeletion` by the propagation policy; without one they stay, or the kind's default applies. */
function finalizersFor(call: Call, object: ApiObject): readonly string[] {
  const { options } = call
  const { definition } = call.resource
  const before = object.metadata?.finalizers ?? []
  const rest = before.filter((name) => name !== orphanFinalizer && name !== foregroundFinalizer)
  if (definition.ignoresDependents) return rest
  const policy = propagationOf(options)
  const isDefault = policy === undefined && before.length === rest.length && definition.orphansByDefault !== undefined
  const orphans = isDefault || (policy === undefined ? before.includes(orphanFinalizer) : policy === 'Orphan')
  // orphanDependents=false means foreground for kinds whose first DELETE only marks, and background for others.
  const waits = definition.firstDeleteMarks === true && options.propagationPolicy === undefined && options.orphanDependents === false
  const foreground = policy === undefined ? before.includes(foregroundFinalizer) : policy === 'Foreground' || waits
  return [...rest, ...(orphans ? [orphanFinalizer] : []), ...(foreground ? [foregroundFinalizer] : [])]
}

function markTerminating(call: Call, object: ApiObject, finalizers: readonly string[]): ApiObject {
  const { prepareDelete } = call.resource.definition
  const terminating = withMetadata(object, {
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    deletionTimestamp: object.metadata?.deletionTimestamp ?? timeOf(call.now),
  })
  return (
    prepareDelete?.(terminating, call) ?? withMetadata(terminating, { deletionGracePeriodSeconds: 0, generation: nextGeneration(object) })
  )
}

/** The first DELETE increments the generation. */
function nextGeneration({ metadata }: ApiObject): number | undefined {
  const generation = metadata?.generation
  return metadata?.deletionTimestamp === undefined && generation !== undefined && generation > 0 ? generation + 1 : generation
}

/** Timestamps have four-digit years: a longer grace period is shortened to this time. */
const maxTimestampMs = Date.UTC(9999, 11, 31, 23, 59, 59)

const isGraceOver = ({ metadata }: ApiObject): boolean =>
  metadata?.deletionTimestamp !== undefined && (metadata.deletionGracePeriodSeconds ?? 0) === 0

/** The first DELETE sets the grace period; later ones can only shorten it, and change nothing if they do not. */
function planGracefulDeletion(call: Call, live: ApiObject, finalizers: readonly string[]): DeletionPlan {
  const { metadata } = live
  const requested = call.options.gracePeriodSeconds
  const currentSeconds = metadata?.deletionTimestamp === undefined ? undefined : (metadata.deletionGracePeriodSeconds ?? 0)
  if (currentSeconds !== undefined && (requested === undefined || requested >= currentSeconds)) return { object: live, stays: true }
  const sinceMs = currentSeconds === undefined ? call.now : Date.parse(metadata?.deletionTimestamp ?? '') - currentSeconds * 1000
  // Number(): the value is a bigint beyond the safe integers.
  const wanted = Number(call.resource.definition.gracePeriodSeconds?.(live, requested) ?? 0)
  const seconds = Math.min(Math.max(0, wanted), Math.floor((maxTimestampMs - sinceMs) / 1000))
  const object = withMetadata(live, {
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    deletionTimestamp: timeOf(sinceMs + seconds * 1000),
    deletionGracePeriodSeconds: seconds,
    generation: nextGeneration(live),
  })
  return { object, stays: seconds > 0 || isDeletionBlocked(call.resource, object) }
}
