// Converts stored objects by webhook before they are decoded or encoded: one call per source version.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { StoredObject } from './stored-object.js'

export async function convertAhead(
  objects: Iterable<StoredObject>,
  resource: Resource,
  to = resource.conversion?.version,
  budget = turnBudget,
): Promise<void> {
  const { conversion } = resource
  if (conversion === undefined || to === undefined) return
  const objectsBySourceVersion = new Map<string, StoredObject[]>()
  for (const object of objects) {
    if (!object.isAvailableIn(resource, to)) getOrInsert(objectsBySourceVersion, object.writtenVersion(resource), () => []).push(object)
  }
  for (const [from, group] of objectsBySourceVersion) {
    const parsed: ApiObject[] = []
    for (const object of group) {
      parsed.push(object.decodeAsWritten(resource))
      if (budget.isSpent) await budget.nextTurn()
    }
    const converted = await conversion.convert(parsed, { from, to })
    for (const [i, object] of group.entries()) object.cacheConversion(conversion.convert, to, converted[i] ?? {})
  }
}
