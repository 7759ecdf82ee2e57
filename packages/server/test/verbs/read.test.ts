// Reading: which state `resourceVersion` and `resourceVersionMatch` choose for get and list, and what selectors select.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { ApiClient } from '../kit/api-client.js'
import { onEveryEngine } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, namesOf, newNamespace } from '../kit/fixtures.js'
import type { Wire } from '../kit/wire.js'

/** The story that every row reads from: a and b at `older`; then a changed, c came, b went, at `current`. */
interface Story {
  readonly path: string
  readonly older: string
  readonly current: string
}

async function tell(client: ApiClient): Promise<Story> {
  const namespace = await newNamespace(client, 'story')
  for (const name of ['a', 'b']) await makeConfigMap(client, namespace, configMapOf(name, { data: { v: '1' } }))
  const older = (await client.get(configMaps(namespace))).json.metadata.resourceVersion
  expectStatus(await client.put(configMaps(namespace, 'a'), configMapOf('a', { data: { v: '2' } })), 200)
  await makeConfigMap(client, namespace, configMapOf('c', { data: { v: '1' } }))
  expectStatus(await client.delete(configMaps(namespace, 'b')), 200)
  const current = (await client.get(configMaps(namespace))).json.metadata.resourceVersion
  return { path: configMaps(namespace), older, current }
}

const contents = (list: Wire): string => list.items.map(({ metadata, data }) => `${metadata.name}${data?.['v']}`).join(' ')

interface ListRow {
  readonly name: string
  /** OLDER, CURRENT and TOKEN (of a first page of one) are filled in. */
  readonly query: string
  readonly shows?: string
  /** The version of the list must be this one. */
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
    name: 'continue, a version: refused',
    query: 'limit=1&continue=TOKEN&resourceVersion=OLDER',
    fails: { code: 400, reason: 'BadRequest' },
  },
  { name: 'continue, a match: refused', query: 'limit=1&continue=TOKEN&resourceVersionMatch=Exact', fails: invalid },
  { name: 'Exact, no version: refused', query: 'resourceVersionMatch=Exact', fails: invalid },
  { name: 'Exact, version 0: refused', query: 'resourceVersionMatch=Exact&resourceVersion=0', fails: invalid },
  { name: 'Exact', query: 'resourceVersionMatch=Exact&resourceVersion=OLDER', shows: 'a1 b1', version: 'older' },
  { name: 'Exact, limit, no version: refused', query: 'resourceVersionMatch=Exact&limit=1', fails: invalid },
  { name: 'Exact, limit, version 0: refused', query: 'resourceVersionMatch=Exact&resourceVersion=0&limit=1', fails: invalid },
  { name: 'Exact, limit', query: 'resourceVersionMatch=Exact&resourceVersion=OLDER&limit=1', shows: 'a1', version: 'older' },
  { name: 'NotOlderThan, no version: refused', query: 'resourceVersionMatch=NotOlderThan', fails: invalid },
  { name: 'NotOlderThan, version 0: any', query: 'resourceVersionMatch=NotOlderThan&resourceVersion=0', shows: 'a2 c1' },
  { name: 'NotOlderThan', query: 'resourceVersionMatch=NotOlderThan&resourceVersion=OLDER', shows: 'a2 c1', version: 'at-least-current' },
  { name: 'NotOlderThan, limit, no version: refused', query: 'resourceVersionMatch=NotOlderThan&limit=1', fails: invalid },
  { name: 'NotOlderThan, limit, version 0: any', query: 'resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=1', shows: 'a2 c1' },
  {
    name: 'NotOlderThan, limit',
    query: 'resourceVersionMatch=NotOlderThan&resourceVersion=OLDER&limit=1',
    shows: 'a2',
    version: 'at-least-current',
  },
  { name: 'an unknown match: refused', query: 'resourceVersionMatch=Latest&resourceVersion=OLDER', fails: invalid },
  { name: 'a version that is no number: refused', query: 'resourceVersion=abc', fails: { code: 400, reason: 'BadRequest' } },
  { name: 'a limit that is no number: refused', query: 'limit=ten', fails: { code: 400, reason: 'BadRequest' } },
  { name: 'a limit below zero: none', query: 'limit=-5', shows: 'a2 c1' },
]

