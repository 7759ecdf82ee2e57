// A kind whose versions somebody else converts, slowly and many objects at a time: reads, lists, watches and writes in both versions.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdmissionRequest } from '../admission/admission.js'
import { Catalog, type Resource } from '../api/catalog.js'
import { CatalogSource } from '../api/catalog-source.js'
import type { BatchConversion } from '../api/conversion.js'
import { defaultFeatureGates } from '../api/feature-gates.js'
import type { ApiObject } from '../api/object.js'
import { everybody } from '../auth/fixed-authorizers.js'
import { systemClock } from '../base/clock.js'
import { storeOfBoxes } from '../objects/fixture.js'
import type { Engine } from '../verbs/engine.js'
import {
  convert,
  converter,
  definitionStoredAs,
  type Got,
  group,
  identity,
  type Shade,
  v1,
  v2,
  type Wall,
} from './converted-kinds.fixture.js'
import { requestListener } from './handle.js'
import { Pressure } from './pressure.js'
import { serveResource } from './resource-endpoint.js'

describe('a kind that is converted by somebody else', { concurrency: false }, () => {
  const catalogs = new CatalogSource(new Catalog({ identity, definitions: [definitionStoredAs('v1')], isServed: () => true }))
  const plain = ({ object }: AdmissionRequest): ApiObject | undefined => object
  let mutate = plain
  const validated: unknown[] = []
  let server: Server
  let store: Engine['store']

  before(async () => {
    store = await storeOfBoxes(64 << 20)
    const engine: Engine = {
      store,
      identity,
      gates: defaultFeatureGates,
      forbidsPrivileged: false,
      clock: systemClock,
      admission: { mutate: (request) => mutate(request), validate: ({ object }) => void validated.push(object) },
      access: { authenticators: [], authorizers: [everybody] },
      reservers: [],
      newUid: () => 'uid',
      randomSuffix: () => 'xxxxx',
    }
    const listener = requestListener({
      filters: [(exchange) => serveResource({ engine, minRequestTimeoutMs: 60_000 }, exchange)],
      catalogs,
      clock: systemClock,
      requestTimeoutMs: 10_000,
      pressure: new Pressure({ bodyBytes: 1 << 20, answerBytes: 1 << 20, answerMs: 1000 }),
      hooks: [],
    })
    server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => {
    store.close()
    server.closeAllConnections()
    server.close()
  })

  const url = (version: string, namespace: string, rest: string): string =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/apis/${group}/${version}/namespaces/${namespace}/walls${rest}`

  async function ask(
    version: 'v1' | 'v2',
    namespace: string,
    rest: string,
    { method = 'GET', body, headers = {} }: { method?: string; body?: object; headers?: Record<string, string> } = {},
  ): Promise<Got> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const got = await fetch(url(version, namespace, rest), { method, headers: { 'content-type': 'application/json', ...headers }, ...sent })
    const bytes = Buffer.from(await got.arrayBuffer())
    return { code: got.status, bytes, json: bytes[0] === 0x7b ? JSON.parse(bytes.toString()) : {} }
  }

  /** What the converter was asked meanwhile. */
  async function callsOf<T>(act: () => Promise<T>): Promise<{ readonly got: T; readonly asked: readonly string[] }> {
    const from = converter.calls.length
    const got = await act()
    return { got, asked: converter.calls.slice(from) }
  }

  const make = (namespace: string, name: string, color: string): Promise<Got> =>
    ask('v1', namespace, '', { method: 'POST', body: { metadata: { name }, color } })

  test('reads and writes: nobody is asked for the stored version, and once for another one', async () => {
    const made = await callsOf(() => make('a', 'one', 'red'))
    assert.deepEqual([made.got.code, made.asked], [201, []])
    assert.deepEqual((await callsOf(() => ask('v1', 'a', '/one'))).asked, [])
    const { got, asked } = await callsOf(() => ask('v2', 'a', '/one'))
    assert.deepEqual([got.code, got.json.apiVersion, got.json.paint, got.json.color, asked], [200, v2, 'red', undefined, ['1 v1>v2']])
    assert.equal(got.json.metadata.resourceVersion, made.got.json.metadata.resourceVersion)
    const other = await callsOf(() => ask('v2', 'a', '', { method: 'POST', body: { metadata: { name: 'two' }, paint: 'blue' } }))
    assert.deepEqual([other.got.code, other.got.json.paint, other.asked], [201, 'blue', ['1 v2>v1', '1 v1>v2']])
    assert.equal((await ask('v1', 'a', '/two')).json.color, 'blue')
  })

  test('updates, patches, applies and dry runs, with owners in both versions', async () => {
    const { json } = await make('b', 'one', 'red')
    const updated = await ask('v2', 'b', '/one?fieldManager=second', { method: 'PUT', body: { ...json, apiVersion: v2, paint: 'blue' } })
    assert.deepEqual([updated.code, updated.json.paint], [200, 'blue'])
    assert.deepEqual(
      updated.json.metadata.managedFields?.map(({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, JSON.stringify(fieldsV1)]),
      [['second', v2, '{"f:paint":{}}']],
    )
    const merge = { 'content-type': 'application/merge-patch+json' }
    const patched = await ask('v2', 'b', '/one?fieldManager=third', {
      method: 'PATCH',
      headers: merge,
      body: { paint: 'green', note: 'x' },
    })
    assert.deepEqual([patched.code, patched.json.paint], [200, 'green'])
    assert.equal((await ask('v1', 'b', '/one')).json.color, 'green')
    const apply = { 'content-type': 'application/apply-patch+yaml' }
    const config = (apiVersion: string, more: object) => ({ apiVersion, kind: 'Wall', metadata: { name: 'one' }, ...more })
    const refused = await ask('v1', 'b', '/one?fieldManager=fourth', {
      method: 'PATCH',
      headers: apply,
      body: config(v1, { color: 'white' }),
    })
    assert.equal(refused.code, 409, 'the field is owned under another name in another version')
    const dry = await ask('v2', 'b', '/one?fieldManager=fourth&force=true&dryRun=All', {
      method: 'PATCH',
      headers: apply,
      body: config(v2, { paint: 'white' }),
    })
    assert.deepEqual([dry.code, dry.json.paint], [200, 'white'])
    const forced = await ask('v1', 'b', '/one?fieldManager=fourth&force=true', {
      method: 'PATCH',
      headers: apply,
      body: config(v1, { color: 'white' }),
    })
    assert.deepEqual([forced.code, forced.json.color], [200, 'white'])
    const owners = forced.json.metadata.managedFields?.map(({ manager, fieldsV1 }) => `${manager} ${JSON.stringify(fieldsV1)}`)
    assert.deepEqual(owners?.sort(), ['fourth {"f:color":{}}', 'third {"f:note":{}}'])
    const applied = await ask('v2', 'b', '/new?fieldManager=fourth', {
      method: 'PATCH',
      headers: apply,
      body: { ...config(v2, { paint: 'white' }), metadata: { name: 'new' } },
    })
    assert.deepEqual([applied.code, applied.json.paint], [201, 'white'])
    const gone = await ask('v2', 'b', '/one', { method: 'DELETE' })
    assert.equal(gone.code, 200)
  })

  test('admission sees and changes what a view shows', async () => {
    await make('h', 'one', 'red')
    const seen: unknown[] = []
    mutate = ({ object, old }) => {
      seen.push((old as Shade | undefined)?.shade, (object as Shade | undefined)?.shade)
      return { ...object, shade: 'of green' } as Shade
    }
    validated.length = 0
    const { code } = await ask('v2', 'h', '/one/shade', { method: 'PUT', body: { metadata: { name: 'one' }, shade: 'of blue' } })
    mutate = plain
    assert.deepEqual([code, seen], [200, ['of red', 'of blue']])
    assert.deepEqual(
      validated.map((object) => (object as Shade).shade),
      ['of green'],
    )
    assert.equal((await ask('v1', 'h', '/one')).json.color, 'green')
  })

  test('a list of 500 is one call, what did not change is not asked for again, and pages are as long as they should be', async () => {
    const fill = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, i) => {
          const object = { metadata: { name: `w${1000 + from + i}`, namespace: 'c', uid: 'u' }, color: `c${from + i}` }
          const resource = catalogs.current.find(group, 'v1', 'walls') as Resource
          return store.put({ resource, namespace: 'c', name: object.metadata.name }, store.encode(resource, object), { expect: 0 })
        }),
      )
    await fill(0, 500)
    const { got, asked } = await callsOf(() => ask('v2', 'c', ''))
    assert.deepEqual(asked, ['500 v1>v2'])
    assert.deepEqual((await callsOf(() => ask('v2', 'c', ''))).asked, [])
    assert.deepEqual(
      got.json.items.map(({ paint }) => paint),
      Array.from({ length: 500 }, (_, i) => `c${i}`),
    )
    assert.deepEqual((await callsOf(() => ask('v1', 'c', ''))).asked, [])
    const page = await ask('v2', 'c', '?limit=200')
    assert.deepEqual([page.json.items.length, page.json.items.at(-1)?.paint], [200, 'c199'])
    const rest = await ask('v2', 'c', `?limit=400&continue=${encodeURIComponent(page.json.metadata.continue ?? '')}`)
    assert.deepEqual([rest.json.items.length, rest.json.metadata.continue], [300, undefined])
    const one = await ask('v2', 'c', '?fieldSelector=metadata.name=w1007')
    assert.deepEqual(
      one.json.items.map(({ paint }) => paint),
      ['c7'],
    )
    const protobuf = await ask('v2', 'c', '', { headers: { accept: identity.protobufMediaType } })
    assert.equal(protobuf.bytes.toString('latin1').split('w1').length - 1, 500)
    const yaml = await ask('v2', 'c', '?limit=1', { headers: { accept: 'application/yaml' } })
    assert.match(yaml.bytes.toString(), /paint: c0\n/)
    const table = await ask('v2', 'c', '?limit=1', { headers: { accept: 'application/json;as=Table;v=v1;g=meta.cluster.io' } })
    assert.match(table.bytes.toString(), /"cells":\["w1000"/)
    await fill(500, 1600)
    const longer = await callsOf(() => ask('v2', 'c', ''))
    assert.deepEqual([longer.got.json.items.length, longer.asked], [1600, ['500 v1>v2', '500 v1>v2', '100 v1>v2']])
  })

  test('what cannot be converted is told, before the list and instead of the object', async () => {
    await make('d', 'one', 'red')
    converter.problem = 'the converter is out of order'
    for (const rest of ['', '/one']) {
      const { code, json } = await ask('v2', 'd', rest)
      assert.deepEqual(
        [code, json.message],
        [500, `Internal error occurred: conversion of Wall from ${v1} to ${v2} failed: the converter is out of order`],
      )
    }
    const refused = await ask('v2', 'd', '', { method: 'POST', body: { metadata: { name: 'two' }, paint: 'blue' } })
    assert.match(refused.json.message ?? '', /conversion of Wall from .*v2 to .*v1 failed/)
    assert.equal((await ask('v1', 'd', '/two')).code, 404)
    assert.equal((await ask('v1', 'd', '')).json.items.length, 1)
    converter.problem = undefined
  })

  /** The events of a watch until it ends, or until there are so many. */
  async function watchAll(
    version: string,
    namespace: string,
    count: number,
    meanwhile: () => Promise<void>,
    more = '',
  ): Promise<readonly string[]> {
    const ending = new AbortController()
    const stream = await fetch(url(version, namespace, `?watch=1${more}`), { signal: ending.signal })
    const changes = meanwhile()
    const seen: string[] = []
    let text = ''
    try {
      for await (const chunk of stream.body ?? []) {
        const lines = (text + Buffer.from(chunk as Uint8Array).toString()).split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as { type: string; object: Wall & { message?: string } }
          seen.push(`${type} ${object.message ?? `${object.metadata.name} ${object.paint ?? object.color}`}`)
        }
        if (seen.length >= count) break
      }
    } finally {
      ending.abort()
      await changes
    }
    return seen
  }

  test('a watch keeps its order while conversion is slow, and events that wait are converted together', async () => {
    await make('e', 'w', '0')
    const change = async (): Promise<void> => {
      let release: () => void = () => undefined
      converter.held = new Promise<void>((resolve) => {
        release = resolve
      })
      for (let i = 1; i <= 30; i++) {
        await ask('v1', 'e', '/w', {
          method: 'PATCH',
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { color: String(i) },
        })
      }
      await Promise.all(Array.from({ length: 20 }, (_, i) => make('e', `x${10 + i}`, 'new')))
      release()
    }
    const { got, asked } = await callsOf(() => watchAll('v2', 'e', 51, change))
    assert.deepEqual(got.slice(0, 31), ['ADDED w 0', ...Array.from({ length: 30 }, (_, i) => `MODIFIED w ${i + 1}`)])
    assert.deepEqual(
      got.slice(31).sort(),
      Array.from({ length: 20 }, (_, i) => `ADDED x${10 + i} new`),
    )
    assert.ok(asked.length <= 10, `${asked.length} calls for 51 events: ${asked}`)
  })

  test('a watch whose events cannot be converted ends with an error', async () => {
    await make('f', 'w', 'red')
    const events = await watchAll('v2', 'f', 100, async () => {
      await sleep(50)
      converter.problem = 'no paint'
      await make('f', 'x', 'red')
    })
    converter.problem = undefined
    assert.deepEqual(events, ['ADDED w red', `ERROR Internal error occurred: conversion of Wall from ${v1} to ${v2} failed: no paint`])
    assert.equal(store.watchers, 0)
  })

  test('what was converted before the converter was another one is converted anew', async () => {
    await make('again', 'one', 'red')
    assert.equal((await ask('v2', 'again', '/one')).json.paint, 'red')
    const other: BatchConversion = async (objects, versions) =>
      (await convert(objects, versions)).map((object) => ({ ...object, note: 'by another one' }))
    catalogs.change({ put: [definitionStoredAs('v1', other)] })
    assert.equal((await ask('v2', 'again', '/one')).json.note, 'by another one')
    assert.equal((await ask('v2', 'again', '')).json.items[0]?.note, 'by another one')
    catalogs.change({ put: [definitionStoredAs('v1')] })
    assert.equal((await ask('v2', 'again', '/one')).json.note, undefined)
  })

  test('when another version is stored, what was written before is still read, changed and deleted', async () => {
    await make('g', 'old', 'red')
    catalogs.change({ put: [definitionStoredAs('v2')] })
    const walls = catalogs.current.find(group, 'v2', 'walls') as Resource
    assert.equal(walls.storedApiVersion, v2)
    await ask('v2', 'g', '', { method: 'POST', body: { metadata: { name: 'young' }, paint: 'blue' } })
    const { got, asked } = await callsOf(() => ask('v2', 'g', ''))
    assert.deepEqual([got.json.items.map(({ paint }) => paint), asked], [['red', 'blue'], ['1 v1>v2']])
    assert.deepEqual(
      (await ask('v1', 'g', '')).json.items.map(({ color }) => color),
      ['red', 'blue'],
    )
    const merge = { 'content-type': 'application/merge-patch+json' }
    const patched = await ask('v1', 'g', '/old', { method: 'PATCH', headers: merge, body: { color: 'green' } })
    assert.deepEqual([patched.code, patched.json.color], [200, 'green'])
    assert.equal(store.read({ resource: walls, namespace: 'g', name: 'old' })?.writtenAs(walls), v2)
    for (const name of ['old', 'young']) assert.equal((await ask('v1', 'g', `/${name}`, { method: 'DELETE' })).code, 200)
    assert.equal(store.count(walls, 'g'), 0)
  })

  test('entries of another version, indexed by other fields, are selected by the fields of now: in pages, lists, watches and deletions', async () => {
    catalogs.change({ put: [definitionStoredAs('v1')] })
    for (let i = 0; i < 30; i++) await make('j', `w${10 + i}`, i % 3 === 0 ? 'red' : 'blue')
    const selectableFields = { paint: (object: ApiObject) => (object as ApiObject & { paint?: string }).paint ?? '' }
    catalogs.change({ put: [{ ...definitionStoredAs('v2'), selectableFields }] })
    await ask('v2', 'j', '', { method: 'POST', body: { metadata: { name: 'young' }, paint: 'red' } })
    const reds = [...Array.from({ length: 10 }, (_, i) => `w${10 + 3 * i}`), 'young']
    const namesIn = ({ json }: Got) => json.items.map(({ metadata }) => metadata.name)
    const { got, asked } = await callsOf(() => ask('v2', 'j', '?fieldSelector=paint=red'))
    assert.deepEqual([got.code, namesIn(got), asked], [200, reds, ['30 v1>v2']])
    assert.deepEqual(namesIn(await ask('v1', 'j', '?fieldSelector=paint=red')), reds, 'in the other version, too')
    const page = await ask('v2', 'j', '?limit=4&fieldSelector=paint=red')
    const rest = await ask('v2', 'j', `?fieldSelector=paint=red&continue=${encodeURIComponent(page.json.metadata.continue ?? '')}`)
    assert.deepEqual([namesIn(page), namesIn(rest)], [reds.slice(0, 4), reds.slice(4)])
    const table = await ask('v2', 'j', '?fieldSelector=paint=red', {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.cluster.io' },
    })
    assert.equal(table.bytes.toString().split('"cells"').length - 1, reds.length)
    const seen = await watchAll('v2', 'j', reds.length, async () => undefined, '&fieldSelector=paint%3Dred')
    assert.deepEqual(
      seen,
      reds.map((name) => `ADDED ${name} red`),
    )
    converter.problem = 'no paint'
    const failed = await ask('v2', 'j', '?fieldSelector=paint=red')
    assert.deepEqual([failed.code, failed.json.message?.includes('failed: no paint')], [500, true])
    converter.problem = undefined
    assert.equal((await ask('v2', 'j', '?fieldSelector=paint=red', { method: 'DELETE' })).code, 200)
    assert.equal(namesIn(await ask('v2', 'j', '')).length, 20)
    catalogs.change({ put: [definitionStoredAs('v2')] })
  })
})
