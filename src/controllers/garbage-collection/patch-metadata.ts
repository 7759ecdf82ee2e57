// References and finalizers are changed by a patch of those fields alone, if the object is as it was seen.

import type { OwnerReference } from '../../api/object.js'
import { patch } from '../../verbs/patch.js'
import { ownCall } from '../own-call.js'
import type { Dependent, Graph } from './graph.js'

export interface MetadataChange {
  readonly uid: string
  readonly revision: number
  readonly changes: { readonly ownerReferences: readonly OwnerReference[] } | { readonly finalizers: readonly string[] }
}

/** Throws a conflict where the object is another one by now, or has changed. */
export async function patchMetadata(
  { engine, run }: Graph,
  place: Dependent,
  { uid, revision, changes }: MetadataChange,
): Promise<{ readonly revision: number }> {
  const { result } = await patch(engine, ownCall(engine, { ...place, signal: run.signal }), {
    type: 'merge',
    patch: { metadata: { uid, resourceVersion: String(revision), ...changes } },
    duplicates: [],
  })
  return { revision: result.stored?.revision ?? revision }
}
