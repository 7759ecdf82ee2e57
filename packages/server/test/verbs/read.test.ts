// GET and LIST: resourceVersion, resourceVersionMatch, label and field selectors.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { onEveryEngine } from '../../../../test/kit/embedded.js'
import {
  configMapOf,
  configMaps,
  expectFailure,
  expectStatus,
  makeConfigMap,
  namesOf,
  newNamespace,
} from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'

/** State of every row: a and b at `older`; then a changed, c was created, b was deleted, at `current`. */
interface StoredVersions {
  readonly path: string
  readonly older: string
  readonly current: string
}

async function storeVersions(client: ApiClient): Promise<StoredVersions> {
  const namespace = await newNamespace(client, 'versions')
  for (const name of ['a', 'b']) await makeConfigMap(client, namespace, configMapOf(name, { data: { v: '1' } }))
  const older = (await client.get(configMaps(namespace))).json.metadata.resourceVersion
  expectStatus(await client.put(configMaps(namespace, 'a'), configMapOf('a', { data: { v: '2' } })), 200)
  await makeConfigMap(client, namespace, configMapOf('c', { data: { v: '1' } }))
  expectStatus(await client.delete(configMaps(namespace, 'b')), 200)
  const current = (await client.get(configMaps(namespace))).json.metadata.resourceVersion
  return { path: configMaps(namespace), older, current }
}

const contents = (list: JsonObject): string => list.items.map(({ metadata, data }) => `${metadata.name}${data?.['v']}`).join(' ')

interface ListRow {
  readonly name: string
  /** OLDER, CURRENT and TOKEN (continue token of a first page of one item) are replaced. */
  readonly query: string
  readonly shows?: string
  /** Expected resourceVersion of the list. */
  readonly version?: 'older' | 'at-least-current'
  readonly fails?: { readonly code: number; readonly reason: string }
}

const invalid = { code: 422, reason: 'Invalid' }

const listRows: readonly ListRow[] = [
  { name: 'nothing given: most recent', query: '', shows: 'a2 c1', version: 'at-least-current' },
  { name: 'version 0: any', query: 'resourceVersion=0', shows: 'a2 c1' },
  { name: 'older version: not older than', query: 'resourceVersion=OLDER', shows: 'a2 c1', version: 'at-least-current' },
  { name: 'current version: not older than', query: 'resourceVersion=CURRENT', shows: 'a2 c1', version: 'at-least-current' },
  { name: 'limit: most recent', query: 'limit=1', shows: 'a2', version: 'at-least-current' },
  { name: 'limit, version 0: any, all at once', query: 'limit=1&resourceVersion=0', shows: 'a2 c1' },
  { name: 'limit, older version: exact', query: 'limit=1&resourceVersion=OLDER', shows: 'a1', version: 'older' },
  { name: 'continue', query: 'limit=1&continue=TOKEN', shows: 'c1' },
  { name: 'continue, version 0: as if not given', query: 'limit=1&continue=TOKEN&resourceVersion=0', shows: 'c1' },
  {
    name: 'continue, a version: rejected',
    query: 'limit=1&continue=TOKEN&resourceVersion=OLDER',
    fails: { code: 400, reason: 'BadRequest' },
  },
  { name: 'continue, a match: rejected', query: 'limit=1&continue=TOKEN&resourceVersionMatch=Exact', fails: invalid },
  { name: 'Exact, no version: rejected', query: 'resourceVersionMatch=Exact', fails: invalid },
  { name: 'Exact, version 0: rejected', query: 'resourceVersionMatch=Exact&resourceVersion=0', fails: invalid },
  { name: 'Exact', query: 'resourceVersionMatch=Exact&resourceVersion=OLDER', shows: 'a1 b1', version: 'older' },
  { name: 'Exact, limit, no version: rejected', query: 'resourceVersionMatch=Exact&limit=1', fails: invalid },
  { name: 'Exact, limit, version 0: rejected', query: 'resourceVersionMatch=Exact&resourceVersion=0&limit=1', fails: invalid },
  { name: 'Exact, limit', query: 'resourceVersionMatch=Exact&resourceVersion=OLDER&limit=1', shows: 'a1', version: 'older' },
  { name: 'NotOlderThan, no version: rejected', query: 'resourceVersionMatch=NotOlderThan', fails: invalid },
  { name: 'NotOlderThan, version 0: any', query: 'resourceVersionMatch=NotOlderThan&resourceVersion=0', shows: 'a2 c1' },
  { name: 'NotOlderThan', query: 'resourceVersionMatch=NotOlderThan&resourceVersion=OLDER', shows: 'a2 c1', version: 'at-least-current' },
  { name: 'NotOlderThan, limit, no version: rejected', query: 'resourceVersionMatch=NotOlderThan&limit=1', fails: invalid },
  { name: 'NotOlderThan, limit, version 0: any', query: 'resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=1', shows: 'a2 c1' },
  {
    name: 'NotOlderThan, limit',
    query: 'resourceVersionMatch=NotOlderThan&resourceVersion=OLDER&limit=1',
    shows: 'a2',
    version: 'at-least-current',
  },
  { name: 'an unknown match: rejected', query: 'resourceVersionMatch=Latest&resourceVersion=OLDER', fails: invalid },
  { name: 'a version that is not a number: rejected', query: 'resourceVersion=abc', fails: { code: 400, reason: 'BadRequest' } },
  { name: 'a limit that is not a number: rejected', query: 'limit=ten', fails: { code: 400, reason: 'BadRequest' } },
  { name: 'a limit below zero: none', query: 'limit=-5', shows: 'a2 c1' },
]

