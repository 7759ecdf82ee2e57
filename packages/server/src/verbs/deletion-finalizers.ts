// The rules of going away: what holds an object, and what a DELETE writes on one that is held.

import type { Call } from '../api/call.js'
import type { Resource } from '../api/catalog.js'
import { type ApiObject, withMetadata } from '../api/object.js'
import { propagationOf } from '../api/options/delete-options.js'
import { timeOf } from '../schema/scalars.js'

const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

export const isHeld = (resource: Resource, object: ApiObject): boolean =>
  (object.metadata?.finalizers?.length ?? 0) > 0 || (resource.definition.isHeld?.(object) ?? false)

/** What a DELETE makes of an object: it stays for now, marked as going, or it goes. */
export interface DeletionPlan {
  /** The object as it is left, or as it was last. */
  readonly object: ApiObject
  readonly stays: boolean
}

/** `ignoresDependents`: nobody collects garbage, so nothing may wait for that. */
export function planDeletion(call: Call, live: ApiObject, ignoresDependents = false): DeletionPlan {
  const { resource } = call
  const before = live.metadata?.finalizers ?? []
  const finalizers = ignoresDependents ? before : finalizersFor(call, live)
  const isChanged = finalizers.length !== before.length || finalizers.some((name, i) => name !== before[i])
  if (resource.definition.gracePeriodSeconds !== undefined) return planGrace(call, live, finalizers)
  if (resource.definition.firstDeleteMarks) {
    if (live.metadata?.deletionTimestamp === undefined) return { object: markDeleting(call, live, finalizers), stays: true }
    // Whoever waits for what holds it is told how it stands, and changes nothing.
    if (resource.definition.isHeld?.(live)) return { object: live, stays: true }
  }
  if (!isHeld(resource, live) && !isChanged) return { object: live, stays: false }
  const object = markDeleting(call, live, finalizers)
  return { object, stays: isHeld(resource, object) }
}

/** Whoever leaves it to the kind what becomes of the dependents may be surprised, whether or not there is something to delete. */
export function warnOfOrphans({ resource, warn, options }: Call): void {
  const warning = resource.definition.orphansByDefault?.warning
  if (warning !== undefined && propagationOf(options) === undefined) warn(warning)
}

/** The finalizers with which an object waits for its dependents, as the caller wishes it now or wished it before. */
function finalizersFor(call: Call, object: ApiObject): readonly string[] {
  const { options } = call
  const { definition } = call.resource
  const before = object.metadata?.finalizers ?? []
  const rest = before.filter((name) => name !== orphanFinalizer && name !== foregroundFinalizer)
  if (definition.ignoresDependents) return rest
  const policy = propagationOf(options)
  const isDefault = policy === undefined && before.length === rest.length && definition.orphansByDefault !== undefined
  const orphans = isDefault || (policy === undefined ? before.includes(orphanFinalizer) : policy === 'Orphan')
  // The older option means that dependents go first for kinds that are marked before they go, and that they go later for others.
  const waits = definition.firstDeleteMarks === true && options.propagationPolicy === undefined && options.orphanDependents === false
  const foreground = policy === undefined ? before.includes(foregroundFinalizer) : policy === 'Foreground' || waits
  return [...rest, ...(orphans ? [orphanFinalizer] : []), ...(foreground ? [foregroundFinalizer] : [])]
}

/** The object with its finalizers as they shall be and the time at which it was first deleted. */
function markDeleting(call: Call, object: ApiObject, finalizers: readonly string[]): ApiObject {
  const { metadata } = object
  const marked = withMetadata(object, {
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    deletionTimestamp: metadata?.deletionTimestamp ?? timeOf(call.now),
    deletionGracePeriodSeconds: 0,
    generation: nextGeneration(object),
  })
  return call.resource.definition.prepareDelete?.(marked, call) ?? marked
}

/** The first deletion counts as a change of what is wanted. */
function nextGeneration({ metadata }: ApiObject): number | undefined {
  const generation = metadata?.generation
  return metadata?.deletionTimestamp === undefined && generation !== undefined && generation > 0 ? generation + 1 : generation
}

/** Times have years of four digits: whoever is given more than that is given all there is. */
const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59)

/** Objects that are given time: the first DELETE sets it, later ones can only make it shorter. */
function planGrace(call: Call, live: ApiObject, finalizers: readonly string[]): DeletionPlan {
  const { metadata } = live
  const requested = call.options.gracePeriodSeconds
  const given = metadata?.deletionTimestamp === undefined ? undefined : (metadata.deletionGracePeriodSeconds ?? 0)
  if (given !== undefined && (requested === undefined || requested >= given)) {
    return given === 0 && finalizers.length === 0 ? { object: live, stays: false } : { object: live, stays: true }
  }
  const sinceMs = given === undefined ? call.now : Date.parse(metadata?.deletionTimestamp ?? '') - given * 1000
  // A bigint where the number is too large to be a safe one.
  const wanted = Number(call.resource.definition.gracePeriodSeconds?.(live, requested) ?? 0)
  const seconds = Math.min(Math.max(0, wanted), Math.floor((lastMoment - sinceMs) / 1000))
  const object = withMetadata(live, {
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    deletionTimestamp: timeOf(sinceMs + seconds * 1000),
    deletionGracePeriodSeconds: seconds,
    generation: nextGeneration(live),
  })
  return { object, stays: seconds > 0 || isHeld(call.resource, object) }
}
