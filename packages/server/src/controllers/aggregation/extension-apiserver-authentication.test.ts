// The ConfigMap extension-apiserver-authentication: created, repaired, and merged from several servers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { members } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { issueCertificate } from '../../net/tls/issue-certificate.js'
import { remove } from '../../verbs/delete.js'
import { update } from '../../verbs/update.js'
import { ensureObjects } from '../bootstrap/ensure-objects.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { internalCall } from '../framework/internal-call.js'
import { FakeTimers, flushTurns } from '../framework/timers.fixture.js'
import {
  authenticationConfigMap,
  mergeTrusted,
  publishExtensionAuthentication,
  type Trusted,
} from './extension-apiserver-authentication.js'

const dayMs = 86_400_000
const now = Date.now()
const authority = (days: number): string =>
  issueCertificate({ commonName: 'ca', use: 'authority', notBefore: now - dayMs, notAfter: now + days * dayMs }).cert

test('merges the entries of two servers, which then stop writing', () => {
  const [first, second] = [authority(10), authority(10)]
  const configured = { 'client-ca-file': first, 'requestheader-group-headers': '["X-Group"]' }
  const others = { 'client-ca-file': second, 'requestheader-group-headers': '["X-Remote-Group"]', theirs: 'x' }
  const both = mergeTrusted(others, configured, now)
  assert.equal(both['theirs'], 'x')
  assert.equal(both['requestheader-group-headers'], '["X-Remote-Group","X-Group"]')
  for (const pem of [first, second]) assert.ok(both['client-ca-file']?.includes(pem.trim()))
  assert.equal(mergeTrusted(both, configured, now), both)
  assert.equal(mergeTrusted(both, { 'client-ca-file': second }, now), both)
})

test('removes expired and invalid certificates and values that are not JSON lists', () => {
  const [configured, old] = [authority(10), authority(1)]
  const stored = {
    'client-ca-file': `${old}-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n`,
    'requestheader-allowed-names': 'x',
  }
  const after = mergeTrusted(stored, { 'client-ca-file': configured, 'requestheader-allowed-names': '["a"]' }, now + 2 * dayMs)
  assert.deepEqual(after, { 'client-ca-file': configured, 'requestheader-allowed-names': '["a"]' })
})

async function setUp(trusted: Trusted) {
  const { engine, catalog, catalogs } = await createTestEngine('kubernetes', systemClock)
  const timers = new FakeTimers()
  const resource = catalog.find('', 'v1', 'configmaps') as Resource
  const address = { resource, namespace: 'kube-system', name: 'extension-apiserver-authentication' }
  const read = () => engine.store.read(address)?.decode(resource)
  await ensureObjects(engine, catalog, [authenticationConfigMap(engine.identity, trusted, now)])
  const source = { current: () => trusted, onChange: () => () => undefined }
  const controller = publishExtensionAuthentication({ engine, catalogs, logger: silentLogger, timers }, source)
  return { engine, timers, address, read, controller }
}

test('is created again after a deletion and repaired after a change', async () => {
  const trusted = { 'client-ca-file': authority(10) }
  const { engine, timers, address, read, controller } = await setUp(trusted)
  await remove(engine, internalCall(engine, address))
  await flushTurns()
  assert.deepEqual(members(read() ?? {})['data'], trusted)
  await update(engine, internalCall(engine, address), { object: { ...read(), data: { mine: 'x' } } as object })
  await timers.advance(1000)
  assert.deepEqual(members(read() ?? {})['data'], { mine: 'x', ...trusted })
  await timers.advance(10_000)
  const { revision } = engine.store
  await timers.advance(3_600_000)
  assert.equal(engine.store.revision, revision)
  await controller.close()
})

test('exists even without entries', async () => {
  const { read, controller } = await setUp({})
  assert.equal(read()?.metadata?.name, 'extension-apiserver-authentication')
  assert.equal(members(read() ?? {})['data'], undefined)
  await controller.close()
})
