// Paged lists: all pages show one revision, remainingItemCount, invalid and expired continue tokens.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { everyKind, onEveryEngine } from '../../../../test/kit/embedded.js'
import {
  configMapOf,
  configMaps,
  expectFailure,
  expectStatus,
  makeConfigMap,
  namesOf,
  newNamespace,
  until,
} from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'

async function fill(client: ApiClient, names: readonly string[], labels?: (name: string) => Record<string, string>): Promise<string> {
  const namespace = await newNamespace(client, 'pages')
  for (const name of names) await makeConfigMap(client, namespace, configMapOf(name, labels === undefined ? {} : { labels: labels(name) }))
  return namespace
}

const page = async (client: ApiClient, path: string, query: string): Promise<JsonObject> =>
  expectStatus(await client.get(`${path}?${query}`), 200).json

const after = (list: JsonObject): string => `continue=${encodeURIComponent(list.metadata.continue ?? '')}`

onEveryEngine('paged lists', (client) => {
  test('every page shows the revision of the first page', async () => {
    const namespace = await fill(client(), ['a', 'b', 'c', 'd', 'e'])
    const path = configMaps(namespace)
    const first = await page(client(), path, 'limit=2')
    await makeConfigMap(client(), namespace, configMapOf('bb'))
    expectStatus(await client().delete(configMaps(namespace, 'd')), 200)
    expectStatus(await client().put(configMaps(namespace, 'e'), configMapOf('e', { data: { v: '2' } })), 200)
    const second = await page(client(), path, `limit=2&${after(first)}`)
    const third = await page(client(), path, `limit=2&${after(second)}`)
    assert.deepEqual([first, second, third].map(namesOf), [['a', 'b'], ['c', 'd'], ['e']])
    assert.deepEqual(
      [first, second, third].map(({ metadata }) => metadata.remainingItemCount),
      [3, 1, undefined],
    )
    assert.equal(new Set([first, second, third].map(({ metadata }) => metadata.resourceVersion)).size, 1)
    assert.equal(third.metadata.continue ?? '', '')
    assert.equal(third.items[0]?.data, undefined, 'the change of e came after the first page')
    assert.deepEqual(namesOf(await page(client(), path, 'limit=10')), ['a', 'b', 'bb', 'c', 'e'])
  })

  test('a continue token can be reused, with another limit or none', async () => {
    const path = configMaps(await fill(client(), ['a', 'b', 'c', 'd', 'e']))
    const first = await page(client(), path, 'limit=2')
    const one = await page(client(), path, `limit=1&${after(first)}`)
    assert.deepEqual([namesOf(one), one.metadata.remainingItemCount], [['c'], 2])
    const rest = await page(client(), path, after(first))
    assert.deepEqual([namesOf(rest), rest.metadata.continue], [['c', 'd', 'e'], undefined])
  })

  test('a page with all items has no continue token', async () => {
    const path = configMaps(await fill(client(), ['a', 'b', 'c']))
    for (const limit of [3, 4, 500]) {
      const { metadata } = await page(client(), path, `limit=${limit}`)
      assert.deepEqual([metadata.continue, metadata.remainingItemCount], [undefined, undefined])
    }
  })

  test('lists with selectors have no remainingItemCount', async () => {
    const path = configMaps(await fill(client(), ['a', 'b', 'c', 'd'], (name) => ({ odd: name === 'a' || name === 'c' ? 'yes' : 'no' })))
    const first = await page(client(), path, 'limit=1&labelSelector=odd=yes')
    assert.deepEqual([namesOf(first), first.metadata.remainingItemCount], [['a'], undefined])
    const second = await page(client(), path, `limit=1&labelSelector=odd=yes&${after(first)}`)
    assert.deepEqual(namesOf(second), ['c'])
    const byField = await page(client(), path, 'limit=1&fieldSelector=metadata.name!=a')
    assert.deepEqual([namesOf(byField), byField.metadata.remainingItemCount], [['b'], undefined])
  })

  test('a selected name has no next page', async () => {
    const namespace = await fill(client(), ['a', 'b', 'c'])
    const { items, metadata } = await page(client(), configMaps(namespace), 'limit=1&fieldSelector=metadata.name%3Db')
    assert.deepEqual([items.map((item) => item.metadata.name), metadata.continue], [['b'], undefined])
    const clusterWide = await page(client(), '/api/v1/namespaces', `limit=1&fieldSelector=metadata.name%3D${namespace}`)
    assert.equal(clusterWide.metadata.continue, undefined)
  })

  test('pages through all namespaces', async () => {
    const namespace = await fill(client(), ['x', 'y'])
    const seen: string[] = []
    for (let query = 'limit=3'; ; ) {
      const list = await page(client(), '/api/v1/configmaps', `${query}&resourceVersion=`)
      seen.push(...list.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`))
      if (!list.metadata.continue) break
      query = `limit=3&${after(list)}`
    }
    assert.deepEqual(new Set(seen).size, seen.length)
    // Other tests write to their own namespaces meanwhile.
    for (const name of ['x', 'y']) assert.ok(seen.includes(`${namespace}/${name}`))
  })

  for (const row of [
    { name: 'garbage', token: 'nonsense' },
    { name: 'not base64', token: '%%%' },
    { name: 'an empty object', token: Buffer.from('{}').toString('base64url') },
    {
      name: 'outside of its collection',
      token: Buffer.from(JSON.stringify({ v: 'meta.cluster.io/v1', rv: 1, start: '../../secrets/x' })).toString('base64url'),
    },
  ]) {
    test(`rejects a continue token that is ${row.name}`, async () => {
      const path = configMaps(await fill(client(), ['a', 'b']))
      expectFailure(await client().get(`${path}?limit=1&continue=${encodeURIComponent(row.token)}`), 400, 'BadRequest')
    })
  }
})

onEveryEngine(
  'paging with a short history',
  (client) => {
    test('an expired continue token, resourceVersion and watch return 410', async () => {
      const namespace = await fill(client(), ['a', 'b', 'c', 'd'])
      const path = configMaps(namespace)
      const first = await page(client(), path, 'limit=2')
      const { resourceVersion } = first.metadata
      // Compaction runs once per interval, and keeps the latest revision.
      let writes = 0
      const expired = await until(
        async () => {
          writes += 1
          await client().put(configMaps(namespace, 'd'), configMapOf('d', { data: { writes: String(writes) } }))
          return client().get(`${path}?limit=2&${after(first)}`)
        },
        ({ status }) => status !== 200,
      )
      const status = expectFailure(expired, 410, 'Expired')
      const inconsistent = status.metadata.continue ?? ''
      assert.notEqual(inconsistent, '', 'the 410 contains a token for an inconsistent continuation')
      const rest = await page(client(), path, `limit=5&continue=${encodeURIComponent(inconsistent)}`)
      assert.deepEqual(namesOf(rest), ['c', 'd'])
      assert.equal(rest.items[1]?.data?.['writes'] === undefined, false, 'from there on the newest state is shown')

      // A page of the inconsistent list has a token of its own, which expires as well.
      const second = await page(client(), path, `limit=1&continue=${encodeURIComponent(inconsistent)}`)
      const expiredAgain = await until(
        async () => {
          writes += 1
          await client().put(configMaps(namespace, 'd'), configMapOf('d', { data: { writes: String(writes) } }))
          return client().get(`${path}?limit=1&${after(second)}`)
        },
        ({ status: code }) => code !== 200,
      )
      const again = expectFailure(expiredAgain, 410, 'Expired').metadata.continue ?? ''
      assert.deepEqual(namesOf(await page(client(), path, `continue=${encodeURIComponent(again)}`)), ['d'])

      expectFailure(await client().get(`${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`), 410, 'Expired')
      expectFailure(await client().get(`${path}?resourceVersion=${resourceVersion}&limit=1`), 410, 'Expired')
      expectFailure(await client().get(`${path}?watch=1&resourceVersion=${resourceVersion}`), 410, 'Expired')
      const accept = 'application/vnd.cluster.protobuf;stream=watch'
      assert.equal((await client().get(`/api/v1/events?watch=1&resourceVersion=${resourceVersion}`, { accept })).status, 410)
      assert.deepEqual(namesOf(await page(client(), path, `resourceVersion=${resourceVersion}`)), ['a', 'b', 'c', 'd'])
    })
  },
  [...everyKind, '--etcd-compaction-interval=1s'],
)
