// What was written is kept in an annotation, as kubectl keeps it: a later `kubectl apply` takes from there what it wrote itself.

import type { DynamicObject } from '../client/objects.js'
import type { FlagSpec } from './flags.js'
import { goJson } from './output/documents.js'
import type { Session } from './session.js'

export const saveConfigFlag = {
  kind: 'switch',
  help: 'keep what was written in an annotation, from which "kubectl apply" goes on',
} as const satisfies FlagSpec

/** Of an object that has the annotation it is written anew, asked for or not. */
export async function withSavedConfig(object: DynamicObject, isAsked: boolean, session: Session): Promise<DynamicObject> {
  const present = object.metadata?.annotations
  if (!isAsked && present === undefined) return object
  const annotation = (await session.resources.identity()).label('last-applied-configuration', 'kubectl')
  if (!isAsked && present?.[annotation] === undefined) return object
  const { [annotation]: _, ...annotations } = present ?? {}
  const written = `${goJson({ ...object, metadata: { ...object.metadata, annotations } })}\n`
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [annotation]: written } } }
}
