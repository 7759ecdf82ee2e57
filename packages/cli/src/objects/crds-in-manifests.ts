// Files that hold definitions of custom kinds beside objects of them: the kinds are known before the server serves them, and waited for.

import type { ServedResource } from '../client/discovery.js'
import type { DynamicObject } from '../client/objects.js'
import { apiVersionOf } from '../client/resource-ref.js'
import type { Named } from './targets.js'
import { type Waiting, waitUntil } from './until.js'

interface Definition {
  readonly group?: string
  readonly scope?: string
  readonly names?: { readonly kind?: string; readonly plural?: string; readonly singular?: string }
  readonly versions?: readonly { readonly name?: string; readonly subresources?: { readonly scale?: object; readonly status?: object } }[]
}

const definitionKind = 'CustomResourceDefinition'
/** How long a definition may take until its kind is served. */
const patienceMs = 10_000

/** The kinds that these objects define, by apiVersion and kind. */
export function definedKinds(objects: readonly DynamicObject[]): ReadonlyMap<string, ServedResource> {
  const kinds = new Map<string, ServedResource>()
  for (const object of objects) {
    if (object.kind !== definitionKind) continue
    const { group = '', scope, names = {}, versions = [] } = (object['spec'] ?? {}) as Definition
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

/** Namespaces and definitions first, the rest in the order of the files. */
export function inUsableOrder(objects: readonly DynamicObject[]): readonly DynamicObject[] {
  const rank = ({ kind }: DynamicObject): number => (kind === 'Namespace' ? 0 : kind === definitionKind ? 1 : 2)
  return objects.toSorted((a, b) => rank(a) - rank(b))
}

/** Resolves at once for everything that is no definition. */
export async function waitUntilServed(named: Named, waiting: Omit<Waiting, 'deadline'>): Promise<void> {
  if (named.resource.kind !== definitionKind) return
  const isServed = (object: DynamicObject | undefined): boolean => {
    const status = object?.['status'] as
      | { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null }
      | undefined
    return (status?.conditions ?? []).some((one) => one.type === 'Established' && one.status === 'True')
  }
  await waitUntil(named, isServed, { ...waiting, deadline: Date.now() + patienceMs })
}