const selectorRows = [
  { name: 'equal', query: 'labelSelector=color=red', shows: ['r1', 'r2'] },
  { name: 'two equals signs', query: 'labelSelector=color==red', shows: ['r1', 'r2'] },
  { name: '!= includes objects without the label', query: 'labelSelector=color!=red', shows: ['b1', 'plain'] },
  { name: 'in', query: 'labelSelector=color%20in%20(red,blue)', shows: ['b1', 'r1', 'r2'] },
  { name: 'notin includes objects without the label', query: 'labelSelector=color%20notin%20(blue)', shows: ['plain', 'r1', 'r2'] },
  { name: 'exists', query: 'labelSelector=color', shows: ['b1', 'r1', 'r2'] },
  { name: 'does not exist', query: 'labelSelector=!color', shows: ['plain'] },
  { name: 'and', query: 'labelSelector=color=red,size=big', shows: ['r2'] },
  { name: 'greater', query: 'labelSelector=rank>1', shows: ['r2'] },
  { name: 'nothing matches', query: 'labelSelector=color=green', shows: [] },
  { name: 'by name', query: 'fieldSelector=metadata.name=r1', shows: ['r1'] },
  { name: 'not by name', query: 'fieldSelector=metadata.name!=r1', shows: ['b1', 'plain', 'r2'] },
  { name: 'field and label', query: 'fieldSelector=metadata.name!=r1&labelSelector=color=red', shows: ['r2'] },
]

