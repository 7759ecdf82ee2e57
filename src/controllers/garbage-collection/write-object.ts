// What the collector writes: deletions, and patches of references and finalizers alone, if the object is as it was seen; wherever it lies.

import type { OwnerReference } from '../../api/object.js'
import { patchOwn, removeOwn } from '../own-write.js'
import type { Dependent, Graph } from './graph.js'

export interface Removal {
  readonly uid: string
  readonly revision: number | string
  readonly policy: 'Orphan' | 'Foreground' | 'Background'
}

/** Throws a conflict where the object is another one by now, or has changed. */
export async function removeAsFound(
  { engine, run, remotes }: Graph,
  object: Dependent,
  { uid, revision, policy: propagationPolicy }: Removal,
): Promise<void> {
  if (run.signal.aborted) return
  const options = { preconditions: { uid, resourceVersion: String(revision) }, propagationPolicy }
  if (object.resource === undefined) await remotes?.client.remove(object, { kind: 'DeleteOptions', apiVersion: 'v1', ...options })
  else await removeOwn(engine, { ...object, options, signal: run.signal })
}

export interface MetadataChange {
  readonly uid: string
  readonly revision: number | string
  readonly changes: { readonly ownerReferences: readonly OwnerReference[] } | { readonly finalizers: readonly string[] }
}

/** The same. */
export async function patchMetadata(
  { engine, run, remotes }: Graph,
  object: Dependent,
  { uid, revision, changes }: MetadataChange,
): Promise<{ readonly revision: number | string }> {
  const change = { metadata: { uid, resourceVersion: String(revision), ...changes } }
  if (object.resource === undefined) return (await remotes?.patch(object, change)) ?? { revision }
  return { revision: (await patchOwn(engine, { ...object, signal: run.signal }, change)) ?? revision }
}
