// A kind whose storage version changes: older entries are converted when they are read, and rewritten by the next write.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { defineResource } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { objectMeta } from '@cluster-apiserver/api/api/meta.schema.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { parseFieldSelector } from '@cluster-apiserver/api/api/selectors/field-selector.js'
import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { objectEncodingOf } from '@cluster-apiserver/api/codec/object-encoding.js'
import { field, string, struct } from '@cluster-apiserver/api/schema/node.js'
import { box, bytesOfItems, storeOfBoxes } from '../box-store.fixture.js'
import { everything, matcherOf } from '../list/selection.js'
import type { ObjectStore } from '../object-store.js'
import type { WatchEvent } from '../watch/watch-events.js'
import { apiVersionOf, bytesOf } from './entry-header.js'
import type { StoredObject } from './stored-object.js'

interface BoxV1 extends ApiObject {
  readonly color?: string
}
interface BoxV2 extends ApiObject {
  readonly paint?: string
}

const v1Schema = struct('Box', { metadata: field(1, objectMeta), color: field(2, string) }, { typeMeta: true })
const v2Schema = struct('Box', { metadata: field(1, objectMeta), paint: field(2, string) }, { typeMeta: true })
const toV1 = ({ paint, ...rest }: BoxV2): BoxV1 => ({ ...rest, ...(paint === undefined ? {} : { color: paint }) })
const toV2 = ({ color, ...rest }: BoxV1): BoxV2 => ({ ...rest, ...(color === undefined ? {} : { paint: color }) })

const identity = identityOf('cluster')

function versionsOf(stored: 'v1' | 'v2'): { readonly v1: Resource; readonly v2: Resource } {
  const versions = [
    { name: 'v1', schema: v1Schema, ...(stored === 'v1' ? { stored: true } : { toStored: toV2, fromStored: toV1 }) },
    { name: 'v2', schema: v2Schema, ...(stored === 'v2' ? { stored: true } : { toStored: toV1, fromStored: toV2 }) },
  ]
  const definition = defineResource({
    group: '',
    kind: 'Box',
    resource: 'boxes',
    namespaced: true,
    versions,
    nameProblems: () => [],
    selectableFields: stored === 'v1' ? { color: (object: BoxV1) => object.color ?? '' } : { paint: (object: BoxV2) => object.paint ?? '' },
  })
  const catalog = new Catalog({ identity, definitions: [definition], isServed: () => true })
  const find = (version: string): Resource => catalog.find('', version, 'boxes') as Resource
  return { v1: find('v1'), v2: find('v2') }
}

const [before, after] = [versionsOf('v1'), versionsOf('v2')]

async function write(store: ObjectStore, resource: Resource, object: ApiObject, expect = 0): Promise<number> {
  const { name = '', namespace = '' } = object.metadata ?? {}
  const outcome = await store.put({ resource, namespace, name }, store.encode(resource, object), { expect })
  assert.ok(outcome.ok)
  return outcome.object.revision
}

const json = (resource: Resource) => objectEncodingOf(resource, { format: 'json', pretty: false }, identity)

async function listed(store: ObjectStore, resource: Resource, selection = everything): Promise<readonly Record<string, unknown>[]> {
  const page = await store.listPage({ resource, namespace: 'n', selection, limit: 0, encoding: json(resource) })
  return JSON.parse(`[${await bytesOfItems(page)}]`)
}

const read = (store: ObjectStore, resource: Resource, name: string) => store.read({ resource, namespace: 'n', name })

