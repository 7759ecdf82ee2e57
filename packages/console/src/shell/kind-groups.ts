// Kinds by their API group, in the order of the navigation.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { ServedResource } from '@cluster-apiserver/client/browser.js'

/** The kinds one of whose names contains the filter. */
export function groupKinds(
  resources: readonly ServedResource[],
  filter: string,
): readonly (readonly [group: string, kinds: readonly ServedResource[]])[] {
  const word = filter.trim().toLowerCase()
  const groups = new Map<string, ServedResource[]>()
  for (const resource of resources) {
    const names = [resource.kind, resource.resource, resource.group, ...resource.shortNames]
    if (!names.some((name) => name.toLowerCase().includes(word))) continue
    const kinds = groups.get(resource.group)
    if (kinds === undefined) groups.set(resource.group, [resource])
    else kinds.push(resource)
  }
  return [...groups]
    .map(([group, kinds]) => [group, kinds.sort((a, b) => compareText(a.kind, b.kind))] as const)
    .sort(([a], [b]) => rankOf(a) - rankOf(b) || compareText(a, b))
}

/** Core kinds and workloads first. */
const rankOf = (group: string): number => (group === '' ? 0 : group === 'apps' ? 1 : group === 'batch' ? 2 : 3)
