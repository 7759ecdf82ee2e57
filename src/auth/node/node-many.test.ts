// What the agent of a node may read where many pods name many claims: each object is read once until it changes, in pieces, within a bound.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce } from '../../base/pieces.js'
import { timedTest } from '../../base/timed-test.fixture.js'
import { turnsOf } from '../../base/turns.fixture.js'
import { decodedWhole } from '../../objects/decoded-whole.fixture.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { StoredObject } from '../../objects/stored-object.js'
import { BoundVolumes } from './bound-volumes.js'
import { agent, catalog, drop, put, stageOf } from './node.fixture.js'

const core = '/api/v1/namespaces/space'
const staged = 'GET /api/v1/namespaces/vault/secrets/stage'

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

/** Pods on a node that all name the same claims; the volumes of the claims are not there. */
const fill = async (store: ObjectStore, { node = 'n1', pods = 0, claims = 0 }): Promise<readonly string[]> => {
  const names = Array.from({ length: claims }, (_, i) => `c${i}`)
  for (const name of names) await put(store, 'persistentvolumeclaims', claimOf(name, `v-${name}`))
  for (let i = 0; i < pods; i++) await put(store, 'pods', podOf(`${node}-p${i}`, node, names))
  return names
}

/** How many objects are read from the store for some work. */
const readsFor = async (store: ObjectStore, work: () => Promise<unknown>): Promise<number> => {
  const { read } = store
  let count = 0
  store.read = (address) => {
    count += 1
    return read.call(store, address)
  }
  await work()
  store.read = read
  return count
}

test('each pod, claim and volume is read once, and again when it has changed', async () => {
  const { store, may } = await stageOf()
  const names = await fill(store, { pods: 20, claims: 50 })
  const reads = (request = `GET ${core}/secrets/none`) => readsFor(store, async () => assert.ok(!(await may(request)), request))
  assert.equal(await reads(), 20 + 50 + 50)
  for (const request of [
    `GET ${core}/secrets/none`,
    `GET ${core}/secrets/other`,
    `GET ${core}/configmaps/none`,
    `GET ${core}/persistentvolumeclaims/none`,
    `POST ${core}/serviceaccounts/none/token`,
  ])
    assert.equal(await reads(request), 0, request)
  await put(store, 'pods', podOf('n1-p3', 'n1', names, ['more']))
  assert.equal(await reads(), 1)
  await put(store, 'persistentvolumeclaims', claimOf('c7', 'elsewhere'))
  assert.equal(await reads(), 2)
  await put(store, 'persistentvolumes', volumeOf('v-c9', 'c9'))
  assert.equal(await reads(), 1)
  assert.equal(await readsFor(store, async () => assert.ok(await may(staged))), 0)
})

test('ten agents that ask at once have each object read once', async () => {
  const { store, may } = await stageOf()
  await fill(store, { pods: 20, claims: 50 })
  await may(`GET ${core}/secrets/none`, agent('n2'))
  const ask = () => Promise.all(Array.from({ length: 10 }, () => may(`GET ${core}/secrets/none`)))
  assert.equal(await readsFor(store, ask), 20 + 50 + 50)
})

test('a claim or volume that changes counts for the next request', async () => {
  const { store, may } = await stageOf()
  await put(store, 'pods', podOf('p', 'n1', ['claim']))
  assert.ok(!(await may(staged)), 'neither claim nor volume')
  await put(store, 'persistentvolumes', volumeOf('v', 'claim'))
  assert.ok(!(await may(staged)), 'no claim')
  assert.ok(await may('GET /api/v1/persistentvolumes/v'))
  await put(store, 'persistentvolumeclaims', claimOf('claim', ''))
  assert.ok(!(await may(staged)), 'not bound')
  await put(store, 'persistentvolumeclaims', claimOf('claim', 'v'))
  assert.ok(await may(staged), 'bound')
  await put(store, 'persistentvolumes', volumeOf('v', 'other'))
  assert.ok(!(await may(staged)), 'bound to another')
  assert.ok(!(await may('GET /api/v1/persistentvolumes/v')))
  await put(store, 'persistentvolumes', volumeOf('v', 'claim', 'second'))
  assert.ok(!(await may(staged)), 'another secret')
  assert.ok(await may('GET /api/v1/namespaces/vault/secrets/second'))
  await drop(store, 'persistentvolumeclaims', 'space', 'claim')
  assert.ok(!(await may('GET /api/v1/namespaces/vault/secrets/second')), 'claim gone')
  await put(store, 'persistentvolumeclaims', claimOf('claim', 'v'))
  assert.ok(await may('GET /api/v1/namespaces/vault/secrets/second'))
  await drop(store, 'persistentvolumes', '', 'v')
  assert.ok(!(await may('GET /api/v1/namespaces/vault/secrets/second')), 'volume gone')
})

