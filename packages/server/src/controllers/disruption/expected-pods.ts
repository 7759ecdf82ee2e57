// Number of pods that a PodDisruptionBudget expects: the sum of the scales of the pods' controllers.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject, OwnerReference } from '@cluster-apiserver/api/api/object.js'
import { prepareDecode, runWithConversions, toEndpointVersion } from '../../verbs/version-conversion.js'
import type { ControllerParts } from '../framework/controller.js'
import { resourceOfKind } from '../framework/find-resource.js'
import { internalCall } from '../framework/internal-call.js'

export interface CountedPod {
  readonly name: string
  readonly created: string | undefined
  readonly isTerminating: boolean
  /** True with the condition that an eviction sets before it deletes the pod. */
  readonly isDisruptionTarget: boolean
  readonly isReady: boolean
  readonly controller: OwnerReference | undefined
}

export class ScaleError extends Error {
  override readonly name = 'ScaleError'
}

interface ExpectedScale {
  readonly count: number
  readonly unmanaged: readonly string[]
}

export async function expectedScale(parts: ControllerParts, namespace: string, pods: readonly CountedPod[]): Promise<ExpectedScale> {
  const scales = new Map<string, number>()
  const seenUids = new Set<string>()
  const unmanaged: string[] = []
  for (const { name, controller } of pods) {
    if (controller === undefined) unmanaged.push(name)
    else if (!seenUids.has(controller.uid ?? '')) {
      seenUids.add(controller.uid ?? '')
      const found = await scaleOf(parts, namespace, controller)
      if (found === undefined) throw new ScaleError(`found no controllers for pod ${JSON.stringify(name)}`)
      scales.set(found.uid, found.replicas)
    }
  }
  return { count: [...scales.values()].reduce((sum, each) => sum + each, 0), unmanaged }
}

interface Scale {
  readonly uid: string
  readonly replicas: number
}

async function scaleOf(parts: ControllerParts, namespace: string, reference: OwnerReference): Promise<Scale | undefined> {
  const { apiVersion = '', kind = '' } = reference
  const resource = resourceOfKind(parts.catalogs.current, apiVersion, kind)
  if (resource === undefined) throw new ScaleError(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
  const object = readOwner(parts, { resource, namespace, reference })
  if (object === undefined) return undefined
  const deployment = resource.group === 'apps' && kind === 'ReplicaSet' ? controllerOf(object) : undefined
  if (deployment?.kind === 'Deployment') return scaleOf(parts, namespace, deployment)
  const call = internalCall(parts.engine, { resource, namespace, name: reference.name ?? '', subresource: 'scale' })
  const { subresource } = call
  if (subresource?.view === undefined) throw new ScaleError(`${fullName(resource)} does not implement the scale subresource`)
  const stored = parts.engine.store.read(call)
  if (stored === undefined) return undefined
  await prepareDecode(stored, resource)
  const live = stored.decode(resource)
  const shown = (await runWithConversions(call, () => toEndpointVersion(call, subresource.shown, live))) as {
    readonly spec?: { readonly replicas?: number }
  }
  return { uid: object.metadata?.uid ?? '', replicas: shown.spec?.replicas ?? 0 }
}

interface Owner {
  readonly resource: Resource
  readonly namespace: string
  readonly reference: OwnerReference
}

/** Undefined if the object has another uid. */
function readOwner({ engine }: ControllerParts, { resource, namespace, reference }: Owner): ApiObject | undefined {
  const object = engine.store.read({ resource, namespace, name: reference.name ?? '' })?.inAnyVersion(resource)
  return object?.metadata?.uid === reference.uid ? object : undefined
}

export const controllerOf = ({ metadata }: ApiObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(({ controller }) => controller === true)

const fullName = ({ name, group }: Resource): string => (group === '' ? name : `${name}.${group}`)
