// The config map for extension servers: there from the start, there again, and with what every server trusts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../api/catalog.js'
import { members } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { issueCertificate } from '../net/issue-certificate.js'
import { remove } from '../verbs/delete.js'
import { update } from '../verbs/update.js'
import { placeAll } from './bootstrap/place.js'
import { type Trusted, trustMap, withTrusted } from './bootstrap/trust-map.js'
import { stageOf } from './engine.fixture.js'
import { FakeTimers, flushTurns } from './kit/timers.fixture.js'
import { ownCall } from './own-call.js'
import { keepTrust } from './trust-keeper.js'

const dayMs = 86_400_000
const now = Date.now()
const authority = (days: number): string =>
  issueCertificate({ commonName: 'ca', use: 'authority', notBefore: now - dayMs, notAfter: now + days * dayMs }).cert

test('what is missing is added, what others trust stays, and two servers come to rest', () => {
  const [first, second] = [authority(10), authority(10)]
  const own = { 'client-ca-file': first, 'requestheader-group-headers': '["X-Group"]' }
  const others = { 'client-ca-file': second, 'requestheader-group-headers': '["X-Remote-Group"]', theirs: 'x' }
  const both = withTrusted(others, own, now)
  assert.equal(both['theirs'], 'x')
  assert.equal(both['requestheader-group-headers'], '["X-Remote-Group","X-Group"]')
  for (const pem of [first, second]) assert.ok(both['client-ca-file']?.includes(pem.trim()))
  assert.equal(withTrusted(both, own, now), both)
  assert.equal(withTrusted(both, { 'client-ca-file': second }, now), both)
})

test('authorities that are no longer good, and words that are none, go', () => {
  const [own, old] = [authority(10), authority(1)]
  const stored = {
    'client-ca-file': `${old}-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n`,
    'requestheader-allowed-names': 'x',
  }
  const after = withTrusted(stored, { 'client-ca-file': own, 'requestheader-allowed-names': '["a"]' }, now + 2 * dayMs)
  assert.deepEqual(after, { 'client-ca-file': own, 'requestheader-allowed-names': '["a"]' })
})

async function setUp(trusted: Trusted) {
  const { engine, catalog, catalogs } = await stageOf('kubernetes', systemClock)
  const timers = new FakeTimers()
  const resource = catalog.find('', 'v1', 'configmaps') as Resource
  const place = { resource, namespace: 'kube-system', name: 'extension-apiserver-authentication' }
  const read = () => engine.store.read(place)?.decode(resource)
  await placeAll(engine, catalog, [trustMap(engine.identity, trusted, now)])
  const source = { current: () => trusted, onChange: () => () => undefined }
  const loop = keepTrust({ engine, catalogs, logger: silentLogger, timers }, source)
  return { engine, timers, place, read, loop }
}

test('it is made again when it is deleted, and mended when it is changed', async () => {
  const trusted = { 'client-ca-file': authority(10) }
  const { engine, timers, place, read, loop } = await setUp(trusted)
  await remove(engine, ownCall(engine, place))
  await flushTurns()
  assert.deepEqual(members(read() ?? {})['data'], trusted)
  await update(engine, ownCall(engine, place), { object: { ...read(), data: { mine: 'x' } } as object })
  await timers.advance(1000)
  assert.deepEqual(members(read() ?? {})['data'], { mine: 'x', ...trusted })
  await timers.advance(10_000)
  const { revision } = engine.store
  await timers.advance(3_600_000)
  assert.equal(engine.store.revision, revision)
  await loop.close()
})

test('it is there even where nobody is trusted', async () => {
  const { read, loop } = await setUp({})
  assert.equal(read()?.metadata?.name, 'extension-apiserver-authentication')
  assert.equal(members(read() ?? {})['data'], undefined)
  await loop.close()
})
