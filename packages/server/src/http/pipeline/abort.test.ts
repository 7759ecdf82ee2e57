// Work for a request stops when it times out or its client disconnects.

import assert from 'node:assert/strict'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { defaultFeatureGates } from '@cluster-apiserver/api/api/feature-gates/feature-gates.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import type { Admission } from '../../admission/admission.js'
import { MemoryPressure } from '../../flow-control/memory-pressure.js'
import { box, boxes, put, storeOfBoxes } from '../../objects/box-store.fixture.js'
import type { Engine } from '../../verbs/engine.js'
import { serveResource } from '../dispatch.js'
import { requestListener } from './request-listener.js'

const identity = identityOf('cluster')
const catalog = new Catalog({ identity, definitions: [boxes.definition], isServed: () => true })

interface Harness {
  readonly server: Server
  readonly store: Engine['store']
  /** Number of completed requests. */
  readonly ended: () => number
}

async function startHarness(admission: Partial<Admission>, requestTimeoutMs: number): Promise<Harness> {
  const store = await storeOfBoxes()
  const engine: Engine = {
    store,
    identity,
    gates: defaultFeatureGates,
    forbidsPrivileged: false,
    clock: systemClock,
    admission: { mutate: async ({ object }) => object, validate: async () => undefined, ...admission },
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
    pressure: new MemoryPressure({ bodyBytes: 1 << 20, responseBytes: 1 << 20, responseMs: 1000 }),
    hooks: [{ responseComplete: () => ended++ }],
  })
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, store, ended: () => ended }
}

const urlOf = ({ server }: Harness): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/namespaces/n/boxes`

async function close({ server }: Harness): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

async function until(isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 6000 && !isDone(); i++) await sleep(10)
  assert.ok(isDone())
}

test('a request that timed out commits nothing afterwards', async () => {
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const harness = await startHarness({ validate: async () => gate }, 50)
  const response = await fetch(urlOf(harness), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ metadata: { name: 'late' } }),
  })
  assert.equal(response.status, 504)
  assert.match(await response.text(), /"reason":"Timeout"/)
  open()
  await until(() => harness.ended() === 1)
  assert.equal(harness.store.count(boxes, 'n'), 0)
  await close(harness)
})

test('a deletecollection stops when its client disconnects', async () => {
  const count = 300
  const harness = await startHarness({ validate: async () => sleep(2) }, 60_000)
  for (let i = 0; i < count; i++) await put(harness.store, box(`b${i}`))
  const request = httpRequest(urlOf(harness), { method: 'DELETE' }).on('error', () => undefined)
  request.end()
  await until(() => harness.store.count(boxes, 'n') < count)
  request.destroy()
  await until(() => harness.ended() === 1)
  const left = harness.store.count(boxes, 'n')
  assert.ok(left > 0, 'not all objects are deleted')
  await sleep(50)
  assert.equal(harness.store.count(boxes, 'n'), left)
  await close(harness)
})

for (const { verb, path } of [
  { verb: 'get', path: '/a' },
  { verb: 'list', path: '' },
  { verb: 'watch', path: '?watch=1' },
]) {
  test(`a ${verb} stops waiting for the read index when its client disconnects`, async () => {
    const harness = await startHarness({}, 60_000)
    let isReadIndexPending = false
    harness.store.readIndex = (call) => {
      isReadIndexPending = true
      const never = new Promise<number>(() => undefined)
      return call?.waitFor(never) ?? never
    }
    const request = httpRequest(`${urlOf(harness)}${path}`).on('error', () => undefined)
    request.end()
    await until(() => isReadIndexPending)
    assert.equal(harness.ended(), 0)
    request.destroy()
    await until(() => harness.ended() === 1)
    await close(harness)
  })
}

test('timeouts beyond the maximum of setTimeout do not expire at once', async () => {
  const harness = await startHarness({ validate: async () => sleep(20) }, 600 * 3_600_000)
  const created = await fetch(urlOf(harness), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"metadata":{"name":"a"}}',
  })
  assert.equal(created.status, 201)
  const known = harness.store.revision
  harness.store.readIndex = () => sleep(20, known)
  const watch = await fetch(`${urlOf(harness)}?watch=1&timeoutSeconds=3000000`)
  assert.equal(watch.status, 200)
  const reader = watch.body?.getReader()
  assert.match(new TextDecoder().decode((await reader?.read())?.value), /"type":"ADDED"/)
  await reader?.cancel()
  await close(harness)
})
