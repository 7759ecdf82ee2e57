// Creates and deletes pods of a controller, with the events of kube-controller-manager.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Pod, PodTemplateSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isNamespaceTerminating } from '../../framework/internal-call.js'
import { newControllerRef } from './workload-parts.js'
import type { Writer } from './writer.js'

export interface PodOwner {
  readonly owner: ApiObject
  readonly resource: Resource
}

const maxNameLength = 253

/** A pod of `template` that `owner` controls; its name is generated unless the caller sets one. */
export function podOfTemplate({ owner, resource }: PodOwner, template: PodTemplateSpec): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  const { name = '', namespace } = owner.metadata ?? {}
  const generateName = name.length < maxNameLength ? `${name}-` : name
  return {
    metadata: {
      generateName,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [newControllerRef(owner, resource)],
    },
    spec: template.spec ?? {},
  } as Pod
}

/** Creates a pod; records `SuccessfulCreate` or `FailedCreate` on the owner. */
export async function createPod(writer: Writer, pods: Resource, { owner, resource }: PodOwner, pod: Pod): Promise<Pod> {
  try {
    const created = await writer.create(pods, pod)
    await writer.event(resource, owner, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${created.metadata?.name}` })
    return created
  } catch (thrown) {
    // Nobody can read events of a terminating namespace.
    if (!isNamespaceTerminating(thrown))
      await writer.event(resource, owner, { type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${errorMessage(thrown)}` })
    throw thrown
  }
}

/** Deletes a pod; records `SuccessfulDelete` or `FailedDelete` on the owner. A pod that was deleted before is no error. */
export async function deletePod(writer: Writer, pods: Resource, { owner, resource }: PodOwner, pod: Pod): Promise<void> {
  try {
    await writer.delete(pods, pod)
  } catch (thrown) {
    if (isGone(thrown)) return
    await writer.event(resource, owner, { type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${errorMessage(thrown)}` })
    throw new Error(`unable to delete pods: ${errorMessage(thrown)}`, { cause: thrown })
  }
  await writer.event(resource, owner, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${pod.metadata?.name}` })
}

/** A conflict means another object under the same name. */
const isGone = (thrown: unknown): boolean => thrown instanceof ApiError && [404, 409].includes(thrown.status.code)

/** Larger batches block the event loop. */
const maxBatch = 64

/**
 * Runs `create` `count` times in batches of 1, 2, 4 …, so that an error such as an exceeded quota costs few attempts.
 * Returns the first error of the batch that failed.
 */
export async function inSlowStartBatches(
  count: number,
  create: (index: number) => Promise<unknown>,
): Promise<{ readonly failure: unknown } | undefined> {
  let next = 0
  for (let size = 1; next < count; size = Math.min(size * 2, maxBatch)) {
    const batch = Array.from({ length: Math.min(size, count - next) }, (_, i) => create(next + i))
    next += batch.length
    for (const outcome of await Promise.allSettled(batch)) if (outcome.status === 'rejected') return { failure: outcome.reason }
  }
  return undefined
}
