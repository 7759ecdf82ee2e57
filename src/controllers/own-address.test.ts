// The service of the API has the addresses of the servers that are there, and of no others.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { type Closing, timedTest } from '../base/timed-test.fixture.js'
import { ServerRegistry } from '../objects/server-registry.js'
import { openMemoryStorage } from '../storage/memory.js'
import { ownEndpoints } from './bootstrap/own-objects.js'
import { placeAll } from './bootstrap/place.js'
import { stageOf } from './engine.fixture.js'
import { OwnAddress } from './own-address.js'

async function scene(attempt: Closing) {
  const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
  const registry = new ServerRegistry(openMemoryStorage(), systemClock)
  const start = async (holder: string, address: string, securePort = 6443): Promise<OwnAddress> => {
    const self = { holder, address }
    const started = new OwnAddress({ engine, catalogs, registry, logger: silentLogger, self, securePort, intervalMs: 20, lastsMs: 200 })
    attempt.after(() => started.close())
    await placeAll(engine, catalog, ownEndpoints(engine.identity, { addresses: await started.announce(), securePort }))
    started.start()
    return started
  }
  const found = (group: string, plural: string): string => {
    const resource = catalog.find(group, 'v1', plural)
    assert.ok(resource)
    return JSON.stringify(engine.store.read({ resource, namespace: 'default', name: 'cluster' })?.decode(resource) ?? null)
  }
  const shown = (): string => {
    const all = [found('', 'endpoints'), found('discovery.cluster.io', 'endpointslices')].map((text) =>
      [...text.matchAll(/192\.0\.2\.\d|2001:db8::\d|"port":\d+/g)].join(' '),
    )
    const [addresses, others] = all.map((text) => text.replace(/ ?"port":\d+/, ''))
    // They are written one after the other.
    return addresses === others ? (all[0] ?? '') : `${addresses} and ${others}`
  }
  const until = async (wanted: string): Promise<void> => {
    for (let i = 0; i < 3000 && shown() !== wanted; i += 1) await sleep(10)
    assert.equal(shown(), wanted)
  }
  return { engine, registry, start, shown, until }
}

timedTest('those that come are shown at once, in order, and so is that one leaves', async (attempt) => {
  const { start, shown, until } = await scene(attempt)
  const second = await start('b', '192.0.2.2')
  const first = await start('a', '192.0.2.1')
  assert.equal(shown(), '192.0.2.1 192.0.2.2 "port":6443')
  await second.close()
  assert.equal(shown(), '192.0.2.1 "port":6443')
  const third = await start('c', '192.0.2.3')
  await until('192.0.2.1 192.0.2.3 "port":6443')
  await first.close()
  await third.close()
  assert.equal(shown(), '192.0.2.3 "port":6443', 'the last address stays')
})

timedTest('one that is not heard of any more goes', async (attempt) => {
  const { start, registry, until } = await scene(attempt)
  await registry.renew({ holder: 'killed', address: '192.0.2.2' }, 100)
  const living = await start('a', '192.0.2.1')
  await until('192.0.2.1 192.0.2.2 "port":6443')
  await until('192.0.2.1 "port":6443')
  await living.close()
})

timedTest('servers on one machine have one address, which stays with either, and do not fight over the port', async (attempt) => {
  const { engine, start, shown } = await scene(attempt)
  const first = await start('a', '192.0.2.1', 6443)
  const second = await start('b', '192.0.2.1', 7443)
  assert.equal(shown(), '192.0.2.1 "port":7443')
  const { revision } = engine.store
  await sleep(100)
  assert.equal(engine.store.revision, revision, 'nothing is written again')
  await second.close()
  assert.equal(shown(), '192.0.2.1 "port":7443')
  await first.close()
})

timedTest('addresses of another family are left out', async (attempt) => {
  const { start, until } = await scene(attempt)
  const first = await start('a', '2001:db8::1')
  const second = await start('b', '192.0.2.2')
  // Each shows its own family in turn.
  await until('192.0.2.2 "port":6443')
  await second.close()
  await first.close()
})

timedTest('a store that does not answer holds up nobody at the end', async (attempt) => {
  const { engine, catalogs } = await stageOf('cluster', systemClock)
  const storage = openMemoryStorage()
  const registry = new ServerRegistry(storage, systemClock)
  const self = { holder: 'a', address: '192.0.2.1' }
  const options = { engine, catalogs, registry, logger: silentLogger, self, securePort: 6443, intervalMs: 5 }
  const [known, unknown] = [new OwnAddress(options), new OwnAddress(options)]
  attempt.after(() => known.close())
  await known.announce()
  Object.assign(storage, { commit: () => new Promise<never>(() => undefined) })
  known.start()
  await sleep(20)
  const msUntil = async (end: Promise<void>): Promise<number> => {
    const startMs = performance.now()
    await end
    return performance.now() - startMs
  }
  assert.ok((await msUntil(unknown.close())) < 950, 'one that nobody knows of has nothing to take back')
  const tookMs = await msUntil(known.close())
  assert.ok(tookMs > 1_000 && tookMs < 40_000, `${tookMs} ms`)
})
