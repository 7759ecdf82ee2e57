// Captures for tests of the import: objects as a cluster returns them, and files and folders with them.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { parseFeatureGates } from '@cluster-apiserver/api/api/feature-gates/feature-gates.js'
import { type IdentityName, identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { encodeProtobuf } from '@cluster-apiserver/api/codec/protobuf-envelope.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import type { Reserver } from '../../../verbs/reserve/reserver.js'
import type { EtcdWrite } from './bolt-writer.fixture.js'
import { importCapture } from './import-capture.js'
import type { Imported } from './import-objects.js'

export const captureFolder = mkdtempSync(join(tmpdir(), 'import-test-'))
after(() => rmSync(captureFolder, { recursive: true, force: true }))

const catalogOf = (name: IdentityName): Catalog => new Catalog({ identity: identityOf(name), definitions, isServed: () => true })
export const catalogs = { kubernetes: catalogOf('kubernetes'), cluster: catalogOf('cluster') }
export const now = Date.UTC(2026, 0, 1)
const reservers: readonly Pick<Reserver, 'collection' | 'uniqueKeysOf'>[] = [
  {
    collection: 'services',
    uniqueKeysOf: (service) => [{ kind: 'service-addresses', value: (service as { spec: { clusterIP: string } }).spec.clusterIP }],
  },
]

export function importFrom(path: string, identity: IdentityName = 'kubernetes'): Promise<Imported> {
  let uids = 0
  return importCapture(path, {
    catalog: catalogs[identity],
    gates: parseFeatureGates([]),
    now,
    eventTtlSeconds: 3600,
    reservers,
    newUid: () => `new-${++uids}`,
  })
}

let files = 0

export function fileWith(content: string | Buffer): string {
  const path = join(captureFolder, `capture-${++files}`)
  writeFileSync(path, content)
  return path
}

export function folderWith(contents: { readonly [name: string]: string }): string {
  const folder = join(captureFolder, `folder-${++files}`)
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

export const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-1',
    namespace: 'shop',
    uid: 'uid-pod',
    resourceVersion: '120',
    generation: 3,
    creationTimestamp: '2025-05-06T07:08:09Z',
    deletionTimestamp: '2025-05-06T08:00:00Z',
    deletionGracePeriodSeconds: 30,
    finalizers: ['example.com/wait'],
    labels: { app: 'web' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-owner', controller: true }],
    managedFields: [
      {
        manager: 'kubelet',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2025-05-06T07:08:10Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:status': {} },
      },
    ],
  },
  spec: { containers: [{ name: 'c', image: 'i', resources: {} }] },
  status: { phase: 'Running', podIP: '10.1.2.3' },
}
export const namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', uid: 'uid-shop', resourceVersion: '100' },
  spec: {},
  status: { phase: 'Active' },
}
export const owner = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'shop', uid: 'uid-owner', resourceVersion: '110' },
}

export function etcdWrite(key: string, revision: number, object: ApiObject): EtcdWrite {
  const { apiVersion = '', kind = '', ...rest } = object
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const resource = catalogs.kubernetes
    .all()
    .find((candidate) => candidate.kind === kind && candidate.group === group && candidate.version === version)
  if (resource === undefined) return { key, revision, value: Buffer.from(JSON.stringify(object)) }
  return { key, revision, value: Buffer.from(encodeProtobuf({ type: { apiVersion, kind }, schema: resource.schema, object: rest })) }
}

/** kube-apiserver stores no resourceVersion: it is the revision in etcd. */
export const stored = <T extends { readonly metadata: { readonly resourceVersion: string } }>(object: T): ApiObject => {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

export const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'wares.shop.example.com', uid: 'uid-crd', resourceVersion: '90', generation: 1 },
  spec: {
    group: 'shop.example.com',
    scope: 'Namespaced',
    names: { plural: 'wares', singular: 'ware', kind: 'Ware', listKind: 'WareList' },
    conversion: { strategy: 'None' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', properties: { price: { type: 'integer' } } } },
    })),
  },
  status: {
    acceptedNames: { plural: 'wares', kind: 'Ware' },
    conditions: [{ type: 'Established', status: 'True' }],
    storedVersions: ['v1'],
  },
}
export const ware = {
  apiVersion: 'shop.example.com/v1',
  kind: 'Ware',
  metadata: { name: 'apple', namespace: 'shop', uid: 'uid-apple', resourceVersion: '95', generation: 2 },
  price: 3,
}
