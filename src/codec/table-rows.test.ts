// Rows that are kept: whatever the time, they say what a row says that is made at that time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Catalog, type Resource } from '../api/catalog.js'
import { identityOf } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import { testContext } from '../api/rule-context.fixture.js'
import { definitions } from '../resources/index.js'
import { noSeparator, type Pieces } from './item-form.js'
import { type TableWish, tableFormOf, tableJson, tableJsonOfObject, tableRow } from './table.js'
import { fillAges, frameKey, rowFormOf, tableFrame, tableOfRow } from './table-rows.js'

const catalogs = (['cluster', 'kubernetes'] as const).map(
  (name) => new Catalog({ identity: identityOf(name), definitions, isServed: () => true }),
)
const created = '2024-03-01T11:00:00Z'
const nows = [0, 1, 59, 121, 601, 7200, 90_000, 1e6, 1e8, 1e9].map((seconds) => Date.parse(created) + seconds * 1000)

const metadata = { name: 'a "b" <c>\u0001x\u0002', namespace: 'n', resourceVersion: '7', creationTimestamp: created, labels: { a: '😀' } }
const samples: readonly { readonly name: string; readonly more: ApiObject }[] = [
  { name: 'nothing but metadata', more: {} },
  { name: 'no time of creation', more: { metadata: { name: 'x' } } },
  { name: 'from before 1970', more: { metadata: { name: 'x', creationTimestamp: '1960-01-01T00:00:00Z' } } },
  {
    name: 'times of its own',
    more: {
      status: {
        startTime: created,
        lastScheduleTime: created,
        containerStatuses: [{ name: 'c', restartCount: 3, lastState: { terminated: { finishedAt: '2024-03-01T10:59:00Z' } } }],
      },
      spec: { containers: [{ name: 'c', image: 'i' }] },
      message: '\ud800 and \udc00'.toWellFormed(),
      firstTimestamp: '2024-03-01T10:00:00Z',
      lastTimestamp: created,
      series: { count: 2, lastObservedTime: '2024-03-01T10:59:59.123456Z' },
    } as ApiObject,
  },
]

const wishOf = (resource: Resource, catalog: Catalog, now: number): TableWish => ({
  identity: catalog.identity,
  version: 'v1',
  includeObject: 'Metadata',
  rules: { ...testContext(), identity: catalog.identity, version: resource.version, now },
})

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

for (const { name, more } of samples) {
  test(`rows of every kind at every time: ${name}`, () => {
    let holes = 0
    for (const catalog of catalogs) {
      for (const resource of catalog.all()) {
        const object = { metadata, ...more }
        const kept = rowFormOf(resource, wishOf(resource, catalog, 1)).item(object)
        if (kept.includes(1)) holes += 1
        for (const now of nows) {
          const fresh = tableRow(tableFormOf({ ...resource, table: resource.definition.table }, wishOf(resource, catalog, now)), object)
          assert.equal(textOf(fillAges(kept, now)), fresh, `${resource.apiVersion} ${resource.kind}`)
        }
      }
    }
    assert.ok(name === 'no time of creation' || holes > 50, `only ${holes} kinds show an age`)
  })
}

const pods = catalogs[0]?.find('', 'v1', 'pods') as Resource
const wish = wishOf(pods, catalogs[0] as Catalog, nows[3] ?? 0)
const fresh = tableFormOf({ ...pods, table: pods.definition.table }, wish)

test('there is one form for everybody who wants the same', () => {
  assert.equal(rowFormOf(pods, wish), rowFormOf(pods, { ...wish, rules: { ...wish.rules, now: 5 } }))
  assert.notEqual(rowFormOf(pods, wish), rowFormOf(pods, { ...wish, includeObject: 'None' }))
  assert.notEqual(rowFormOf(pods, wish), rowFormOf(pods, { ...wish, version: 'v1beta1' }))
})

test('the request that was the first to want it is not kept', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const services = catalogs[0]?.find('', 'v1', 'services') as Resource
  /** In a function of its own, so that nobody holds what it makes. */
  const want = (): WeakRef<object> => {
    const caller = { body: Buffer.alloc(1000) }
    const rules: TableWish['rules'] = Object.assign({ ...wish.rules }, { caller })
    rowFormOf(services, { ...wish, includeObject: 'Object', rules }).item({ metadata })
    return new WeakRef(caller)
  }
  const caller = want()
  // What a reference was made for stays until the turn is over.
  await setImmediate()
  collect()
  assert.equal(caller.deref(), undefined)
})

for (const count of [0, 1, 2, 5]) {
  test(`a table of ${count} rows is the same from kept rows`, () => {
    const objects = Array.from({ length: count }, (_, i) => ({ metadata: { ...metadata, name: `p${i}` } }))
    const form = rowFormOf(pods, wish)
    const rows = objects.map((object, i) => Buffer.concat([i === 0 ? noSeparator : form.separator, form.item(object)]))
    const slices = rows.length < 2 ? rows : [Buffer.concat(rows.slice(0, 2)), ...rows.slice(2)]
    const content = { metadata: { resourceVersion: '9', continue: 'c' } }
    const measure = (): number | undefined => (rows.length === 0 ? 0 : undefined)
    const next = form.list(content.metadata, { next: () => slices.shift(), measure }, wish.rules.now) as Pieces
    const kept: Uint8Array[] = []
    for (let piece = next(); piece !== undefined; piece = next()) kept.push(piece as Uint8Array)
    assert.equal(Buffer.concat(kept).toString(), `${tableJson(fresh, { ...content, objects })}\n`)
  })
}

test('a table of an object that was read is the same from a kept row', () => {
  const form = rowFormOf(pods, wish)
  const table = tableOfRow(form, { resourceVersion: '7', row: form.item({ metadata }), now: wish.rules.now })
  assert.equal(textOf(table), tableJsonOfObject(fresh, { metadata }))
})

for (const withoutColumns of [false, true]) {
  test(`an event is the same from a kept row, ${withoutColumns ? 'without' : 'with'} columns`, () => {
    const form = rowFormOf(pods, wish)
    const object = { metadata }
    const frame = tableFrame(form, { type: 'ADDED', resourceVersion: '7', row: form.item(object), now: wish.rules.now, withoutColumns })
    const table = tableJson(fresh, { metadata: { resourceVersion: '7' }, objects: [object], withoutColumns })
    assert.equal(textOf(frame), `{"type":"ADDED","object":${table}}\n`)
  })
}

test('frames are shared within a second, with their like', () => {
  const form = rowFormOf(pods, wish)
  const key = frameKey(form, 5000, true)
  assert.equal(frameKey(form, 5999, true), key)
  assert.notEqual(frameKey(form, 5999, false), key)
  assert.notEqual(frameKey(form, 6000, true), key)
})