test('GET, LIST, selectors and WATCH return objects of both versions alike', async () => {
  const store = await storeOfBoxes()
  const revision = await write(store, before.v1, box('a', { color: 'red', labels: { l: '1' } }))
  assert.equal((await listed(store, before.v1))[0]?.['color'], 'red')
  await write(store, after.v2, { ...box('b', { labels: { l: '1' } }), ...{ paint: 'red' } })
  assert.deepEqual(
    ['a', 'b'].map((name) => apiVersionOf(bytesOf(read(store, after.v2, name)?.entry as { value: Buffer }))),
    ['v1', 'v2'],
  )
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(
      (await listed(store, after.v2)).map(({ paint, color }) => [paint, color]),
      [
        ['red', undefined],
        ['red', undefined],
      ],
    )
    assert.deepEqual(
      (await listed(store, after.v1)).map(({ paint, color }) => [paint, color]),
      [
        [undefined, 'red'],
        [undefined, 'red'],
      ],
    )
  }
  const encoded = JSON.parse(Buffer.from(json(after.v2).object(read(store, after.v2, 'a') as never)).toString())
  assert.deepEqual([encoded.paint, encoded.color, encoded.metadata.resourceVersion], ['red', undefined, String(revision)])
  const byField = { labels: undefined, fields: parseFieldSelector('paint=red') }
  assert.equal((await listed(store, after.v2, byField)).length, 2)
  assert.equal((await listed(store, after.v2, { ...byField, fields: parseFieldSelector('paint=blue') })).length, 0)
  assert.equal((await listed(store, after.v2, { labels: compileLabelSelector('l=1'), fields: undefined })).length, 2)
  const protobuf = objectEncodingOf(after.v2, { format: 'protobuf', pretty: false }, identity)
  const [first, second] = ['a', 'b'].map((name) =>
    Buffer.from((read(store, after.v2, name) as never as { item(f: unknown): Uint8Array }).item(protobuf)),
  )
  assert.ok(first?.includes('red') && second?.includes('red'))
  store.close()
})

test('an object that could not be converted is not read in its former version afterwards', async () => {
  const store = await storeOfBoxes()
  await write(store, before.v1, box('a', { color: 'red' }))
  const stored = read(store, before.v1, 'a') as StoredObject
  assert.equal((stored.decode(before.v1) as BoxV1).color, 'red')
  const conversion = { version: 'v2', convert: async () => [] }
  const converted = { ...after.v2, conversion }
  assert.throws(() => stored.decode(converted), /was not converted to v2/)
  stored.cacheConversion(conversion.convert, 'v2', toV2(stored.decodeAsWritten(converted)))
  const { paint, color } = stored.decode(converted) as BoxV1 & BoxV2
  assert.deepEqual([paint, color], ['red', undefined])
  store.close()
})

test('a watch sends deleted objects in the storage version, and the next write rewrites entries', async () => {
  const store = await storeOfBoxes()
  const revision = await write(store, before.v1, box('a', { color: 'red' }))
  const frames: string[] = []
  const selection = { labels: undefined, fields: parseFieldSelector('paint=red') }
  const deliver = (event: WatchEvent): void => void frames.push(Buffer.from(event.frame(json(after.v2))).toString())
  const stop = store.watch({ resource: after.v2, namespace: '', matches: matcherOf(after.v2, selection), deliver })
  const stored = read(store, after.v2, 'a')
  const object = stored?.decode(after.v2) as ApiObject
  const value = store.encode(after.v2, object)
  assert.ok(
    !value.equals(stored?.entry.value ?? Buffer.alloc(0)),
    'a write that changes nothing of the object writes it in the new version',
  )
  await write(store, after.v2, object, revision)
  assert.equal(apiVersionOf(bytesOf(read(store, after.v2, 'a')?.entry as { value: Buffer })), 'v2')
  await write(store, before.v1, box('c', { color: 'red' }))
  await write(store, after.v2, { ...object, ...{ paint: 'blue' } }, store.revision - 1)
  assert.deepEqual(
    frames.map((frame) => JSON.parse(frame)).map(({ type, object: { metadata, paint } }) => `${type} ${metadata.name} ${paint}`),
    ['MODIFIED a red', 'ADDED c red', 'DELETED a red'],
  )
  stop()
  store.close()
})
