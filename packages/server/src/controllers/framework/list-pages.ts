// What is stored of a kind, read page by page with pauses: for loops, which need no common revision and must not hold the event loop.

import type { Resource } from '../../api/catalog.js'
import type { PieceClock } from '../../base/pieces.js'
import { keyAfter } from '../../objects/keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { StoredObject } from '../../objects/stored-object.js'

export interface Range {
  readonly resource: Resource
  /** Empty: all namespaces. */
  readonly namespace: string
}

const pageObjects = 256
const pageBytes = 1 << 20

/** Each page as it is when it is read. What comes or goes meanwhile may be seen or not: a loop watches, too. */
export async function* pagesOf(store: ObjectStore, range: Range, pieces: PieceClock): AsyncGenerator<readonly StoredObject[]> {
  let startKey: string | undefined
  for (;;) {
    const { objects, isLast } = readPage(store, range, startKey)
    const last = objects.at(-1)
    if (last === undefined) return
    yield objects
    if (isLast) return
    startKey = keyAfter(last.key)
    if (pieces.isOver) await pieces.next()
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
  for (const object of store.list({ resource, namespace, selection: everything, limit: 0, ...from }).objects()) {
    objects.push(object)
    bytes += object.size
    if (objects.length >= pageObjects || bytes >= pageBytes) return { objects, isLast: false }
  }
  return { objects, isLast: true }
}
