// Node authorizer with many pods and claims: caches, eviction, changes during a scan.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectStore } from '../../objects/object-store.js'
import { alwaysSpentBudget, kubelet, nodeFixture, put, remove } from './node-authorizer.fixture.js'

const core = '/api/v1/namespaces/space'
const getStageSecret = 'GET /api/v1/namespaces/vault/secrets/stage'

const podOf = (name: string, nodeName: string, claims: readonly string[], secrets: readonly string[] = []) => ({
  metadata: { name, namespace: 'space' },
  spec: {
    nodeName,
    containers: [{ name: 'c' }],
    volumes: [
      ...claims.map((claimName, i) => ({ name: `c${i}`, persistentVolumeClaim: { claimName } })),
      ...secrets.map((secretName, i) => ({ name: `s${i}`, secret: { secretName } })),
    ],
  },
})
const claimOf = (name: string, volumeName: string) => ({ metadata: { name, namespace: 'space' }, spec: { volumeName } })
const volumeOf = (name: string, claim: string, secret = 'stage') => ({
  metadata: { name },
  spec: {
    claimRef: { namespace: 'space', name: claim },
    csi: { driver: 'x', volumeHandle: 'h', nodeStageSecretRef: { namespace: 'vault', name: secret } },
  },
})

/** Pods on a node that reference the same claims; their volumes do not exist. */
const putPodsWithClaims = async (store: ObjectStore, { node = 'n1', pods = 0, claims = 0 }): Promise<readonly string[]> => {
  const names = Array.from({ length: claims }, (_, i) => `c${i}`)
  for (const name of names) await put(store, 'persistentvolumeclaims', claimOf(name, `v-${name}`))
  for (let i = 0; i < pods; i++) await put(store, 'pods', podOf(`${node}-p${i}`, node, names))
  return names
}

test('a changed claim or volume takes effect with the next request', async () => {
  const { store, isAllowed } = await nodeFixture()
  await put(store, 'pods', podOf('p', 'n1', ['claim']))
  assert.ok(!(await isAllowed(getStageSecret)), 'neither claim nor volume')
  await put(store, 'persistentvolumes', volumeOf('v', 'claim'))
  assert.ok(!(await isAllowed(getStageSecret)), 'no claim')
  assert.ok(await isAllowed('GET /api/v1/persistentvolumes/v'))
  await put(store, 'persistentvolumeclaims', claimOf('claim', ''))
  assert.ok(!(await isAllowed(getStageSecret)), 'not bound')
  await put(store, 'persistentvolumeclaims', claimOf('claim', 'v'))
  assert.ok(await isAllowed(getStageSecret), 'bound')
  await put(store, 'persistentvolumes', volumeOf('v', 'other'))
  assert.ok(!(await isAllowed(getStageSecret)), 'bound to another')
  assert.ok(!(await isAllowed('GET /api/v1/persistentvolumes/v')))
  await put(store, 'persistentvolumes', volumeOf('v', 'claim', 'second'))
  assert.ok(!(await isAllowed(getStageSecret)), 'another secret')
  assert.ok(await isAllowed('GET /api/v1/namespaces/vault/secrets/second'))
  await remove(store, 'persistentvolumeclaims', 'space', 'claim')
  assert.ok(!(await isAllowed('GET /api/v1/namespaces/vault/secrets/second')), 'claim deleted')
  await put(store, 'persistentvolumeclaims', claimOf('claim', 'v'))
  assert.ok(await isAllowed('GET /api/v1/namespaces/vault/secrets/second'))
  await remove(store, 'persistentvolumes', '', 'v')
  assert.ok(!(await isAllowed('GET /api/v1/namespaces/vault/secrets/second')), 'volume deleted')
})

test('a reference of two pods stays when one is deleted', async () => {
  const { store, isAllowed } = await nodeFixture()
  for (const name of ['p', 'q']) await put(store, 'pods', podOf(name, 'n1', [], ['shared', name]))
  assert.deepEqual([await isAllowed(`GET ${core}/secrets/none`), await isAllowed(`GET ${core}/secrets/shared`)], [false, true])
  await remove(store, 'pods', 'space', 'p')
  assert.deepEqual([await isAllowed(`GET ${core}/secrets/p`), await isAllowed(`GET ${core}/secrets/shared`)], [false, true])
  await remove(store, 'pods', 'space', 'q')
  assert.deepEqual([await isAllowed(`GET ${core}/secrets/q`), await isAllowed(`GET ${core}/secrets/shared`)], [false, false])
})

test('decisions are the same when references are evicted', async () => {
  const cachedBytes = 2000
  const { store, pods, isAllowed } = await nodeFixture({ cachedBytes })
  for (const node of ['n1', 'n2', 'n3'])
    for (let i = 0; i < 20; i++) await put(store, 'pods', podOf(`${node}-p${i}`, node, [`${node}-claim${i}`], [`${node}-secret${i}`]))
  await put(store, 'persistentvolumeclaims', claimOf('n2-claim19', 'v'))
  await put(store, 'persistentvolumes', volumeOf('v', 'n2-claim19'))
  for (const round of [1, 2]) {
    for (const node of ['n1', 'n2', 'n3']) {
      for (const i of [0, 10, 19]) {
        assert.ok(await isAllowed(`GET ${core}/secrets/${node}-secret${i}`, kubelet(node)), `${round} ${node} ${i}`)
        assert.ok(await isAllowed(`GET ${core}/persistentvolumeclaims/${node}-claim${i}`, kubelet(node)), `${round} ${node} ${i}`)
        assert.ok(!(await isAllowed(`GET ${core}/secrets/${node}-secret${i}`, kubelet('n4'))))
      }
      assert.equal(await isAllowed(getStageSecret, kubelet(node)), node === 'n2')
      assert.ok(pods.cachedBytes > 0 && pods.cachedBytes <= cachedBytes, `${pods.cachedBytes} bytes`)
    }
  }
  for (const node of ['n1', 'n2', 'n3']) for (let i = 0; i < 20; i++) await remove(store, 'pods', 'space', `${node}-p${i}`)
  assert.equal(pods.cachedBytes, 0)
  assert.ok(!(await isAllowed(`GET ${core}/secrets/n1-secret0`)))
})

test('a pod that changes during a scan of claims keeps its references', async () => {
  const { store, isAllowed } = await nodeFixture({ budget: alwaysSpentBudget() })
  await putPodsWithClaims(store, { pods: 1, claims: 20 })
  await put(store, 'persistentvolumes', volumeOf('v-last', 'last'))
  await put(store, 'persistentvolumeclaims', claimOf('last', 'v-last'))
  await put(store, 'pods', podOf('p', 'n1', ['last']))
  assert.ok(!(await isAllowed(`GET ${core}/configmaps/none`)))
  const allowed = isAllowed(getStageSecret)
  await put(store, 'pods', podOf('p', 'n1', ['last'], ['more']))
  assert.ok(await allowed)
})
