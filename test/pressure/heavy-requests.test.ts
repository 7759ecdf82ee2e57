// Requests that take long to compute: they are carried out beside the event loop, so that others are answered meanwhile, and their answers are
// those that the event loop would have given.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Answer } from '../kit/api-client.js'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, newNamespace, sleep } from '../kit/fixtures.js'
import { longestTurnMs, turnWatchFlags } from '../kit/longest-turn.js'
import { ServerProcess } from '../kit/server-process.js'

let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({ nodeFlags: turnWatchFlags })
})
after(() => server.stop())

const count = 20_000
const many = (value: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, value]))

/** In one go each of these takes some hundred milliseconds. */
const mostTurnMs = 50

test('nobody waits for a heavy request, whichever it is', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const target = configMaps(namespace, 'heavy')
  const acts: Readonly<Record<string, (value: string) => Promise<Answer>>> = {
    POST: () => client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf('other', { data: many('v') })),
    PUT: (value) => client.put(target, configMapOf('heavy', { data: many(value) })),
    'merge patch': (value) => client.patch(target, 'application/merge-patch+json', { data: many(value) }),
    'small patch of what is large': (value) => client.patch(target, 'application/merge-patch+json', { metadata: { labels: { value } } }),
    'strategic patch': (value) => client.patch(target, 'application/strategic-merge-patch+json', { data: many(value) }),
    'JSON patch': (value) => client.patch(target, 'application/json-patch+json', [{ op: 'add', path: '/data/key-0', value }]),
    apply: (value) =>
      client.patch(`${target}?fieldManager=m&force=true`, 'application/apply-patch+yaml', configMapOf('heavy', { data: many(value) })),
    'GET as YAML': () => client.get(target, { accept: 'application/yaml' }),
    'GET, indented': () => client.get(`${target}?pretty=true`),
    'dry DELETE': () => client.delete(`${target}?dryRun=All`),
  }
  expectStatus(await client.post(configMaps(namespace), configMapOf('heavy', { data: many('v') })), 201)
  const slow: Record<string, number> = {}
  let writes = 0
  for (const [name, act] of Object.entries(acts)) {
    const once = async (): Promise<void> => {
      const { status, text } = await act(`v${++writes}`)
      assert.ok(status < 300, `${name}: ${status} ${text.slice(0, 300)}`)
    }
    const turnMs = await longestTurnMs(server, once, mostTurnMs)
    if (turnMs > mostTurnMs) slow[name] = turnMs
  }
  assert.deepEqual(slow, {})
})

test('a heavy request is answered, refused and told to watchers like any other', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const watch = await client.watch(`${configMaps(namespace)}?watch=true`)
  const created = expectStatus(
    await client.send({
      method: 'POST',
      path: `${configMaps(namespace)}?fieldManager=me`,
      body: { ...configMapOf('large', { data: many('v') }), odd: 1 },
      headers: { 'audit-id': 'heavy-one' },
    }),
    201,
  )
  assert.equal(Object.keys(created.json['data'] as object).length, count)
  assert.equal(created.json.metadata.managedFields?.[0]?.manager, 'me')
  assert.equal(created.headers['audit-id'], 'heavy-one')
  assert.match(String(created.headers['warning']), /unknown field \\"odd\\"/)
  const event = (await watch.atLeast(1)).find(({ object }) => object.metadata.name === 'large')
  assert.equal(event?.type, 'ADDED')
  assert.equal(event?.object.metadata.resourceVersion, created.json.metadata.resourceVersion)
  watch.close()
  expectFailure(await client.post(configMaps(namespace), configMapOf('large', { data: many('v') })), 409, 'AlreadyExists')
  const stale = { ...configMapOf('large', { data: many('w') }), metadata: { name: 'large', resourceVersion: '1' } }
  expectFailure(await client.put(configMaps(namespace, 'large'), stale), 409, 'Conflict')
  const bad = await client.post(
    configMaps(namespace),
    configMapOf('bad', { data: Object.fromEntries(Object.keys(many('')).map((key) => [`${key}!`, 'v'])) }),
  )
  assert.equal(expectFailure(bad, 422, 'Invalid')['details'] !== undefined, true)
  expectFailure(await client.post(configMaps('nowhere'), configMapOf('large', { data: many('v') })), 404, 'NotFound')
  expectStatus(await client.delete(configMaps(namespace, 'large')), 200)
  expectFailure(await client.get(configMaps(namespace, 'large')), 404, 'NotFound')
})

test('heavy requests at the same time are all carried out, and those beyond the number that may wait are sent away', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf(`m${i}`, { data: many('v') }))),
  )
  const statuses = answers.map(({ status }) => status)
  assert.deepEqual([...new Set(statuses)].sort(), [201, 429])
  assert.ok(statuses.filter((status) => status === 201).length >= 32)
})

test('what a client does not wait for is not written', async () => {
  const { client } = server
  const namespace = await newNamespace(client)
  const abortion = new AbortController()
  // Behind another one, so that its own turn comes when the client has gone.
  const first = client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf('first', { data: many('v') }))
  const sending = client.send({
    method: 'POST',
    path: configMaps(namespace),
    body: configMapOf('late', { data: many('v') }),
    signal: abortion.signal,
  })
  await sleep(60)
  abortion.abort()
  await assert.rejects(sending)
  expectStatus(await first, 201)
  // One after the other: when this is answered, that one is over.
  expectStatus(await client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf('last', { data: many('v') })), 201)
  expectFailure(await client.get(configMaps(namespace, 'late')), 404, 'NotFound')
})

for (const engine of ['memory', 'lmdb'] as const)
  test(`a server inside of another process does the same, kept in ${engine}`, async () => {
    const embedded: Embedded = await startEmbedded(engine)
    try {
      const { client } = embedded
      expectStatus(await client.post(configMaps('default'), configMapOf('large', { data: many('v') })), 201)
      const patched = await client.patch(configMaps('default', 'large'), 'application/merge-patch+json', { data: { 'key-0': 'other' } })
      const data = expectStatus(patched, 200).json['data'] as Readonly<Record<string, string>>
      assert.equal(data['key-0'], 'other')
      assert.equal(Object.keys(data).length, count)
    } finally {
      await embedded.close()
    }
  })
