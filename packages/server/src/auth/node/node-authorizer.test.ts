// Node authorizer: kubelets read what pods on their node reference, as long as the pods exist.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { kubelet, nodeFixture, put, remove } from './node-authorizer.fixture.js'

const envReferences = {
  env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } }],
  envFrom: [{ configMapRef: { name: 'from' } }],
}
const pod = (name: string, nodeName: string, annotations = {}) => ({
  metadata: { name, namespace: 'space', annotations },
  spec: {
    nodeName,
    serviceAccountName: 'robot',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [{ name: 'i', ...envReferences }],
    containers: [{ name: 'c' }],
    volumes: [
      { name: 'a', secret: { secretName: 'vol' } },
      { name: 'b', projected: { sources: [{ configMap: { name: 'proj' } }, { secret: { name: 'projected' } }] } },
      { name: 'd', persistentVolumeClaim: { claimName: 'claim' } },
      { name: 'e', ephemeral: {} },
      { name: 'f', csi: { driver: 'x', nodePublishSecretRef: { name: 'csi' } } },
    ],
  },
})

const core = '/api/v1/namespaces/space'

test('a kubelet reads what pods on its node reference, and nothing else', async () => {
  const { store, isAllowed, decide } = await nodeFixture()
  await put(store, 'pods', pod('p', 'n1'))
  await put(store, 'persistentvolumes', {
    metadata: { name: 'v' },
    spec: {
      claimRef: { namespace: 'space', name: 'claim' },
      csi: {
        driver: 'x',
        volumeHandle: 'h',
        nodeStageSecretRef: { namespace: 'vault', name: 'stage' },
        controllerPublishSecretRef: { namespace: 'vault', name: 'control' },
      },
    },
  })
  await put(store, 'persistentvolumes', { metadata: { name: 'w' }, spec: { claimRef: { namespace: 'space', name: 'other' } } })
  await put(store, 'persistentvolumeclaims', { metadata: { name: 'claim', namespace: 'space' }, spec: { volumeName: 'v' } })
  await put(
    store,
    'volumeattachments',
    { metadata: { name: 'here' }, spec: { attacher: 'x', nodeName: 'n1', source: {} } },
    'storage.k8s.io',
  )
  await put(
    store,
    'volumeattachments',
    { metadata: { name: 'there' }, spec: { attacher: 'x', nodeName: 'n2', source: {} } },
    'storage.k8s.io',
  )
  for (const secret of ['env', 'pull', 'vol', 'projected', 'csi']) assert.ok(await isAllowed(`GET ${core}/secrets/${secret}`), secret)
  for (const map of ['from', 'proj']) assert.ok(await isAllowed(`GET ${core}/configmaps/${map}`), map)
  for (const claim of ['claim', 'p-e']) assert.ok(await isAllowed(`GET ${core}/persistentvolumeclaims/${claim}`), claim)
  assert.ok(await isAllowed(`PATCH ${core}/persistentvolumeclaims/claim/status`))
  assert.ok(await isAllowed('GET /api/v1/persistentvolumes/v'))
  assert.ok(await isAllowed('GET /api/v1/namespaces/vault/secrets/stage'))
  assert.ok(await isAllowed('GET /apis/storage.k8s.io/v1/volumeattachments/here'))
  assert.ok(await isAllowed(`POST ${core}/serviceaccounts/robot/token`))
  assert.ok(await isAllowed(`GET ${core}/secrets?watch=1&fieldSelector=metadata.name%3Dvol`))
  for (const request of [
    `GET ${core}/secrets/other`,
    'GET /api/v1/namespaces/vault/secrets/control',
    'GET /api/v1/namespaces/other/secrets/vol',
    `GET ${core}/configmaps/vol`,
    `GET ${core}/persistentvolumeclaims/other`,
    'GET /api/v1/persistentvolumes/w',
    'GET /api/v1/persistentvolumes/missing',
    'GET /apis/storage.k8s.io/v1/volumeattachments/there',
    `POST ${core}/serviceaccounts/other/token`,
    `GET ${core}/serviceaccounts/robot`,
    `GET ${core}/secrets`,
    `DELETE ${core}/secrets/vol`,
    `PATCH ${core}/persistentvolumeclaims/claim`,
  ])
    assert.ok(!(await isAllowed(request)), request)
  assert.ok(!(await isAllowed(`GET ${core}/secrets/vol`, kubelet('n2'))))
  assert.deepEqual(await decide(`GET ${core}/secrets/vol`, kubelet('n2')), {
    verdict: 'no-opinion',
    reason: "no relationship found between node 'n2' and this object",
  })
})

