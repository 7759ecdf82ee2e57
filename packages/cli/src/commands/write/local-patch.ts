// `patch --local`: applies a patch to an object of a file.

import { jsonPatch } from '@cluster-apiserver/api/patch/json-patch/json-patch.js'
import { mergePatch } from '@cluster-apiserver/api/patch/merge-patch.js'
import { PatchError } from '@cluster-apiserver/api/patch/patch-error.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import type { PatchType } from '@cluster-apiserver/client/requests/request-options.js'
import { apiVersionOf } from '@cluster-apiserver/client/requests/resource-ref.js'
import { CommandError } from '../../command-line/errors.js'

export async function patchLocally(object: DynamicObject, patch: object, type: PatchType): Promise<DynamicObject> {
  try {
    if (type === 'json') return jsonPatch(object as never, patch) as DynamicObject
    if (type === 'merge') return mergePatch(object as never, patch as never) as DynamicObject
    return await mergeByKind(object, patch)
  } catch (thrown) {
    throw thrown instanceof PatchError ? new CommandError(thrown.message) : thrown
  }
}

async function mergeByKind(object: DynamicObject, patch: object): Promise<DynamicObject> {
  const [{ definitions }, { Catalog }, { identityNames, identityOf }, { strategicMergePatch }] = await Promise.all([
    import('@cluster-apiserver/api/resources/index.js'),
    import('@cluster-apiserver/api/api/catalog/catalog.js'),
    import('@cluster-apiserver/api/api/identity.js'),
    import('@cluster-apiserver/api/patch/strategic-merge-patch/strategic-merge-patch.js'),
  ])
  for (const name of identityNames) {
    const catalog = new Catalog({ identity: identityOf(name), definitions, isServed: () => true })
    const found = catalog
      .all()
      .find(({ group, version, kind }) => kind === object.kind && apiVersionOf(group, version) === object.apiVersion)
    if (found !== undefined) return strategicMergePatch(object, patch, found.schema) as DynamicObject
  }
  throw new CommandError(`no kind "${object.kind}" is registered for version "${object.apiVersion}": use --type=merge`)
}
