// WATCH: start version, selectors, bookmarks, timeout, disconnects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEveryEngine } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, newNamespace, sleep } from '../../../../test/kit/fixtures.js'

onEveryEngine('WATCH', (client) => {
  for (const version of ['', '&resourceVersion=0']) {
    test(`sends the current objects, then changes${version === '' ? '' : ', from version 0'}`, async () => {
      const namespace = await newNamespace(client(), 'watch')
      for (const name of ['a', 'b']) await makeConfigMap(client(), namespace, configMapOf(name))
      const watch = await client().watch(`${configMaps(namespace)}?watch=1${version}`)
      assert.equal(watch.status, 200)
      assert.equal(watch.headers['content-type'], 'application/json')
      await watch.atLeast(2)
      await makeConfigMap(client(), namespace, configMapOf('c'))
      await watch.atLeast(3)
      watch.close()
      assert.equal(watch.summary(), 'ADDED a, ADDED b, ADDED c')
    })
  }

  test('as PartialObjectMetadataList: events have the metadata of each object', async () => {
    const namespace = await newNamespace(client(), 'watch')
    await makeConfigMap(client(), namespace, configMapOf('a', { data: { v: '1' } }))
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.cluster.io'
    const watch = await client().watch(`${configMaps(namespace)}?watch=1`, { accept })
    assert.equal(watch.status, 200)
    const [event] = await watch.atLeast(1)
    watch.close()
    const { kind, metadata, data } = event?.object ?? {}
    assert.deepEqual([kind, metadata?.name, data], ['PartialObjectMetadata', 'a', undefined])
  })

  test('from a resourceVersion: only later changes', async () => {
    const namespace = await newNamespace(client(), 'watch')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const { resourceVersion } = (await client().get(configMaps(namespace))).json.metadata
    await makeConfigMap(client(), namespace, configMapOf('b'))
    await client().put(configMaps(namespace, 'a'), configMapOf('a', { data: { v: '2' } }))
    await client().delete(configMaps(namespace, 'b'))
    const watch = await client().watch(`${configMaps(namespace)}?watch=true&resourceVersion=${resourceVersion}`)
    await watch.atLeast(3)
    await makeConfigMap(client(), namespace, configMapOf('c'))
    await watch.atLeast(4)
    watch.close()
    assert.equal(watch.summary(), 'ADDED b, MODIFIED a, DELETED b, ADDED c')
  })

  test('a selector sends ADDED and DELETED when objects begin and cease to match', async () => {
    const namespace = await newNamespace(client(), 'watch')
    const path = configMaps(namespace)
    const red = { labels: { color: 'red' } }
    const watch = await client().watch(`${path}?watch=1&labelSelector=color=red`)
    await makeConfigMap(client(), namespace, configMapOf('a', { labels: { color: 'blue' } }))
    await client().put(`${path}/a`, configMapOf('a', red))
    await client().put(`${path}/a`, configMapOf('a', { ...red, data: { v: '2' } }))
    await client().put(`${path}/a`, configMapOf('a', { labels: { color: 'blue' }, data: { v: '3' } }))
    await client().put(`${path}/a`, configMapOf('a', { labels: { color: 'blue' }, data: { v: '4' } }))
    await client().put(`${path}/a`, configMapOf('a', { ...red, data: { v: '5' } }))
    await client().delete(`${path}/a`)
    await watch.atLeast(5)
    watch.close()
    assert.equal(watch.summary(), 'ADDED a, MODIFIED a, DELETED a, ADDED a, DELETED a')
    // DELETED has the last matching object, with the version of the change.
    assert.deepEqual([watch.events[2]?.object.metadata.labels, watch.events[2]?.object.data], [{ color: 'red' }, { v: '2' }])
    const versions = watch.events.map(({ object }) => Number(object.metadata.resourceVersion))
    assert.deepEqual(
      versions,
      [...new Set(versions)].sort((a, b) => a - b),
    )
  })

  test('by field selector: one object of many', async () => {
    const namespace = await newNamespace(client(), 'watch')
    const watch = await client().watch(`${configMaps(namespace)}?watch=1&fieldSelector=metadata.name=b`)
    for (const name of ['a', 'b', 'c']) await makeConfigMap(client(), namespace, configMapOf(name))
    await client().delete(configMaps(namespace, 'b'))
    await watch.atLeast(2)
    watch.close()
    assert.equal(watch.summary(), 'ADDED b, DELETED b')
  })

  test('all namespaces, or one', async () => {
    const firstNamespace = await newNamespace(client(), 'watch')
    const secondNamespace = await newNamespace(client(), 'watch')
    const { resourceVersion } = (await client().get('/api/v1/configmaps')).json.metadata
    const everywhere = await client().watch(
      `/api/v1/configmaps?watch=1&resourceVersion=${resourceVersion}&labelSelector=of=${firstNamespace}`,
    )
    const one = await client().watch(`${configMaps(firstNamespace)}?watch=1&resourceVersion=${resourceVersion}`)
    await makeConfigMap(client(), secondNamespace, configMapOf('a', { labels: { of: firstNamespace } }))
    await makeConfigMap(client(), firstNamespace, configMapOf('b', { labels: { of: firstNamespace } }))
    await everywhere.atLeast(2)
    await one.atLeast(1)
    for (const watch of [everywhere, one]) watch.close()
    assert.deepEqual([everywhere.summary(), one.summary()], ['ADDED a, ADDED b', 'ADDED b'])
  })

  test('many watchers and writers: every watcher gets every change once, in order', async () => {
    const namespace = await newNamespace(client(), 'crowd')
    const { resourceVersion } = (await client().get(configMaps(namespace))).json.metadata
    const watches = await Promise.all(
      Array.from({ length: 8 }, () => client().watch(`${configMaps(namespace)}?watch=1&resourceVersion=${resourceVersion}`)),
    )
    const objects = 40
    await Promise.all(Array.from({ length: objects }, (_, i) => makeConfigMap(client(), namespace, configMapOf(`o-${i}`))))
    await Promise.all(Array.from({ length: objects }, (_, i) => client().delete(configMaps(namespace, `o-${i}`))))
    // A late watcher reads the same events from history.
    watches.push(await client().watch(`${configMaps(namespace)}?watch=1&resourceVersion=${resourceVersion}`))
    for (const watch of watches) await watch.atLeast(2 * objects)
    for (const watch of watches) watch.close()
    const eventLists = watches.map(({ events }) =>
      events.map(({ type, object }) => `${object.metadata.resourceVersion} ${type} ${object.metadata.name}`),
    )
    const versions = (watches[0]?.events ?? []).map(({ object }) => Number(object.metadata.resourceVersion))
    assert.ok(
      versions.every((version, i) => i === 0 || version > (versions[i - 1] ?? 0)),
      'versions grow',
    )
    for (const eventList of eventLists) assert.deepEqual(eventList, eventLists[0])
  })

  test('timeoutSeconds ends a watch cleanly', async () => {
    const namespace = await newNamespace(client(), 'watch')
    const watch = await client().watch(`${configMaps(namespace)}?watch=1&timeoutSeconds=1`)
    await watch.ended
    assert.equal(watch.summary(), '')
  })

  test('bookmarks are sent only with allowWatchBookmarks', async () => {
    const namespace = await newNamespace(client(), 'watch')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const query = `${configMaps(namespace)}?watch=1&timeoutSeconds=4`
    const withBookmarks = await client().watch(`${query}&allowWatchBookmarks=true`)
    const withoutBookmarks = await client().watch(query)
    await Promise.all([withBookmarks.ended, withoutBookmarks.ended])
    assert.equal(withoutBookmarks.summary(), 'ADDED a')
    const bookmark = withBookmarks.events.find(({ type }) => type === 'BOOKMARK')
    assert.ok(bookmark !== undefined, withBookmarks.summary())
    assert.deepEqual([bookmark.object.kind, bookmark.object.apiVersion], ['ConfigMap', 'v1'])
    assert.ok(Number(bookmark.object.metadata.resourceVersion) >= Number(withBookmarks.events[0]?.object.metadata.resourceVersion))
    assert.equal(bookmark.object.metadata.name, undefined)
    // A watch that resumes from a bookmark misses nothing.
    const next = await client().watch(`${configMaps(namespace)}?watch=1&resourceVersion=${bookmark.object.metadata.resourceVersion}`)
    await makeConfigMap(client(), namespace, configMapOf('b'))
    await next.atLeast(1)
    next.close()
    assert.equal(next.summary(), 'ADDED b')
  })

  test('a resourceVersion in the future is no error: the watch waits', async () => {
    const namespace = await newNamespace(client(), 'watch')
    const { resourceVersion } = (await client().get(configMaps(namespace))).json.metadata
    const future = Number(resourceVersion) + 1_000_000
    const watch = await client().watch(`${configMaps(namespace)}?watch=1&timeoutSeconds=1&resourceVersion=${future}`)
    await watch.ended
    assert.ok(watch.status === 200 || watch.status === 504, String(watch.status))
    assert.equal(watch.events.filter(({ type }) => type === 'ADDED').length, 0)
  })

  test('invalid watch parameters are rejected', async () => {
    const path = configMaps(await newNamespace(client(), 'watch'))
    expectFailure(await client().get(`${path}?watch=1&resourceVersion=1&resourceVersionMatch=Exact`), 422, 'Invalid')
    expectFailure(await client().get(`${path}?watch=1&resourceVersion=abc`), 400, 'BadRequest')
    expectFailure(await client().get(`${path}?watch=1&labelSelector=a%20b`), 400, 'BadRequest')
    expectStatus(await client().get(`${path}?watch=0`), 200)
  })

  test('a disconnected client is removed', async () => {
    const namespace = await newNamespace(client(), 'watch')
    const openWatches = async (): Promise<number> => {
      const rows = (await client().get('/metrics')).text.matchAll(/^apiserver_longrunning_requests(?:\{[^}]*\})? (\d+)$/gm)
      return [...rows].reduce((sum, [, count]) => sum + Number(count), 0)
    }
    const watches = await Promise.all(Array.from({ length: 30 }, () => client().watch(`${configMaps(namespace)}?watch=1`)))
    assert.ok((await openWatches()) >= 30)
    const others = (await openWatches()) - 30
    for (const watch of watches) watch.close()
    for (let i = 0; i < 1200 && (await openWatches()) > others + 15; i++) await sleep(50)
    assert.ok((await openWatches()) <= others + 15)
  })
})
