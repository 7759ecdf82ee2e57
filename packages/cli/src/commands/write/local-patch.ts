// Patches an object of a file as the server would, without one.

import type { DynamicObject } from '../client/objects.js'
import type { PatchType } from '../client/query.js'
import { apiVersionOf } from '../client/resource-ref.js'
import { jsonPatch } from '../patch/json-patch.js'
import { mergePatch } from '../patch/merge-patch.js'
import { PatchError } from '../patch/patch-error.js'
import { Failure } from './failure.js'

export async function patchLocally(object: DynamicObject, patch: object, type: PatchType): Promise<DynamicObject> {
  try {
    if (type === 'json') return jsonPatch(object as never, patch) as DynamicObject
    if (type === 'merge') return mergePatch(object as never, patch as never) as DynamicObject
    return await mergeByKind(object, patch)
  } catch (thrown) {
    throw thrown instanceof PatchError ? new Failure(thrown.message) : thrown
  }
}

/** Which lists are merged by a key is known from the kind; of custom kinds nobody knows it. */
async function mergeByKind(object: DynamicObject, patch: object): Promise<DynamicObject> {
  const [{ definitions }, { Catalog }, { identityNames, identityOf }, { strategicMergePatch }] = await Promise.all([
    import('../resources/index.js'),
    import('../api/catalog.js'),
    import('../api/identity.js'),
    import('../patch/strategic-merge-patch.js'),
  ])
  for (const name of identityNames) {
    const catalog = new Catalog({ identity: identityOf(name), definitions, isServed: () => true })
    const found = catalog
      .all()
      .find(({ group, version, kind }) => kind === object.kind && apiVersionOf(group, version) === object.apiVersion)
    if (found !== undefined) return strategicMergePatch(object, patch, found.schema) as DynamicObject
  }
  throw new Failure(`no kind "${object.kind}" is registered for version "${object.apiVersion}": use --type=merge`)
}