const selectorRows = [
  { name: 'equal', query: 'labelSelector=color=red', shows: ['r1', 'r2'] },
  { name: 'two equals signs', query: 'labelSelector=color==red', shows: ['r1', 'r2'] },
  { name: 'unequal counts those without', query: 'labelSelector=color!=red', shows: ['b1', 'plain'] },
  { name: 'in', query: 'labelSelector=color%20in%20(red,blue)', shows: ['b1', 'r1', 'r2'] },
  { name: 'notin counts those without', query: 'labelSelector=color%20notin%20(blue)', shows: ['plain', 'r1', 'r2'] },
  { name: 'exists', query: 'labelSelector=color', shows: ['b1', 'r1', 'r2'] },
  { name: 'does not exist', query: 'labelSelector=!color', shows: ['plain'] },
  { name: 'and', query: 'labelSelector=color=red,size=big', shows: ['r2'] },
  { name: 'greater', query: 'labelSelector=rank>1', shows: ['r2'] },
  { name: 'nothing matches', query: 'labelSelector=color=green', shows: [] },
  { name: 'by name', query: 'fieldSelector=metadata.name=r1', shows: ['r1'] },
  { name: 'not by name', query: 'fieldSelector=metadata.name!=r1', shows: ['b1', 'plain', 'r2'] },
  { name: 'field and label', query: 'fieldSelector=metadata.name!=r1&labelSelector=color=red', shows: ['r2'] },
]

