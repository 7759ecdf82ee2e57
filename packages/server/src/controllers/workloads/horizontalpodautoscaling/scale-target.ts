// The scale subresource of the target of an autoscaler.

import { notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Scale } from '@cluster-apiserver/api/resources/autoscaling/v1.schema.js'
import type { CrossVersionObjectReference } from '@cluster-apiserver/api/resources/autoscaling/v2.schema.js'
import { prepareDecode, runWithConversions, toEndpointVersion } from '../../../verbs/version-conversion.js'
import { lastOfKind, resourceOfKind } from '../../framework/find-resource.js'
import { internalCall } from '../../framework/internal-call.js'
import type { WorkloadParts } from '../kit/workload-parts.js'

export interface ScaleTarget {
  readonly resource: Resource
  readonly scale: Scale
}

/** The version of a reference does not matter: any served version of the group will do. */
function* resourcesOfGroup(catalog: Catalog, group: string): Generator<Resource> {
  for (const { resources } of catalog.groups().get(group)?.versions.values() ?? []) yield* resources.values()
}

/** Throws an error with the message of a condition if there is no such kind, object or subresource. */
export async function readScale(
  parts: WorkloadParts,
  namespace: string,
  { apiVersion = '', kind = '', name = '' }: CrossVersionObjectReference,
): Promise<ScaleTarget> {
  const catalog = parts.catalogs.current
  const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))
  const resource = resourceOfKind(catalog, apiVersion, kind) ?? lastOfKind(resourcesOfGroup(catalog, group), apiVersion, kind)
  if (resource === undefined) throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`)
  // Cluster-scoped objects are not in the namespace of the autoscaler: its authors must not scale them.
  if (!resource.namespaced) throw new Error('the server could not find the requested resource')
  const call = internalCall(parts.engine, { resource, namespace, name, subresource: 'scale' })
  const { subresource } = call
  if (subresource?.view === undefined) throw new Error('the server could not find the requested resource')
  const stored = parts.engine.store.read(call)
  if (stored === undefined) throw notFound({ ...resource.subject, resource: `${resource.subject.resource}/scale` }, name)
  await prepareDecode(stored, resource)
  const live = stored.decode(resource)
  return { resource, scale: (await runWithConversions(call, () => toEndpointVersion(call, subresource.shown, live))) as Scale }
}
