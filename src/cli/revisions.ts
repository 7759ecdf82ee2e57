// The revisions of a workload: replica sets of a deployment, controller revisions of the others.

import type { DynamicObject } from '../client/objects.js'
import type { PodTemplate, Workload } from './rollout.js'
import type { Session } from './session.js'
import type { Named } from './targets.js'

/** Where nobody said why. */
export const noCause = '<none>'

export interface Revision {
  readonly number: number
  readonly cause: string
  readonly template: PodTemplate
  /** The replica set, or the workload as it was then. */
  readonly object: DynamicObject
}

/** The oldest first. */
export async function revisionsOf({ resource, collection }: Named, live: Workload, session: Session): Promise<readonly Revision[]> {
  const identity = await session.resources.identity()
  const isDeployment = resource.kind === 'Deployment'
  const of = await session.resources.find(isDeployment ? 'replicasets.apps' : 'controllerrevisions.apps')
  const owned: DynamicObject[] = []
  for await (const object of session.client.collection(of, collection.namespace).items())
    if (object.metadata?.ownerReferences?.some(({ uid }) => uid === live.metadata?.uid)) owned.push(object)
  const revisions = owned.map((object): Revision => {
    const annotations = object.metadata?.annotations ?? {}
    const number = isDeployment ? Number(annotations[identity.label('revision', 'deployment')] ?? 0) : Number(object['revision'] ?? 0)
    const data = (object['data'] as { readonly spec?: { readonly template?: PodTemplate } } | undefined)?.spec?.template
    const template = isDeployment ? (object as Workload).spec?.template : withoutDirective(data)
    return {
      number,
      cause: annotations[identity.label('change-cause')] ?? noCause,
      template: template ?? {},
      object: isDeployment ? object : { ...live, spec: { ...live.spec, template: template ?? {} } },
    }
  })
  return revisions.toSorted((a, b) => a.number - b.number)
}

/** Controllers keep a template as a patch that replaces another. */
function withoutDirective(template: (PodTemplate & { readonly $patch?: string }) | undefined): PodTemplate | undefined {
  if (template === undefined) return undefined
  const { $patch: _, ...rest } = template
  return rest
}

/** A label that a controller gives the pods of each revision. */
export function withoutHash(template: PodTemplate): PodTemplate {
  const { 'pod-template-hash': _, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}
