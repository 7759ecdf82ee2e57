// Deleting: conditions, finalizers, what happens to dependents, and namespaces that empty themselves.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryEngine } from '../kit/embedded.js'
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
} from '../kit/fixtures.js'

const hold = 'example.com/hold'

onEveryEngine('deleting', (client) => {
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

  test('finalizers hold an object until the last one is taken away', async () => {
    const namespace = await newNamespace(client(), 'held')
    const path = configMaps(namespace, 'a')
    const created = await makeConfigMap(client(), namespace, configMapOf('a', { finalizers: [hold, 'example.com/second'] }))
    const watch = await client().watch(`${configMaps(namespace)}?watch=1&resourceVersion=${created.metadata.resourceVersion}`)
    const going = expectStatus(await client().delete(path), 200).json
    assert.equal(going.kind, 'ConfigMap')
    assert.match(going.metadata.deletionTimestamp ?? '', /^\d{4}-/)
    assert.equal(going.metadata.deletionGracePeriodSeconds, 0)
    await sleep(1100)
    const again = expectStatus(await client().delete(path), 200).json
    assert.deepEqual(again, going, 'a second deletion changes nothing')
    expectFailure(await client().post(configMaps(namespace), configMapOf('a')), 409, 'AlreadyExists')
    const more = { ...going, metadata: { ...going.metadata, finalizers: [...(going.metadata.finalizers ?? []), 'example.com/third'] } }
    expectFailure(await client().put(path, more), 422, 'Invalid')
    const one = expectStatus(
      await client().put(path, { ...going, metadata: { ...going.metadata, finalizers: [hold] }, data: { still: 'here' } }),
      200,
    ).json
    assert.equal(one.metadata.deletionTimestamp, going.metadata.deletionTimestamp)
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
    for (const way of ['query', 'body'] as const) {
      test(`propagation policy ${row.policy} in the ${way}`, async () => {
        const namespace = await newNamespace(client(), 'policy')
        const path = configMaps(namespace, 'a')
        // A finalizer of its own keeps the object, so that what the policy adds can be seen before anybody acts on it.
        await makeConfigMap(client(), namespace, configMapOf('a', { finalizers: [hold] }))
        const answer =
          way === 'query'
            ? await client().delete(`${path}?propagationPolicy=${row.policy}`)
            : await client().delete(path, { propagationPolicy: row.policy })
        const { metadata } = expectStatus(answer, 200).json
        assert.deepEqual(metadata.finalizers, [hold, ...(row.finalizers ?? [])])
      })
    }
  }

  test('options that contradict themselves or mean nothing', async () => {
    const namespace = await newNamespace(client(), 'delete')
    const path = configMaps(namespace, 'a')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    expectFailure(await client().delete(`${path}?propagationPolicy=Sideways`), 422, 'Invalid')
    expectFailure(await client().delete(path, { propagationPolicy: 'Orphan', orphanDependents: true }), 422, 'Invalid')
    expectFailure(await client().delete(path, '{"preconditions":'), 400, 'BadRequest')
    expectFailure(await client().delete(`${path}?dryRun=Maybe`), 422, 'Invalid')
    expectStatus(await client().get(path), 200)
  })

  test('a collection: what the selectors select, and what is held stays marked', async () => {
    const namespace = await newNamespace(client(), 'collection')
    const path = configMaps(namespace)
    await makeConfigMap(client(), namespace, configMapOf('held', { finalizers: [hold], labels: { go: 'yes' } }))
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

  test('a namespace: active, then terminating and closed for new objects, then gone with all it held', async () => {
    const namespace = await newNamespace(client(), 'doomed')
    const made = (await client().get(`/api/v1/namespaces/${namespace}`)).json
    assert.deepEqual([made['status'], made['spec']], [{ phase: 'Active' }, { finalizers: ['cluster'] }])
    assert.equal(made.metadata.labels?.['cluster.io/metadata.name'], namespace)
    for (const name of ['a', 'b', 'c']) await makeConfigMap(client(), namespace, configMapOf(name))
    await client().post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'robot' } })
    const watch = await client().watch(`${configMaps(namespace)}?watch=1`)
    const going = expectStatus(await client().delete(`/api/v1/namespaces/${namespace}`), 200).json
    assert.equal((going['status'] as { phase: string }).phase, 'Terminating')
    const refused = expectFailure(await client().post(configMaps(namespace), configMapOf('late')), 403, 'Forbidden')
    assert.equal(refused.details?.causes?.[0]?.reason, 'NamespaceTerminating')
    await until(
      () => client().get(`/api/v1/namespaces/${namespace}`),
      ({ status }) => status === 404,
    )
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
    // The name is free again, and nothing of the old life shows.
    expectStatus(await client().post('/api/v1/namespaces', { metadata: { name: namespace } }), 201)
    assert.deepEqual(namesOf((await client().get(configMaps(namespace))).json), [])
  })

  test('a namespace waits for what is held in it, and says so', async () => {
    const namespace = await newNamespace(client(), 'waiting')
    const held = await makeConfigMap(client(), namespace, configMapOf('held', { finalizers: [hold] }))
    await client().delete(`/api/v1/namespaces/${namespace}`)
    const waiting = await until(
      () => client().get(`/api/v1/namespaces/${namespace}`),
      ({ text }) => /"type":"NamespaceFinalizersRemaining","status":"True"/.test(text),
    )
    assert.match(waiting.text, /example\.com\/hold in 1 resource instances/)
    const current = (await client().get(configMaps(namespace, 'held'))).json
    assert.notEqual(current.metadata.deletionTimestamp, undefined)
    assert.equal(current.metadata.uid, held.metadata.uid)
    expectStatus(await client().put(configMaps(namespace, 'held'), { ...current, metadata: { ...current.metadata, finalizers: [] } }), 200)
    await until(
      () => client().get(`/api/v1/namespaces/${namespace}`),
      ({ status }) => status === 404,
      60_000,
    )
  })

  test('the first DELETE of a namespace only marks it, even one that nothing holds; the next one, or an update, removes it', async () => {
    const paths = await Promise.all(
      ['by-delete', 'by-update'].map(async (name) => `/api/v1/namespaces/${await newNamespace(client(), name)}`),
    )
    for (const path of paths) {
      const { metadata } = (await client().get(path)).json
      const loose = expectStatus(await client().put(`${path}/finalize`, { metadata: { name: metadata.name }, spec: {} }), 200).json
      assert.deepEqual([loose['spec'], loose['status']], [{}, { phase: 'Active' }])
      const marked = expectStatus(await client().delete(path), 200).json
      assert.deepEqual([marked.kind, marked['status']], ['Namespace', { phase: 'Terminating' }])
      assert.equal((await client().get(path)).json.metadata.deletionTimestamp, marked.metadata.deletionTimestamp)
    }
    const [byDelete = '', byUpdate = ''] = paths
    const last = expectStatus(await client().delete(byDelete), 200).json
    assert.equal(last.kind, 'Namespace')
    expectStatus(await client().get(byDelete), 404)
    const current = (await client().get(byUpdate)).json
    expectStatus(await client().put(byUpdate, current), 200)
    expectStatus(await client().get(byUpdate), 404)
  })

  test('a DELETE of a namespace that is held already changes nothing, whatever it says of dependents', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(client(), 'again')}`
    const { metadata } = (await client().get(path)).json
    expectStatus(await client().put(`${path}/finalize`, { metadata: { name: metadata.name }, spec: { finalizers: [hold] } }), 200)
    const first = expectStatus(await client().delete(path), 200).json
    const again = expectStatus(await client().delete(`${path}?propagationPolicy=Orphan`), 200).json
    assert.deepEqual(again, first)
    expectStatus(await client().put(`${path}/finalize`, { metadata: { name: metadata.name }, spec: {} }), 200)
    expectStatus(await client().get(path), 404)
  })

  test('the older option makes a namespace wait for its dependents', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(client(), 'older')}`
    const marked = expectStatus(await client().delete(`${path}?orphanDependents=false`), 202).json
    assert.deepEqual(marked.metadata.finalizers, ['foregroundDeletion'])
  })

  test('the namespaces of the system stay', async () => {
    for (const name of ['default', 'cluster-system', 'cluster-public']) {
      expectFailure(await client().delete(`/api/v1/namespaces/${name}`), 403, 'Forbidden')
    }
  })
})
