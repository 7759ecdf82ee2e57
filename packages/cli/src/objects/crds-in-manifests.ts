// Manifests with CRDs and their custom resources: resources are known from the CRD, and commands wait until the CRD is established.

import type { ServedResource } from '@cluster-apiserver/client/discovery.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { apiVersionOf } from '@cluster-apiserver/client/requests/resource-ref.js'
import type { NamedObject } from './named-object.js'
import { type WaitOptions, waitUntil } from './wait-until.js'

interface CrdSpec {
  readonly group?: string
  readonly scope?: string
  readonly names?: { readonly kind?: string; readonly plural?: string; readonly singular?: string }
  readonly versions?: readonly { readonly name?: string; readonly subresources?: { readonly scale?: object; readonly status?: object } }[]
}

const crdKind = 'CustomResourceDefinition'
const establishTimeoutMs = 10_000

export function resourcesOfCrds(objects: readonly DynamicObject[]): ReadonlyMap<string, ServedResource> {
  const kinds = new Map<string, ServedResource>()
  for (const object of objects) {
    if (object.kind !== crdKind) continue
    const { group = '', scope, names = {}, versions = [] } = (object['spec'] ?? {}) as CrdSpec
    for (const { name: version = '', subresources = {} } of versions) {
      kinds.set(`${apiVersionOf(group, version)} ${names.kind}`, {
        group,
        version,
        resource: names.plural ?? '',
        kind: names.kind ?? '',
        namespaced: scope === 'Namespaced',
        singular: names.singular ?? (names.kind ?? '').toLowerCase(),
        verbs: [],
        shortNames: [],
        categories: [],
        isPreferred: true,
        subresources: Object.keys(subresources).map((name) => ({ name, kind: '', verbs: [] })),
      })
    }
  }
  return kinds
}

export function inCreationOrder(objects: readonly DynamicObject[]): readonly DynamicObject[] {
  const rank = ({ kind }: DynamicObject): number => (kind === 'Namespace' ? 0 : kind === crdKind ? 1 : 2)
  return objects.toSorted((a, b) => rank(a) - rank(b))
}

export async function waitUntilEstablished(target: NamedObject, options: Omit<WaitOptions, 'deadline'>): Promise<void> {
  if (target.resource.kind !== crdKind) return
  const isEstablished = (object: DynamicObject | undefined): boolean => {
    const status = object?.['status'] as
      | { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null }
      | undefined
    return (status?.conditions ?? []).some((condition) => condition.type === 'Established' && condition.status === 'True')
  }
  await waitUntil(target, isEstablished, { ...options, deadline: Date.now() + establishTimeoutMs })
}
