// A kind is added, changed and removed at run time: new requests see the new catalog, earlier ones the one they began with.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { defineResource, type ResourceDefinition } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { apiGroupDiscovery } from '@cluster-apiserver/api/resources/apidiscovery/v2beta1.schema.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import * as s from '@cluster-apiserver/api/schema/node.js'
import { createTestEngine } from '../../controllers/framework/engine.fixture.js'
import { MemoryPressure } from '../../flow-control/memory-pressure.js'
import { openApiDocuments } from '../../openapi/documents/documents.js'
import { aggregatedDiscovery } from '../discovery/aggregated-discovery.js'
import { dispatch } from '../dispatch.js'
import { requestListener } from '../pipeline/request-listener.js'

const gadget = (kind: string): ResourceDefinition => {
  const fields = { metadata: s.jsonField(meta.objectMeta), size: s.jsonField(s.int32) }
  return defineResource({
    group: 'shop.example.com',
    kind,
    resource: 'gadgets',
    namespaced: true,
    versions: [{ name: 'v1', schema: s.struct(kind, fields, { typeMeta: true, noProto: true }), stored: true }],
    nameProblems: () => [],
  })
}

const identity = identityOf('cluster')
const first = new Catalog({ identity, definitions, isServed: () => true })
const gadgets = '/apis/shop.example.com/v1/namespaces/default/gadgets'
const aggregated = 'application/json;g=apidiscovery.cluster.io;v=v2beta1;as=APIGroupDiscoveryList'

interface Json {
  readonly [key: string]: unknown
}

interface Reply {
  readonly code: number
  readonly text: string
  readonly json: Json
  readonly tag: string | null
}

