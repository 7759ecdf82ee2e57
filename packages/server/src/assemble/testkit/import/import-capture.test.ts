// Rows of every kind of capture: objects as they were, new objects, warnings.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { customKind } from '@cluster-apiserver/api/resources/apiextensions/custom-resource/custom-kind.js'
import { apiVersionOf, bytesOf } from '../../../objects/entry/entry-header.js'
import { StoredObject } from '../../../objects/entry/stored-object.js'
import { collectionOf } from '../../../objects/object-keys.js'
import { writeSnapshot } from './bolt-writer.fixture.js'
import { catalogs, crd, etcdWrite, fileWith, folderWith, importFrom, namespace, now, owner, pod, stored, ware } from './captures.fixture.js'
import type { Imported } from './import-objects.js'

/** Objects by key, as the server would read them. */
function objectsOf({ rows }: Imported, catalog = catalogs.kubernetes): { readonly [key: string]: ApiObject } {
  return Object.fromEntries(
    rows.flatMap(({ key, value, revision }) => {
      const resource = catalog.inCollection(collectionOf(key))
      return resource === undefined ? [] : [[key, new StoredObject({ key, value, revision }).decode(resource)]]
    }),
  )
}

const withoutType = ({ apiVersion: _apiVersion, kind: _kind, ...object }: typeof pod): ApiObject => object

const sources: { readonly [title: string]: () => string } = {
  'a List in JSON': () => fileWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [namespace, owner, pod] })),
  'documents in YAML': () =>
    fileWith(`# captured\n---\n${[namespace, owner, pod].map((object) => JSON.stringify(object)).join('\n---\n')}\n`),
  'a folder': () =>
    folderWith({
      'a/pods.json': JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '120' }, items: [withoutType(pod)] }),
      'a/b/shop.yaml': JSON.stringify(namespace),
      'sets.yml': `---\n${JSON.stringify(owner)}\n`,
      'README.md': 'no manifest: {',
    }),
}

for (const [title, path] of Object.entries(sources))
  test(`${title}: objects as they were`, async () => {
    const imported = await importFrom(path())
    assert.deepEqual(imported.warnings, [])
    assert.equal(imported.revision, 120)
    assert.deepEqual(objectsOf(imported)['pods/shop/web-1'], withoutType(pod))
    assert.deepEqual(imported.rows.map(({ key, revision }) => [key, revision]).sort(), [
      ['namespaces/shop', 100],
      ['pods/shop/web-1', 120],
      ['replicasets.apps/shop/web', 110],
    ])
  })

test('an etcd snapshot: Protobuf and JSON, the newest revision of each key', async () => {
  const path = fileWith(
    writeSnapshot([
      etcdWrite('/registry/apiextensions.k8s.io/customresourcedefinitions/wares.shop.example.com', 90, stored(crd)),
      { key: '/registry/shop.example.com/wares/shop/apple', revision: 95, value: Buffer.from(JSON.stringify(stored(ware))) },
      etcdWrite('/registry/namespaces/shop', 100, stored(namespace)),
      etcdWrite('/registry/pods/shop/web-1', 101, stored({ ...pod, status: { ...pod.status, phase: 'Pending' } })),
      etcdWrite('/registry/replicasets/shop/web', 110, stored(owner)),
      etcdWrite('/registry/masterleases/10.0.0.1', 111, { apiVersion: 'v1', kind: 'Endpoints', metadata: {} }),
      {
        key: '/registry/ranges/serviceips',
        revision: 112,
        value: Buffer.from('k8s\0\n\x15\n\x02v1\x12\x0fRangeAllocation\x12\0\x1a\0"\0', 'latin1'),
      },
      { key: 'compact_rev_key', revision: 113, value: Buffer.from('50') },
      { key: '/calico/v3/state', revision: 114, value: Buffer.from('ready') },
      etcdWrite('/registry/pods/shop/web-1', 120, stored(pod)),
      { key: '/registry/pods/shop/web-2', revision: 130 },
    ]),
  )
  const imported = await importFrom(path)
  const catalog = catalogs.kubernetes.with({ put: [customKind(crd as never)] })
  const objects = objectsOf(imported, catalog)
  assert.equal(imported.revision, 130)
  assert.deepEqual(objects['pods/shop/web-1'], withoutType(pod))
  assert.deepEqual(objects['wares.shop.example.com/shop/apple'], { metadata: ware.metadata, price: 3 })
  assert.equal(Object.keys(objects).length, 5)
  assert.deepEqual(imported.warnings, [
    `${path}: keys that are no objects were left out: /calico/v3/state`,
    'objects of kinds that this server does not serve were left out: v1 RangeAllocation',
    'records that are no objects were left out: /registry/masterleases/10.0.0.1',
  ])
})

