// A small kind, Box, and an in-memory store of it, for tests.

import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { defineResource } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { objectMeta } from '@cluster-apiserver/api/api/meta.schema.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { objectEncodingOf } from '@cluster-apiserver/api/codec/object-encoding.js'
import { field, map, string, struct } from '@cluster-apiserver/api/schema/node.js'
import { openMemoryStorage } from '../storage/memory/memory-storage.js'
import type { ListPage } from './list/list-page.js'
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

export async function storeOfBoxes(readCacheBytes = 1 << 20, processes = 1): Promise<ObjectStore> {
  const storage = await openMemoryStorage({ clock: systemClock })
  return new ObjectStore({ storage, clock: systemClock, readCacheBytes, eventTtlSeconds: 3600, processes })
}

export const box = (
  name: string,
  fields: { readonly labels?: { readonly [key: string]: string }; readonly color?: string; readonly namespace?: string } = {},
): Box => ({
  metadata: {
    name,
    namespace: fields.namespace ?? 'n',
    uid: `uid-${name.length}`,
    creationTimestamp: '2020-01-01T00:00:00Z',
    ...(fields.labels === undefined ? {} : { labels: fields.labels }),
  },
  ...(fields.color === undefined ? {} : { color: fields.color }),
})

export async function put(store: ObjectStore, object: Box, expect = 0): Promise<number> {
  const { name = '', namespace = '' } = object.metadata ?? {}
  const outcome = await store.put({ resource: boxes, namespace, name }, store.encode(boxes, object), { expect })
  if (!outcome.ok) throw new Error(`${name} was not written`)
  return outcome.object.revision
}

export const storedJson = objectEncodingOf(boxes, { format: 'json', pretty: false }, identityOf('cluster'))

export async function bytesOfItems({ items }: Pick<ListPage, 'items'>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of items) chunks.push(chunk)
  return Buffer.concat(chunks)
}
