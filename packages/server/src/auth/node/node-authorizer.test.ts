// What the agent of a node may read: what pods on it refer to, for as long as they are there.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { User } from '../../api/user.js'
import { agent, drop, put, stageOf } from './node.fixture.js'

const used = { env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } }], envFrom: [{ configMapRef: { name: 'from' } }] }
const pod = (name: string, nodeName: string, annotations = {}) => ({
  metadata: { name, namespace: 'space', annotations },
  spec: {
    nodeName,
    serviceAccountName: 'robot',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [{ name: 'i', ...used }],
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

test('an agent may read what pods on its node refer to, and nothing else', async () => {
  const { store, may, decide } = await stageOf()
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
  for (const secret of ['env', 'pull', 'vol', 'projected', 'csi']) assert.ok(await may(`GET ${core}/secrets/${secret}`), secret)
  for (const map of ['from', 'proj']) assert.ok(await may(`GET ${core}/configmaps/${map}`), map)
  for (const claim of ['claim', 'p-e']) assert.ok(await may(`GET ${core}/persistentvolumeclaims/${claim}`), claim)
  assert.ok(await may(`PATCH ${core}/persistentvolumeclaims/claim/status`))
  assert.ok(await may('GET /api/v1/persistentvolumes/v'))
  assert.ok(await may('GET /api/v1/namespaces/vault/secrets/stage'))
  assert.ok(await may('GET /apis/storage.k8s.io/v1/volumeattachments/here'))
  assert.ok(await may(`POST ${core}/serviceaccounts/robot/token`))
  assert.ok(await may(`GET ${core}/secrets?watch=1&fieldSelector=metadata.name%3Dvol`))
  for (const request of [
    `GET ${core}/secrets/other`,
    'GET /api/v1/namespaces/vault/secrets/control',
    'GET /api/v1/namespaces/elsewhere/secrets/vol',
    `GET ${core}/configmaps/vol`,
    `GET ${core}/persistentvolumeclaims/other`,
    'GET /api/v1/persistentvolumes/w',
    'GET /api/v1/persistentvolumes/gone',
    'GET /apis/storage.k8s.io/v1/volumeattachments/there',
    `POST ${core}/serviceaccounts/other/token`,
    `GET ${core}/serviceaccounts/robot`,
    `GET ${core}/secrets`,
    `DELETE ${core}/secrets/vol`,
    `PATCH ${core}/persistentvolumeclaims/claim`,
  ])
    assert.ok(!(await may(request)), request)
  assert.ok(!(await may(`GET ${core}/secrets/vol`, agent('n2'))))
  assert.deepEqual(await decide(`GET ${core}/secrets/vol`, agent('n2')), {
    verdict: 'no-opinion',
    reason: "no relationship found between node 'n2' and this object",
  })
})

test('it follows pods as they come and go, also while it looks at them first', async () => {
  const { store, may } = await stageOf()
  for (let i = 0; i < 50; i++) await put(store, 'pods', pod(`old${i}`, 'n3'))
  const first = may(`GET ${core}/secrets/vol`)
  await put(store, 'pods', pod('p', 'n1'))
  await first
  assert.ok(await may(`GET ${core}/secrets/vol`))
  assert.ok(await may(`GET ${core}/secrets/vol`, agent('n3')))
  await drop(store, 'pods', 'space', 'p')
  assert.ok(!(await may(`GET ${core}/secrets/vol`)))
  await put(store, 'pods', pod('q', ''))
  assert.ok(!(await may(`GET ${core}/secrets/vol`)))
  await put(store, 'pods', pod('q', 'n1'))
  assert.ok(await may(`GET ${core}/secrets/vol`))
  await drop(store, 'pods', 'space', 'q')
  await put(store, 'pods', { ...pod('q', 'n1'), spec: { nodeName: 'n1', containers: [] } })
  assert.ok(!(await may(`GET ${core}/secrets/vol`)))
})

test('what containers need that come to a pod where it runs may be read from then on', async () => {
  const { store, may } = await stageOf()
  const before = pod('p', 'n1')
  await put(store, 'pods', before)
  assert.deepEqual([await may(`GET ${core}/secrets/env`), await may(`GET ${core}/secrets/look`)], [true, false])
  const ephemeralContainers = [{ name: 'e', envFrom: [{ secretRef: { name: 'look' } }] }]
  await put(store, 'pods', { ...before, spec: { ...before.spec, ephemeralContainers } })
  assert.deepEqual([await may(`GET ${core}/secrets/env`), await may(`GET ${core}/secrets/look`)], [true, true])
})

test('a pod that an agent makes as a mirror gives it nothing', async () => {
  const { store, may } = await stageOf()
  await put(store, 'pods', pod('p', 'n1', { 'kubernetes.io/config.mirror': 'x' }))
  assert.ok(!(await may(`GET ${core}/secrets/vol`)))
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
  { request: 'GET /api/v1/pods', user: agent(''), reason: 'unknown node for user "system:node:"' },
  { request: 'GET /api/v1/pods', reason: '' },
  { request: `GET ${core}/secrets/x`, user: { ...agent('n1'), groups: ['system:authenticated'] }, reason: '' },
]

for (const { request, user = agent('n1'), reason } of reasons) {
  test(`${user.name} is not allowed ${request}: ${reason}`, async () => {
    const { decide } = await stageOf()
    assert.deepEqual(await decide(request, user), { verdict: 'no-opinion', reason })
  })
}

test('it may do what all agents may, and keep its own lease and drivers', async () => {
  const { may, authorizer } = await stageOf()
  for (const request of [`GET ${core}/services/s`, `POST ${leases}`, `PUT ${leases}/n1`, 'PATCH /apis/storage.k8s.io/v1/csinodes/n1'])
    assert.ok(await may(request), request)
  assert.equal((await authorizer.rulesFor?.(agent('n1'), 'x'))?.problem, 'node authorizer does not support user rule resolution')
  assert.equal((await authorizer.rulesFor?.({ ...agent('n1'), groups: [] }, 'x'))?.problem, undefined)
})
