// Annotation last-applied-configuration, from which `kubectl apply` computes its three-way merge.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import type { FlagSpec } from '../command-line/flags.js'
import type { Session } from '../command-line/session.js'
import { goJson } from '../output/documents.js'

export const saveConfigFlag = {
  kind: 'switch',
  help: 'set the annotation last-applied-configuration for "kubectl apply"',
} as const satisfies FlagSpec

/** Sets the annotation if it is requested or if the object already has it. */
export async function withLastApplied(object: DynamicObject, isRequested: boolean, session: Session): Promise<DynamicObject> {
  const existing = object.metadata?.annotations
  if (!isRequested && existing === undefined) return object
  const annotation = (await session.resources.identity()).label('last-applied-configuration', 'kubectl')
  if (!isRequested && existing?.[annotation] === undefined) return object
  const { [annotation]: _, ...annotations } = existing ?? {}
  const configuration = `${goJson({ ...object, metadata: { ...object.metadata, annotations } })}\n`
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [annotation]: configuration } } }
}
