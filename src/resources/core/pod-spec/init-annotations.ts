// Annotations that described init containers before there were fields for them: they are dropped wherever they come in.

import type { Identity } from '../../../api/identity.js'
import type { ObjectMeta } from '../../../api/object.js'
import { onceFor } from '../../../base/once-for.js'

const namesOf = onceFor((identity: Identity): readonly string[] =>
  ['alpha', 'beta'].flatMap((stage) => ['init-containers', 'init-container-statuses'].map((name) => identity.label(name, `pod.${stage}`))),
)

/** A pod, or a template of one, without them; the same where it has none. */
export function withoutInitAnnotations<T extends { readonly metadata?: ObjectMeta }>(object: T, identity: Identity): T {
  const annotations = object.metadata?.annotations
  if (annotations === undefined || !namesOf(identity).some((name) => annotations[name] !== undefined)) return object
  const { annotations: _, ...rest } = object.metadata ?? {}
  const kept = Object.fromEntries(Object.entries(annotations).filter(([name]) => !namesOf(identity).includes(name)))
  return { ...object, metadata: Object.keys(kept).length === 0 ? rest : { ...rest, annotations: kept } }
}
