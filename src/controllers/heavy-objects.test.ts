// Loops read heavy objects without what anybody can hang on them, such as thousands of labels, and what they write to them is carried out elsewhere.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiServiceSource } from '../api/api-services.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { decodedWhole } from '../objects/decoded-whole.fixture.js'
import type { Engine, OwnRequest } from '../verbs/engine.js'
import { apiServicesResource, followApiServices } from './aggregation/follow-api-services.js'
import { customApiServices } from './aggregation/register-custom.js'
import { automanagedLabel, keptLabel } from './bootstrap/api-services.js'
import { certificateCleaner } from './certificates/clean-requests.js'
import { defaultAccounts } from './default-accounts.js'
import { disruptionBudgets } from './disruption/disruption.js'
import { stageOf } from './engine.fixture.js'
import { finishedJobs } from './finished-jobs.js'
import type { LoopParts } from './kit/loop.js'
import { FakeTimers } from './kit/timers.fixture.js'
import type { Loop } from './leader-election.js'
import { namespaceDeletion } from './namespace-deletion.js'
import { claimProtection } from './protection/claim-protection.js'
import { volumeProtection } from './protection/volume-protection.js'
import { quotaStatus } from './resource-quota.js'
import { tokenSecrets } from './token-secrets.js'

const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, 'x']))
const long = '2020-01-01T00:00:00Z'

interface Case {
  readonly loop: (parts: LoopParts) => Loop
  readonly place: readonly [group: string, resource: string]
  readonly object: object
  readonly metadata?: object
  readonly expected: { readonly method: string; readonly path: string; readonly body: RegExp }
}

const cases: readonly Case[] = [
  {
    loop: disruptionBudgets,
    place: ['policy', 'poddisruptionbudgets'],
    object: { spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } },
    metadata: { generation: 7 },
    expected: {
      method: 'PATCH',
      path: '/apis/policy/v1/namespaces/n/poddisruptionbudgets/heavy/status',
      body: /^\{"metadata":\{"uid":"u","resourceVersion":"\d+"\},"status":\{.*"observedGeneration":7/,
    },
  },
  {
    loop: finishedJobs,
    place: ['batch', 'jobs'],
    object: {
      spec: { ttlSecondsAfterFinished: 1, template: { spec: {} } },
      status: { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: long }] },
    },
    expected: { method: 'DELETE', path: '/apis/batch/v1/namespaces/n/jobs/heavy', body: /"uid":"u".*"Foreground"/ },
  },
  {
    loop: claimProtection,
    place: ['', 'persistentvolumeclaims'],
    object: { spec: {} },
    metadata: { deletionTimestamp: long, finalizers: ['kubernetes.io/pvc-protection', 'cluster.io/pvc-protection', 'other'] },
    expected: {
      method: 'PATCH',
      path: '/api/v1/namespaces/n/persistentvolumeclaims/heavy',
      body: /^\{"metadata":\{"uid":"u","resourceVersion":"\d+","finalizers":\[.*"other"\]\}\}$/,
    },
  },
  {
    loop: volumeProtection,
    place: ['', 'persistentvolumes'],
    object: { spec: {} },
    expected: { method: 'PATCH', path: '/api/v1/persistentvolumes/heavy', body: /"finalizers":\["[a-z.]+\/pv-protection"\]/ },
  },
  {
    loop: tokenSecrets({ pem: () => 'ca', onChange: () => () => undefined }),
    place: ['', 'secrets'],
    object: { type: 'cluster.io/service-account-token' },
    metadata: { annotations: { 'cluster.io/service-account.name': 'gone' } },
    expected: { method: 'DELETE', path: '/api/v1/namespaces/n/secrets/heavy', body: /"uid":"u","resourceVersion":"\d+"/ },
  },
  {
    loop: certificateCleaner,
    place: ['certificates.cluster.io', 'certificatesigningrequests'],
    object: { spec: { request: '', signerName: 'a/b', usages: [] } },
    expected: {
      method: 'DELETE',
      path: '/apis/certificates.cluster.io/v1/certificatesigningrequests/heavy',
      body: /"uid":"u","resourceVersion":"\d+"/,
    },
  },
]

for (const { loop: make, place, object, metadata, expected } of cases)
  test(`${place[1]}: ${expected.method}`, async (t) => {
    const { engine: stage, catalog, catalogs } = await stageOf('cluster', systemClock)
    const requests: OwnRequest[] = []
    const carryOut = (request: OwnRequest) => {
      requests.push(request)
      return Promise.resolve({ code: 200, body: Buffer.from('{}') })
    }
    const engine: Engine = { ...stage, elsewhere: { carryOut } }
    const resource = catalog.find(place[0], 'v1', place[1]) as Resource
    const namespace = resource.namespaced ? 'n' : ''
    const address = { resource, namespace, name: 'heavy' }
    const own = { name: 'heavy', ...(namespace === '' ? {} : { namespace }), uid: 'u', creationTimestamp: long, labels, ...metadata }
    await stage.store.put(address, stage.store.encode(resource, { metadata: own, ...object } as ApiObject), { expect: 0 })
    const decoded = decodedWhole(t)
    const timers = new FakeTimers()
    const loop = make({ engine, catalogs, logger: silentLogger, timers })
    for (let i = 0; i < 20 && requests.length === 0; i++) await timers.advance(500)
    await loop.close()
    const [{ method, path, body } = { method: '', path: '', body: '' }] = requests
    assert.deepEqual([method, path], [expected.method, expected.path])
    assert.match(body, expected.body)
    assert.deepEqual(decoded, [])
  })

