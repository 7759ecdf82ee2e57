// Lists the stored objects of a resource page by page, yielding to the event loop in between; pages may differ in revision.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import { everything } from '../../objects/list/selection.js'
import { keyAfter } from '../../objects/object-keys.js'
import type { ObjectStore } from '../../objects/object-store.js'

export interface Range {
  readonly resource: Resource
  /** Empty: all namespaces. */
  readonly namespace: string
}

const maxPageObjects = 256
const maxPageBytes = 1 << 20

/** Objects that change meanwhile may be missing: controllers watch as well. */
export async function* pagesOf(store: ObjectStore, range: Range, budget: TurnBudget): AsyncGenerator<readonly StoredObject[]> {
  let startKey: string | undefined
  for (;;) {
    const { objects, isLast } = readPage(store, range, startKey)
    const last = objects.at(-1)
    if (last === undefined) return
    yield objects
    if (isLast) return
    startKey = keyAfter(last.key)
    await budget.yieldIfSpent()
  }
}

interface Page {
  readonly objects: readonly StoredObject[]
  readonly isLast: boolean
}

function readPage(store: ObjectStore, { resource, namespace }: Range, startKey: string | undefined): Page {
  const from = startKey === undefined ? {} : { startKey }
  const objects: StoredObject[] = []
  let bytes = 0
  for (const object of store.readAll({ resource, namespace, selection: everything, limit: 0, ...from }).objects()) {
    objects.push(object)
    bytes += object.size
    if (objects.length >= maxPageObjects || bytes >= maxPageBytes) return { objects, isLast: false }
  }
  return { objects, isLast: true }
}
