// Searches owners and dependents of an object, by owner references. Reads only metadata, of the kinds that the user may list.

import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import { isClientError, type PartialObjectMetadata, type ServedResource } from '@cluster-apiserver/client/browser.js'
import type { Session } from '../session/session.js'

const concurrency = 4
/** Objects of one kind that are searched for dependents. */
const maxObjects = 5000

export interface Found {
  readonly resource: ServedResource
  readonly object: PartialObjectMetadata
}

export interface Related {
  readonly byUid: ReadonlyMap<string, Found>
  /** By the uid of their owner. */
  readonly dependents: ReadonlyMap<string, readonly Found[]>
  /** Kinds that were not searched completely. */
  readonly partial: readonly string[]
}

interface Search {
  readonly session: Session
  readonly namespace: string | undefined
  readonly signal: AbortSignal
  readonly onProgress?: (searched: number, kinds: number) => void
}

export async function searchRelated({ session, namespace, signal, onProgress }: Search): Promise<Related> {
  const kinds = session.listable.filter(({ namespaced }) => namespace === undefined || namespaced)
  const dependents = new Map<string, Found[]>()
  const byUid = new Map<string, Found>()
  const partial: string[] = []
  let searched = 0
  const add = (found: Found): void => {
    const { uid = '', ownerReferences = [] } = found.object.metadata ?? {}
    byUid.set(uid, found)
    for (const { uid: owner = '' } of ownerReferences) {
      const siblings = dependents.get(owner)
      if (siblings === undefined) dependents.set(owner, [found])
      else siblings.push(found)
    }
  }
  await inParallel(kinds, concurrency, async (resource) => {
    if (signal.aborted) return
    try {
      let count = 0
      for await (const { items } of session.client.collection(resource, namespace ?? '').metadata.pages({ limit: 500, signal })) {
        for (const object of items) add({ resource, object })
        count += items.length
        if (count >= maxObjects) {
          partial.push(resource.resource)
          break
        }
      }
    } catch (thrown) {
      if (signal.aborted) return
      if (!isClientError(thrown)) throw thrown
      partial.push(resource.resource)
    }
    onProgress?.(++searched, kinds.length)
  })
  return { byUid, dependents, partial }
}
