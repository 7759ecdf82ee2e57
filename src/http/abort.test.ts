// Nothing is done for a request whose time is up or whose client has gone.

import assert from 'node:assert/strict'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Admission } from '../admission/admission.js'
import { Catalog } from '../api/catalog.js'
import { CatalogSource } from '../api/catalog-source.js'
import { defaultFeatureGates } from '../api/feature-gates.js'
import { identityOf } from '../api/identity.js'
import { systemClock } from '../base/clock.js'
import { box, boxes, put, storeOfBoxes } from '../objects/fixture.js'
import type { Engine } from '../verbs/engine.js'
import { requestListener } from './handle.js'
import { Pressure } from './pressure.js'
import { serveResource } from './resource-endpoint.js'

const identity = identityOf('cluster')
const catalog = new Catalog({ identity, definitions: [boxes.definition], isServed: () => true })

interface Stage {
  readonly server: Server
  readonly store: Engine['store']
  /** How many requests are through, whichever way. */
  readonly ended: () => number
}

async function stage(admission: Partial<Admission>, requestTimeoutMs: number): Promise<Stage> {
  const store = await storeOfBoxes()
  const engine: Engine = {
    store,
    identity,
    gates: defaultFeatureGates,
    forbidsPrivileged: false,
    clock: systemClock,
    admission: { mutate: ({ object }) => object, validate: () => undefined, ...admission },
    access: { authenticators: [], authorizers: [] },
    reservers: [],
    newUid: () => 'uid',
    randomSuffix: () => 'xxxxx',
  }
  let ended = 0
  const listener = requestListener({
    filters: [(exchange) => serveResource({ engine, minRequestTimeoutMs: 1000 }, exchange)],
    catalogs: new CatalogSource(catalog),
    clock: systemClock,
    requestTimeoutMs,
    pressure: new Pressure({ bodyBytes: 1 << 20, answerBytes: 1 << 20, answerMs: 1000 }),
    hooks: [{ responseComplete: () => ended++ }],
  })
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, store, ended: () => ended }
}

const urlOf = ({ server }: Stage): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/namespaces/n/boxes`

async function close({ server }: Stage): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 6000 && !isSo(); i++) await sleep(10)
  assert.ok(isSo())
}

test('a request whose time is up does not write afterwards', async () => {
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const on = await stage({ validate: () => gate }, 50)
  const answer = await fetch(urlOf(on), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ metadata: { name: 'late' } }),
  })
  assert.equal(answer.status, 504)
  assert.match(await answer.text(), /"reason":"Timeout"/)
  open()
  await until(() => on.ended() === 1)
  assert.equal(on.store.count(boxes, 'n'), 0)
  await close(on)
})

test('a deletecollection stops when its client goes', async () => {
  const count = 300
  const on = await stage({ validate: () => sleep(2) }, 60_000)
  for (let i = 0; i < count; i++) await put(on.store, box(`b${i}`))
  const request = httpRequest(urlOf(on), { method: 'DELETE' }).on('error', () => undefined)
  request.end()
  await until(() => on.store.count(boxes, 'n') < count)
  request.destroy()
  await until(() => on.ended() === 1)
  const left = on.store.count(boxes, 'n')
  assert.ok(left > 0, 'not all of them are gone')
  await sleep(50)
  assert.equal(on.store.count(boxes, 'n'), left)
  await close(on)
})

for (const { verb, path } of [
  { verb: 'get', path: '/a' },
  { verb: 'list', path: '' },
  { verb: 'watch', path: '?watch=1' },
]) {
  test(`a ${verb} stops waiting for the read index when its client goes`, async () => {
    const on = await stage({}, 60_000)
    let isAsked = false
    on.store.readIndex = () => {
      isAsked = true
      return new Promise(() => undefined)
    }
    const request = httpRequest(`${urlOf(on)}${path}`).on('error', () => undefined)
    request.end()
    await until(() => isAsked)
    assert.equal(on.ended(), 0)
    request.destroy()
    await until(() => on.ended() === 1)
    await close(on)
  })
}

test('a request and a watch that may take longer than timers can be set for are answered', async () => {
  const on = await stage({ validate: () => sleep(20) }, 600 * 3_600_000)
  const made = await fetch(urlOf(on), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"metadata":{"name":"a"}}',
  })
  assert.equal(made.status, 201)
  const known = on.store.revision
  on.store.readIndex = () => sleep(20, known)
  const watch = await fetch(`${urlOf(on)}?watch=1&timeoutSeconds=3000000`)
  assert.equal(watch.status, 200)
  const reader = watch.body?.getReader()
  assert.match(new TextDecoder().decode((await reader?.read())?.value), /"type":"ADDED"/)
  await reader?.cancel()
  await close(on)
})
