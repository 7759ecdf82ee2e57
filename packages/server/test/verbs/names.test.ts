// Object names whose order in UTF-8 bytes (the store) differs from their order in UTF-16 units (JavaScript).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { onDefaultEngine } from '../../../../test/kit/embedded.js'
import { expectStatus, namesOf, newNamespace } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'

const perBlock = 70
const numbered = (first: string): readonly string[] => Array.from({ length: perBlock }, (_, i) => `${first}${String(i).padStart(3, '0')}`)
/** In the order of the store. Each group has more names than one segment of the list cache, a cached part of a list. */
const names = [...numbered('a'), ...numbered('｡'), ...numbered('😀')]

const roles = (namespace: string, name?: string): string =>
  `/apis/rbac.authorization.cluster.io/v1/namespaces/${namespace}/roles${name === undefined ? '' : `/${encodeURIComponent(name)}`}`

async function fill(client: ApiClient): Promise<string> {
  const namespace = await newNamespace(client, 'names')
  for (let i = 0; i < names.length; i += 30) {
    const some = names.slice(i, i + 30).map((name) => ({ metadata: { name, labels: { last: name.slice(-1) } } }))
    for (const response of await Promise.all(some.map((role) => client.post(roles(namespace), role)))) expectStatus(response, 201)
  }
  return namespace
}

const list = async (client: ApiClient, path: string, query = ''): Promise<JsonObject> =>
  expectStatus(await client.get(`${path}?${query}`), 200).json

async function pages(client: ApiClient, path: string, query: string): Promise<readonly string[]> {
  const found: string[] = []
  for (let token = ''; ; ) {
    const page = await list(client, path, `${query}&continue=${encodeURIComponent(token)}`)
    found.push(...namesOf(page))
    token = page.metadata.continue ?? ''
    if (token === '' || found.length > names.length) return found
  }
}

onDefaultEngine('names in every script', (client) => {
  test('lists, pages and selectors return all names in the order of the store', async () => {
    const path = roles(await fill(client()))
    assert.deepEqual(namesOf(await list(client(), path)), names)
    // The second read uses the cached segments of the first.
    assert.deepEqual(namesOf(await list(client(), path)), names)
    for (const limit of [1000, 64, 33, 7]) assert.deepEqual(await pages(client(), path, `limit=${limit}`), names, `limit ${limit}`)
    const odd = names.filter((name) => /[13]$/.test(name))
    const selector = `labelSelector=${encodeURIComponent('last in (1,3)')}`
    assert.deepEqual(namesOf(await list(client(), path, selector)), odd)
    assert.deepEqual(await pages(client(), path, `${selector}&limit=5`), odd)
    const ones = names.filter((name) => name.endsWith('1'))
    assert.deepEqual(namesOf(await list(client(), path, 'labelSelector=last%3D1')), ones)
    assert.deepEqual(await pages(client(), path, 'labelSelector=last%3D1&limit=4'), ones)
  })

  test('a list shows changes in the middle of its range', async () => {
    const namespace = await fill(client())
    const path = roles(namespace)
    const { metadata } = await list(client(), path)
    const deleted = ['a005', '｡003', '｡069', '😀000', '😀069']
    for (const name of deleted) expectStatus(await client().delete(roles(namespace, name)), 200)
    const remaining = names.filter((name) => !deleted.includes(name))
    assert.deepEqual(namesOf(await list(client(), path)), remaining)
    assert.deepEqual(await pages(client(), path, 'limit=50'), remaining)
    const past = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`
    assert.deepEqual(namesOf(await list(client(), path, `limit=500&${past}`)), names)
    const first = await list(client(), path, `limit=100&${past}`)
    const second = await list(client(), path, `limit=500&continue=${encodeURIComponent(first.metadata.continue ?? '')}`)
    assert.deepEqual([...namesOf(first), ...namesOf(second)], names)
  })

  test('a watch delivers changes from history and later changes', async () => {
    const namespace = await newNamespace(client(), 'names')
    const path = roles(namespace)
    const startVersion = (await list(client(), path)).metadata.resourceVersion
    const make = async (name: string) => expectStatus(await client().post(path, { metadata: { name } }), 201)
    await make('😀1')
    await make('｡1')
    const watch = await client().watch(`${path}?watch=true&resourceVersion=${startVersion}`)
    await watch.atLeast(2)
    await make('｡2')
    await make('😀2')
    expectStatus(await client().delete(roles(namespace, '｡1')), 200)
    await watch.atLeast(5)
    assert.equal(watch.summary(), 'ADDED 😀1, ADDED ｡1, ADDED ｡2, ADDED 😀2, DELETED ｡1')
    watch.close()
  })
})
