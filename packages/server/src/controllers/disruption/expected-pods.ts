// How many pods a budget is about: as many as their controllers shall keep, whatever kind those are, as long as it has a scale.

import type { Resource } from '../../api/catalog.js'
import type { ApiObject, OwnerReference } from '../../api/object.js'
import { converting, readyToDecode, shownAs } from '../../verbs/versions.js'
import { resourceOfKind } from '../kit/kinds.js'
import type { LoopParts } from '../kit/loop.js'
import { ownCall } from '../own-call.js'

/** A pod as far as budgets are concerned. */
export interface CountedPod {
  readonly name: string
  /** It was deleted. */
  readonly isGoing: boolean
  readonly isReady: boolean
  readonly controller: OwnerReference | undefined
}

/** Why it cannot be told; the sentence is for users. */
export class ScaleError extends Error {
  override readonly name = 'ScaleError'
}

export interface ExpectedScale {
  readonly count: number
  /** Pods that nobody keeps. */
  readonly unmanaged: readonly string[]
}

/** Each controller is asked once. */
export async function expectedScale(parts: LoopParts, namespace: string, pods: readonly CountedPod[]): Promise<ExpectedScale> {
  const scales = new Map<string, number>()
  const asked = new Set<string>()
  const unmanaged: string[] = []
  for (const { name, controller } of pods) {
    if (controller === undefined) unmanaged.push(name)
    else if (!asked.has(controller.uid ?? '')) {
      asked.add(controller.uid ?? '')
      const found = await scaleOf(parts, namespace, controller)
      if (found === undefined) throw new ScaleError(`found no controllers for pod ${JSON.stringify(name)}`)
      scales.set(found.uid, found.replicas)
    }
  }
  return { count: [...scales.values()].reduce((sum, each) => sum + each, 0), unmanaged }
}

interface Scaled {
  readonly uid: string
  readonly replicas: number
}

/** Of the controller itself, or of the deployment behind a replica set. */
async function scaleOf(parts: LoopParts, namespace: string, reference: OwnerReference): Promise<Scaled | undefined> {
  const { apiVersion = '', kind = '' } = reference
  const resource = resourceOfKind(parts.catalogs.current, apiVersion, kind)
  if (resource === undefined) throw new ScaleError(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
  const object = readOwner(parts, { resource, namespace, reference })
  if (object === undefined) return undefined
  const behind = resource.group === 'apps' && kind === 'ReplicaSet' ? controllerOf(object) : undefined
  if (behind?.kind === 'Deployment') return scaleOf(parts, namespace, behind)
  const call = ownCall(parts.engine, { resource, namespace, name: reference.name ?? '', subresource: 'scale' })
  const { subresource } = call
  if (subresource?.view === undefined) throw new ScaleError(`${whole(resource)} does not implement the scale subresource`)
  const stored = parts.engine.store.read(call)
  if (stored === undefined) return undefined
  await readyToDecode(stored, resource)
  const live = stored.decode(resource)
  const shown = (await converting(call, () => shownAs(call, subresource.shown, live))) as {
    readonly spec?: { readonly replicas?: number }
  }
  return { uid: object.metadata?.uid ?? '', replicas: shown.spec?.replicas ?? 0 }
}

interface Owner {
  readonly resource: Resource
  readonly namespace: string
  readonly reference: OwnerReference
}

/** One of the same name that is another one does not count. */
function readOwner({ engine }: LoopParts, { resource, namespace, reference }: Owner): ApiObject | undefined {
  const object = engine.store.read({ resource, namespace, name: reference.name ?? '' })?.inAnyVersion(resource)
  return object?.metadata?.uid === reference.uid ? object : undefined
}

export const controllerOf = ({ metadata }: ApiObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(({ controller }) => controller === true)

const whole = ({ name, group }: Resource): string => (group === '' ? name : `${name}.${group}`)
