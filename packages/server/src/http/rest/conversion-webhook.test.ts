// Conversion webhooks: reads, lists, watches and writes of a kind in both versions, and how many calls they make.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { BatchConversion } from '@cluster-apiserver/api/api/definition/conversion-webhook.js'
import { defaultFeatureGates } from '@cluster-apiserver/api/api/feature-gates/feature-gates.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import type { AdmissionRequest } from '../../admission/admission-plugin.js'
import { alwaysAllow } from '../../auth/authorize.js'
import { MemoryPressure } from '../../flow-control/memory-pressure.js'
import { storeOfBoxes } from '../../objects/box-store.fixture.js'
import type { Engine } from '../../verbs/engine.js'
import { serveResource } from '../dispatch.js'
import { requestListener } from '../pipeline/request-listener.js'
import {
  convert,
  converter,
  definitionStoredAs,
  group,
  identity,
  type Reply,
  type Shade,
  v1,
  v2,
  type Wall,
} from './conversion-webhook.fixture.js'

describe('a kind with a conversion webhook', { concurrency: false }, () => {
  const catalogs = new CatalogSource(new Catalog({ identity, definitions: [definitionStoredAs('v1')], isServed: () => true }))
  const unchanged = ({ object }: AdmissionRequest): ApiObject | undefined => object
  let mutate = unchanged
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
      admission: { mutate: async (request) => mutate(request), validate: async ({ object }) => void validated.push(object) },
      access: { authenticators: [], authorizers: [alwaysAllow] },
      reservers: [],
      newUid: () => 'uid',
      randomSuffix: () => 'xxxxx',
    }
    const listener = requestListener({
      filters: [(exchange) => serveResource({ engine, minRequestTimeoutMs: 60_000 }, exchange)],
      catalogs,
      clock: systemClock,
      requestTimeoutMs: 10_000,
      pressure: new MemoryPressure({ bodyBytes: 1 << 20, responseBytes: 1 << 20, responseMs: 1000 }),
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

  async function send(
    version: 'v1' | 'v2',
    namespace: string,
    rest: string,
    { method = 'GET', body, headers = {} }: { method?: string; body?: object; headers?: Record<string, string> } = {},
  ): Promise<Reply> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url(version, namespace, rest), {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...sent,
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    return { code: response.status, bytes, json: bytes[0] === 0x7b ? JSON.parse(bytes.toString()) : {} }
  }

  /** Calls of the webhook during `request`. */
  async function callsOf<T>(request: () => Promise<T>): Promise<{ readonly response: T; readonly calls: readonly string[] }> {
    const from = converter.calls.length
    const response = await request()
    return { response, calls: converter.calls.slice(from) }
  }

  const createWall = (namespace: string, name: string, color: string): Promise<Reply> =>
    send('v1', namespace, '', { method: 'POST', body: { metadata: { name }, color } })

  test('get and create call the webhook once for a version that is not the stored one', async () => {
    const created = await callsOf(() => createWall('a', 'one', 'red'))
    assert.deepEqual([created.response.code, created.calls], [201, []])
    assert.deepEqual((await callsOf(() => send('v1', 'a', '/one'))).calls, [])
    const { response, calls } = await callsOf(() => send('v2', 'a', '/one'))
    assert.deepEqual(
      [response.code, response.json.apiVersion, response.json.paint, response.json.color, calls],
      [200, v2, 'red', undefined, ['1 v1>v2']],
    )
    assert.equal(response.json.metadata.resourceVersion, created.response.json.metadata.resourceVersion)
    const other = await callsOf(() => send('v2', 'a', '', { method: 'POST', body: { metadata: { name: 'two' }, paint: 'blue' } }))
    assert.deepEqual([other.response.code, other.response.json.paint, other.calls], [201, 'blue', ['1 v2>v1', '1 v1>v2']])
    assert.equal((await send('v1', 'a', '/two')).json.color, 'blue')
  })

  test('update, patch, apply and dry run, with field managers in both versions', async () => {
    const { json } = await createWall('b', 'one', 'red')
    const updated = await send('v2', 'b', '/one?fieldManager=second', { method: 'PUT', body: { ...json, apiVersion: v2, paint: 'blue' } })
    assert.deepEqual([updated.code, updated.json.paint], [200, 'blue'])
    assert.deepEqual(
      updated.json.metadata.managedFields?.map(({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, JSON.stringify(fieldsV1)]),
      [['second', v2, '{"f:paint":{}}']],
    )
    const merge = { 'content-type': 'application/merge-patch+json' }
    const patched = await send('v2', 'b', '/one?fieldManager=third', {
      method: 'PATCH',
      headers: merge,
      body: { paint: 'green', note: 'x' },
    })
    assert.deepEqual([patched.code, patched.json.paint], [200, 'green'])
    assert.equal((await send('v1', 'b', '/one')).json.color, 'green')
    const apply = { 'content-type': 'application/apply-patch+yaml' }
    const config = (apiVersion: string, more: object) => ({ apiVersion, kind: 'Wall', metadata: { name: 'one' }, ...more })
    const refused = await send('v1', 'b', '/one?fieldManager=fourth', {
      method: 'PATCH',
      headers: apply,
      body: config(v1, { color: 'white' }),
    })
    assert.equal(refused.code, 409, 'another manager owns the field under its name in another version')
    const dry = await send('v2', 'b', '/one?fieldManager=fourth&force=true&dryRun=All', {
      method: 'PATCH',
      headers: apply,
      body: config(v2, { paint: 'white' }),
    })
    assert.deepEqual([dry.code, dry.json.paint], [200, 'white'])
    const forced = await send('v1', 'b', '/one?fieldManager=fourth&force=true', {
      method: 'PATCH',
      headers: apply,
      body: config(v1, { color: 'white' }),
    })
    assert.deepEqual([forced.code, forced.json.color], [200, 'white'])
    const managers = forced.json.metadata.managedFields?.map(({ manager, fieldsV1 }) => `${manager} ${JSON.stringify(fieldsV1)}`)
    assert.deepEqual(managers?.sort(), ['fourth {"f:color":{}}', 'third {"f:note":{}}'])
    const applied = await send('v2', 'b', '/new?fieldManager=fourth', {
      method: 'PATCH',
      headers: apply,
      body: { ...config(v2, { paint: 'white' }), metadata: { name: 'new' } },
    })
    assert.deepEqual([applied.code, applied.json.paint], [201, 'white'])
    const deleted = await send('v2', 'b', '/one', { method: 'DELETE' })
    assert.equal(deleted.code, 200)
  })

  test('admission sees and mutates the view of a subresource', async () => {
    await createWall('h', 'one', 'red')
    const seen: unknown[] = []
    mutate = ({ object, old }) => {
      seen.push((old as Shade | undefined)?.shade, (object as Shade | undefined)?.shade)
      return { ...object, shade: 'of green' } as Shade
    }
    validated.length = 0
    const { code } = await send('v2', 'h', '/one/shade', { method: 'PUT', body: { metadata: { name: 'one' }, shade: 'of blue' } })
    mutate = unchanged
    assert.deepEqual([code, seen], [200, ['of red', 'of blue']])
    assert.deepEqual(
      validated.map((object) => (object as Shade).shade),
      ['of green'],
    )
    assert.equal((await send('v1', 'h', '/one')).json.color, 'green')
  })

  test('a list of 500 is one call, unchanged objects are not converted again, and pages have their full length', async () => {
    const fill = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, i) => {
          const object = { metadata: { name: `w${1000 + from + i}`, namespace: 'c', uid: 'u' }, color: `c${from + i}` }
          const resource = catalogs.current.find(group, 'v1', 'walls') as Resource
          return store.put({ resource, namespace: 'c', name: object.metadata.name }, store.encode(resource, object), { expect: 0 })
        }),
      )
    await fill(0, 500)
    const { response, calls } = await callsOf(() => send('v2', 'c', ''))
    assert.deepEqual(calls, ['500 v1>v2'])
    assert.deepEqual((await callsOf(() => send('v2', 'c', ''))).calls, [])
    assert.deepEqual(
      response.json.items.map(({ paint }) => paint),
      Array.from({ length: 500 }, (_, i) => `c${i}`),
    )
    assert.deepEqual((await callsOf(() => send('v1', 'c', ''))).calls, [])
    const page = await send('v2', 'c', '?limit=200')
    assert.deepEqual([page.json.items.length, page.json.items.at(-1)?.paint], [200, 'c199'])
    const rest = await send('v2', 'c', `?limit=400&continue=${encodeURIComponent(page.json.metadata.continue ?? '')}`)
    assert.deepEqual([rest.json.items.length, rest.json.metadata.continue], [300, undefined])
    const one = await send('v2', 'c', '?fieldSelector=metadata.name=w1007')
    assert.deepEqual(
      one.json.items.map(({ paint }) => paint),
      ['c7'],
    )
    const protobuf = await send('v2', 'c', '', { headers: { accept: identity.protobufMediaType } })
    assert.equal(protobuf.bytes.toString('latin1').split('w1').length - 1, 500)
    const yaml = await send('v2', 'c', '?limit=1', { headers: { accept: 'application/yaml' } })
    assert.match(yaml.bytes.toString(), /paint: c0\n/)
    const table = await send('v2', 'c', '?limit=1', { headers: { accept: 'application/json;as=Table;v=v1;g=meta.cluster.io' } })
    assert.match(table.bytes.toString(), /"cells":\["w1000"/)
    await fill(500, 1600)
    const longer = await callsOf(() => send('v2', 'c', ''))
    assert.deepEqual([longer.response.json.items.length, longer.calls], [1600, ['500 v1>v2', '500 v1>v2', '100 v1>v2']])
  })

  test('a failed conversion is a 500 error', async () => {
    await createWall('d', 'one', 'red')
    converter.problem = 'the converter is out of order'
    for (const rest of ['', '/one']) {
      const { code, json } = await send('v2', 'd', rest)
      assert.deepEqual(
        [code, json.message],
        [500, `Internal error occurred: conversion of Wall from ${v1} to ${v2} failed: the converter is out of order`],
      )
    }
    const refused = await send('v2', 'd', '', { method: 'POST', body: { metadata: { name: 'two' }, paint: 'blue' } })
    assert.match(refused.json.message ?? '', /conversion of Wall from .*v2 to .*v1 failed/)
    assert.equal((await send('v1', 'd', '/two')).code, 404)
    assert.equal((await send('v1', 'd', '')).json.items.length, 1)
    converter.problem = undefined
  })

  /** The events of a watch, until it ends or `count` were received. */
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

  test('a watch keeps its order while conversion is slow, and converts waiting events in batches', async () => {
    await createWall('e', 'w', '0')
    const change = async (): Promise<void> => {
      let release: () => void = () => undefined
      converter.blocked = new Promise<void>((resolve) => {
        release = resolve
      })
      for (let i = 1; i <= 30; i++) {
        await send('v1', 'e', '/w', {
          method: 'PATCH',
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { color: String(i) },
        })
      }
      await Promise.all(Array.from({ length: 20 }, (_, i) => createWall('e', `x${10 + i}`, 'new')))
      release()
    }
    const { response, calls } = await callsOf(() => watchAll('v2', 'e', 51, change))
    assert.deepEqual(response.slice(0, 31), ['ADDED w 0', ...Array.from({ length: 30 }, (_, i) => `MODIFIED w ${i + 1}`)])
    assert.deepEqual(
      response.slice(31).sort(),
      Array.from({ length: 20 }, (_, i) => `ADDED x${10 + i} new`),
    )
    assert.ok(calls.length <= 10, `${calls.length} calls for 51 events: ${calls}`)
  })

  test('a watch whose events cannot be converted ends with an error', async () => {
    await createWall('f', 'w', 'red')
    const events = await watchAll('v2', 'f', 100, async () => {
      await sleep(50)
      converter.problem = 'no paint'
      await createWall('f', 'x', 'red')
    })
    converter.problem = undefined
    assert.deepEqual(events, ['ADDED w red', `ERROR Internal error occurred: conversion of Wall from ${v1} to ${v2} failed: no paint`])
    assert.equal(store.watchers, 0)
  })

  test('a changed webhook converts cached objects again', async () => {
    await createWall('again', 'one', 'red')
    assert.equal((await send('v2', 'again', '/one')).json.paint, 'red')
    const other: BatchConversion = async (objects, versions) =>
      (await convert(objects, versions)).map((object) => ({ ...object, note: 'by another one' }))
    catalogs.change({ put: [definitionStoredAs('v1', other)] })
    assert.equal((await send('v2', 'again', '/one')).json.note, 'by another one')
    assert.equal((await send('v2', 'again', '')).json.items[0]?.note, 'by another one')
    catalogs.change({ put: [definitionStoredAs('v1')] })
    assert.equal((await send('v2', 'again', '/one')).json.note, undefined)
  })

  test('after a change of the stored version, older entries can be read, changed and deleted', async () => {
    await createWall('g', 'old', 'red')
    catalogs.change({ put: [definitionStoredAs('v2')] })
    const walls = catalogs.current.find(group, 'v2', 'walls') as Resource
    assert.equal(walls.storedApiVersion, v2)
    await send('v2', 'g', '', { method: 'POST', body: { metadata: { name: 'young' }, paint: 'blue' } })
    const { response, calls } = await callsOf(() => send('v2', 'g', ''))
    assert.deepEqual([response.json.items.map(({ paint }) => paint), calls], [['red', 'blue'], ['1 v1>v2']])
    assert.deepEqual(
      (await send('v1', 'g', '')).json.items.map(({ color }) => color),
      ['red', 'blue'],
    )
    const merge = { 'content-type': 'application/merge-patch+json' }
    const patched = await send('v1', 'g', '/old', { method: 'PATCH', headers: merge, body: { color: 'green' } })
    assert.deepEqual([patched.code, patched.json.color], [200, 'green'])
    assert.equal(store.read({ resource: walls, namespace: 'g', name: 'old' })?.writtenVersion(walls), v2)
    for (const name of ['old', 'young']) assert.equal((await send('v1', 'g', `/${name}`, { method: 'DELETE' })).code, 200)
    assert.equal(store.count(walls, 'g'), 0)
  })

  test('entries in another stored version and with another index are selected by the current fields', async () => {
    catalogs.change({ put: [definitionStoredAs('v1')] })
    for (let i = 0; i < 30; i++) await createWall('j', `w${10 + i}`, i % 3 === 0 ? 'red' : 'blue')
    const selectableFields = { paint: (object: ApiObject) => (object as ApiObject & { paint?: string }).paint ?? '' }
    catalogs.change({ put: [{ ...definitionStoredAs('v2'), selectableFields }] })
    await send('v2', 'j', '', { method: 'POST', body: { metadata: { name: 'young' }, paint: 'red' } })
    const reds = [...Array.from({ length: 10 }, (_, i) => `w${10 + 3 * i}`), 'young']
    const namesIn = ({ json }: Reply) => json.items.map(({ metadata }) => metadata.name)
    const { response, calls } = await callsOf(() => send('v2', 'j', '?fieldSelector=paint=red'))
    assert.deepEqual([response.code, namesIn(response), calls], [200, reds, ['30 v1>v2']])
    assert.deepEqual(namesIn(await send('v1', 'j', '?fieldSelector=paint=red')), reds, 'in the other version, too')
    const page = await send('v2', 'j', '?limit=4&fieldSelector=paint=red')
    const rest = await send('v2', 'j', `?fieldSelector=paint=red&continue=${encodeURIComponent(page.json.metadata.continue ?? '')}`)
    assert.deepEqual([namesIn(page), namesIn(rest)], [reds.slice(0, 4), reds.slice(4)])
    const table = await send('v2', 'j', '?fieldSelector=paint=red', {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.cluster.io' },
    })
    assert.equal(table.bytes.toString().split('"cells"').length - 1, reds.length)
    const seen = await watchAll('v2', 'j', reds.length, async () => undefined, '&fieldSelector=paint%3Dred')
    assert.deepEqual(
      seen,
      reds.map((name) => `ADDED ${name} red`),
    )
    converter.problem = 'no paint'
    const failed = await send('v2', 'j', '?fieldSelector=paint=red')
    assert.deepEqual([failed.code, failed.json.message?.includes('failed: no paint')], [500, true])
    converter.problem = undefined
    assert.equal((await send('v2', 'j', '?fieldSelector=paint=red', { method: 'DELETE' })).code, 200)
    assert.equal(namesIn(await send('v2', 'j', '')).length, 20)
    catalogs.change({ put: [definitionStoredAs('v2')] })
  })
})
