// Lists in pages: one state from the first page to the last, honest counts, and what happens when that state is forgotten.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../kit/api-client.js'
import { everyKind, onEveryEngine } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, namesOf, newNamespace, until } from '../kit/fixtures.js'
import type { Wire } from '../kit/wire.js'

async function fill(client: ApiClient, names: readonly string[], labels?: (name: string) => Record<string, string>): Promise<string> {
  const namespace = await newNamespace(client, 'pages')
  for (const name of names) await makeConfigMap(client, namespace, configMapOf(name, labels === undefined ? {} : { labels: labels(name) }))
  return namespace
}

const page = async (client: ApiClient, path: string, query: string): Promise<Wire> =>
  expectStatus(await client.get(`${path}?${query}`), 200).json

const after = (list: Wire): string => `continue=${encodeURIComponent(list.metadata.continue ?? '')}`

onEveryEngine('paging', (client) => {
  test('every page is of the state of the first, whatever happens in between', async () => {
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

  test('a token may be used again, with another limit or none', async () => {
    const path = configMaps(await fill(client(), ['a', 'b', 'c', 'd', 'e']))
    const first = await page(client(), path, 'limit=2')
    const one = await page(client(), path, `limit=1&${after(first)}`)
    assert.deepEqual([namesOf(one), one.metadata.remainingItemCount], [['c'], 2])
    const rest = await page(client(), path, after(first))
    assert.deepEqual([namesOf(rest), rest.metadata.continue], [['c', 'd', 'e'], undefined])
  })

  test('a page that holds everything has no token', async () => {
    const path = configMaps(await fill(client(), ['a', 'b', 'c']))
    for (const limit of [3, 4, 500]) {
      const { metadata } = await page(client(), path, `limit=${limit}`)
      assert.deepEqual([metadata.continue, metadata.remainingItemCount], [undefined, undefined])
    }
  })

  test('with selectors nobody counts what remains', async () => {
    const path = configMaps(await fill(client(), ['a', 'b', 'c', 'd'], (name) => ({ odd: name === 'a' || name === 'c' ? 'yes' : 'no' })))
    const first = await page(client(), path, 'limit=1&labelSelector=odd=yes')
    assert.deepEqual([namesOf(first), first.metadata.remainingItemCount], [['a'], undefined])
    const second = await page(client(), path, `limit=1&labelSelector=odd=yes&${after(first)}`)
    assert.deepEqual(namesOf(second), ['c'])
    const byField = await page(client(), path, 'limit=1&fieldSelector=metadata.name!=a')
    assert.deepEqual([namesOf(byField), byField.metadata.remainingItemCount], [['b'], undefined])
  })

  test('pages through all namespaces', async () => {
    await fill(client(), ['x', 'y'])
    const all = (await client().get('/api/v1/configmaps')).json
    const seen: string[] = []
    for (let query = 'limit=3'; ; ) {
      const list = await page(client(), '/api/v1/configmaps', `${query}&resourceVersion=`)
      seen.push(...list.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`))
      if (!list.metadata.continue) break
      query = `limit=3&${after(list)}`
    }
    assert.deepEqual(new Set(seen).size, seen.length)
    for (const { metadata } of all.items) assert.ok(seen.includes(`${metadata.namespace}/${metadata.name}`))
  })

  for (const row of [
    { name: 'no token at all', token: 'nonsense' },
    { name: 'no base64', token: '%%%' },
    { name: 'an empty object', token: Buffer.from('{}').toString('base64url') },
    {
      name: 'out of its collection',
      token: Buffer.from(JSON.stringify({ v: 'meta.cluster.io/v1', rv: 1, start: '../../secrets/x' })).toString('base64url'),
    },
  ]) {
    test(`refuses a token that is ${row.name}`, async () => {
      const path = configMaps(await fill(client(), ['a', 'b']))
      expectFailure(await client().get(`${path}?limit=1&continue=${encodeURIComponent(row.token)}`), 400, 'BadRequest')
    })
  }
})

onEveryEngine(
  'paging with a short history',
  (client) => {
    test('a token, a version and a watch that are too old are refused with 410', async () => {
      const namespace = await fill(client(), ['a', 'b', 'c', 'd'])
      const path = configMaps(namespace)
      const first = await page(client(), path, 'limit=2')
      const { resourceVersion } = first.metadata
      // History is forgotten in steps of the interval, and only what has been followed by something can be forgotten.
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
      assert.notEqual(inconsistent, '', 'whoever can live with it gets a token to go on with')
      const rest = await page(client(), path, `limit=5&continue=${encodeURIComponent(inconsistent)}`)
      assert.deepEqual(namesOf(rest), ['c', 'd'])
      assert.equal(rest.items[1]?.data?.['writes'] === undefined, false, 'from there on the newest state is shown')

      expectFailure(await client().get(`${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`), 410, 'Expired')
      expectFailure(await client().get(`${path}?resourceVersion=${resourceVersion}&limit=1`), 410, 'Expired')
      expectFailure(await client().get(`${path}?watch=1&resourceVersion=${resourceVersion}`), 410, 'Expired')
      assert.deepEqual(namesOf(await page(client(), path, `resourceVersion=${resourceVersion}`)), ['a', 'b', 'c', 'd'])
    })
  },
  [...everyKind, '--etcd-compaction-interval=1s'],
)