onEveryEngine('GET and LIST', (client) => {
  let stored: StoredVersions
  let token: string
  let colors: string
  before(async () => {
    stored = await storeVersions(client())
    token = (await client().get(`${stored.path}?limit=1`)).json.metadata.continue ?? ''
    const namespace = await newNamespace(client(), 'colors')
    colors = configMaps(namespace)
    const labels = { r1: { color: 'red', rank: '1' }, r2: { color: 'red', size: 'big', rank: '2' }, b1: { color: 'blue' } }
    for (const [name, set] of Object.entries(labels))
      await makeConfigMap(client(), namespace, configMapOf(name, { labels: set as Record<string, string> }))
    await makeConfigMap(client(), namespace, configMapOf('plain'))
  })

  for (const row of listRows) {
    test(`list: ${row.name}`, async () => {
      const query = row.query.replace('OLDER', stored.older).replace('CURRENT', stored.current).replace('TOKEN', encodeURIComponent(token))
      const response = await client().get(`${stored.path}?${query}`)
      if (row.fails !== undefined) {
        expectFailure(response, row.fails.code, row.fails.reason)
        return
      }
      const list = expectStatus(response, 200).json
      assert.equal(contents(list), row.shows)
      if (row.version === 'older') assert.equal(list.metadata.resourceVersion, stored.older)
      if (row.version === 'at-least-current') assert.ok(Number(list.metadata.resourceVersion) >= Number(stored.current))
    })
  }

  for (const row of selectorRows) {
    test(`select: ${row.name}`, async () => {
      assert.deepEqual(namesOf(expectStatus(await client().get(`${colors}?${row.query}`), 200).json), row.shows)
    })
  }

  for (const row of [
    { name: 'a malformed label selector', query: 'labelSelector=a%20b%20c' },
    { name: 'an unsupported field selector', query: 'fieldSelector=data.v=1' },
    { name: 'a malformed field selector', query: 'fieldSelector=metadata.name' },
  ]) {
    test(`rejects ${row.name}`, async () => {
      expectFailure(await client().get(`${colors}?${row.query}`), 400, 'BadRequest')
    })
  }

  test('get: resourceVersion is a lower bound, never an exact version', async () => {
    for (const version of ['', '0', stored.older, stored.current]) {
      const { json } = expectStatus(await client().get(`${stored.path}/a${version === '' ? '' : `?resourceVersion=${version}`}`), 200)
      assert.equal(json.data?.['v'], '2')
    }
    expectFailure(await client().get(`${stored.path}/b?resourceVersion=${stored.older}`), 404, 'NotFound')
    expectFailure(await client().get(`${stored.path}/a?resourceVersion=abc`), 400, 'BadRequest')
  })

  test('a resourceVersion in the future is waited for, then fails with a retry hint', async () => {
    const future = String(Number(stored.current) + 1_000_000)
    const paths = [`${stored.path}/a?resourceVersion=${future}`, `${stored.path}?resourceVersion=${future}`]
    const responses = await Promise.all(paths.map((path) => client().get(path)))
    for (const response of responses) {
      const { message, details } = expectFailure(response, 504, 'Timeout')
      assert.match(message ?? '', /Too large resource version/)
      assert.equal(details?.causes?.[0]?.reason, 'ResourceVersionTooLarge')
      assert.ok(Number(response.headers['retry-after']) >= 1)
    }
  })

  test('a resourceVersion in the future has no retry hint for an exact list, a page and Events', async () => {
    const future = String(Number(stored.current) + 1_000_000)
    const events = '/api/v1/namespaces/default/events'
    const paths = [
      `${stored.path}?resourceVersion=${future}&resourceVersionMatch=Exact`,
      `${stored.path}?resourceVersion=${future}&limit=1`,
      `${events}?resourceVersion=${future}`,
      `${events}/a?resourceVersion=${future}`,
    ]
    const responses = await Promise.all(paths.map((path) => client().get(path)))
    for (const response of responses) {
      expectFailure(response, 504, 'Timeout')
      assert.equal(response.headers['retry-after'], undefined)
    }
  })

  test('a resourceVersion in the near future is waited for', async () => {
    // The server waits three seconds; a slow machine writes a few objects in that time.
    const writeCount = 3
    const namespace = await newNamespace(client(), 'soon')
    const first = await makeConfigMap(client(), namespace, configMapOf('a'))
    const target = Number(first.metadata.resourceVersion) + writeCount
    const waiting = client().get(`${configMaps(namespace)}?resourceVersion=${target}`)
    await Promise.all(Array.from({ length: writeCount }, (_, i) => makeConfigMap(client(), namespace, configMapOf(`later-${i}`))))
    const list = expectStatus(await waiting, 200).json
    assert.ok(Number(list.metadata.resourceVersion) >= target)
  })

  test('lists of all namespaces are ordered by namespace and name', async () => {
    const { items } = expectStatus(await client().get('/api/v1/configmaps'), 200).json
    const keys = items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    assert.deepEqual(keys, [...keys].sort())
    assert.ok(keys.length >= 6)
  })

  test('an unknown resource, version, group or namespace returns 404', async () => {
    for (const path of ['/api/v1/nothing', '/api/v9/configmaps', `${stored.path}/a/nothing`, '/apis/coordination.cluster.io/v9/leases']) {
      expectFailure(await client().get(path), 404, 'NotFound')
    }
    expectStatus(await client().get('/apis/no.such.group/v1/things'), 404)
    assert.deepEqual(namesOf(expectStatus(await client().get(configMaps('no-such-namespace')), 200).json), [])
  })
})
