// Cached items equal freshly encoded ones: after random writes, in pages, selections, namespaces, at older revisions; with null fields.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { type ObjectEncoding, objectEncodingOf } from '@cluster-apiserver/api/codec/object-encoding.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { box, boxes, bytesOfItems, put, storedJson, storeOfBoxes } from '../box-store.fixture.js'
import { encodeStored, StoredObject } from '../entry/stored-object.js'
import type { ListQuery } from '../list/list-page.js'
import { everything } from '../list/selection.js'
import type { ObjectStore } from '../object-store.js'

const identity = identityOf('cluster')
const protobuf = objectEncodingOf(boxes, { format: 'protobuf', pretty: false }, identity)
const metadata = objectEncodingOf(boxes, { format: 'json', pretty: false, as: { kind: 'PartialObjectMetadata', version: 'v1' } }, identity)
const encodings = [protobuf, metadata, storedJson]

/** Deterministic pseudo-random numbers below a limit. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const encodeFresh = (object: StoredObject, encoding: ObjectEncoding): Uint8Array => new StoredObject(object.entry).encodeItem(encoding)

async function checkList(store: ObjectStore, query: ListQuery): Promise<string | undefined> {
  const page = await store.listPage(query)
  const found = await bytesOfItems(page)
  const { separator } = query.encoding as ObjectEncoding
  const parts: Uint8Array[] = []
  for await (const batch of (await store.listPage({ ...query, encoding: undefined })).batches())
    for (const object of batch) parts.push(separator, encodeFresh(object, query.encoding as ObjectEncoding))
  const expected = Buffer.concat(parts).subarray(separator.length)
  assert.ok(
    found.equals(expected),
    `a list of ${expected.length} bytes differs from freshly encoded items: ${JSON.stringify({ ...query, resource: '', encoding: '' })}`,
  )
  return page.next?.startKey
}

const nameOf = (i: number): string => `b${String(i).padStart(4, '0')}`

async function change(store: ObjectStore, random: (below: number) => number): Promise<void> {
  const [name, namespace] = [nameOf(random(300)), `n${random(3)}`]
  const found = store.read({ resource: boxes, namespace, name })
  if (found !== undefined && random(3) === 0) await store.remove(found)
  else await put(store, box(name, { namespace, color: `color ${random(1000)}`, labels: { group: `g${random(5)}` } }), found?.revision ?? 0)
}

for (const cacheBytes of [0, 5000, 40_000, 1 << 22]) {
  test(`lists with an item cache of ${cacheBytes} bytes equal freshly encoded items`, async () => {
    const random = randomNumbers(cacheBytes + 1)
    const store = await storeOfBoxes(cacheBytes)
    const revisions: number[] = []
    for (let i = 0; i < 400; i++) await change(store, random)
    for (let round = 0; round < 20; round++) {
      for (let i = random(4); i > 0; i--) await change(store, random)
      revisions.push(store.revision)
      const encoding = encodings[random(3)] as ObjectEncoding
      const namespace = random(3) === 0 ? '' : `n${random(3)}`
      const selection = random(3) === 0 ? { labels: compileLabelSelector(`group=g${random(5)}`), fields: undefined } : everything
      const query = { resource: boxes, namespace, selection, encoding, limit: 0 }
      await checkList(store, query)
      const at = revisions[random(revisions.length)] as number
      await checkList(store, { ...query, at })
      const startKey = await checkList(store, { ...query, limit: 1 + random(90) })
      if (startKey !== undefined) await checkList(store, { ...query, limit: 40, startKey })
      const stored = store.read({ resource: boxes, namespace: 'n1', name: nameOf(random(300)) })
      if (stored !== undefined) assert.deepEqual(Buffer.from(stored.item(encoding)), Buffer.from(encodeFresh(stored, encoding)))
      assert.ok(store.cacheBytes <= cacheBytes, `${store.cacheBytes} bytes are kept`)
    }
  })
}

const catalog = new Catalog({ identity, definitions, isServed: () => true })
const template = {
  metadata: { labels: { a: 'b' } },
  spec: { containers: [{ name: 'c', image: '', ports: [{ containerPort: 0 }], resources: {} }] },
}
const condition = { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }

/** Objects with fields that are null in the store, and with zero values. */
const withNulls: readonly { readonly resource: [string, string, string]; readonly fields: object }[] = [
  {
    resource: ['', 'v1', 'pods'],
    fields: { spec: template.spec, status: { conditions: [condition], containerStatuses: [{ name: 'c', ready: false }] } },
  },
  { resource: ['apps', 'v1', 'deployments'], fields: { spec: { replicas: 0, template, selector: {} }, status: {} } },
  { resource: ['batch', 'v1', 'cronjobs'], fields: { spec: { schedule: '', jobTemplate: { spec: { template } } } } },
  { resource: ['', 'v1', 'events'], fields: { reason: '', count: 0, involvedObject: {} } },
  { resource: ['', 'v1', 'secrets'], fields: { data: { a: 'Yg==' } } },
  { resource: ['apps', 'v1', 'controllerrevisions'], fields: { data: { spec: null, metadata: { creationTimestamp: null } }, revision: 0 } },
]

for (const { resource: path, fields } of withNulls) {
  test(`${path[2]} with null fields are encoded as if they were decoded by their schema`, () => {
    const resource = catalog.find(...path)
    assert.ok(resource)
    const value = encodeStored(resource, { metadata: { name: 'a', namespace: 'n', uid: 'u' }, ...fields })
    assert.ok(value.includes(':null'))
    for (const as of [undefined, { kind: 'PartialObjectMetadata', version: 'v1' } as const]) {
      const encoding = objectEncodingOf(resource, { format: 'protobuf', pretty: false, ...(as === undefined ? {} : { as }) }, identity)
      const stored = new StoredObject({ key: 'k', revision: 7, value })
      const encoded = Buffer.from(stored.encodeItem(encoding))
      assert.deepEqual(encoded, Buffer.from(encoding.item(stored.decode(resource))))
    }
  })
}
