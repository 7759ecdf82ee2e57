// DELETE: preconditions, finalizers, propagation policies, collections and namespace termination.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryEngine } from '../../../../test/kit/embedded.js'
import {
  configMapOf,
  configMaps,
  expectFailure,
  expectStatus,
  makeConfigMap,
  namesOf,
  newNamespace,
  sleep,
  until,
  untilStatus,
} from '../../../../test/kit/fixtures.js'

const finalizer = 'example.com/hold'

onEveryEngine('DELETE', (client) => {
  test('preconditions', async () => {
    const namespace = await newNamespace(client(), 'delete')
    const path = configMaps(namespace, 'a')
    const { metadata } = await makeConfigMap(client(), namespace, configMapOf('a'))
    expectFailure(await client().delete(path, { preconditions: { uid: 'someone-else' } }), 409, 'Conflict')
    expectFailure(await client().delete(path, { preconditions: { resourceVersion: '1' } }), 409, 'Conflict')
    expectStatus(await client().get(path), 200)
    expectStatus(await client().delete(path, { preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion } }), 200)
    expectStatus(await client().get(path), 404)
  })

  test('an object with finalizers is terminating until the last finalizer is removed', async () => {
    const namespace = await newNamespace(client(), 'held')
    const path = configMaps(namespace, 'a')
    const created = await makeConfigMap(client(), namespace, configMapOf('a', { finalizers: [finalizer, 'example.com/second'] }))
    const watch = await client().watch(`${configMaps(namespace)}?watch=1&resourceVersion=${created.metadata.resourceVersion}`)
    const terminating = expectStatus(await client().delete(path), 200).json
    assert.equal(terminating.kind, 'ConfigMap')
    assert.match(terminating.metadata.deletionTimestamp ?? '', /^\d{4}-/)
    assert.equal(terminating.metadata.deletionGracePeriodSeconds, 0)
    await sleep(1100)
    const again = expectStatus(await client().delete(path), 200).json
    assert.deepEqual(again, terminating, 'a second deletion changes nothing')
    expectFailure(await client().post(configMaps(namespace), configMapOf('a')), 409, 'AlreadyExists')
    const more = {
      ...terminating,
      metadata: { ...terminating.metadata, finalizers: [...(terminating.metadata.finalizers ?? []), 'example.com/third'] },
    }
    expectFailure(await client().put(path, more), 422, 'Invalid')
    const one = expectStatus(
      await client().put(path, { ...terminating, metadata: { ...terminating.metadata, finalizers: [finalizer] }, data: { still: 'here' } }),
      200,
    ).json
    assert.equal(one.metadata.deletionTimestamp, terminating.metadata.deletionTimestamp)
    expectStatus(await client().put(path, { ...one, metadata: { ...one.metadata, finalizers: [] } }), 200)
    expectFailure(await client().get(path), 404, 'NotFound')
    await watch.atLeast(3)
    watch.close()
    assert.equal(watch.summary(), 'MODIFIED a, MODIFIED a, DELETED a')
  })

  for (const row of [
    { policy: 'Foreground', finalizers: ['foregroundDeletion'] },
    { policy: 'Orphan', finalizers: ['orphan'] },
    { policy: 'Background', finalizers: undefined },
  ]) {
    for (const location of ['query', 'body'] as const) {
      test(`propagation policy ${row.policy} in the ${location}`, async () => {
        const namespace = await newNamespace(client(), 'policy')
        const path = configMaps(namespace, 'a')
        // The extra finalizer keeps the object, so that the finalizer of the policy can be seen before the garbage collector removes it.
        await makeConfigMap(client(), namespace, configMapOf('a', { finalizers: [finalizer] }))
        const response =
          location === 'query'
            ? await client().delete(`${path}?propagationPolicy=${row.policy}`)
            : await client().delete(path, { propagationPolicy: row.policy })
        const { metadata } = expectStatus(response, 200).json
        assert.deepEqual(metadata.finalizers, [finalizer, ...(row.finalizers ?? [])])
      })
    }
  }

  for (const [title, nodeName, finalizers] of [
    ['whose grace period is over applies a later policy', undefined, [finalizer, 'foregroundDeletion']],
    ['within its grace period ignores a later policy', 'no-such-node', [finalizer]],
  ] as const) {
    test(`a terminating pod ${title}`, async () => {
      const pods = `/api/v1/namespaces/${await newNamespace(client(), 'later-policy')}/pods`
      const spec = {
        containers: [{ name: 'c', image: 'i' }],
        serviceAccountName: 'default',
        ...(nodeName === undefined ? {} : { nodeName }),
      }
      await untilStatus(() => client().post(pods, { metadata: { name: 'a', finalizers: [finalizer] }, spec }), 201)
      expectStatus(await client().delete(`${pods}/a`), 200)
      const again = expectStatus(await client().delete(`${pods}/a`, { propagationPolicy: 'Foreground' }), 200).json
      assert.deepEqual(again.metadata.finalizers, finalizers)
    })
  }

  test('contradictory or unknown delete options are rejected', async () => {
    const namespace = await newNamespace(client(), 'delete')
    const path = configMaps(namespace, 'a')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    expectFailure(await client().delete(`${path}?propagationPolicy=Sideways`), 422, 'Invalid')
    expectFailure(await client().delete(path, { propagationPolicy: 'Orphan', orphanDependents: true }), 422, 'Invalid')
    expectFailure(await client().delete(path, '{"preconditions":'), 400, 'BadRequest')
    expectFailure(await client().delete(`${path}?dryRun=Maybe`), 422, 'Invalid')
    expectStatus(await client().get(path), 200)
  })

  test('deletecollection follows its selectors; objects with finalizers stay terminating', async () => {
    const namespace = await newNamespace(client(), 'collection')
    const path = configMaps(namespace)
    await makeConfigMap(client(), namespace, configMapOf('held', { finalizers: [finalizer], labels: { go: 'yes' } }))
    for (const name of ['a', 'b']) await makeConfigMap(client(), namespace, configMapOf(name, { labels: { go: 'yes' } }))
    await makeConfigMap(client(), namespace, configMapOf('stays'))
    const status = expectStatus(await client().delete(`${path}?labelSelector=go=yes`), 200).json
    assert.deepEqual([status.kind, status['status'], status.details?.kind], ['Status', 'Success', 'configmaps'])
    const { items } = (await client().get(path)).json
    assert.deepEqual(
      items.map(({ metadata }) => [metadata.name, metadata.deletionTimestamp === undefined]),
      [
        ['held', false],
        ['stays', true],
      ],
    )
    expectStatus(await client().delete(`${path}?fieldSelector=metadata.name=stays&dryRun=All`), 200)
    expectStatus(await client().get(`${path}/stays`), 200)
  })

  test('watch events of deletecollection show the protection finalizer of claims until the end', async () => {
    const claims = `/api/v1/namespaces/${await newNamespace(client(), 'claims')}/persistentvolumeclaims`
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    const { metadata } = expectStatus(await client().post(claims, { metadata: { name: 'a' }, spec }), 201).json
    const watch = await client().watch(`${claims}?watch=1&resourceVersion=${metadata.resourceVersion}`)
    expectStatus(await client().delete(claims), 200)
    await watch.atLeast(2)
    watch.close()
    assert.equal(watch.summary(), 'MODIFIED a, DELETED a')
    for (const { object } of watch.events) assert.deepEqual(object.metadata.finalizers, ['cluster.io/pvc-protection'])
  })

  test('a deleted namespace is terminating, rejects new objects, and disappears with its content', async () => {
    const namespace = await newNamespace(client(), 'doomed')
    const created = (await client().get(`/api/v1/namespaces/${namespace}`)).json
    assert.deepEqual([created['status'], created['spec']], [{ phase: 'Active' }, { finalizers: ['cluster'] }])
    assert.equal(created.metadata.labels?.['cluster.io/metadata.name'], namespace)
    for (const name of ['a', 'b', 'c']) await makeConfigMap(client(), namespace, configMapOf(name))
    await client().post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'robot' } })
    const watch = await client().watch(`${configMaps(namespace)}?watch=1`)
    const terminating = expectStatus(await client().delete(`/api/v1/namespaces/${namespace}`), 200).json
    assert.equal((terminating['status'] as { phase: string }).phase, 'Terminating')
    const refused = expectFailure(await client().post(configMaps(namespace), configMapOf('late')), 403, 'Forbidden')
    assert.equal(refused.details?.causes?.[0]?.reason, 'NamespaceTerminating')
    await untilStatus(() => client().get(`/api/v1/namespaces/${namespace}`), 404)
    assert.deepEqual(namesOf((await client().get(configMaps(namespace))).json), [])
    await watch.atLeast(6)
    watch.close()
    assert.deepEqual(
      watch.events
        .slice(3)
        .map(({ type, object }) => `${type} ${object.metadata.name}`)
        .sort(),
      ['DELETED a', 'DELETED b', 'DELETED c'],
    )
    // The name can be reused; the new namespace has nothing of the old one.
    expectStatus(await client().post('/api/v1/namespaces', { metadata: { name: namespace } }), 201)
    assert.deepEqual(namesOf((await client().get(configMaps(namespace))).json), [])
  })

  test('a terminating namespace waits for objects with finalizers and reports them in its conditions', async () => {
    const namespace = await newNamespace(client(), 'waiting')
    const finalized = await makeConfigMap(client(), namespace, configMapOf('held', { finalizers: [finalizer] }))
    await client().delete(`/api/v1/namespaces/${namespace}`)
    const waiting = await until(
      () => client().get(`/api/v1/namespaces/${namespace}`),
      ({ text }) => /"type":"NamespaceFinalizersRemaining","status":"True"/.test(text),
    )
    assert.match(waiting.text, /example\.com\/hold in 1 resource instances/)
    const current = (await client().get(configMaps(namespace, 'held'))).json
    assert.notEqual(current.metadata.deletionTimestamp, undefined)
    assert.equal(current.metadata.uid, finalized.metadata.uid)
    expectStatus(await client().put(configMaps(namespace, 'held'), { ...current, metadata: { ...current.metadata, finalizers: [] } }), 200)
    await until(
      () => client().get(`/api/v1/namespaces/${namespace}`),
      ({ status }) => status === 404,
      60_000,
    )
  })

  test('the first DELETE of a namespace only marks it as terminating; the next DELETE or update removes it', async () => {
    const paths = await Promise.all(
      ['by-delete', 'by-update'].map(async (name) => `/api/v1/namespaces/${await newNamespace(client(), name)}`),
    )
    for (const path of paths) {
      const { metadata } = (await client().get(path)).json
      const withoutFinalizers = expectStatus(
        await client().put(`${path}/finalize`, { metadata: { name: metadata.name }, spec: {} }),
        200,
      ).json
      assert.deepEqual([withoutFinalizers['spec'], withoutFinalizers['status']], [{}, { phase: 'Active' }])
      const terminating = expectStatus(await client().delete(path), 200).json
      assert.deepEqual([terminating.kind, terminating['status']], ['Namespace', { phase: 'Terminating' }])
      assert.equal((await client().get(path)).json.metadata.deletionTimestamp, terminating.metadata.deletionTimestamp)
    }
    const [byDelete = '', byUpdate = ''] = paths
    const last = expectStatus(await client().delete(byDelete), 200).json
    assert.equal(last.kind, 'Namespace')
    expectStatus(await client().get(byDelete), 404)
    const current = (await client().get(byUpdate)).json
    expectStatus(await client().put(byUpdate, current), 200)
    expectStatus(await client().get(byUpdate), 404)
  })

  test('DELETE of a terminating namespace changes nothing, whatever its propagation policy', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(client(), 'again')}`
    const { metadata } = (await client().get(path)).json
    expectStatus(await client().put(`${path}/finalize`, { metadata: { name: metadata.name }, spec: { finalizers: [finalizer] } }), 200)
    const first = expectStatus(await client().delete(path), 200).json
    const again = expectStatus(await client().delete(`${path}?propagationPolicy=Orphan`), 200).json
    assert.deepEqual(again, first)
    expectStatus(await client().put(`${path}/finalize`, { metadata: { name: metadata.name }, spec: {} }), 200)
    expectStatus(await client().get(path), 404)
  })

  test('orphanDependents=false makes a namespace wait for its dependents', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(client(), 'older')}`
    const terminating = expectStatus(await client().delete(`${path}?orphanDependents=false`), 202).json
    assert.deepEqual(terminating.metadata.finalizers, ['foregroundDeletion'])
  })

  test('system namespaces cannot be deleted', async () => {
    for (const name of ['default', 'cluster-system', 'cluster-public']) {
      expectFailure(await client().delete(`/api/v1/namespaces/${name}`), 403, 'Forbidden')
    }
  })
})