test('a name that two pods have stays when one of them goes', async () => {
  const { store, may } = await stageOf()
  for (const name of ['p', 'q']) await put(store, 'pods', podOf(name, 'n1', [], ['shared', name]))
  assert.deepEqual([await may(`GET ${core}/secrets/none`), await may(`GET ${core}/secrets/shared`)], [false, true])
  await drop(store, 'pods', 'space', 'p')
  assert.deepEqual([await may(`GET ${core}/secrets/p`), await may(`GET ${core}/secrets/shared`)], [false, true])
  await drop(store, 'pods', 'space', 'q')
  assert.deepEqual([await may(`GET ${core}/secrets/q`), await may(`GET ${core}/secrets/shared`)], [false, false])
})

test('where there is no room for names, answers are the same', async () => {
  const keptBytes = 2000
  const { store, pods, may } = await stageOf(keptBytes)
  for (const node of ['n1', 'n2', 'n3'])
    for (let i = 0; i < 20; i++) await put(store, 'pods', podOf(`${node}-p${i}`, node, [`${node}-claim${i}`], [`${node}-secret${i}`]))
  await put(store, 'persistentvolumeclaims', claimOf('n2-claim19', 'v'))
  await put(store, 'persistentvolumes', volumeOf('v', 'n2-claim19'))
  for (const round of [1, 2]) {
    for (const node of ['n1', 'n2', 'n3']) {
      for (const i of [0, 10, 19]) {
        assert.ok(await may(`GET ${core}/secrets/${node}-secret${i}`, agent(node)), `${round} ${node} ${i}`)
        assert.ok(await may(`GET ${core}/persistentvolumeclaims/${node}-claim${i}`, agent(node)), `${round} ${node} ${i}`)
        assert.ok(!(await may(`GET ${core}/secrets/${node}-secret${i}`, agent('n4'))))
      }
      assert.equal(await may(staged, agent(node)), node === 'n2')
      assert.ok(pods.keptBytes > 0 && pods.keptBytes <= keptBytes, `${pods.keptBytes} bytes`)
    }
  }
  for (const node of ['n1', 'n2', 'n3']) for (let i = 0; i < 20; i++) await drop(store, 'pods', 'space', `${node}-p${i}`)
  assert.equal(pods.keptBytes, 0)
  assert.ok(!(await may(`GET ${core}/secrets/n1-secret0`)))
})

test('an attachment is looked at without its labels', async (t) => {
  const { store, may } = await stageOf()
  const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, 'x']))
  await put(store, 'volumeattachments', { metadata: { name: 'heavy', labels }, spec: { nodeName: 'n1', source: {} } }, 'storage.k8s.io')
  const decoded = decodedWhole(t)
  assert.ok(await may('GET /apis/storage.k8s.io/v1/volumeattachments/heavy'))
  assert.deepEqual(decoded, [])
})

test('a pod that changes while somebody looks through the claims does not lose what it names', async () => {
  const { store, may } = await stageOf()
  await fill(store, { pods: 1, claims: 20 })
  await put(store, 'persistentvolumes', volumeOf('v-last', 'last'))
  await put(store, 'persistentvolumeclaims', claimOf('last', 'v-last'))
  await put(store, 'pods', podOf('p', 'n1', ['last']))
  assert.ok(!(await may(`GET ${core}/configmaps/none`)))
  const { read } = store
  // Longer than a piece, so that each claim takes a turn.
  store.read = (address) => {
    for (const until = performance.now() + 4; performance.now() < until; );
    return read.call(store, address)
  }
  const answer = may(staged)
  await put(store, 'pods', podOf('p', 'n1', ['last'], ['more']))
  assert.ok(await answer)
})

/** Pods of some megabytes: in one place or in many, names or claims. */
const hugePods: { readonly [where: string]: (names: readonly string[]) => object } = {
  'a projected volume': (names) => ({ volumes: [{ name: 'v', projected: { sources: names.map((name) => ({ secret: { name } })) } }] }),
  volumes: (names) => ({ volumes: names.map((secretName, i) => ({ name: `v${i}`, secret: { secretName } })) }),
  'a container': (names) => ({ containers: [{ name: 'c', envFrom: names.map((name) => ({ secretRef: { name } })) }] }),
}