test('an etcd snapshot needs the identity of its names', async () => {
  const path = fileWith(writeSnapshot([etcdWrite('/registry/namespaces/shop', 100, stored(namespace))]))
  await assert.rejects(
    importFrom(path, 'cluster'),
    /an etcd snapshot has the names of the identity "kubernetes": start with identity kubernetes/,
  )
})

test('custom resources are stored in the storage version', async () => {
  const second = { ...ware, apiVersion: 'shop.example.com/v2', metadata: { ...ware.metadata, name: 'pear', uid: 'uid-pear' } }
  const { rows } = await importFrom(fileWith([second, crd, namespace].map((object) => JSON.stringify(object)).join('\n---\n')))
  const row = rows.find(({ key }) => key === 'wares.shop.example.com/shop/pear')
  assert.equal(row && apiVersionOf(bytesOf(row)), 'shop.example.com/v1')
})

test('custom resources that only a webhook can convert keep their version', async () => {
  const converted = {
    ...crd,
    spec: {
      ...crd.spec,
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1' } } },
    },
  }
  const second = { ...ware, apiVersion: 'shop.example.com/v2' }
  const { rows } = await importFrom(fileWith([second, converted, namespace].map((object) => JSON.stringify(object)).join('\n---\n')))
  const row = rows.find(({ key }) => key === 'wares.shop.example.com/shop/apple')
  assert.equal(row && apiVersionOf(bytesOf(row)), 'shop.example.com/v2')
})

test('objects without uid and version get new ones, defaults and their namespace', async () => {
  const manifests = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'new' }, data: { a: 'b' } },
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'plain' }, status: { replicas: 7 } },
    pod,
    owner,
    namespace,
  ]
  const imported = await importFrom(fileWith(manifests.map((object) => JSON.stringify(object)).join('\n---\n')))
  const objects = objectsOf(imported) as { readonly [key: string]: ApiObject & { readonly spec?: unknown; readonly status?: unknown } }
  assert.deepEqual(objects['configmaps/new/settings']?.metadata, {
    name: 'settings',
    namespace: 'new',
    uid: 'new-1',
    resourceVersion: '121',
    creationTimestamp: '2026-01-01T00:00:00Z',
  })
  const plain = objects['replicasets.apps/default/plain']
  assert.equal(plain?.metadata?.generation, 1)
  assert.deepEqual(plain?.status, { replicas: 7 })
  assert.deepEqual(objects['namespaces/new']?.spec, { finalizers: ['kubernetes'] })
  assert.equal(imported.revision, 124)
  assert.deepEqual(imported.warnings, ['namespaces that the capture lacks were added: new, default'])
})

test('unknown fields, unserved kinds and missing owners are warnings', async () => {
  const { warnings } = await importFrom(
    fileWith(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [
          namespace,
          {
            ...pod,
            spec: {
              containers: [
                { name: 'c', image: 'i', extra: 1 },
                { name: 'd', image: 'i', extra: 1 },
              ],
            },
          },
          { apiVersion: 'apps/v9', kind: 'Swarm', metadata: { name: 'a' } },
        ],
      }),
    ),
  )
  assert.deepEqual(warnings, [
    'objects of kinds that this server does not serve were left out: apps/v9 Swarm',
    'unknown fields were dropped: Pod spec.containers[].extra (2 times)',
    'owners are not in the capture, so the garbage collector deletes their dependents: ReplicaSet web',
  ])
})

test('unique values of objects are reserved, and events expire', async () => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-web', resourceVersion: '130' },
    spec: { clusterIP: '10.0.0.7' },
  }
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: 'shop', uid: 'uid-e', resourceVersion: '131' },
    involvedObject: {},
  }
  const { rows } = await importFrom(fileWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [namespace, service, event] })))
  assert.equal(rows.find(({ key }) => key === 'unique.service-addresses/10.0.0.7')?.value.toString(), 'services/shop/web')
  assert.equal(rows.find(({ key }) => key === 'events/shop/e')?.expiresAtMs, now + 3_600_000)
})

test('of an object that is twice in the capture the newer version counts', async () => {
  const older = { ...pod, metadata: { ...pod.metadata, resourceVersion: '119' }, status: { phase: 'Pending' } }
  for (const items of [
    [older, pod],
    [pod, older],
  ]) {
    const imported = await importFrom(fileWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [namespace, owner, ...items] })))
    assert.deepEqual(objectsOf(imported)['pods/shop/web-1'], withoutType(pod))
  }
})
