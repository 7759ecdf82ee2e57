// Controllers act on objects with thousands of labels, and keep the labels.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiServiceSource } from '../api/api-services.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { decodedWhole } from '../objects/decoded-whole.fixture.js'
import { apiServicesResource, followApiServices } from './aggregation/follow-api-services.js'
import { customApiServices } from './aggregation/register-custom.js'
import { automanagedLabel, keptLabel } from './bootstrap/api-services.js'
import { certificateCleaner } from './certificates/clean-requests.js'
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
  /** What the controller leaves; undefined: the object is deleted. */
  readonly expected: RegExp | undefined
}

const cases: readonly Case[] = [
  {
    loop: disruptionBudgets,
    place: ['policy', 'poddisruptionbudgets'],
    object: { spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } },
    metadata: { generation: 7 },
    expected: /"observedGeneration":7/,
  },
  {
    loop: finishedJobs,
    place: ['batch', 'jobs'],
    object: {
      spec: { ttlSecondsAfterFinished: 1, template: { spec: {} } },
      status: { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: long }] },
    },
    expected: /"deletionTimestamp".*"foregroundDeletion"|"foregroundDeletion".*"deletionTimestamp"/,
  },
  {
    loop: claimProtection,
    place: ['', 'persistentvolumeclaims'],
    object: {
      spec: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', resources: { requests: { storage: '1Gi' } } },
      status: { phase: 'Pending' },
    },
    metadata: { deletionTimestamp: long, finalizers: ['cluster.io/pvc-protection', 'example.com/other'] },
    expected: /"finalizers":\["example.com\/other"\]/,
  },
  {
    loop: volumeProtection,
    place: ['', 'persistentvolumes'],
    object: {
      spec: {
        accessModes: ['ReadWriteOnce'],
        volumeMode: 'Filesystem',
        capacity: { storage: '1Gi' },
        hostPath: { path: '/x', type: '' },
        persistentVolumeReclaimPolicy: 'Retain',
      },
      status: { phase: 'Pending' },
    },
    expected: /"finalizers":\["[a-z.]+\/pv-protection"\]/,
  },
  {
    loop: tokenSecrets({ pem: () => 'ca', onChange: () => () => undefined }),
    place: ['', 'secrets'],
    object: { type: 'cluster.io/service-account-token' },
    metadata: { annotations: { 'cluster.io/service-account.name': 'gone' } },
    expected: undefined,
  },
  {
    loop: certificateCleaner,
    place: ['certificates.cluster.io', 'certificatesigningrequests'],
    object: { spec: { request: '', signerName: 'a/b', usages: [] } },
    expected: undefined,
  },
]

for (const { loop: make, place, object, metadata, expected } of cases)
  test(`${place[1]} with thousands of labels: ${expected === undefined ? 'deleted' : 'updated'}`, async () => {
    const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
    const resource = catalog.find(place[0], 'v1', place[1]) as Resource
    const namespace = resource.namespaced ? 'n' : ''
    const address = { resource, namespace, name: 'large' }
    const own = { name: 'large', ...(namespace === '' ? {} : { namespace }), uid: 'u', creationTimestamp: long, labels, ...metadata }
    const { store } = engine
    await store.put(address, store.encode(resource, { metadata: own, ...object } as ApiObject), { expect: 0 })
    const before = store.revision
    const timers = new FakeTimers()
    const loop = make({ engine, catalogs, logger: silentLogger, timers })
    for (let i = 0; i < 20 && store.revision === before; i++) await timers.advance(500)
    await loop.close()
    const left = store.read(address)?.decode(resource)
    if (expected === undefined) assert.equal(left, undefined)
    else {
      assert.match(JSON.stringify(left), expected)
      assert.deepEqual(left?.metadata?.labels, labels)
    }
  })

test('API services with thousands of labels are followed, and deleted when nobody defines their group', async () => {
  const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
  const { store } = engine
  const resource = apiServicesResource(catalog) as Resource
  const source = new ApiServiceSource()
  const timers = new FakeTimers()
  const loop = customApiServices({ engine, catalogs, logger: silentLogger, timers })
  const unfollow = followApiServices(store, catalog, source)
  const metadata = { name: 'v1.large', uid: 'u', creationTimestamp: long, labels: { ...labels, [automanagedLabel(catalog)]: keptLabel } }
  const spec = { group: 'large', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 }
  const address = { resource, namespace: '', name: 'v1.large' }
  await store.put(address, store.encode(resource, { metadata, spec } as ApiObject), { expect: 0 })
  assert.equal(source.current.all.get('v1.large')?.group, 'large')
  for (let i = 0; i < 20 && store.read(address) !== undefined; i++) await timers.advance(500)
  await loop.close()
  unfollow()
  assert.equal(store.read(address), undefined)
})

test('a namespace with thousands of labels loses its finalizer and keeps the rest', async () => {
  const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
  const { store } = engine
  const address = { resource: catalog.find('', 'v1', 'namespaces') as Resource, namespace: '', name: 'large' }
  const metadata = { name: 'large', uid: 'u', creationTimestamp: long, deletionTimestamp: long, labels }
  const object = { metadata, spec: { finalizers: ['cluster', 'a/b'] }, status: { phase: 'Terminating' } }
  await store.put(address, store.encode(address.resource, object as ApiObject), { expect: 0 })
  const finalizers = () => (store.read(address)?.decode(address.resource) as typeof object | undefined)?.spec.finalizers
  const timers = new FakeTimers()
  const loop = namespaceDeletion({ engine, catalogs, logger: silentLogger, timers })
  for (let i = 0; i < 20 && finalizers()?.length === 2; i++) await timers.advance(500)
  await loop.close()
  assert.deepEqual(finalizers(), ['a/b'])
  assert.deepEqual(store.read(address)?.decode(address.resource).metadata?.labels, labels)
})

test('quotas are counted in what is stored beside their labels', async (t) => {
  const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
  const address = { resource: catalog.find('', 'v1', 'resourcequotas') as Resource, namespace: 'n', name: 'large' }
  const metadata = { name: 'large', namespace: 'n', uid: 'u', creationTimestamp: long, labels }
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
