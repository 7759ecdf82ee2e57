// The largest accepted object fits into an etcd request with default limits, also with a quota and a batch of commits.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RunningServer, startServer } from 'cluster-apiserver'
import { clientOf } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, newNamespace, untilStatus } from '../../../../test/kit/fixtures.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'

const skip = whyNoEtcd ?? false
let cluster: EtcdCluster
let server: RunningServer
before(async () => {
  if (skip !== false) return
  cluster = await EtcdCluster.start({ members: 1 })
  server = await startServer({ etcd: { servers: cluster.endpoints } })
})
after(async () => {
  await server?.close({ immediately: true })
  await cluster?.stop()
})

/** Grows the object until it is rejected. */
async function largestBytes(make: (bytes: number) => Promise<{ readonly status: number }>): Promise<number> {
  let [fits, tooLarge] = [1_000_000, 2_000_000]
  while (tooLarge - fits > 1) {
    const bytes = (fits + tooLarge) >> 1
    const { status } = await make(bytes)
    assert.ok(status === 200 || status === 201 || status === 413, `${bytes} bytes: ${status}`)
    if (status === 413) tooLarge = bytes
    else fits = bytes
  }
  return fits
}

test('the size limit is the same for every engine, and finalizers of the largest object can be removed', { skip }, async () => {
  const client = clientOf(server)
  const namespace = await newNamespace(client)
  const hard = { 'count/secrets': '1000' }
  expectStatus(await client.post(`/api/v1/namespaces/${namespace}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } }), 201)
  const path = `/apis/example.com/v1/namespaces/${namespace}/blobs`
  const names = { plural: 'blobs', singular: 'blob', kind: 'Blob', listKind: 'BlobList' }
  const openAPIV3Schema = { type: 'object', properties: { text: { type: 'string' } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
  const crd = { metadata: { name: 'blobs.example.com' }, spec: { group: 'example.com', scope: 'Namespaced', names, versions } }
  expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', crd), 201)
  await untilStatus(() => client.get(path), 200)
  const type = { apiVersion: 'example.com/v1', kind: 'Blob' }
  const bytes = await largestBytes((length) =>
    client.post(path, { ...type, metadata: { name: `b${length}`, finalizers: ['example.com/hold'] }, text: 'x'.repeat(length) }),
  )
  assert.ok(bytes > 1_530_000, `${bytes} bytes`)
  const name = `b${bytes}`
  expectStatus(await client.delete(`${path}/${name}`), 200)
  expectStatus(await client.patch(`${path}/${name}`, 'application/merge-patch+json', { metadata: { finalizers: null } }), 200)
  expectFailure(await client.get(`${path}/${name}`), 404, 'NotFound')
  // A batch of commits is one etcd request.
  const data = { text: 'x'.repeat(900_000) }
  const created = await Promise.all(Array.from({ length: 8 }, (_, i) => client.post(configMaps(namespace), configMapOf(`c${i}`, { data }))))
  assert.deepEqual(
    created.map(({ status }) => status),
    Array(8).fill(201),
  )
  client.close()
})
