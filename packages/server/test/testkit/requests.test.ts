// server.requests: who sent which request, waiting for requests, bodies, and the log.

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type EmbeddedServer, type RecordedRequest, startServer } from 'cluster-apiserver'
import { clientOf } from '../../../../test/kit/embedded.js'

let server: EmbeddedServer
before(async () => {
  server = await startServer()
})
beforeEach(async () => {
  await server.reset()
  server.requests.clear()
})
after(() => server.close({ immediately: true }))

const summaryOf = ({ user, verb, resource, subresource, namespace, name, status }: RecordedRequest) =>
  [user, verb, resource, subresource, namespace, name, status].join(' ')

test('requests are recorded with user, verb, resource, name and status', async () => {
  const alice = server.as('alice', ['system:masters']).client
  const maps = alice.core.v1.configMaps('default')
  await maps.create({ metadata: { name: 'total' }, data: { a: '1' } })
  await maps.create({ metadata: { generateName: 'total-' } })
  await maps.patch('total', { data: { a: '2' } })
  await maps.list()
  await assert.rejects(maps.get('missing'))
  await assert.rejects(server.as('bob').client.core.v1.configMaps('default').get('total'))
  await server.client.core.v1.namespaces().patch('default', { metadata: { labels: { a: 'b' } } })
  const raw = clientOf(server)
  await raw.get('/version')
  raw.close()
  const [first, generated, ...rest] = server.requests.all()
  assert.equal(first && summaryOf(first), 'alice create configmaps  default total 201')
  assert.match(generated?.name ?? '', /^total-.{5}$/, 'a create has the name of the created object')
  assert.deepEqual(rest.map(summaryOf), [
    'alice patch configmaps  default total 200',
    'alice list configmaps  default  200',
    'alice get configmaps  default missing 404',
    'bob get configmaps  default total 403',
    `${server.user} patch namespaces  default default 200`,
    `${server.user} get     200`,
  ])
  assert.equal(rest.at(-1)?.path, '/version')
  assert.deepEqual(
    rest.map(({ isOpen, time }) => [isOpen, time instanceof Date]),
    rest.map(() => [false, true]),
  )
})

test('filters select requests, and refuse unknown fields', async () => {
  const maps = server.client.core.v1.configMaps('default')
  await maps.create({ metadata: { name: 'a' } })
  await maps.create({ metadata: { name: 'b' } })
  await maps.delete('a')
  await server.client.core.v1.namespaces().create({ metadata: { name: 'shop' } })
  const { requests } = server
  const namesOf = (found: readonly RecordedRequest[]): string => found.map(({ verb, name }) => `${verb} ${name}`).join(', ')
  assert.equal(namesOf(requests.all({ resource: 'configmaps', verb: 'create' })), 'create a, create b')
  assert.equal(namesOf(requests.all({ name: 'a', status: [200, 201] })), 'create a, delete a')
  assert.equal(namesOf(requests.all({ resource: ['namespaces', 'pods'], user: '*' })), 'create shop')
  assert.equal(namesOf(requests.all(({ verb }) => verb === 'delete')), 'delete a')
  assert.equal(namesOf(requests.last(2)), 'delete a, create shop')
  assert.equal(requests.find({ verb: 'create' })?.name, 'a')
  assert.equal(requests.count({ namespace: 'default' }), 3)
  assert.equal(requests.count({ resource: 'configmaps/status' }), 0)
  await server.client.apps.v1.deployments('default').list()
  for (const resource of ['deployments', 'deployments.apps']) assert.equal(requests.count({ resource }), 1, resource)
  assert.equal(requests.count({ resource: ['deployments/*', 'deployments.batch'] }), 0)
  assert.throws(() => requests.all({ reource: 'pods' } as object), /unknown option "reource"/)
  assert.throws(() => requests.all({ verb: 5 } as object), /^TypeError: requests: verb must be a text or a list of texts$/)
  assert.throws(() => requests.all({ status: '404' } as object), /^TypeError: requests: status must be a number or a list of numbers$/)
})

