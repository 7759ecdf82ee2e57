// At rest nothing is written: whoever starts the loops again, which look at everything then, finds nothing to do. What is not so is a loop that
// never ends, or an event that is told again and again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiServiceSource } from '../api/api-services.js'
import type { Resource } from '../api/catalog.js'
import { nothingDiscovered } from '../api/discovered.js'
import { silentLogger } from '../base/logger.js'
import { certificateSigning } from '../controllers/certificate-signing.js'
import { stageOf } from '../controllers/engine.fixture.js'
import { FakeTimers } from '../controllers/kit/timers.fixture.js'
import { type RawObject, RawObjects } from '../controllers/raw-objects.fixture.js'
import { certificate, nodeRequest, request } from '../resources/certificates/requests.fixture.js'
import { nameLoops } from './name-loops.js'

const beginMs = Date.parse('2026-01-01T00:00:00Z')
const minuteMs = 60_000
const rootCa = { pem: () => 'pem', onChange: () => () => undefined }
const signers = new Map()
const extensions = {
  services: new ApiServiceSource(),
  asker: { ask: never, probe: never, follow: never },
  documents: { discovery: nothingDiscovered, onChange: () => () => undefined },
}

function never(): never {
  throw new Error('nobody else is asked')
}

/** All of them, but for the one that asks other servers whether they answer. */
const loops = nameLoops({
  extensions,
  availability: () => ({ close: async () => undefined }),
  rootCa,
  signing: certificateSigning({ signers, seconds: 3600 }),
})

const selector = { matchLabels: { app: 'a' } }
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'owner' }
const definitionNames = { plural: 'fleets', singular: 'fleet', kind: 'Fleet', listKind: 'FleetList' }
const schema = { openAPIV3Schema: { type: 'object' } }
const agents = { signerName: 'cluster.io/cluster-apiserver-client-kubelet', usages: ['client auth', 'digital signature'] }

/** Group, resource and object: something to do for every loop, done or held up for good. */
const objects: readonly (readonly [string, string, RawObject & { readonly [field: string]: unknown }, string?])[] = [
  ['', 'namespaces', { metadata: { name: 'n' }, spec: { finalizers: ['cluster'] } }],
  ['', 'namespaces', { metadata: { name: 'held', deletionTimestamp: '2026-01-01T00:00:00Z' }, spec: { finalizers: ['cluster'] } }],
  ['', 'configmaps', { metadata: { name: 'holds', finalizers: ['example.com/hold'] } }, 'held'],
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
    { metadata: { name: 'pending' }, spec: { ...agents, request: nodeRequest, username: 'x' } },
  ],
  ['certificates', 'certificatesigningrequests', { metadata: { name: 'other' }, spec: { ...agents, request }, status: { certificate } }],
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
        names: definitionNames,
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  ],
]

test('loops that are started again and again write nothing at rest', async () => {
  const timers = new FakeTimers()
  const stage = await stageOf('cluster', { now: () => beginMs + timers.now() })
  const parts = { ...stage, logger: silentLogger, timers }
  const { identity, store } = stage.engine
  for (const [stem, name, object, namespace] of objects) {
    const group = stem === '' || ['policy', 'batch'].includes(stem) ? stem : identity.group({ stem } as { stem: 'coordination' })
    const resource = stage.catalog.find(group, 'v1', name)
    await new RawObjects(stage, resource as Resource, namespace).put(object)
  }
  const written: string[] = []
  for (const resource of stage.catalog.collections())
    store.watch({ resource, namespace: '', matches: undefined, deliver: ({ object, type }) => void written.push(`${type} ${object.key}`) })
  const runOnce = async (): Promise<void> => {
    const running = Object.values(loops).map((start) => start(parts))
    await timers.advance(5 * minuteMs)
    await Promise.all(running.map((loop) => loop.close()))
  }
  await runOnce()
  assert.ok(written.length >= 10, 'there was something to do')
  for (let round = 0; round < 4; round++) {
    written.length = 0
    await runOnce()
    assert.deepEqual(written, [], `round ${round}`)
  }
  assert.equal(timers.size, 0, 'no timer is left behind')
})
