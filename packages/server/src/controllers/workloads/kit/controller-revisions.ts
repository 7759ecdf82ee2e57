// ControllerRevisions of a StatefulSet or DaemonSet: order, search and creation.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { ControllerRevision } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { PodTemplateSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { hashOf } from './template-hash.js'
import { newControllerRef, readObject, type WorkloadParts } from './workload-parts.js'
import type { Writer } from './writer.js'

interface WantedRevision {
  readonly owner: ApiObject
  readonly ownerResource: Resource
  /** The resource of ControllerRevisions. */
  readonly resource: Resource
  /** Snapshot that identifies the revision, such as `{ spec: { template: { ...template, $patch: 'replace' } } }`. */
  readonly data: object
  readonly labelsOf: (hash: string) => { readonly [name: string]: string }
  readonly annotations?: { readonly [name: string]: string }
}

/** Oldest first: by number, then creation, then name. */
export const sortRevisions = (revisions: readonly ControllerRevision[]): readonly ControllerRevision[] =>
  revisions.toSorted(
    (one, other) =>
      numberOf(one) - numberOf(other) ||
      compareText(one.metadata?.creationTimestamp ?? '', other.metadata?.creationTimestamp ?? '') ||
      compareText(one.metadata?.name ?? '', other.metadata?.name ?? ''),
  )

const numberOf = ({ revision }: ControllerRevision): number => Number(revision ?? 0)

const nextRevisionNumber = (sorted: readonly ControllerRevision[]): number => {
  const last = sorted.at(-1)
  return last === undefined ? 1 : numberOf(last) + 1
}

/** The newest revision with this snapshot. */
const findRevision = (sorted: readonly ControllerRevision[], data: object): ControllerRevision | undefined =>
  sorted.findLast((revision) => sameValue(revision.data, data))

/** Snapshot of a template: a strategic merge patch that restores it. */
export const snapshotOf = (template: PodTemplateSpec): object => ({
  spec: { template: { ...template, metadata: { creationTimestamp: null, ...template.metadata }, $patch: 'replace' } },
})

export function templateOfRevision({ data }: ControllerRevision): PodTemplateSpec {
  const { $patch: _, ...template } = (data as RevisionData | undefined)?.spec?.template ?? {}
  return template
}

interface RevisionData {
  readonly spec?: { readonly template?: PodTemplateSpec & { readonly $patch?: string } }
}

interface SyncedRevision {
  readonly revision: ControllerRevision
  readonly collisionCount: number
}

/** Finds the revision of the wanted snapshot and makes it the newest, or creates it. `sorted`: the revisions of the owner. */
export async function syncRevision(
  parts: WorkloadParts,
  writer: Writer,
  {
    wanted,
    sorted,
    collisionCount,
  }: { readonly wanted: WantedRevision; readonly sorted: readonly ControllerRevision[]; readonly collisionCount: number },
): Promise<SyncedRevision> {
  const revision = nextRevisionNumber(sorted)
  const existing = findRevision(sorted, wanted.data)
  if (existing === undefined) return createRevision(parts, writer, { wanted, revision, collisionCount })
  if (existing === sorted.at(-1)) return { revision: existing, collisionCount }
  return { revision: await writer.update(wanted.resource, { ...existing, revision }), collisionCount }
}

/** A name that another snapshot has taken raises the collision count, which gives another name. */
async function createRevision(
  parts: WorkloadParts,
  writer: Writer,
  { wanted, revision, collisionCount }: { readonly wanted: WantedRevision; readonly revision: number; readonly collisionCount: number },
): Promise<SyncedRevision> {
  const { owner, ownerResource, resource, data, labelsOf, annotations } = wanted
  const { name: ownerName = '', namespace = '' } = owner.metadata ?? {}
  const hash = hashOf(data, collisionCount)
  const name = `${ownerName.slice(0, maxNamePrefix)}-${hash}`
  const object: ControllerRevision = {
    metadata: {
      name,
      namespace,
      labels: labelsOf(hash),
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [newControllerRef(owner, ownerResource)],
    },
    data,
    revision,
  } as ControllerRevision
  try {
    return { revision: await writer.create(resource, object), collisionCount }
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.reason !== 'AlreadyExists') throw thrown
    const existing = readObject<ControllerRevision>(parts, { resource, namespace, name })
    if (existing !== undefined && sameValue(existing.data, data)) return { revision: existing, collisionCount }
    return createRevision(parts, writer, { wanted, revision, collisionCount: collisionCount + 1 })
  }
}

/** Names have at most 253 characters, of which the hash takes up to 10. */
const maxNamePrefix = 223