describe('a catalog that changes', { concurrency: false }, () => {
  const catalogs = new CatalogSource(first)
  /** Requests with the header x-pause wait here before they are dispatched. */
  let gate: { readonly opened: Promise<void>; readonly open: () => void; arrived: () => void } | undefined
  let server: Server

  before(async () => {
    const { engine } = await createTestEngine('cluster', systemClock)
    const health = { livez: [], readyz: [], healthz: [] }
    const endpoints = {
      resources: { engine, minRequestTimeoutMs: 60_000 },
      health,
      metrics: undefined as never,
      version: {},
      openApi: openApiDocuments({ describe: () => undefined, release: 'v1.26.8' }),
      aggregated: aggregatedDiscovery(apiGroupDiscovery),
      address: () => 'here:1',
    }
    const pause = async (exchange: { header: (name: string) => string }): Promise<false> => {
      if (exchange.header('x-pause') === '' || gate === undefined) return false
      gate.arrived()
      await gate.opened
      return false
    }
    server = createServer(
      requestListener({
        filters: [pause, dispatch(endpoints)],
        catalogs,
        clock: systemClock,
        pressure: new MemoryPressure({ bodyBytes: 1 << 20, responseBytes: 1 << 20, responseMs: 1000 }),
        requestTimeoutMs: 10_000,
        hooks: [],
      }),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  const url = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`

  async function send(path: string, options: { readonly headers?: Record<string, string>; readonly body?: object } = {}): Promise<Reply> {
    const { headers = {}, body } = options
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(url(path), { headers: { 'content-type': 'application/json', ...headers }, ...sent })
    const text = await response.text()
    return { code: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : {}, tag: response.headers.get('etag') }
  }

  /** Starts requests, changes the catalog while they wait, and resumes them. */
  async function changeDuring(paths: readonly string[], change: () => void): Promise<readonly Reply[]> {
    let [open, arrived, waiting] = [(): void => undefined, (): void => undefined, paths.length]
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const all = new Promise<void>((resolve) => {
      arrived = () => --waiting === 0 && resolve()
    })
    gate = { opened, open, arrived }
    const replies = paths.map((path) => send(path, { headers: { 'x-pause': 'yes' } }))
    await all
    change()
    open()
    return Promise.all(replies)
  }

  const namesAt = async (path: string): Promise<readonly string[]> =>
    ((await send(path)).json['resources'] as readonly { readonly name: string }[]).map(({ name }) => name)

  test('an unknown kind is 404', async () => {
    assert.equal((await send(gadgets)).code, 404)
    assert.equal((await send('/apis/shop.example.com')).code, 404)
  })

  test('an added kind is served and published; earlier requests do not see it', async () => {
    const documents = ['/apis', '/', '/api/v1', '/apis/apps/v1']
    const old = await Promise.all(documents.map((path) => send(path)))
    const [oldGroups, oldCore] = [
      await send('/apis', { headers: { accept: aggregated } }),
      await send('/api', { headers: { accept: aggregated } }),
    ]
    const [oldIndex, oldV2] = [await send('/openapi/v3'), await send('/openapi/v2')]
    const [early, earlyGroups] = await changeDuring([gadgets, '/apis'], () => catalogs.change({ put: [gadget('Gadget')] }))
    assert.equal(early?.code, 404)
    assert.equal(earlyGroups?.text, old[0]?.text)

    assert.equal((await send(gadgets, { body: { metadata: { name: 'g' }, size: 3 } })).code, 201)
    assert.deepEqual((await send(`${gadgets}/g`)).json['size'], 3)
    assert.equal((await send(gadgets)).json['kind'], 'GadgetList')

    const now = await Promise.all(documents.map((path) => send(path)))
    assert.deepEqual(
      now.map(({ text }, i) => text === old[i]?.text),
      [false, false, true, true],
    )
    assert.ok(now[0]?.text.includes('shop.example.com') && now[1]?.text.includes('"/apis/shop.example.com/v1"'))
    assert.deepEqual((await send('/apis/shop.example.com')).json['preferredVersion'], {
      groupVersion: 'shop.example.com/v1',
      version: 'v1',
    })
    assert.deepEqual(await namesAt('/apis/shop.example.com/v1'), ['gadgets'])

    const groups = await send('/apis', { headers: { accept: aggregated } })
    assert.ok(groups.text.includes('"gadgets"') && groups.tag !== oldGroups.tag)
    assert.equal((await send('/apis', { headers: { accept: aggregated, 'if-none-match': groups.tag ?? '' } })).code, 304)
    assert.equal((await send('/apis', { headers: { accept: aggregated, 'if-none-match': oldGroups.tag ?? '' } })).code, 200)
    assert.equal((await send('/api', { headers: { accept: aggregated } })).tag, oldCore.tag)

    const [index, v2] = [await send('/openapi/v3'), await send('/openapi/v2')]
    assert.ok(index.tag !== oldIndex.tag && v2.tag !== oldV2.tag)
    const [paths, oldPaths] = [index.json['paths'] as Json, oldIndex.json['paths'] as Json]
    assert.deepEqual(
      Object.keys(paths).filter((name) => JSON.stringify(paths[name]) !== JSON.stringify(oldPaths[name])),
      ['apis/shop.example.com/v1'],
    )
    assert.equal((await send('/openapi/v3/apis/shop.example.com/v1')).code, 200)
  })

  test('a changed kind is published again; an open watch keeps the old kind', async () => {
    const [oldIndex, oldGroups] = [await send('/openapi/v3'), await send('/apis', { headers: { accept: aggregated } })]
    const stream = await fetch(url(`${gadgets}?watch=1&resourceVersion=0`))
    const events = eventsOf(stream)
    assert.deepEqual(await events.next(), 'ADDED Gadget g')
    const [early] = await changeDuring([`${gadgets}/g`], () => catalogs.change({ put: [gadget('Gizmo')] }))
    assert.equal(early?.json['kind'], 'Gadget')
    assert.equal((await send(`${gadgets}/g`)).json['kind'], 'Gizmo')
    assert.equal((await send(gadgets, { body: { metadata: { name: 'h' } } })).json['kind'], 'Gizmo')
    assert.deepEqual(await events.next(), 'ADDED Gadget h')
    await events.end()
    assert.notEqual((await send('/openapi/v3')).tag, oldIndex.tag)
    assert.notEqual((await send('/apis', { headers: { accept: aggregated } })).tag, oldGroups.tag)
    const [line] = (await send('/apis/shop.example.com/v1')).json['resources'] as readonly Json[]
    assert.equal(line?.['kind'], 'Gizmo')
  })

  test('a removed kind is 404, except for earlier requests', async () => {
    const [early, earlyDocument] = await changeDuring([`${gadgets}/g`, '/apis/shop.example.com/v1'], () =>
      catalogs.change({ remove: [gadget('Gizmo')] }),
    )
    assert.deepEqual([early?.code, earlyDocument?.code], [200, 200])
    for (const path of [`${gadgets}/g`, '/apis/shop.example.com', '/apis/shop.example.com/v1', '/openapi/v3/apis/shop.example.com/v1'])
      assert.equal((await send(path)).code, 404, path)
    assert.ok(!(await send('/apis')).text.includes('shop.example.com'))
    assert.ok(!(await send('/openapi/v3')).text.includes('shop.example.com'))
    assert.equal((await send('/api/v1/namespaces/default/configmaps')).code, 200)
  })

  test('the catalog without the kind equals the first one', () => {
    assert.deepEqual(catalogs.current.groupVersions(), first.groupVersions())
    assert.deepEqual(catalogs.current.all(), first.all())
  })
})

test('listeners are called once per change, with both catalogs, until they unsubscribe', () => {
  const catalogs = new CatalogSource(first)
  const notifications: (readonly [Catalog, Catalog])[] = []
  const stop = catalogs.onChange((current, before) => notifications.push([current, before]))
  const second = catalogs.change({ put: [gadget('Gadget')] })
  catalogs.change({ remove: [{ group: 'none.example.com', resource: 'gadgets' }] })
  assert.deepEqual(notifications, [[second, first]])
  assert.equal(catalogs.current, second)
  stop()
  catalogs.change({ remove: [gadget('Gadget')] })
  assert.equal(notifications.length, 1)
})

/** Reads a watch line by line, each as its type, kind and name. */
function eventsOf(stream: Response): { next(): Promise<string>; end(): Promise<void> } {
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  return {
    next: async () => {
      while (!text.includes('\n')) text += Buffer.from((await reader.read()).value ?? []).toString()
      const line = text.slice(0, text.indexOf('\n'))
      text = text.slice(line.length + 1)
      const { type, object } = JSON.parse(line) as { type: string; object: { kind: string; metadata: { name: string } } }
      return `${type} ${object.kind} ${object.metadata.name}`
    },
    end: () => reader.cancel(),
  }
}