test('API services are followed and put into order without their labels', async (t) => {
  const { engine: stage, catalog, catalogs } = await stageOf('cluster', systemClock)
  const requests: OwnRequest[] = []
  const carryOut = (request: OwnRequest) => {
    requests.push(request)
    return Promise.resolve({ code: 200, body: Buffer.from('{}') })
  }
  const engine: Engine = { ...stage, elsewhere: { carryOut } }
  const { store } = engine
  const resource = apiServicesResource(catalog) as Resource
  const source = new ApiServiceSource()
  const decoded = decodedWhole(t)
  const timers = new FakeTimers()
  const loop = customApiServices({ engine, catalogs, logger: silentLogger, timers })
  const unfollow = followApiServices(store, catalog, source)
  // Nobody defines this group any more.
  const metadata = { name: 'v1.heavy', uid: 'u', creationTimestamp: long, labels: { ...labels, [automanagedLabel(catalog)]: keptLabel } }
  const spec = { group: 'heavy', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 }
  await store.put({ resource, namespace: '', name: 'v1.heavy' }, store.encode(resource, { metadata, spec } as ApiObject), { expect: 0 })
  assert.equal(source.current.all.get('v1.heavy')?.group, 'heavy')
  for (let i = 0; i < 20 && requests.length === 0; i++) await timers.advance(500)
  await loop.close()
  unfollow()
  assert.deepEqual(decoded, [])
  assert.deepEqual(
    requests.map(({ method, path }) => `${method} ${path}`),
    ['DELETE /apis/apiregistration.cluster.io/v1/apiservices/v1.heavy'],
  )
})

test('namespaces are looked at without their labels, and let go by requests that keep them', async (t) => {
  const { engine: stage, catalog, catalogs } = await stageOf('cluster', systemClock)
  const requests: OwnRequest[] = []
  const carryOut = (request: OwnRequest) => {
    requests.push(request)
    return Promise.resolve({ code: 200, body: Buffer.from('{}') })
  }
  const engine: Engine = { ...stage, elsewhere: { carryOut } }
  const address = { resource: catalog.find('', 'v1', 'namespaces') as Resource, namespace: '', name: 'heavy' }
  const metadata = { name: 'heavy', uid: 'u', creationTimestamp: long, deletionTimestamp: long, labels }
  const object = { metadata, spec: { finalizers: ['cluster', 'a/b'] }, status: { phase: 'Terminating' } }
  await stage.store.put(address, stage.store.encode(address.resource, object as ApiObject), { expect: 0 })
  const resourceVersion = stage.store.read(address)?.resourceVersion
  const decoded = decodedWhole(t)
  const timers = new FakeTimers()
  const parts = { engine, catalogs, logger: silentLogger, timers }
  const loops = [namespaceDeletion(parts), defaultAccounts(parts)]
  for (let i = 0; i < 20 && requests.length < 2; i++) await timers.advance(500)
  for (const loop of loops) await loop.close()
  assert.deepEqual(decoded, [])
  const paths = requests.map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(paths, ['PUT /api/v1/namespaces/heavy/status', 'PUT /api/v1/namespaces/heavy/finalize'])
  const sent = JSON.parse(requests[1]?.body ?? '')
  assert.deepEqual(sent, {
    ...object,
    metadata: { ...metadata, resourceVersion },
    spec: { finalizers: ['a/b'] },
    apiVersion: 'v1',
    kind: 'Namespace',
  })
})

test('quotas are counted in what is stored beside their labels', async (t) => {
  const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
  const address = { resource: catalog.find('', 'v1', 'resourcequotas') as Resource, namespace: 'n', name: 'heavy' }
  const metadata = { name: 'heavy', namespace: 'n', uid: 'u', creationTimestamp: long, labels }
  const { store } = engine
  await store.put(address, store.encode(address.resource, { metadata, spec: { hard: { pods: '3' } } } as ApiObject), { expect: 0 })
  const before = store.revision
  const decoded = decodedWhole(t)
  const timers = new FakeTimers()
  const loop = quotaStatus({ engine, catalogs, logger: silentLogger, timers })
  for (let i = 0; i < 20 && store.revision === before; i++) await timers.advance(500)
  await loop.close()
  assert.deepEqual(decoded, [])
  const { metadata: after, ...rest } = store.read(address)?.decode(address.resource) ?? {}
  assert.deepEqual(rest, { spec: { hard: { pods: '3' } }, status: { hard: { pods: '3' }, used: { pods: '0' } } })
  assert.deepEqual(after?.labels, labels)
})
