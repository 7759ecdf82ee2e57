// A kind whose storage version changes: what was written before is read as what is written now, in every form, and the next write rewrites it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog, type Resource } from '../api/catalog.js'
import { defineResource } from '../api/definition.js'
import { parseFieldSelector } from '../api/field-selector.js'
import { identityOf } from '../api/identity.js'
import { compileLabelSelector } from '../api/label-selector.js'
import { objectMeta } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { wireFormOf } from '../codec/wire-form.js'
import { field, string, struct } from '../schema/node.js'
import { apiVersionOf, bytesOf } from './entry-header.js'
import { box, slicesIn, storeOfBoxes } from './fixture.js'
import type { ObjectStore } from './object-store.js'
import { everything, matcherOf } from './selection.js'
import type { WatchEvent } from './watch-events.js'

interface First extends ApiObject {
  readonly color?: string
}
interface Second extends ApiObject {
  readonly paint?: string
}

const first = struct('Box', { metadata: field(1, objectMeta), color: field(2, string) }, { typeMeta: true })
const second = struct('Box', { metadata: field(1, objectMeta), paint: field(2, string) }, { typeMeta: true })
const toFirst = ({ paint, ...rest }: Second): First => ({ ...rest, ...(paint === undefined ? {} : { color: paint }) })
const toSecond = ({ color, ...rest }: First): Second => ({ ...rest, ...(color === undefined ? {} : { paint: color }) })

const identity = identityOf('cluster')

function versionsOf(stored: 'v1' | 'v2'): { readonly v1: Resource; readonly v2: Resource } {
  const versions = [
    { name: 'v1', schema: first, ...(stored === 'v1' ? { stored: true } : { toStored: toSecond, fromStored: toFirst }) },
    { name: 'v2', schema: second, ...(stored === 'v2' ? { stored: true } : { toStored: toFirst, fromStored: toSecond }) },
  ]
  const definition = defineResource({
    group: '',
    kind: 'Box',
    resource: 'boxes',
    namespaced: true,
    versions,
    nameProblems: () => [],
    selectableFields:
      stored === 'v1' ? { color: (object: First) => object.color ?? '' } : { paint: (object: Second) => object.paint ?? '' },
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

const json = (resource: Resource) => wireFormOf(resource, { format: 'json', pretty: false }, identity)

function listed(store: ObjectStore, resource: Resource, selection = everything): readonly Record<string, unknown>[] {
  const page = store.list({ resource, namespace: 'n', selection, limit: 0, form: json(resource) })
  return JSON.parse(`[${Buffer.concat(slicesIn(page)).toString()}]`)
}

const read = (store: ObjectStore, resource: Resource, name: string) => store.read({ resource, namespace: 'n', name })

test('objects of both versions are shown alike, by GET, lists, selections and watches', async () => {
  const store = await storeOfBoxes()
  const revision = await write(store, before.v1, box('a', { color: 'red', labels: { l: '1' } }))
  assert.equal(listed(store, before.v1)[0]?.['color'], 'red')
  await write(store, after.v2, { ...box('b', { labels: { l: '1' } }), ...{ paint: 'red' } })
  assert.deepEqual(
    ['a', 'b'].map((name) => apiVersionOf(bytesOf(read(store, after.v2, name)?.entry as { value: Buffer }))),
    ['v1', 'v2'],
  )
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(
      listed(store, after.v2).map(({ paint, color }) => [paint, color]),
      [
        ['red', undefined],
        ['red', undefined],
      ],
    )
    assert.deepEqual(
      listed(store, after.v1).map(({ paint, color }) => [paint, color]),
      [
        [undefined, 'red'],
        [undefined, 'red'],
      ],
    )
  }
  const shown = JSON.parse(Buffer.from(json(after.v2).object(read(store, after.v2, 'a') as never)).toString())
  assert.deepEqual([shown.paint, shown.color, shown.metadata.resourceVersion], ['red', undefined, String(revision)])
  const byField = { labels: undefined, fields: parseFieldSelector('paint=red') }
  assert.equal(listed(store, after.v2, byField).length, 2)
  assert.equal(listed(store, after.v2, { ...byField, fields: parseFieldSelector('paint=blue') }).length, 0)
  assert.equal(listed(store, after.v2, { labels: compileLabelSelector('l=1'), fields: undefined }).length, 2)
  const protobuf = wireFormOf(after.v2, { format: 'protobuf', pretty: false }, identity)
  const [one, other] = ['a', 'b'].map((name) =>
    Buffer.from((read(store, after.v2, name) as never as { item(f: unknown): Uint8Array }).item(protobuf)),
  )
  assert.ok(one?.includes('red') && other?.includes('red'))
  store.close()
})

test('a watch shows what goes in the version that is stored now, and the next write rewrites', async () => {
  const store = await storeOfBoxes()
  const revision = await write(store, before.v1, box('a', { color: 'red' }))
  const seen: string[] = []
  const selection = { labels: undefined, fields: parseFieldSelector('paint=red') }
  const deliver = (event: WatchEvent): void => void seen.push(Buffer.from(event.frame(json(after.v2))).toString())
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
    seen.map((frame) => JSON.parse(frame)).map(({ type, object: { metadata, paint } }) => `${type} ${metadata.name} ${paint}`),
    ['MODIFIED a red', 'ADDED c red', 'DELETED a red'],
  )
  stop()
  store.close()
})