test('until resolves with a request of the past or the future, and rejects after the timeout', async () => {
  const maps = server.client.core.v1.configMaps('default')
  const waiting = server.requests.until({ verb: 'create', name: 'later' })
  await maps.create({ metadata: { name: 'earlier' } })
  await maps.create({ metadata: { name: 'later' } })
  assert.equal((await waiting).status, 201)
  assert.equal((await server.requests.until({ name: 'earlier' })).verb, 'create')
  await assert.rejects(
    server.requests.until({ verb: 'delete' }, { timeout: '1ms' }),
    /no such request within 1 ms; the last requests:\n.* create configmaps\/default\/earlier 201 \d+ ms\n/,
  )
  const slow = server.requests.until({ name: 'in-a-month' }, { timeout: '30d' })
  await maps.get('in-a-month').catch(() => undefined)
  assert.equal((await slow).status, 404, 'a timeout beyond the limit of setTimeout does not end at once')
  await assert.rejects(async () => server.requests.until({}, { timeout: 'soon' }), /"soon" is not a duration/)
})

test('close ends waiting for requests', async () => {
  const closing = await startServer()
  const waiting = assert.rejects(closing.requests.until({ name: 'never' }, { timeout: '1h' }), /no such request before the server closed/)
  await closing.close()
  await waiting
  await assert.rejects(closing.requests.until({ name: 'never' }), /no such request before the server closed/)
})

test('a watch is recorded when it starts, and updated when it ends', async () => {
  const lines: string[] = []
  const stop = server.requests.log((line) => lines.push(line))
  const events = server.client.core.v1.configMaps('default').watch()
  const iterator = events[Symbol.asyncIterator]()
  const next = iterator.next()
  const watch = await server.requests.until({ verb: 'watch' })
  assert.deepEqual([watch.status, watch.isOpen, watch.durationMs], [200, true, 0])
  await server.client.core.v1.configMaps('default').create({ metadata: { name: 'watched' } })
  await next
  await iterator.return?.(undefined)
  while (watch.isOpen) await new Promise(setImmediate)
  assert.equal(server.requests.count({ verb: 'watch' }), 1)
  stop()
  const { length } = lines
  const watchLines = lines.filter((line) => line.includes(' watch '))
  assert.equal(watchLines.length, 2)
  assert.match(watchLines[0] ?? '', / watch configmaps\/default 200 open$/)
  assert.match(watchLines[1] ?? '', / watch configmaps\/default 200 \d+ ms$/)
  await server.client.core.v1.configMaps('default').list()
  assert.equal(server.requests.text({ verb: 'list' }).includes('list configmaps/default 200'), true)
  assert.equal(lines.length, length, 'the log was stopped')
})

test('bodies are kept on demand', async () => {
  const maps = server.client.core.v1.configMaps('default')
  await maps.create({ metadata: { name: 'before' } })
  assert.throws(() => server.requests.find({ name: 'before' })?.body(), /call requests\.keepBodies\(\) before/)
  server.requests.keepBodies()
  await maps.create({ metadata: { name: 'after' }, data: { a: 'b' } })
  await maps.get('after')
  const [created, read] = server.requests.all({ name: 'after' })
  const body = created?.body() as { readonly data?: unknown }
  assert.deepEqual(body.data, { a: 'b' })
  assert.equal(read?.body(), undefined)
  const raw = clientOf(server)
  await raw.send({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/yaml' },
    body: 'kind: ConfigMap',
  })
  await raw.send({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body: '{"kind":' })
  raw.close()
  assert.deepEqual(
    server.requests.last(2).map((request) => [request.status, request.body()]),
    [
      [422, 'kind: ConfigMap'],
      [400, '{"kind":'],
    ],
  )
})

test('the last 1,000 requests and 8 MiB of bodies are kept', async () => {
  server.requests.keepBodies()
  const maps = server.client.core.v1.configMaps('default')
  const data = { a: 'x'.repeat(900_000) }
  for (let i = 0; i < 12; i++) await maps.create({ metadata: { name: `large-${i}` }, data }, { dryRun: true })
  const large = server.requests.all({ verb: 'create' })
  assert.deepEqual(
    large.map((request) => request.body() !== undefined),
    large.map((_, i) => i >= 3),
  )
  for (let i = 0; i < 1005; i++) await maps.get('none').catch(() => undefined)
  assert.equal(server.requests.count(), 1000)
  assert.equal(server.requests.count({ verb: 'create' }), 0)
  assert.equal(large.at(-1)?.body(), undefined, 'the body is dropped with its request')
})

test('at most 1,000 calls of until wait', async () => {
  const calls = Array.from({ length: 1000 }, () => server.requests.until({ name: 'awaited' }))
  await assert.rejects(server.requests.until({ name: 'awaited' }), /^Error: requests\.until: 1000 calls are waiting, which is the maximum$/)
  await server.client.core.v1.configMaps('default').create({ metadata: { name: 'awaited' } })
  assert.equal((await Promise.all(calls)).length, 1000)
})
