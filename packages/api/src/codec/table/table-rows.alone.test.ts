// Tests of cached table rows: with ages filled in they equal computed rows, and they do not keep a request alive.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Catalog } from '../../api/catalog/catalog.js'
import type { Resource } from '../../api/catalog/resource.js'
import { identityOf } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import { testContext } from '../../api/rule-context.fixture.js'
import { definitions } from '../../resources/index.js'
import { noSeparator } from '../item-encoding.js'
import { type TableOptions, tableEncodingOf, tableJson, tableJsonOfObject, tableRow } from './table.js'
import { fillAges, tableFrame, tableOfRow, tableRowEncodingOf } from './table-rows.js'

const catalogs = (['cluster', 'kubernetes'] as const).map(
  (name) => new Catalog({ identity: identityOf(name), definitions, isServed: () => true }),
)
const created = '2024-03-01T11:00:00Z'
const nows = [0, 1, 59, 121, 601, 7200, 90_000, 1e6, 1e8, 1e9].map((seconds) => Date.parse(created) + seconds * 1000)

const metadata = { name: 'a "b" <c>\u0001x\u0002', namespace: 'n', resourceVersion: '7', creationTimestamp: created, labels: { a: '😀' } }
const samples: readonly { readonly name: string; readonly fields: ApiObject }[] = [
  { name: 'metadata only', fields: {} },
  { name: 'no creationTimestamp', fields: { metadata: { name: 'x' } } },
  { name: 'creationTimestamp before 1970', fields: { metadata: { name: 'x', creationTimestamp: '1960-01-01T00:00:00Z' } } },
  {
    name: 'timestamps in spec and status',
    fields: {
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

const optionsOf = (resource: Resource, catalog: Catalog, now: number): TableOptions => ({
  identity: catalog.identity,
  version: 'v1',
  includeObject: 'Metadata',
  rules: { ...testContext(), identity: catalog.identity, version: resource.version, now },
})

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

for (const { name, fields } of samples) {
  test(`cached rows equal computed rows of every kind: ${name}`, () => {
    let kindsWithAges = 0
    for (const catalog of catalogs) {
      for (const resource of catalog.all()) {
        const object = { metadata, ...fields }
        const cached = tableRowEncodingOf(resource, optionsOf(resource, catalog, 1)).item(object)
        if (cached.includes(1)) kindsWithAges += 1
        for (const now of nows) {
          const computed = tableRow(
            tableEncodingOf({ ...resource, table: resource.definition.table }, optionsOf(resource, catalog, now)),
            object,
          )
          assert.equal(textOf(fillAges(cached, now)), computed, `${resource.apiVersion} ${resource.kind}`)
        }
      }
    }
    assert.ok(name === 'no creationTimestamp' || kindsWithAges > 50, `only ${kindsWithAges} kinds show an age`)
  })
}

const pods = catalogs[0]?.find('', 'v1', 'pods') as Resource
const options = optionsOf(pods, catalogs[0] as Catalog, nows[3] ?? 0)
const computed = tableEncodingOf({ ...pods, table: pods.definition.table }, options)

test('requests with equal options share one encoding', () => {
  assert.equal(tableRowEncodingOf(pods, options), tableRowEncodingOf(pods, { ...options, rules: { ...options.rules, now: 5 } }))
  assert.notEqual(tableRowEncodingOf(pods, options), tableRowEncodingOf(pods, { ...options, includeObject: 'None' }))
  assert.notEqual(tableRowEncodingOf(pods, options), tableRowEncodingOf(pods, { ...options, version: 'v1beta1' }))
})

test('the encoding does not keep its first request alive', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const services = catalogs[0]?.find('', 'v1', 'services') as Resource
  /** A separate function, so that no local variable keeps the request alive. */
  const encodeForRequest = (): WeakRef<object> => {
    const request = { body: Buffer.alloc(1000) }
    const rules: TableOptions['rules'] = Object.assign({ ...options.rules }, { request })
    tableRowEncodingOf(services, { ...options, includeObject: 'Object', rules }).item({ metadata })
    return new WeakRef(request)
  }
  const request = encodeForRequest()
  // A WeakRef keeps its target until the end of the turn.
  await setImmediate()
  collect()
  assert.equal(request.deref(), undefined)
})

for (const count of [0, 1, 2, 5]) {
  test(`a table of ${count} cached rows equals a computed one`, async () => {
    const objects = Array.from({ length: count }, (_, i) => ({ metadata: { ...metadata, name: `p${i}` } }))
    const encoding = tableRowEncodingOf(pods, options)
    const rows = objects.map((object, i) => Buffer.concat([i === 0 ? noSeparator : encoding.separator, encoding.item(object)]))
    const slices = rows.length < 2 ? rows : [Buffer.concat(rows.slice(0, 2)), ...rows.slice(2)]
    const content = { metadata: { resourceVersion: '9', continue: 'c' } }
    const items = Object.assign(Readable.from(slices), { measure: async () => (rows.length === 0 ? 0 : undefined) })
    const cached: Uint8Array[] = []
    for await (const chunk of encoding.list(content.metadata, items, options.rules.now)) cached.push(chunk)
    assert.equal(Buffer.concat(cached).toString(), `${tableJson(computed, { ...content, objects })}\n`)
  })
}

test('a table of one cached row equals a computed one', () => {
  const encoding = tableRowEncodingOf(pods, options)
  const table = tableOfRow(encoding, { resourceVersion: '7', row: encoding.item({ metadata }), now: options.rules.now })
  assert.equal(textOf(table), tableJsonOfObject(computed, { metadata }))
})

for (const withoutColumns of [false, true]) {
  test(`a watch frame of a cached row equals a computed one, ${withoutColumns ? 'without' : 'with'} columns`, () => {
    const encoding = tableRowEncodingOf(pods, options)
    const object = { metadata }
    const frame = tableFrame(encoding, {
      type: 'ADDED',
      resourceVersion: '7',
      row: encoding.item(object),
      now: options.rules.now,
      withoutColumns,
    })
    const table = tableJson(computed, { metadata: { resourceVersion: '7' }, objects: [object], withoutColumns })
    assert.equal(textOf(frame), `{"type":"ADDED","object":${table}}\n`)
  })
}
