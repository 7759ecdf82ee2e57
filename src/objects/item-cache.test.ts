// What is kept in other forms is what would be made anew: after any writes, in pages, selections, namespaces and at past revisions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog } from '../api/catalog.js'
import { parseFieldSelector } from '../api/field-selector.js'
import { identityOf } from '../api/identity.js'
import { compileLabelSelector } from '../api/label-selector.js'
import { type WireForm, wireFormOf } from '../codec/wire-form.js'
import { definitions } from '../resources/index.js'
import { box, boxes, put, slicesIn, storedJson, storeOfBoxes } from './fixture.js'
import type { ListQuery } from './list.js'
import type { ObjectStore } from './object-store.js'
import { everything } from './selection.js'
import { encodeStored, StoredObject } from './stored-object.js'
import type { WatchEvent } from './watch-events.js'

const identity = identityOf('cluster')
const protobuf = wireFormOf(boxes, { format: 'protobuf', pretty: false }, identity)
const metadata = wireFormOf(boxes, { format: 'json', pretty: false, as: { kind: 'PartialObjectMetadata', version: 'v1' } }, identity)
const forms = [protobuf, metadata, storedJson]

/** Numbers below a limit, the same ones in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const fresh = (object: StoredObject, form: WireForm): Uint8Array => new StoredObject(object.entry).makeItem(form)

function check(store: ObjectStore, query: ListQuery): string | undefined {
  const page = store.list(query)
  const found = Buffer.concat(slicesIn(page))
  const { separator } = query.form as WireForm
  const expected = Buffer.concat(
    Array.from(store.list({ ...query, form: undefined }).objects(), (object) => [separator, fresh(object, query.form as WireForm)]).flat(),
  ).subarray(separator.length)
  assert.ok(
    found.equals(expected),
    `a list of ${expected.length} bytes is not as if it were made now: ${JSON.stringify({ ...query, resource: '', form: '' })}`,
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
  test(`lists in kept forms with a cache of ${cacheBytes} bytes`, async () => {
    const random = numbers(cacheBytes + 1)
    const store = await storeOfBoxes(cacheBytes)
    const revisions: number[] = []
    for (let i = 0; i < 400; i++) await change(store, random)
    for (let round = 0; round < 60; round++) {
      for (let i = random(4); i > 0; i--) await change(store, random)
      revisions.push(store.revision)
      const form = forms[random(3)] as WireForm
      const namespace = random(3) === 0 ? '' : `n${random(3)}`
      const selection = random(3) === 0 ? { labels: compileLabelSelector(`group=g${random(5)}`), fields: undefined } : everything
      const query = { resource: boxes, namespace, selection, form, limit: 0 }
      check(store, query)
      const at = revisions[random(revisions.length)] as number
      check(store, { ...query, at })
      const startKey = check(store, { ...query, limit: 1 + random(90) })
      if (startKey !== undefined) check(store, { ...query, limit: 40, startKey })
      const one = store.read({ resource: boxes, namespace: 'n1', name: nameOf(random(300)) })
      if (one !== undefined) assert.deepEqual(Buffer.from(one.item(form)), Buffer.from(fresh(one, form)))
      assert.ok(store.cacheBytes <= cacheBytes, `${store.cacheBytes} bytes are kept`)
    }
  })
}

test('what is kept is not made again, and only what changed is', async () => {
  const store = await storeOfBoxes()
  let made = 0
  const counting: WireForm = {
    ...protobuf,
    item: (object) => {
      made += 1
      return protobuf.item(object)
    },
  }
  const query: ListQuery = { resource: boxes, namespace: '', selection: everything, form: counting, limit: 0 }
  const madeBy = (act: () => unknown): number => {
    const before = made
    act()
    return made - before
  }
  for (let i = 0; i < 200; i++) await put(store, box(nameOf(i), { labels: { group: `g${i % 10}` } }))
  const list =
    (more: Partial<ListQuery> = {}) =>
    () =>
      slicesIn(store.list({ ...query, ...more }))
  assert.equal(madeBy(list()), 200)
  assert.equal(madeBy(list()), 0)
  assert.equal(madeBy(list({ limit: 70 })), 0)
  const stored = store.read({ resource: boxes, namespace: 'n', name: nameOf(100) })
  await put(store, box(nameOf(100), { color: 'red' }), stored?.revision)
  await put(store, box(nameOf(9999)))
  assert.equal(madeBy(list()), 2)
  const read = () => store.read({ resource: boxes, namespace: 'n', name: nameOf(7) })?.item(counting)
  assert.equal(madeBy(read), 1)
  assert.equal(madeBy(read), 0)
  const byLabel = list({ selection: { labels: compileLabelSelector('group=g7'), fields: undefined } })
  assert.equal(byLabel().length, 1)
  assert.equal(madeBy(byLabel), 0)
  const byField = list({ selection: { labels: undefined, fields: parseFieldSelector('color=red') } })
  assert.equal(madeBy(byField), 1)
  assert.equal(madeBy(byField), 0)
})

test('an event is made once for all watchers of a form', async () => {
  const store = await storeOfBoxes()
  const seen: WatchEvent[][] = [[], []]
  for (const events of seen) store.watch({ resource: boxes, namespace: '', matches: undefined, deliver: (event) => events.push(event) })
  const revision = await put(store, box('b'))
  await put(store, box('b', { color: 'red' }), revision)
  const stored = store.read({ resource: boxes, namespace: 'n', name: 'b' })
  assert.ok(stored)
  await store.remove(stored)
  assert.deepEqual(
    seen[0]?.map(({ type }) => type),
    ['ADDED', 'MODIFIED', 'DELETED'],
  )
  for (const [i, event] of (seen[0] ?? []).entries()) {
    for (const form of forms) {
      const frame = event.frame(form)
      assert.equal(seen[1]?.[i]?.frame(form), frame)
      assert.deepEqual(Buffer.from(frame), Buffer.from(form.frame(event.type, new StoredObject(event.object.entry))))
    }
  }
})

const catalog = new Catalog({ identity, definitions, isServed: () => true })
const template = {
  metadata: { labels: { a: 'b' } },
  spec: { containers: [{ name: 'c', image: '', ports: [{ containerPort: 0 }], resources: {} }] },
}
const condition = { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }

/** Objects with fields that are null in the store, and with zeros beside them. */
const withNulls: readonly { readonly resource: [string, string, string]; readonly more: object }[] = [
  {
    resource: ['', 'v1', 'pods'],
    more: { spec: template.spec, status: { conditions: [condition], containerStatuses: [{ name: 'c', ready: false }] } },
  },
  { resource: ['apps', 'v1', 'deployments'], more: { spec: { replicas: 0, template, selector: {} }, status: {} } },
  { resource: ['batch', 'v1', 'cronjobs'], more: { spec: { schedule: '', jobTemplate: { spec: { template } } } } },
  { resource: ['', 'v1', 'events'], more: { reason: '', count: 0, involvedObject: {} } },
  { resource: ['', 'v1', 'secrets'], more: { data: { a: 'Yg==' } } },
  { resource: ['apps', 'v1', 'controllerrevisions'], more: { data: { spec: null, metadata: { creationTimestamp: null } }, revision: 0 } },
]

