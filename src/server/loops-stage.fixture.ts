// Every loop of the server, and objects of which each has something to do for one of them.

import { ApiServiceSource } from '../api/api-services.js'
import type { Resource } from '../api/catalog.js'
import { nothingDiscovered } from '../api/discovered.js'
import { silentLogger } from '../base/logger.js'
import { certificateSigning } from '../controllers/certificate-signing.js'
import { type Stage, stageOf } from '../controllers/engine.fixture.js'
import type { LoopParts } from '../controllers/kit/loop.js'
import { FakeTimers } from '../controllers/kit/timers.fixture.js'
import { type RawObject, RawObjects } from '../controllers/raw-objects.fixture.js'
import { certificate, nodeRequest, request } from '../resources/certificates/requests.fixture.js'
import { nameLoops } from './name-loops.js'

const beginMs = Date.parse('2026-01-01T00:00:00Z')
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
export const loops = nameLoops({
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

export interface LoopsStage extends Stage {
  readonly timers: FakeTimers
  readonly parts: LoopParts
}

/** All of the objects are there, and no loop has run. */
export async function loopsStage(): Promise<LoopsStage> {
  const timers = new FakeTimers()
  const stage = await stageOf('cluster', { now: () => beginMs + timers.now() })
  const { identity } = stage.engine
  for (const [stem, name, object, namespace] of objects) {
    const group = stem === '' || ['policy', 'batch'].includes(stem) ? stem : identity.group({ stem } as { stem: 'coordination' })
    const resource = stage.catalog.find(group, 'v1', name)
    await new RawObjects(stage, resource as Resource, namespace).put(object)
  }
  return { ...stage, timers, parts: { ...stage, logger: silentLogger, timers } }
}
