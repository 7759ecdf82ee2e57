// Updates with the object that was read change nothing: empty strings and zeros that are stored equal absent ones.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onDefaultEngine } from '../../../../test/kit/embedded.js'
import { expectFailure, expectStatus } from '../../../../test/kit/fixtures.js'

const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const volume = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] }
const inDefault = (version: string, resource: string): string => `${version}/namespaces/default/${resource}`

const rows: readonly { readonly title: string; readonly path: string; readonly body: object }[] = [
  {
    title: 'clustercidr without ipv6',
    path: '/apis/networking.cluster.io/v1alpha1/clustercidrs',
    body: { spec: { perNodeHostBits: 8, ipv4: '10.0.0.0/16' } },
  },
  {
    title: 'csidriver with an empty audience',
    path: '/apis/storage.cluster.io/v1/csidrivers',
    body: { spec: { tokenRequests: [{ audience: '' }] } },
  },
  {
    title: 'volume with lun 0',
    path: '/api/v1/persistentvolumes',
    body: { spec: { ...volume, iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2020-01.com.example:a', lun: 0 } } },
  },
  {
    title: 'csinode without topology',
    path: '/apis/storage.cluster.io/v1/csinodes',
    body: { spec: { drivers: [{ name: 'a', nodeID: 'n' }] } },
  },
  {
    title: 'endpointslice with an empty target',
    path: inDefault('/apis/discovery.cluster.io/v1', 'endpointslices'),
    body: { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], targetRef: {} }], ports: [{}] },
  },
  {
    title: 'statefulset without a service name',
    path: inDefault('/apis/apps/v1', 'statefulsets'),
    body: {
      spec: {
        serviceName: '',
        selector: { matchLabels: { a: '' } },
        template: { metadata: { labels: { a: '' } }, spec: { containers: [{ name: 'c', image: 'i', env: [{ name: 'A', value: '' }] }] } },
      },
    },
  },
]

onDefaultEngine('an update with the object that was read changes nothing', (client) => {
  for (const { title, path, body } of rows) {
    test(title, async () => {
      const name = title.replaceAll(' ', '-')
      const created = expectStatus(await client().post(path, { metadata: { name }, ...body }), 201).json
      const objectPath = `${path}/${name}`
      const protobuf = { path: objectPath, headers: { accept: 'application/vnd.cluster.protobuf' } }
      const bytes = expectStatus(await client().send(protobuf), 200).bytes
      const responses = [
        await client().put(objectPath, created),
        await client().patch(objectPath, merge, {}),
        await client().patch(objectPath, strategic, { spec: created['spec'] }),
        await client().send({
          method: 'PUT',
          path: objectPath,
          headers: { 'content-type': 'application/vnd.cluster.protobuf' },
          body: bytes,
        }),
      ]
      for (const response of responses) assert.deepEqual(expectStatus(response, 200).json, created)
    })
  }

  test('a real change of an immutable field is rejected', async () => {
    const path = '/api/v1/persistentvolumes'
    const created = expectStatus(
      await client().post(path, { metadata: { name: 'v' }, spec: { ...volume, nfs: { server: 's', path: '/' } } }),
      201,
    )
    const response = expectFailure(await client().patch(`${path}/v`, merge, { spec: { nfs: { path: '/b' } } }), 422, 'Invalid')
    assert.equal(response.details?.causes?.[0]?.field, 'spec.persistentvolumesource')
    expectStatus(
      await client().put(`${path}/v`, { ...created.json, spec: { ...volume, nfs: { server: 's', path: '/' }, storageClassName: 's' } }),
      200,
    )
  })

  test('an HPA with an empty list of policies gets no default policies', async () => {
    const spec = { scaleTargetRef: { kind: 'K', name: 'n' }, maxReplicas: 2, behavior: { scaleUp: { policies: [] } } }
    const path = inDefault('/apis/autoscaling/v2', 'horizontalpodautoscalers')
    const response = expectFailure(await client().post(path, { metadata: { name: 'h' }, spec }), 422, 'Invalid')
    assert.deepEqual(
      response.details?.causes?.map(({ field }) => field),
      ['spec.behavior.scaleUp.policies'],
    )
  })
})
