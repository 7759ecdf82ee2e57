// All controllers together: they become idle, and survive a store that rejects writes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unavailable } from '@cluster-apiserver/api/api/api-error.js'
import { ApiServiceSource } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { noRemoteDiscovery } from '@cluster-apiserver/api/api/catalog/remote-discovery.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { certificate, nodeRequest, request } from '@cluster-apiserver/api/resources/certificates/certificate-signing-request.fixture.js'
import { certificateSigning } from '../controllers/certificates/certificate-signing.js'
import type { ControllerParts } from '../controllers/framework/controller.js'
import { createTestEngine, type TestEngine } from '../controllers/framework/engine.fixture.js'
import { type RawObject, RawObjects } from '../controllers/framework/raw-objects.fixture.js'
import { FakeTimers } from '../controllers/framework/timers.fixture.js'
import { workloadTable } from '../controllers/workloads/workload-table.js'
import { everything } from '../objects/list/selection.js'
import { workloadNames } from '../options/flags/api.js'
import { controllerTable } from './start-controllers.js'

const startMs = Date.parse('2026-01-01T00:00:00Z')
const rootCa = { pem: () => 'pem', onChange: () => () => undefined }
const signers = new Map()
const extensions = {
  services: new ApiServiceSource(),
  extensionClient: { request: never, probe: never, streamLines: never },
  documents: { discovery: noRemoteDiscovery, onChange: () => () => undefined },
}

function never(): never {
  throw new Error('no extension servers in this test')
}

/** All controllers, with a fake of the one that probes extension servers. */
const controllers = controllerTable({
  extensions,
  availability: () => ({ close: async () => undefined }),
  rootCa,
  signing: certificateSigning({ signers, seconds: 3600 }),
  budgetDelayMs: 0,
})

const selector = { matchLabels: { app: 'a' } }
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'owner' }
const crdNames = { plural: 'fleets', singular: 'fleet', kind: 'Fleet', listKind: 'FleetList' }
const schema = { openAPIV3Schema: { type: 'object' } }
const kubeletRequest = { signerName: 'cluster.io/cluster-apiserver-client-kubelet', usages: ['client auth', 'digital signature'] }