onEveryEngine('reading', (client) => {
  let story: Story
  let token: string
  let colors: string
  before(async () => {
    story = await tell(client())
    token = (await client().get(`${story.path}?limit=1`)).json.metadata.continue ?? ''
    const namespace = await newNamespace(client(), 'colors')
    colors = configMaps(namespace)
    const labels = { r1: { color: 'red', rank: '1' }, r2: { color: 'red', size: 'big', rank: '2' }, b1: { color: 'blue' } }
    for (const [name, set] of Object.entries(labels))
      await makeConfigMap(client(), namespace, configMapOf(name, { labels: set as Record<string, string> }))
    await makeConfigMap(client(), namespace, configMapOf('plain'))
  })

  for (const row of listRows) {
    test(`list: ${row.name}`, async () => {
      const query = row.query.replace('OLDER', story.older).replace('CURRENT', story.current).replace('TOKEN', encodeURIComponent(token))
      const answer = await client().get(`${story.path}?${query}`)
      if (row.fails !== undefined) {
        expectFailure(answer, row.fails.code, row.fails.reason)
        return
      }
      const list = expectStatus(answer, 200).json
      assert.equal(contents(list), row.shows)
      if (row.version === 'older') assert.equal(list.metadata.resourceVersion, story.older)
      if (row.version === 'at-least-current') assert.ok(Number(list.metadata.resourceVersion) >= Number(story.current))
    })
  }

  for (const row of selectorRows) {
    test(`select: ${row.name}`, async () => {
      assert.deepEqual(namesOf(expectStatus(await client().get(`${colors}?${row.query}`), 200).json), row.shows)
    })
  }

  for (const row of [
    { name: 'a label selector that cannot be read', query: 'labelSelector=a%20b%20c' },
    { name: 'a field that cannot be selected by', query: 'fieldSelector=data.v=1' },
    { name: 'a field selector that cannot be read', query: 'fieldSelector=metadata.name' },
  ]) {
    test(`refuses ${row.name}`, async () => {
      expectFailure(await client().get(`${colors}?${row.query}`), 400, 'BadRequest')
    })
  }

  test('get: the version given is a lower bound, never a place in history', async () => {
    for (const version of ['', '0', story.older, story.current]) {
      const { json } = expectStatus(await client().get(`${story.path}/a${version === '' ? '' : `?resourceVersion=${version}`}`), 200)
      assert.equal(json.data?.['v'], '2')
    }
    expectFailure(await client().get(`${story.path}/b?resourceVersion=${story.older}`), 404, 'NotFound')
    expectFailure(await client().get(`${story.path}/a?resourceVersion=abc`), 400, 'BadRequest')
  })

  test('a version from the future is waited for a little, then refused with a word when to come again', async () => {
    const future = String(Number(story.current) + 1_000_000)
    const begin = Date.now()
    const paths = [`${story.path}/a?resourceVersion=${future}`, `${story.path}?resourceVersion=${future}`]
    const answers = await Promise.all(paths.map((path) => client().get(path)))
    for (const answer of answers) {
      const { message, details } = expectFailure(answer, 504, 'Timeout')
      assert.match(message ?? '', /Too large resource version/)
      assert.equal(details?.causes?.[0]?.reason, 'ResourceVersionTooLarge')
      assert.ok(Number(answer.headers['retry-after']) >= 1)
    }
    assert.ok(Date.now() - begin < 40_000)
  })

  test('a version from the near future is waited for', async () => {
    // It is waited for three seconds, in which a slow machine makes a few objects.
    const few = 3
    const namespace = await newNamespace(client(), 'soon')
    const first = await makeConfigMap(client(), namespace, configMapOf('a'))
    const target = Number(first.metadata.resourceVersion) + few
    const waiting = client().get(`${configMaps(namespace)}?resourceVersion=${target}`)
    await Promise.all(Array.from({ length: few }, (_, i) => makeConfigMap(client(), namespace, configMapOf(`later-${i}`))))
    const list = expectStatus(await waiting, 200).json
    assert.ok(Number(list.metadata.resourceVersion) >= target)
  })

  test('lists of all namespaces are in order of namespace and name', async () => {
    const { items } = expectStatus(await client().get('/api/v1/configmaps'), 200).json
    const keys = items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    assert.deepEqual(keys, [...keys].sort())
    assert.ok(keys.length >= 6)
  })

  test('lists of several megabytes are whole, in every form', async () => {
    const namespace = await newNamespace(client(), 'large')
    const names = Array.from({ length: 50 }, (_, i) => `o-${String(i).padStart(2, '0')}`)
    const data = { text: 'ü'.repeat(60_000) }
    await Promise.all(names.map((name) => makeConfigMap(client(), namespace, configMapOf(name, { labels: { large: 'yes' }, data }))))
    for (const query of ['', '?labelSelector=large=yes', '?limit=40', '?pretty=true', '?resourceVersion=0']) {
      // Twice, because the second time it may come from the cache.
      for (let time = 0; time < 2; time++) {
        const list = expectStatus(await client().get(`${configMaps(namespace)}${query}`), 200).json
        assert.deepEqual(namesOf(list), query === '?limit=40' ? names.slice(0, 40) : names, query)
        assert.ok(list.items.every((item) => item.data?.['text'] === data.text))
      }
    }
    const packed = expectStatus(await client().get(configMaps(namespace), { 'accept-encoding': 'gzip' }), 200)
    assert.deepEqual(namesOf(JSON.parse(gunzipSync(packed.bytes).toString()) as Wire), names)
    const watch = await client().watch(`${configMaps(namespace)}?watch=1`)
    await watch.atLeast(names.length)
    watch.close()
    assert.deepEqual(
      watch.events.map(({ object }) => object.metadata.name),
      names,
    )
  })

  test('an unknown resource, version, group or namespace', async () => {
    for (const path of ['/api/v1/nothing', '/api/v9/configmaps', `${story.path}/a/nothing`, '/apis/coordination.cluster.io/v9/leases']) {
      expectFailure(await client().get(path), 404, 'NotFound')
    }
    expectStatus(await client().get('/apis/no.such.group/v1/things'), 404)
    assert.deepEqual(namesOf(expectStatus(await client().get(configMaps('no-such-namespace')), 200).json), [])
  })
})
