// Objects whose namespace is gone: a write that was allowed while it was there took long, and arrived when it was gone.

import { ApiError } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import { partsOf } from '../objects/keys.js'
import { everything } from '../objects/selection.js'
import { remove } from '../verbs/delete.js'
import type { Engine } from '../verbs/engine.js'
import { ownCall } from './own-call.js'

export interface Emptied {
  readonly name: string
  readonly namespaces: Resource
  readonly collections: readonly Resource[]
}

/** What is found while there is no namespace is nobody's, even if one of that name comes back meanwhile; what is made then has another uid. */
export async function deleteOrphans(engine: Engine, { name, namespaces, collections }: Emptied): Promise<void> {
  if (engine.store.read({ resource: namespaces, namespace: '', name }) !== undefined) return
  const orphans = collections.flatMap((resource) => (engine.store.count(resource, name) === 0 ? [] : orphansOf(engine, resource, name)))
  for (const { resource, object } of orphans) {
    const call = ownCall(engine, { resource, namespace: name, name: partsOf(resource, object.key).name })
    const uid = object.decode(resource).metadata?.uid ?? ''
    try {
      await remove(engine, call, { preconditions: { uid }, propagationPolicy: 'Background' })
    } catch (thrown) {
      // It is gone, or another one has its name.
      if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
    }
  }
}

function orphansOf({ store }: Engine, resource: Resource, namespace: string) {
  const page = store.list({ resource, namespace, selection: everything, limit: 0 })
  return Array.from(page.objects(), (object) => ({ resource, object }))
}
