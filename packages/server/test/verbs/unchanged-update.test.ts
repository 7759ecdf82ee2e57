// Whoever writes back what they read changes nothing: a text that is stored empty, and a number that is zero, are those that nobody sent.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onUsualEngine } from '../kit/embedded.js'
import { expectFailure, expectStatus } from '../kit/fixtures.js'

const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const volume = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] }
const inDefault = (version: string, resource: string): string => `${version}/namespaces/default/${resource}`

const rows: readonly { readonly title: string; readonly path: string; readonly body: object }[] = [
  {
    title: 'a range of one family',
    path: '/apis/networking.cluster.io/v1alpha1/clustercidrs',
    body: { spec: { perNodeHostBits: 8, ipv4: '10.0.0.0/16' } },
  },
  {
    title: 'a driver whose token is for anybody',
    path: '/apis/storage.cluster.io/v1/csidrivers',
    body: { spec: { tokenRequests: [{ audience: '' }] } },
  },
  {
    title: 'the first unit of a target',
    path: '/api/v1/persistentvolumes',
    body: { spec: { ...volume, iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2020-01.com.example:a', lun: 0 } } },
  },
  {
    title: 'a driver of nodes without topology',
    path: '/apis/storage.cluster.io/v1/csinodes',
    body: { spec: { drivers: [{ name: 'a', nodeID: 'n' }] } },
  },
  {
    title: 'endpoints of nobody',
    path: inDefault('/apis/discovery.cluster.io/v1', 'endpointslices'),
    body: { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], targetRef: {} }], ports: [{}] },
  },
  {
    title: 'a set of pods without a service',
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

onUsualEngine('written back', (client) => {
  for (const { title, path, body } of rows) {
    test(title, async () => {
      const name = title.replaceAll(' ', '-')
      const made = expectStatus(await client().post(path, { metadata: { name }, ...body }), 201).json
      const one = `${path}/${name}`
      const protobuf = { path: one, headers: { accept: 'application/vnd.cluster.protobuf' } }
      const bytes = expectStatus(await client().send(protobuf), 200).bytes
      const answers = [
        await client().put(one, made),
        await client().patch(one, merge, {}),
        await client().patch(one, strategic, { spec: made['spec'] }),
        await client().send({ method: 'PUT', path: one, headers: { 'content-type': 'application/vnd.cluster.protobuf' }, body: bytes }),
      ]
      for (const answer of answers) assert.deepEqual(expectStatus(answer, 200).json, made)
    })
  }

  test('what is really another is refused', async () => {
    const path = '/api/v1/persistentvolumes'
    const made = expectStatus(
      await client().post(path, { metadata: { name: 'v' }, spec: { ...volume, nfs: { server: 's', path: '/' } } }),
      201,
    )
    const answer = expectFailure(await client().patch(`${path}/v`, merge, { spec: { nfs: { path: '/b' } } }), 422, 'Invalid')
    assert.equal(answer.details?.causes?.[0]?.field, 'spec.persistentvolumesource')
    expectStatus(
      await client().put(`${path}/v`, { ...made.json, spec: { ...volume, nfs: { server: 's', path: '/' }, storageClassName: 's' } }),
      200,
    )
  })

  test('an autoscaler that says it has no policies is not given any', async () => {
    const spec = { scaleTargetRef: { kind: 'K', name: 'n' }, maxReplicas: 2, behavior: { scaleUp: { policies: [] } } }
    const path = inDefault('/apis/autoscaling/v2', 'horizontalpodautoscalers')
    const answer = expectFailure(await client().post(path, { metadata: { name: 'h' }, spec }), 422, 'Invalid')
    assert.deepEqual(
      answer.details?.causes?.map(({ field }) => field),
      ['spec.behavior.scaleUp.policies'],
    )
  })
})
