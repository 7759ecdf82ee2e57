// Rules of PUT and POST, as seen in recordings of kube-apiserver: preconditions, owner references, evictions, finalizers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onDefaultEngine } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, newNamespace } from '../../../../test/kit/fixtures.js'

const merge = 'application/merge-patch+json'
const uid = '00000000-0000-0000-0000-000000000001'

onDefaultEngine('rules of PUT and POST', (client) => {
  test('PUT that creates: a uid is a precondition, a resourceVersion is not', async () => {
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

  test('a patch cannot clear the resourceVersion of kinds that require one', async () => {
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

  test('POST with a resourceVersion: other errors are reported first', async () => {
    const namespace = await newNamespace(client(), 'versioned')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const post = (name: string, more: object = {}) =>
      client().post(configMaps(namespace), { metadata: { name, resourceVersion: '1' }, ...more })
    expectFailure(await post('a'), 409, 'AlreadyExists')
    expectFailure(await post('b', { data: { 'a b': '' } }), 422, 'Invalid')
    expectFailure(await post('b'), 400, 'BadRequest')
    expectFailure(await client().get(configMaps(namespace, 'b')), 404, 'NotFound')
  })

  test('a resourceVersion that is not a number is ignored by POST; 400 for PUT and apply, also where they create', async () => {
    const namespace = await newNamespace(client(), 'numbers')
    const leases = `/apis/coordination.cluster.io/v1/namespaces/${namespace}/leases`
    const [cases, apply] = [['x', '-1', '1.5', ' 1', '+1', '99999999999999999999'], 'application/apply-patch+yaml']
    for (const [i, resourceVersion] of cases.entries()) {
      expectStatus(await client().post(configMaps(namespace), { metadata: { name: `c${i}`, resourceVersion } }), 201)
      const metadata = { name: `c${i}`, resourceVersion }
      const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new', resourceVersion } }
      expectFailure(await client().put(configMaps(namespace, `c${i}`), { metadata }), 400, 'BadRequest')
      expectFailure(await client().put(`${leases}/c${i}`, { metadata }), 400, 'BadRequest')
      expectFailure(await client().patch(`${configMaps(namespace, 'new')}?fieldManager=m`, apply, config), 400, 'BadRequest')
    }
    for (const resourceVersion of ['0', '00']) {
      expectStatus(await client().post(`${configMaps(namespace)}?dryRun=All`, { metadata: { name: 'zero', resourceVersion } }), 201)
      expectStatus(await client().put(configMaps(namespace, 'c0'), { metadata: { name: 'c0', resourceVersion } }), 200)
    }
  })

  test('a dry run of POST ignores the resourceVersion', async () => {
    const namespace = await newNamespace(client(), 'dry')
    const created = (query: string) => client().post(`${configMaps(namespace)}${query}`, { metadata: { name: 'a', resourceVersion: '12' } })
    expectStatus(await created('?dryRun=All'), 201)
    expectFailure(await created(''), 400, 'BadRequest')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    expectFailure(await created('?dryRun=All'), 409, 'AlreadyExists')
  })

  test('duplicate owner references are merged, with a warning', async () => {
    const namespace = await newNamespace(client(), 'owners')
    // An existing owner: the garbage collector deletes objects without one.
    const { metadata } = await makeConfigMap(client(), namespace, configMapOf('o'))
    const uid = String(metadata['uid'])
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid, controller: true }
    const created = await client().post(configMaps(namespace), { metadata: { name: 'a', ownerReferences: [owner, owner] } })
    assert.deepEqual(expectStatus(created, 201).json.metadata['ownerReferences'], [owner])
    assert.ok(String(created.headers['warning']).includes(`duplicate UID(s) observed: ${uid}`))
    const patched = await client().patch(configMaps(namespace, 'a'), merge, { metadata: { ownerReferences: [owner, owner, owner] } })
    const { metadata: after } = expectStatus(patched, 200).json
    assert.deepEqual(after['ownerReferences'], [owner])
    assert.equal(after['managedFields'], undefined, 'the patch with duplicates is untracked')
    assert.notEqual(after.resourceVersion, created.json.metadata.resourceVersion)
    assert.ok(String(patched.headers['warning']).includes(`observed: ${uid}, ${uid}`))
    const put = await client().put(configMaps(namespace, 'a'), {
      metadata: { name: 'a', ownerReferences: [owner, { ...owner, name: 'p' }] },
    })
    expectFailure(put, 422, 'Invalid')
  })

  test('MicroTime needs six decimals', async () => {
    const namespace = await newNamespace(client(), 'micro')
    const leases = `/apis/coordination.cluster.io/v1/namespaces/${namespace}/leases`
    const lease = (renewTime: string) => ({ metadata: { name: 'a' }, spec: { renewTime } })
    expectFailure(await client().post(leases, lease('2024-01-01T00:00:00Z')), 400, 'BadRequest')
    expectStatus(await client().post(leases, lease('2024-01-01T00:00:00.000000Z')), 201)
    expectFailure(await client().patch(`${leases}/a`, merge, { spec: { renewTime: '2024-01-01T00:00:00.000Z' } }), 422, 'Invalid')
  })

  test('an eviction needs the name of its pod, a policy version and valid options', async () => {
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

  test('resourceVersion of deletecollection is a precondition for each object', async () => {
    const namespace = await newNamespace(client(), 'collection')
    const { metadata } = await makeConfigMap(client(), namespace, configMapOf('a'))
    await client().patch(configMaps(namespace, 'a'), merge, { data: { k: 'v' } })
    const selector = 'fieldSelector=metadata.name%3Da'
    expectFailure(
      await client().delete(`${configMaps(namespace)}?${selector}&resourceVersion=${metadata.resourceVersion}`),
      409,
      'Conflict',
    )
    expectStatus(await client().delete(`${configMaps(namespace)}?${selector}`), 200)
  })

  test('finalizers without a domain are accepted by some kinds only', async () => {
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

  for (const [size, pad, fieldCount] of [
    ['small', '', 1],
    ['large', 'x'.repeat(700_000), 5000],
  ] as const)
    test(`a list or map that is sent empty differs from an absent one: ${size} objects`, async () => {
      const namespace = await newNamespace(client(), 'empty')
      const frozen = (more: object) => ({ metadata: { name: 'a' }, immutable: true, data: { pad }, ...more })
      expectStatus(await client().post(configMaps(namespace), frozen({})), 201)
      expectStatus(await client().put(configMaps(namespace, 'a'), frozen({})), 200)
      const changes = [
        client().put(configMaps(namespace, 'a'), frozen({ binaryData: {} })),
        client().patch(configMaps(namespace, 'a'), merge, { data: { pad }, binaryData: {} }),
      ]
      for (const change of await Promise.all(changes)) expectFailure(change, 422, 'Invalid')
      // A schema with many fields is validated in a worker thread.
      const properties = Object.fromEntries(Array.from({ length: fieldCount }, (_, i) => [`p${i}`, { type: 'string' }]))
      const openAPIV3Schema = { type: 'object', enum: [], properties: { spec: { type: 'object', properties } } }
      const version = { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } }
      const spec = { group: `${namespace}.example.com`, scope: 'Cluster', names: { plural: 'as', kind: 'A' }, versions: [version] }
      const crd = { metadata: { name: `as.${namespace}.example.com` }, spec }
      expectFailure(await client().post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', crd), 422, 'Invalid')
    })
})