for (const [where, spec] of Object.entries(hugePods)) {
  timedTest(`a pod with very many names in ${where} is read in short turns, and gives them back when it changes`, async () => {
    const { store, pods, may } = await stageOf()
    const names = Array.from({ length: 40_000 }, (_, i) => `secret${i}`)
    const putPod = (name: string, more: object) =>
      put(store, 'pods', { metadata: { name, namespace: 'space' }, spec: { nodeName: 'n1', containers: [{ name: 'c' }], ...more } })
    await putPod('small', spec(['own']))
    await putPod('huge', spec(names))
    await pods.ready()
    const { read } = store
    // As it is in a store that was opened: nothing of it was decoded.
    store.read = (address) => {
      const stored = read.call(store, address)
      return stored && new StoredObject(stored.entry)
    }
    const { longestMs } = await turnsOf(async () => assert.ok(!(await may(`GET ${core}/secrets/none`))))
    assert.ok(longestMs < 15, `${longestMs} ms`)
    const kept = await readsFor(store, async () => {
      for (const name of ['own', 'secret0', 'secret39999']) assert.ok(await may(`GET ${core}/secrets/${name}`), name)
      assert.ok(!(await may(`GET ${core}/configmaps/secret0`)))
      assert.ok(!(await may('GET /api/v1/namespaces/other/secrets/secret0')))
    })
    assert.equal(kept, 0)
    assert.ok(pods.keptBytes > 40_000 * 10)
    const changed = await turnsOf(() => putPod('huge', spec(['left'])))
    assert.ok(changed.longestMs < 15, `${changed.longestMs} ms`)
    assert.deepEqual([await may(`GET ${core}/secrets/secret0`), await may(`GET ${core}/secrets/left`)], [false, true])
    await drop(store, 'pods', 'space', 'huge')
    assert.ok(!(await may(`GET ${core}/secrets/left`)))
    assert.ok(pods.keptBytes < 1000)
  })
}

/** As owners of fields make objects larger. */
const longText = { note: 'x'.repeat(100_000) }

test('a heavy claim or volume that changes while it is read is read anew by the next who asks', async () => {
  const { store } = await stageOf()
  const volumes = new BoundVolumes(store, catalog)
  const heavy = <T extends { readonly metadata: object }>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, annotations: longText },
  })
  await put(store, 'persistentvolumeclaims', heavy(claimOf('claim', 'v')))
  await put(store, 'persistentvolumes', heavy(volumeOf('v', 'claim')))
  const claimOfV = volumes.claimOf('v')
  assert.equal(claimOfV.next().done, false)
  await put(store, 'persistentvolumes', heavy(volumeOf('v', 'other')))
  assert.equal(atOnce(claimOfV), 'space/claim')
  assert.equal(atOnce(volumes.claimOf('v')), 'space/other')
  await put(store, 'persistentvolumes', heavy(volumeOf('v', 'claim')))
  const needs = volumes.needsSecret('space/claim', 'vault/stage')
  assert.equal(needs.next().done, false)
  await put(store, 'persistentvolumeclaims', heavy(claimOf('claim', 'elsewhere')))
  assert.ok(atOnce(needs))
  assert.ok(!atOnce(volumes.needsSecret('space/claim', 'vault/stage')))
})

test('claims of a pod that has very many are looked through', async () => {
  const { store, may } = await stageOf()
  const claims = Array.from({ length: 2500 }, (_, i) => `c${i}`)
  await put(store, 'persistentvolumeclaims', claimOf('c2499', 'v'))
  await put(store, 'persistentvolumes', volumeOf('v', 'c2499'))
  await put(store, 'pods', podOf('p', 'n1', claims))
  assert.deepEqual([await may(staged), await may(`GET ${core}/persistentvolumeclaims/c2499`)], [true, true])
  await put(store, 'pods', podOf('p', 'n1', claims.slice(0, -1)))
  assert.deepEqual([await may(staged), await may(`GET ${core}/persistentvolumeclaims/c2499`)], [false, false])
})

timedTest('pods with many claims do not hold the event loop, whatever their agent asks for', async () => {
  const { store, pods, may } = await stageOf()
  await fill(store, { pods: 100, claims: 400 })
  await pods.ready()
  const ask = () => Promise.all(Array.from({ length: 10 }, (_, i) => may(`GET ${core}/secrets/none${i}`)))
  const first = await turnsOf(ask)
  const second = await turnsOf(ask)
  assert.ok(first.longestMs < 25, `${first.longestMs} ms at first`)
  assert.ok(second.longestMs < 25, `${second.longestMs} ms afterwards`)
})