test('pods are followed as they are created and deleted, also while the index is built', async () => {
  const { store, isAllowed } = await nodeFixture()
  for (let i = 0; i < 50; i++) await put(store, 'pods', pod(`old${i}`, 'n3'))
  const first = isAllowed(`GET ${core}/secrets/vol`)
  await put(store, 'pods', pod('p', 'n1'))
  await first
  assert.ok(await isAllowed(`GET ${core}/secrets/vol`))
  assert.ok(await isAllowed(`GET ${core}/secrets/vol`, kubelet('n3')))
  await remove(store, 'pods', 'space', 'p')
  assert.ok(!(await isAllowed(`GET ${core}/secrets/vol`)))
  await put(store, 'pods', pod('q', ''))
  assert.ok(!(await isAllowed(`GET ${core}/secrets/vol`)))
  await put(store, 'pods', pod('q', 'n1'))
  assert.ok(await isAllowed(`GET ${core}/secrets/vol`))
  await remove(store, 'pods', 'space', 'q')
  await put(store, 'pods', { ...pod('q', 'n1'), spec: { nodeName: 'n1', containers: [] } })
  assert.ok(!(await isAllowed(`GET ${core}/secrets/vol`)))
})

test('references of ephemeral containers grant nothing', async () => {
  const { store, isAllowed } = await nodeFixture()
  const before = pod('p', 'n1')
  await put(store, 'pods', before)
  assert.deepEqual([await isAllowed(`GET ${core}/secrets/env`), await isAllowed(`GET ${core}/secrets/debug`)], [true, false])
  const ephemeralContainers = [{ name: 'e', envFrom: [{ secretRef: { name: 'debug' } }] }]
  await put(store, 'pods', { ...before, spec: { ...before.spec, ephemeralContainers } })
  assert.deepEqual([await isAllowed(`GET ${core}/secrets/env`), await isAllowed(`GET ${core}/secrets/debug`)], [true, false])
})

test('a mirror pod grants nothing', async () => {
  const { store, isAllowed } = await nodeFixture()
  await put(store, 'pods', pod('p', 'n1', { 'kubernetes.io/config.mirror': 'x' }))
  assert.ok(!(await isAllowed(`GET ${core}/secrets/vol`)))
})

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const reasons: readonly { readonly request: string; readonly user?: User; readonly reason: string }[] = [
  { request: `GET ${core}/secrets`, reason: 'No Object name found' },
  { request: 'GET /api/v1/secrets?fieldSelector=metadata.name%3Dx', reason: 'can only read namespaced object of this type' },
  { request: `PATCH ${core}/secrets/x`, reason: 'can only read resources of this type' },
  { request: `GET ${core}/secrets/x/part`, reason: 'cannot read subresource' },
  { request: `GET ${core}/persistentvolumeclaims`, reason: 'can only get individual resources of this type' },
  { request: `GET ${core}/persistentvolumeclaims/x/status`, reason: 'can only get/update/patch this type' },
  { request: `GET ${core}/serviceaccounts/x`, reason: 'can only create tokens for individual service accounts' },
  { request: `POST ${core}/serviceaccounts/x/status`, reason: 'can only create token subresource of service account' },
  { request: `GET ${leases}`, reason: 'can only get, create, update, patch, or delete a node lease' },
  { request: `GET ${leases}/n2`, reason: 'can only access node lease with the same name as the requesting node' },
  {
    request: 'GET /apis/coordination.k8s.io/v1/namespaces/x/leases/n1',
    reason: 'can only access leases in the "kube-node-lease" system namespace',
  },
  { request: 'GET /apis/storage.k8s.io/v1/csinodes', reason: 'can only get, create, update, patch, or delete a CSINode' },
  { request: 'PUT /apis/storage.k8s.io/v1/csinodes/n2', reason: 'can only access CSINode with the same name as the requesting node' },
  { request: 'GET /api/v1/pods', user: kubelet(''), reason: 'unknown node for user "system:node:"' },
  { request: 'GET /api/v1/pods', reason: '' },
  { request: `GET ${core}/secrets/x`, user: { ...kubelet('n1'), groups: ['system:authenticated'] }, reason: '' },
]

for (const { request, user = kubelet('n1'), reason } of reasons) {
  test(`${user.name} is not allowed ${request}: ${reason}`, async () => {
    const { decide } = await nodeFixture()
    assert.deepEqual(await decide(request, user), { verdict: 'no-opinion', reason })
  })
}

test('a kubelet has the rules of all nodes, and its own Lease and CSINode', async () => {
  const { isAllowed, authorizer } = await nodeFixture()
  for (const request of [`GET ${core}/services/s`, `POST ${leases}`, `PUT ${leases}/n1`, 'PATCH /apis/storage.k8s.io/v1/csinodes/n1'])
    assert.ok(await isAllowed(request), request)
  assert.equal((await authorizer.rulesFor?.(kubelet('n1'), 'x'))?.problem, 'node authorizer does not support user rule resolution')
  assert.equal((await authorizer.rulesFor?.({ ...kubelet('n1'), groups: [] }, 'x'))?.problem, undefined)
})