/** Group, resource, object and namespace: work for every controller, possible or blocked. */
const objects: readonly (readonly [string, string, RawObject & { readonly [field: string]: unknown }, string?])[] = [
  ['', 'namespaces', { metadata: { name: 'n' }, spec: { finalizers: ['cluster'] } }],
  ['', 'namespaces', { metadata: { name: 'terminating', deletionTimestamp: '2026-01-01T00:00:00Z' }, spec: { finalizers: ['cluster'] } }],
  ['', 'configmaps', { metadata: { name: 'blocks', finalizers: ['example.com/hold'] } }, 'terminating'],
  ['', 'configmaps', { metadata: { name: 'owner', uid: 'owner' } }],
  ['', 'configmaps', { metadata: { name: 'owned', ownerReferences: [owner] } }],
  ['', 'configmaps', { metadata: { name: 'unknown', ownerReferences: [{ ...owner, apiVersion: 'example.com/v1', kind: 'Nobody' }] } }],
  ['', 'configmaps', { metadata: { name: 'cluster-root-ca.crt' }, data: { 'ca.crt': 'old' } }],
  ['', 'pods', { metadata: { name: 'p', labels: { app: 'a' } }, spec: { containers: [] } }],
  ['', 'resourcequotas', { metadata: { name: 'q' }, spec: { hard: { pods: '1', 'count/configmaps': '9' } } }],
  ['', 'persistentvolumeclaims', { metadata: { name: 'c' }, spec: {} }],
  ['', 'persistentvolumes', { metadata: { name: 'v' }, spec: {} }],
  ['', 'serviceaccounts', { metadata: { name: 'robot', uid: 'robot' } }],
  [
    '',
    'secrets',
    {
      metadata: { name: 's', annotations: { 'cluster.io/service-account.name': 'robot' } },
      type: 'cluster.io/service-account-token',
    } as never,
  ],
  ['policy', 'poddisruptionbudgets', { metadata: { name: 'counted', generation: 1 }, spec: { selector, minAvailable: 1 } }],
  ['policy', 'poddisruptionbudgets', { metadata: { name: 'unmanaged', generation: 1 }, spec: { selector, maxUnavailable: 1 } }],
  [
    'policy',
    'poddisruptionbudgets',
    { metadata: { name: 'empty', generation: 1 }, spec: { selector: { matchLabels: { app: 'x' } }, minAvailable: 1 } },
  ],
  [
    'policy',
    'poddisruptionbudgets',
    { metadata: { name: 'failing', generation: 1 }, spec: { selector: { matchLabels: { app: 'f' } }, maxUnavailable: 1 } },
  ],
  [
    '',
    'pods',
    {
      metadata: {
        name: 'f',
        labels: { app: 'f' },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Unknown', name: 'u', uid: 'u', controller: true }],
      },
      spec: { containers: [] },
    },
  ],
  ['batch', 'jobs', { metadata: { name: 'j' }, spec: { ttlSecondsAfterFinished: 1_000_000 } }],
  [
    'certificates',
    'certificatesigningrequests',
    { metadata: { name: 'pending' }, spec: { ...kubeletRequest, request: nodeRequest, username: 'x' } },
  ],
  [
    'certificates',
    'certificatesigningrequests',
    { metadata: { name: 'other' }, spec: { ...kubeletRequest, request }, status: { certificate } },
  ],
  ['rbac.authorization', 'clusterroles', { metadata: { name: 'all' }, aggregationRule: { clusterRoleSelectors: [selector] } } as never],
  ['rbac.authorization', 'clusterroles', { metadata: { name: 'one', labels: { app: 'a' } }, rules: [{ verbs: ['get'] }] } as never],
  [
    'coordination',
    'leases',
    { metadata: { name: 'l' }, spec: { leaseDurationSeconds: 100_000_000, renewTime: '2026-01-01T00:00:00.000000Z' } },
  ],
  [
    'apiextensions',
    'customresourcedefinitions',
    {
      metadata: { name: 'fleets.example.com', generation: 1 },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: crdNames,
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  ],
]

interface ControllersFixture extends TestEngine {
  readonly timers: FakeTimers
  readonly parts: ControllerParts
}

/** All objects are stored, and no controller has run. */
async function createFixture(): Promise<ControllersFixture> {
  const timers = new FakeTimers()
  const testEngine = await createTestEngine('cluster', { now: () => startMs + timers.now() })
  const { identity } = testEngine.engine
  for (const [stem, name, object, namespace] of objects) {
    const group = stem === '' || ['policy', 'batch'].includes(stem) ? stem : identity.group({ stem } as { stem: 'coordination' })
    const resource = testEngine.catalog.find(group, 'v1', name)
    await new RawObjects(testEngine, resource as Resource, namespace).put(object)
  }
  return { ...testEngine, timers, parts: { ...testEngine, logger: silentLogger, timers } }
}

const minuteMs = 60_000

test('restarted controllers write nothing when idle', async () => {
  const { engine, catalog, timers, parts } = await createFixture()
  const { store } = engine
  const written: string[] = []
  for (const resource of catalog.collections())
    store.watch({ resource, namespace: '', matches: undefined, deliver: ({ object, type }) => void written.push(`${type} ${object.key}`) })
  const runOnce = async (): Promise<void> => {
    const running = Object.values(controllers).map((start) => start(parts))
    await timers.advance(5 * minuteMs)
    await Promise.all(running.map((controller) => controller.close()))
  }
  await runOnce()
  assert.ok(written.length >= 10, 'controllers have written')
  for (let round = 0; round < 4; round++) {
    written.length = 0
    await runOnce()
    assert.deepEqual(written, [], `round ${round}`)
  }
  assert.equal(timers.size, 0, 'no timer is left behind')
})

const fullMinutes = 8

/** All objects without times, uids and versions. */
function contents({ engine: { store }, catalog }: ControllersFixture): readonly string[] {
  const found: string[] = []
  for (const resource of catalog.collections()) {
    for (const stored of store.readAll({ resource, namespace: '', selection: everything, limit: 0 }).objects()) {
      const { metadata, ...rest } = stored.decode(resource)
      const { name = '', labels, finalizers, ownerReferences, deletionTimestamp } = metadata ?? {}
      // Names and counts of Events depend on the time.
      const isEvent = resource.kind === 'Event'
      const fields = {
        labels,
        finalizers,
        ownerReferences,
        isTerminating: deletionTimestamp !== undefined,
        ...rest,
        ...(isEvent ? { count: 0 } : {}),
      }
      const text = JSON.stringify(fields, (key, value: unknown) => (/time(?:stamp)?$/i.test(key) ? '' : value))
      found.push(`${resource.collection} ${isEvent ? name.replace(/\.[^.]*$/, '') : name} ${text.replace(/"uid-\d+"/g, '""')}`)
    }
  }
  return found.sort()
}

const startAll = ({ parts }: ControllersFixture) => Object.values(controllers).map((start) => start(parts))
const closeAll = (running: ReturnType<typeof startAll>) => Promise.all(running.map((controller) => controller.close()))

/** Rejects all writes until the returned function is called; `tries` counts them by object. */
function rejectWrites({ engine: { store } }: ControllersFixture, tries: Map<string, number>): () => void {
  const { put, remove } = store
  const reject = (object: string): Promise<never> => {
    tries.set(object, (tries.get(object) ?? 0) + 1)
    return Promise.reject(unavailable('the store cannot write now: the data folder has no room for the write'))
  }
  store.put = ({ resource, namespace, name }) => reject(`${resource.collection}/${namespace}/${name.replace(/\.[0-9a-f]{16}$/, '')}`)
  store.remove = ({ key }) => reject(key)
  return () => Object.assign(store, { put, remove })
}

test('after rejecting writes for a time, the store gets the same objects as one that always accepts them', async () => {
  const control = await createFixture()
  const running = startAll(control)
  await control.timers.advance(4 * minuteMs)
  await closeAll(running)
  const full = await createFixture()
  const tries = new Map<string, number>()
  const acceptWrites = rejectWrites(full, tries)
  const before = contents(full)
  const refused = startAll(full)
  await full.timers.advance(fullMinutes * minuteMs)
  assert.deepEqual(contents(full), before)
  assert.ok(tries.size >= 10, `${tries.size} objects were to be written`)
  // The shortest maximum back-off is five seconds, minus a quarter of jitter.
  const maxTries = fullMinutes * 16 + 20
  for (const [object, count] of tries) assert.ok(count <= maxTries, `${object}: ${count} tries in ${fullMinutes} minutes`)
  acceptWrites()
  // The longest back-off.
  await full.timers.advance(20 * minuteMs)
  await closeAll(refused)
  assert.deepEqual(contents(full), contents(control))
  assert.equal(full.timers.size, 0)
})

test('controllers on a full store close immediately', async () => {
  const full = await createFixture()
  const tries = new Map<string, number>()
  rejectWrites(full, tries)
  const running = startAll(full)
  await full.timers.advance(10_000)
  await closeAll(running)
  const count = [...tries.values()].reduce((sum, tryCount) => sum + tryCount, 0)
  await full.timers.advance(minuteMs)
  assert.equal(
    [...tries.values()].reduce((sum, tryCount) => sum + tryCount, 0),
    count,
    'no further attempts',
  )
  assert.equal(full.timers.size, 0)
})

test('every workload controller has a name of --controllers', () => {
  assert.deepEqual(Object.keys(workloadTable), workloadNames)
})
