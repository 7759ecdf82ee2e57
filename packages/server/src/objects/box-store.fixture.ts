// A small kind and a store in memory, for the tests of this room.

import { Catalog, type Resource } from '../api/catalog.js'
import { defineResource } from '../api/definition.js'
import { identityOf } from '../api/identity.js'
import { objectMeta } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { wireFormOf } from '../codec/wire-form.js'
import { field, map, string, struct } from '../schema/node.js'
import { openMemoryStorage } from '../storage/memory.js'
import type { ObjectPage } from './list.js'
import { ObjectStore } from './object-store.js'

export interface Box extends ApiObject {
  readonly data?: { readonly [key: string]: string }
  readonly color?: string
}

export const definition = defineResource<Box>({
  group: '',
  kind: 'Box',
  resource: 'boxes',
  namespaced: true,
  versions: [
    {
      name: 'v1',
      schema: struct('Box', { metadata: field(1, objectMeta), color: field(2, string), data: field(3, map(string)) }, { typeMeta: true }),
      stored: true,
    },
  ],
  nameProblems: () => [],
  selectableFields: { color: (box) => box.color ?? '' },
})

export const boxes: Resource = new Catalog({
  identity: identityOf('cluster'),
  definitions: [definition],
  isServed: () => true,
}).all()[0] as Resource

export async function storeOfBoxes(readCacheBytes = 1 << 20): Promise<ObjectStore> {
  const storage = await openMemoryStorage({ clock: systemClock })
  return new ObjectStore({ storage, clock: systemClock, readCacheBytes, eventTtlSeconds: 3600 })
}

export const box = (
  name: string,
  more: { readonly labels?: { readonly [key: string]: string }; readonly color?: string; readonly namespace?: string } = {},
): Box => ({
  metadata: {
    name,
    namespace: more.namespace ?? 'n',
    uid: `uid-${name.length}`,
    creationTimestamp: '2020-01-01T00:00:00Z',
    ...(more.labels === undefined ? {} : { labels: more.labels }),
  },
  ...(more.color === undefined ? {} : { color: more.color }),
})

export async function put(store: ObjectStore, object: Box, expect = 0): Promise<number> {
  const { name = '', namespace = '' } = object.metadata ?? {}
  const outcome = await store.put({ resource: boxes, namespace, name }, store.encode(boxes, object), { expect })
  if (!outcome.ok) throw new Error(`${name} was not written`)
  return outcome.object.revision
}

export const storedJson = wireFormOf(boxes, { format: 'json', pretty: false }, identityOf('cluster'))

/** The slices of a page. */
export function slicesIn({ items }: Pick<ObjectPage, 'items'>): readonly Uint8Array[] {
  const slices: Uint8Array[] = []
  for (let next = items.next(); next !== undefined; next = items.next()) {
    if (next instanceof Promise) throw new Error('nothing of this kind has to be waited for')
    slices.push(next)
  }
  return slices
}
