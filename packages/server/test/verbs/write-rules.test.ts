// Rules of writes that single recordings show and many requests meet: conditions of PUT and POST, owners, actions on pods.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onUsualEngine } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, newNamespace } from '../kit/fixtures.js'

const merge = 'application/merge-patch+json'
const uid = '00000000-0000-0000-0000-000000000001'

onUsualEngine('rules of writes', (client) => {
  test('a PUT of what is absent: a uid is a condition, a version is none', async () => {
    const namespace = await newNamespace(client(), 'absent')
    for (const [path, body] of [
      [`/api/v1/namespaces/${namespace}/services/s`, { spec: { ports: [{ port: 80 }] } }],
      [`/api/v1/namespaces/${namespace}/endpoints/s`, {}],
      [`/api/v1/namespaces/${namespace}/limitranges/s`, { spec: { limits: [] } }],
      [`/apis/rbac.authorization.cluster.io/v1/namespaces/${namespace}/roles/s`, {}],
      [`/apis/coordination.cluster.io/v1/namespaces/${namespace}/leases/s`, {}],
      [`/apis/node.cluster.io/v1/runtimeclasses/${namespace}`, { handler: 'h' }],
    ] as const) {
      const metadata = { name: path.slice(path.lastIndexOf('/') + 1) }
      expectFailure(await client().put(path, { ...body, metadata: { ...metadata, uid } }), 409, 'Conflict')
      expectStatus(await client().put(`${path}?dryRun=All`, { ...body, metadata }), 201)
      expectFailure(await client().get(path), 404, 'NotFound')
      expectStatus(await client().put(path, { ...body, metadata: { ...metadata, resourceVersion: '12345' } }), 201)
    }
    expectFailure(await client().put(configMaps(namespace, 'a'), { metadata: { name: 'a', uid } }), 409, 'Conflict')
    expectFailure(await client().put(configMaps(namespace, 'a'), { metadata: { name: 'a' } }), 404, 'NotFound')
  })

  test('a patch cannot take the version from kinds that need one', async () => {
    const namespace = await newNamespace(client(), 'unversioned')
    const leases = `/apis/coordination.cluster.io/v1/namespaces/${namespace}/leases`
    expectStatus(await client().post(leases, { metadata: { name: 'a' } }), 201)
    await makeConfigMap(client(), namespace, configMapOf('a'))
    for (const resourceVersion of ['', '0', null]) {
      expectFailure(await client().patch(`${leases}/a`, merge, { metadata: { resourceVersion } }), 422, 'Invalid')
      expectStatus(await client().patch(configMaps(namespace, 'a'), merge, { metadata: { resourceVersion } }), 200)
    }
    const config = { apiVersion: 'coordination.cluster.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec: { holderIdentity: 'h' } }
    expectStatus(await client().patch(`${leases}/a?fieldManager=m`, 'application/apply-patch+yaml', config), 200)
  })

  test('a new object with a version: what else is wrong is said first', async () => {
    const namespace = await newNamespace(client(), 'versioned')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const post = (name: string, more: object = {}) =>
      client().post(configMaps(namespace), { metadata: { name, resourceVersion: '1' }, ...more })
    expectFailure(await post('a'), 409, 'AlreadyExists')
    expectFailure(await post('b', { data: { 'a b': '' } }), 422, 'Invalid')
    expectFailure(await post('b'), 400, 'BadRequest')
    expectFailure(await client().get(configMaps(namespace, 'b')), 404, 'NotFound')
  })

  test('an owner that is named twice is one owner, and the client is warned', async () => {
    const namespace = await newNamespace(client(), 'owners')
    // One that is there: what belongs to nobody is collected.
    const { metadata } = await makeConfigMap(client(), namespace, configMapOf('o'))
    const uid = String(metadata['uid'])
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid, controller: true }
    const made = await client().post(configMaps(namespace), { metadata: { name: 'a', ownerReferences: [owner, owner] } })
    assert.deepEqual(expectStatus(made, 201).json.metadata['ownerReferences'], [owner])
    assert.ok(String(made.headers['warning']).includes(`duplicate UID(s) observed: ${uid}`))
    const patched = await client().patch(configMaps(namespace, 'a'), merge, { metadata: { ownerReferences: [owner, owner, owner] } })
    assert.deepEqual(expectStatus(patched, 200).json.metadata['ownerReferences'], [owner])
    assert.ok(String(patched.headers['warning']).includes(`observed: ${uid}, ${uid}`))
    const put = await client().put(configMaps(namespace, 'a'), {
      metadata: { name: 'a', ownerReferences: [owner, { ...owner, name: 'p' }] },
    })
    expectFailure(put, 422, 'Invalid')
  })

  test('a patch may forget the kind and not the version', async () => {
    const namespace = await newNamespace(client(), 'kindless')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    expectStatus(await client().patch(configMaps(namespace, 'a'), merge, { kind: null }), 200)
    expectFailure(await client().patch(configMaps(namespace, 'a'), merge, { apiVersion: null }), 400, 'BadRequest')
  })

  test('times with microseconds have six decimals', async () => {
    const namespace = await newNamespace(client(), 'micro')
    const leases = `/apis/coordination.cluster.io/v1/namespaces/${namespace}/leases`
    const lease = (renewTime: string) => ({ metadata: { name: 'a' }, spec: { renewTime } })
    expectFailure(await client().post(leases, lease('2024-01-01T00:00:00Z')), 400, 'BadRequest')
    expectStatus(await client().post(leases, lease('2024-01-01T00:00:00.000000Z')), 201)
    expectFailure(await client().patch(`${leases}/a`, merge, { spec: { renewTime: '2024-01-01T00:00:00.000Z' } }), 422, 'Invalid')
  })

  test('an eviction names its pod and its version, and its options exist', async () => {
    const namespace = await newNamespace(client(), 'evictions')
    const path = `/api/v1/namespaces/${namespace}/pods/p/eviction`
    const eviction = (more: object) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, ...more })
    expectFailure(await client().post(path, eviction({ metadata: {} })), 400, 'BadRequest')
    expectFailure(await client().post(path, eviction({ apiVersion: 'v1' })), 400, 'BadRequest')
    expectFailure(await client().post(path, eviction({ deleteOptions: { propagationPolicy: 'Later' } })), 422, 'Invalid')
    expectFailure(await client().post(path, eviction({})), 404, 'NotFound')
    expectFailure(await client().post(path, eviction({ apiVersion: 'policy/v1beta1' })), 404, 'NotFound')
    expectFailure(await client().post(`/api/v1/namespaces/${namespace}/bindings`, { target: { name: 'n' } }), 400, 'BadRequest')
  })

  test('the version of a deletion of many is a condition on each of them', async () => {
    const namespace = await newNamespace(client(), 'collection')
    const { metadata } = await makeConfigMap(client(), namespace, configMapOf('a'))
    await client().patch(configMaps(namespace, 'a'), merge, { data: { k: 'v' } })
    const only = 'fieldSelector=metadata.name%3Da'
    expectFailure(await client().delete(`${configMaps(namespace)}?${only}&resourceVersion=${metadata.resourceVersion}`), 409, 'Conflict')
    expectStatus(await client().delete(`${configMaps(namespace)}?${only}`), 200)
  })

  test('finalizers without a domain, where the kind does not mind', async () => {
    const webhooks = '/apis/admissionregistration.cluster.io/v1'
    const post = (path: string, more: object = {}) =>
      client().post(`${path}?dryRun=All`, { metadata: { name: 'plain-finalizer', finalizers: ['plain'] }, ...more })
    expectStatus(await post('/apis/node.cluster.io/v1/runtimeclasses', { handler: 'h' }), 201)
    expectStatus(await post(`${webhooks}/validatingwebhookconfigurations`), 201)
    expectStatus(await post(`${webhooks}/mutatingwebhookconfigurations`), 201)
    expectFailure(await post('/apis/storage.cluster.io/v1/csidrivers', { spec: {} }), 422, 'Invalid')
    const misnamed = await client().post('/apis/storage.cluster.io/v1/csidrivers', { metadata: { name: 'Not_A_Name' }, spec: {} })
    const causes = expectFailure(misnamed, 422, 'Invalid')['details'] as { readonly causes: readonly { readonly field: string }[] }
    assert.deepEqual(
      causes.causes.map(({ field }) => field),
      ['metadata.name'],
    )
  })
})
