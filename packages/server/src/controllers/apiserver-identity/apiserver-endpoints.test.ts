// Endpoints of the Service of this API: registered servers, expiry, shared addresses, address families.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { ServerRegistry } from '../../objects/server-registry.js'
import { openMemoryStorage } from '../../storage/memory/memory-storage.js'
import { apiServerEndpoints } from '../bootstrap/apiserver-objects.js'
import { ensureObjects } from '../bootstrap/ensure-objects.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { FakeTimers } from '../framework/timers.fixture.js'
import { ApiServerEndpoints, defaultIntervalMs, defaultTtlMs } from './apiserver-endpoints.js'

async function setUp(t: TestContext) {
  const { engine, catalog, catalogs } = await createTestEngine('cluster', systemClock)
  const rows = openMemoryStorage()
  const registry = new ServerRegistry(rows, systemClock)
  const timers = new FakeTimers()
  t.after(() => rows.close())
  const start = async (holder: string, address: string, securePort = 6443): Promise<ApiServerEndpoints> => {
    const self = { holder, address }
    const started = new ApiServerEndpoints({ engine, catalogs, registry, logger: silentLogger, self, securePort, timers })
    t.after(() => started.close())
    await ensureObjects(engine, catalog, apiServerEndpoints(engine.identity, { addresses: await started.announce(), securePort }))
    started.start()
    return started
  }
  const objectJson = (group: string, plural: string): string => {
    const resource = catalog.find(group, 'v1', plural)
    assert.ok(resource)
    return JSON.stringify(engine.store.read({ resource, namespace: 'default', name: 'cluster' })?.decode(resource) ?? null)
  }
  const publishedAddresses = (): string => {
    const all = [objectJson('', 'endpoints'), objectJson('discovery.cluster.io', 'endpointslices')].map((text) =>
      [...text.matchAll(/192\.0\.2\.\d|2001:db8::\d|"port":\d+/g)].join(' '),
    )
    const [addresses, others] = all.map((text) => text.replace(/ ?"port":\d+/, ''))
    return addresses === others ? (all[0] ?? '') : `${addresses} and ${others}`
  }
  /** Waits until every server has renewed its registration once. */
  const addressesAfterRenewal = async (): Promise<string> => {
    await timers.advance(defaultIntervalMs)
    return publishedAddresses()
  }
  return { engine, rows, registry, start, publishedAddresses, addressesAfterRenewal }
}

test('starting and stopping servers change the endpoints immediately', async (t) => {
  const { start, publishedAddresses, addressesAfterRenewal } = await setUp(t)
  const second = await start('b', '192.0.2.2')
  const first = await start('a', '192.0.2.1')
  assert.equal(publishedAddresses(), '192.0.2.1 192.0.2.2 "port":6443')
  await second.close()
  assert.equal(publishedAddresses(), '192.0.2.1 "port":6443')
  const third = await start('c', '192.0.2.3')
  assert.equal(await addressesAfterRenewal(), '192.0.2.1 192.0.2.3 "port":6443')
  await first.close()
  await third.close()
  assert.equal(publishedAddresses(), '192.0.2.3 "port":6443', 'the last address stays')
})

test('the address of a killed server expires; a running server renews its own', async (t) => {
  const { start, registry, rows, addressesAfterRenewal } = await setUp(t)
  await registry.renew({ holder: 'killed', address: '192.0.2.2' }, defaultTtlMs)
  await start('a', '192.0.2.1')
  const { revision } = rows
  assert.equal(await addressesAfterRenewal(), '192.0.2.1 192.0.2.2 "port":6443')
  assert.ok(rows.revision > revision && defaultIntervalMs < defaultTtlMs)
  // Simulates the expiry of the key in the store.
  await registry.leave('killed')
  assert.equal(await addressesAfterRenewal(), '192.0.2.1 "port":6443')
})

test('servers on one machine share an address and do not overwrite the port', async (t) => {
  const { engine, start, publishedAddresses, addressesAfterRenewal } = await setUp(t)
  await start('a', '192.0.2.1', 6443)
  const second = await start('b', '192.0.2.1', 7443)
  assert.equal(publishedAddresses(), '192.0.2.1 "port":7443')
  const { revision } = engine.store
  assert.equal(await addressesAfterRenewal(), '192.0.2.1 "port":7443')
  assert.equal(engine.store.revision, revision, 'no further writes')
  await second.close()
  assert.equal(publishedAddresses(), '192.0.2.1 "port":7443')
})

test('addresses of another family are left out', async (t) => {
  const { start, addressesAfterRenewal } = await setUp(t)
  const first = await start('a', '2001:db8::1')
  await start('b', '192.0.2.2')
  await first.close()
  assert.equal(await addressesAfterRenewal(), '192.0.2.2 "port":6443')
})
