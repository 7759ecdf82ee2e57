// Adopts and releases the objects of a controller: objects without a controller that its selector matches, and its objects that it no
// longer matches.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { CompiledLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { ObjectAddress } from '../../../objects/object-store.js'
import { ignoreErrors } from '../../framework/internal-call.js'
import { budgetOf } from '../../framework/timers.js'
import type { Outcome } from '../../framework/work-queue.js'
import { controllerRefOf, isTerminating, newControllerRef, readAll, readObject, type WorkloadParts } from './workload-parts.js'
import type { Writer } from './writer.js'

export interface ClaimRequest<T extends ApiObject> {
  readonly owner: ApiObject
  readonly ownerResource: Resource
  /** Resource of the claimed objects. */
  readonly resource: Resource
  readonly selector: CompiledLabelSelector
  /** Objects for which it returns false are neither returned, adopted nor released. */
  readonly isCandidate?: (object: T) => boolean
  /** Finalizer that adopted objects get and released objects lose. */
  readonly finalizer?: string
}

/** Status codes of a release that lost a race: the object or its owner reference is gone, or a finalizer prevents the write. */
const lostReleaseCodes = [404, 422]

/** Returns the objects that `owner` controls, in the order of their names. */
export async function claimObjects<T extends ApiObject>(
  parts: WorkloadParts,
  writer: Writer,
  request: ClaimRequest<T>,
): Promise<readonly T[]> {
  const { owner, resource, selector, isCandidate = () => true } = request
  const { namespace = '' } = owner.metadata ?? {}
  const claimed: T[] = []
  for (const object of await parts.controlled.controlledBy<T>(resource, owner.metadata ?? {})) {
    if (!isCandidate(object)) continue
    if (selector.matches(object.metadata?.labels)) claimed.push(object)
    else if (!isTerminating(owner)) await ignoreErrors(lostReleaseCodes, release(writer, request, object))
  }
  if (isTerminating(owner) || selector.isEverything) return claimed
  const orphans = await parts.controlled.withoutController<T>(resource, namespace, selector)
  for (const object of orphans) {
    if (isTerminating(object) || !isCandidate(object)) continue
    if (!isCurrent(parts, request)) return claimed
    await ignoreErrors(
      [404],
      adopt(writer, request, object).then((adopted) => claimed.push(adopted)),
    )
  }
  return orphans.length === 0 ? claimed : claimed.sort(compareNames)
}

interface Orphan<O extends ApiObject, T extends ApiObject> {
  readonly address: ObjectAddress
  readonly owners: Resource
  /** Undefined for owners that adopt nothing. */
  readonly requestOf: (owner: O) => ClaimRequest<T> | undefined
}

/**
 * Returns the keys of the owners that may adopt an object without a controller. Their own runs adopt it: another run would count one
 * object too few and create one too many.
 */
export async function adoptersOf<O extends ApiObject, T extends ApiObject>(
  parts: WorkloadParts,
  { address, owners, requestOf }: Orphan<O, T>,
): Promise<Outcome> {
  const budget = budgetOf(parts.pacing ?? parts.timers)
  const keys: string[] = []
  for (const owner of readAll<O>(parts, owners, address.namespace)) {
    await budget.yieldIfSpent()
    const object = readObject<T>(parts, address)
    if (object === undefined || isTerminating(object) || controllerRefOf(object) !== undefined) return undefined
    const request = requestOf(owner)
    if (request !== undefined && mayAdopt(request, object)) keys.push(`${address.namespace}/${owner.metadata?.name}`)
  }
  return keys.length === 0 ? undefined : { keys }
}

const mayAdopt = <T extends ApiObject>({ owner, selector, isCandidate }: ClaimRequest<T>, object: T): boolean =>
  !isTerminating(owner) && !selector.isEverything && isCandidate?.(object) !== false && selector.matches(object.metadata?.labels)

/** False if the owner was deleted, recreated or began to terminate since it was read. */
function isCurrent<T extends ApiObject>(parts: WorkloadParts, { owner, ownerResource }: ClaimRequest<T>): boolean {
  const { namespace = '', name = '', uid } = owner.metadata ?? {}
  const stored = readObject(parts, { resource: ownerResource, namespace, name })
  return stored !== undefined && stored.metadata?.uid === uid && !isTerminating(stored)
}

const adopt = <T extends ApiObject>(
  writer: Writer,
  { owner, ownerResource, resource, finalizer }: ClaimRequest<T>,
  object: T,
): Promise<T> =>
  writer.patch(resource, object, {
    type: 'strategic',
    patch: {
      metadata: {
        ownerReferences: [newControllerRef(owner, ownerResource)],
        ...(finalizer === undefined ? {} : { finalizers: [finalizer] }),
      },
    },
  })

const release = <T extends ApiObject>(writer: Writer, { owner, resource, finalizer }: ClaimRequest<T>, object: T): Promise<T> =>
  writer.patch(resource, object, {
    type: 'strategic',
    patch: {
      metadata: {
        ownerReferences: [{ $patch: 'delete', uid: owner.metadata?.uid }],
        ...(finalizer === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': [finalizer] }),
      },
    },
  })

const compareNames = (one: ApiObject, other: ApiObject): number => compareText(one.metadata?.name ?? '', other.metadata?.name ?? '')
