// A kind comes, changes and goes while the server runs: what requests see of it, and what those see that had begun before.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Catalog } from '../api/catalog.js'
import { CatalogSource } from '../api/catalog-source.js'
import { defineResource, type ResourceDefinition } from '../api/definition.js'
import { identityOf } from '../api/identity.js'
import * as meta from '../api/meta.schema.js'
import { systemClock } from '../base/clock.js'
import { stageOf } from '../controllers/engine.fixture.js'
import { apiGroupDiscovery } from '../resources/apidiscovery/v2beta1.schema.js'
import { definitions } from '../resources/index.js'
import * as s from '../schema/node.js'
import { aggregatedDiscovery } from './aggregated-discovery.js'
import { dispatch } from './dispatch.js'
import { requestListener } from './handle.js'
import { openApiDocuments } from './openapi/documents.js'
import { Pressure } from './pressure.js'

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

interface Got {
  readonly code: number
  readonly text: string
  readonly json: Json
  readonly tag: string | null
}

describe('a catalog that changes', { concurrency: false }, () => {
  const catalogs = new CatalogSource(first)
  /** Requests that ask for it wait here before they are dispatched. */
  let gate: { readonly opened: Promise<void>; readonly open: () => void; arrived: () => void } | undefined
  let server: Server

  before(async () => {
    const { engine } = await stageOf('cluster', systemClock)
    const health = { livez: [], readyz: [], healthz: [] }
    const site = {
      resources: { engine, minRequestTimeoutMs: 60_000 },
      health,
      metrics: undefined as never,
      version: {},
      openApi: openApiDocuments({ describe: () => undefined, release: 'v1.26.8' }),
      aggregated: aggregatedDiscovery(apiGroupDiscovery),
      address: () => 'here:1',
    }
    const pause = (exchange: { header: (name: string) => string }): false | Promise<false> => {
      if (exchange.header('x-pause') === '' || gate === undefined) return false
      gate.arrived()
      return gate.opened.then(() => false as const)
    }
    server = createServer(
      requestListener({
        filters: [pause, dispatch(site)],
        catalogs,
        clock: systemClock,
        pressure: new Pressure({ bodyBytes: 1 << 20, answerBytes: 1 << 20, answerMs: 1000 }),
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

  async function ask(path: string, options: { readonly headers?: Record<string, string>; readonly body?: object } = {}): Promise<Got> {
    const { headers = {}, body } = options
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const got = await fetch(url(path), { headers: { 'content-type': 'application/json', ...headers }, ...sent })
    const text = await got.text()
    return { code: got.status, text, json: text.startsWith('{') ? JSON.parse(text) : {}, tag: got.headers.get('etag') }
  }

  /** Begins requests, changes the catalog while they wait, and lets them go on. */
  async function meanwhile(paths: readonly string[], change: () => void): Promise<readonly Got[]> {
    let [open, arrived, waiting] = [(): void => undefined, (): void => undefined, paths.length]
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const all = new Promise<void>((resolve) => {
      arrived = () => --waiting === 0 && resolve()
    })
    gate = { opened, open, arrived }
    const answers = paths.map((path) => ask(path, { headers: { 'x-pause': 'yes' } }))
    await all
    change()
    open()
    return Promise.all(answers)
  }

  const namesAt = async (path: string): Promise<readonly string[]> =>
    ((await ask(path)).json['resources'] as readonly { readonly name: string }[]).map(({ name }) => name)

  test('a kind that nobody defined is not there', async () => {
    assert.equal((await ask(gadgets)).code, 404)
    assert.equal((await ask('/apis/shop.example.com')).code, 404)
  })

  test('one that comes is served and told of, and requests before it do not know it', async () => {
    const documents = ['/apis', '/', '/api/v1', '/apis/apps/v1']
    const old = await Promise.all(documents.map((path) => ask(path)))
    const [oldGroups, oldCore] = [
      await ask('/apis', { headers: { accept: aggregated } }),
      await ask('/api', { headers: { accept: aggregated } }),
    ]
    const [oldIndex, oldV2] = [await ask('/openapi/v3'), await ask('/openapi/v2')]
    const [early, earlyGroups] = await meanwhile([gadgets, '/apis'], () => catalogs.change({ put: [gadget('Gadget')] }))
    assert.equal(early?.code, 404)
    assert.equal(earlyGroups?.text, old[0]?.text)

    assert.equal((await ask(gadgets, { body: { metadata: { name: 'g' }, size: 3 } })).code, 201)
    assert.deepEqual((await ask(`${gadgets}/g`)).json['size'], 3)
    assert.equal((await ask(gadgets)).json['kind'], 'GadgetList')

    const now = await Promise.all(documents.map((path) => ask(path)))
    assert.deepEqual(
      now.map(({ text }, i) => text === old[i]?.text),
      [false, false, true, true],
    )
    assert.ok(now[0]?.text.includes('shop.example.com') && now[1]?.text.includes('"/apis/shop.example.com/v1"'))
    assert.deepEqual((await ask('/apis/shop.example.com')).json['preferredVersion'], { groupVersion: 'shop.example.com/v1', version: 'v1' })
    assert.deepEqual(await namesAt('/apis/shop.example.com/v1'), ['gadgets'])

    const groups = await ask('/apis', { headers: { accept: aggregated } })
    assert.ok(groups.text.includes('"gadgets"') && groups.tag !== oldGroups.tag)
    assert.equal((await ask('/apis', { headers: { accept: aggregated, 'if-none-match': groups.tag ?? '' } })).code, 304)
    assert.equal((await ask('/apis', { headers: { accept: aggregated, 'if-none-match': oldGroups.tag ?? '' } })).code, 200)
    assert.equal((await ask('/api', { headers: { accept: aggregated } })).tag, oldCore.tag)

    const [index, v2] = [await ask('/openapi/v3'), await ask('/openapi/v2')]
    assert.ok(index.tag !== oldIndex.tag && v2.tag !== oldV2.tag)
    const [paths, oldPaths] = [index.json['paths'] as Json, oldIndex.json['paths'] as Json]
    assert.deepEqual(
      Object.keys(paths).filter((name) => JSON.stringify(paths[name]) !== JSON.stringify(oldPaths[name])),
      ['apis/shop.example.com/v1'],
    )
    assert.equal((await ask('/openapi/v3/apis/shop.example.com/v1')).code, 200)
  })

  test('one that changes is told of anew, and a watch goes on as it began', async () => {
    const [oldIndex, oldGroups] = [await ask('/openapi/v3'), await ask('/apis', { headers: { accept: aggregated } })]
    const stream = await fetch(url(`${gadgets}?watch=1&resourceVersion=0`))
    const events = eventsOf(stream)
    assert.deepEqual(await events.next(), 'ADDED Gadget g')
    const [early] = await meanwhile([`${gadgets}/g`], () => catalogs.change({ put: [gadget('Gizmo')] }))
    assert.equal(early?.json['kind'], 'Gadget')
    assert.equal((await ask(`${gadgets}/g`)).json['kind'], 'Gizmo')
    assert.equal((await ask(gadgets, { body: { metadata: { name: 'h' } } })).json['kind'], 'Gizmo')
    assert.deepEqual(await events.next(), 'ADDED Gadget h')
    await events.end()
    assert.notEqual((await ask('/openapi/v3')).tag, oldIndex.tag)
    assert.notEqual((await ask('/apis', { headers: { accept: aggregated } })).tag, oldGroups.tag)
    const [line] = (await ask('/apis/shop.example.com/v1')).json['resources'] as readonly Json[]
    assert.equal(line?.['kind'], 'Gizmo')
  })

  test('one that goes is gone, but for requests before that', async () => {
    const [early, earlyDocument] = await meanwhile([`${gadgets}/g`, '/apis/shop.example.com/v1'], () =>
      catalogs.change({ remove: [gadget('Gizmo')] }),
    )
    assert.deepEqual([early?.code, earlyDocument?.code], [200, 200])
    for (const path of [`${gadgets}/g`, '/apis/shop.example.com', '/apis/shop.example.com/v1', '/openapi/v3/apis/shop.example.com/v1'])
      assert.equal((await ask(path)).code, 404, path)
    assert.ok(!(await ask('/apis')).text.includes('shop.example.com'))
    assert.ok(!(await ask('/openapi/v3')).text.includes('shop.example.com'))
    assert.equal((await ask('/api/v1/namespaces/default/configmaps')).code, 200)
  })

  test('the other catalogs are as they were', () => {
    assert.deepEqual(catalogs.current.groupVersions(), first.groupVersions())
    assert.deepEqual(catalogs.current.all(), first.all())
  })
})

test('whoever listens is told once of each change, with both catalogs, until they leave', () => {
  const catalogs = new CatalogSource(first)
  const seen: (readonly [Catalog, Catalog])[] = []
  const stop = catalogs.onChange((current, before) => seen.push([current, before]))
  const second = catalogs.change({ put: [gadget('Gadget')] })
  catalogs.change({ remove: [{ group: 'none.example.com', resource: 'gadgets' }] })
  assert.deepEqual(seen, [[second, first]])
  assert.equal(catalogs.current, second)
  stop()
  catalogs.change({ remove: [gadget('Gadget')] })
  assert.equal(seen.length, 1)
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