for (const { resource: path, more } of withNulls) {
  test(`${path[2]} that have null fields are shown as if they were read with care`, () => {
    const resource = catalog.find(...path)
    assert.ok(resource)
    const value = encodeStored(resource, { metadata: { name: 'a', namespace: 'n', uid: 'u' }, ...more })
    assert.ok(value.includes(':null'))
    for (const as of [undefined, { kind: 'PartialObjectMetadata', version: 'v1' } as const]) {
      const form = wireFormOf(resource, { format: 'protobuf', pretty: false, ...(as === undefined ? {} : { as }) }, identity)
      const stored = new StoredObject({ key: 'k', revision: 7, value })
      const quick = Buffer.from(stored.makeItem(form))
      assert.deepEqual(quick, Buffer.from(form.item(stored.decode(resource))))
    }
  })
}

test('what nobody asks for any more goes from the caches, and what is asked for stays', async () => {
  const store = await storeOfBoxes()
  for (let i = 0; i < 300; i++) await put(store, box(nameOf(i), { labels: { group: `g${i % 10}` } }))
  const list = (form: WireForm, limit: number) =>
    slicesIn(store.list({ resource: boxes, namespace: 'n', selection: everything, form, limit }))
  for (const form of forms) list(form, 0)
  store.read({ resource: boxes, namespace: 'n', name: nameOf(7) })?.item(protobuf)
  const filled = store.cacheBytes
  for (let period = 0; period < 4; period++) {
    list(storedJson, 64)
    store.releaseUnused()
    if (period === 0) assert.equal(store.cacheBytes, filled)
  }
  assert.ok(store.cacheBytes > 0 && store.cacheBytes < filled / 4, `${store.cacheBytes} of ${filled} bytes stay`)
  for (let period = 0; period < 3; period++) store.releaseUnused()
  assert.equal(store.cacheBytes, 0)
  check(store, { resource: boxes, namespace: 'n', selection: everything, form: protobuf, limit: 0 })
})
