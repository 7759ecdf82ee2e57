// Faults of requests on command: error responses, latency, cut connections and expired tokens, for the matched requests only.

import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type Access, type EmbeddedServer, startServer } from 'cluster-apiserver'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { configMapOf, configMaps, expectFailure, expectStatus, until } from '../../../../test/kit/fixtures.js'
import { Http2Client } from '../../../../test/kit/network/http2-client.js'

const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
const masters = ['system:masters']

describe('faults of requests', () => {
  let server: EmbeddedServer
  let client: ApiClient
  const warnings: string[] = []
  const clientOf = ({ token }: Pick<Access, 'token'>): ApiClient => new ApiClient({ url: server.url, ca: server.caPem, token })
  const others: ApiClient[] = []
  const otherClient = (access: Pick<Access, 'token'>): ApiClient => {
    const other = clientOf(access)
    others.push(other)
    return other
  }
  before(async () => {
    const log = (_fields: object, message: string): void => void warnings.push(message)
    const quiet = (): void => undefined
    server = await startServer({ objects: [shop], logger: { debug: quiet, info: quiet, warn: log, error: log } })
    client = clientOf(server)
  })
  afterEach(() => {
    server.faults.clear()
    for (const other of others.splice(0)) other.close()
    assert.deepEqual(warnings.splice(0), [], 'a fault is not an internal error')
  })
  after(async () => {
    client.close()
    await server.close()
  })

  const create = (name: string, by = client) => by.post(configMaps('shop'), configMapOf(name))
  const exists = async (name: string): Promise<boolean> => (await client.get(configMaps('shop', name))).status === 200

  test('an error response with its reason, message and Retry-After', async () => {
    const fault = server.faults.add({
      verb: 'create',
      resource: 'configmaps',
      error: { code: 429, message: 'slow down', retryAfterSeconds: 7 },
      times: 1,
    })
    const refused = await create('refused')
    const status = expectFailure(refused, 429, 'TooManyRequests')
    assert.equal(status.message, 'slow down')
    assert.equal(refused.headers['retry-after'], '7')
    assert.equal(await exists('refused'), false)
    expectStatus(await create('refused'), 201)
    assert.deepEqual([fault.matched, fault.fired], [2, 1])
    server.faults.check()
  })

  test('an error with the reason of its code, or of the rule', async () => {
    for (const [code, reason] of [
      [400, 'BadRequest'],
      [403, 'Forbidden'],
      [409, 'Conflict'],
      [410, 'Expired'],
      [500, 'InternalError'],
      [503, 'ServiceUnavailable'],
    ] as const) {
      const fault = server.faults.add({ resource: 'configmaps', error: { code } })
      expectFailure(await client.get(configMaps('shop')), code, reason)
      fault.remove()
    }
    server.faults.add({ resource: 'configmaps', error: { code: 409, reason: 'AlreadyExists' } })
    expectFailure(await client.get(configMaps('shop')), 409, 'AlreadyExists')
  })

  test('the typed client retries a conflict, which comes twice', async () => {
    const { client: typed } = server.as('cashier', masters)
    const maps = typed.core.v1.configMaps('shop')
    await maps.create({ metadata: { name: 'total' }, data: { cents: '0' } })
    const fault = server.faults.add({ verb: 'update', resource: 'configmaps', name: 'total', nth: [1, 2], error: { code: 409 } })
    await maps.modify('total', (map) => ({ ...map, data: { cents: '5' } }))
    assert.equal((await maps.get('total')).data?.['cents'], '5')
    assert.deepEqual([fault.matched, fault.fired], [3, 2])
  })

  test('matchers: verb, resource, namespace and name of each kind of request', async () => {
    const path = configMaps('shop', 'matched')
    expectStatus(await create('matched'), 201)
    const requests = {
      get: () => client.get(path),
      list: () => client.get(configMaps('shop')),
      watch: () => client.get(`${configMaps('shop')}?watch=1&timeoutSeconds=1`),
      create: () => create('other'),
      update: () => client.put(path, configMapOf('matched')),
      patch: () => client.patch(path, 'application/merge-patch+json', {}),
      delete: () => client.delete(path),
      deletecollection: () => client.delete(configMaps('shop')),
      connect: () => client.get('/api/v1/namespaces/shop/services/shop/proxy'),
    } as const
    for (const [verb, send] of Object.entries(requests)) {
      const fault = server.faults.add({ verb: verb as keyof typeof requests, namespace: 'shop', error: { code: 418 } })
      expectStatus(await send(), 418)
      expectStatus(await client.get('/api/v1/namespaces/default'), 200)
      if (verb !== 'get') expectStatus(await client.get(path), 200)
      assert.deepEqual([fault.matched, fault.fired], [1, 1])
      fault.remove()
    }
  })

  test('a rule with a name matches the create request of that object', async () => {
    const fault = server.faults.add({ verb: 'create', resource: 'configmaps', name: 'named', error: { code: 500 } })
    expectStatus(await create('unnamed'), 201)
    expectStatus(await create('named'), 500)
    assert.equal(await exists('named'), false)
    assert.deepEqual([fault.matched, fault.fired], [1, 1])
  })

  test('rules without a name apply to create requests also next to a rule with a name', async () => {
    server.faults.add({ name: 'nobody', error: { code: 500 } })
    server.faults.add({ verb: 'create', cut: 'before', times: 1 })
    await assert.rejects(create('uncreated'), { code: 'ECONNRESET' })
    assert.equal(await exists('uncreated'), false)
    expectStatus(await create('uncreated'), 201)
  })

  test('a rule without matchers applies to all paths, one with a verb only to resources', async () => {
    const fault = server.faults.add({ error: { code: 503 } })
    expectStatus(await client.get('/version'), 503)
    expectStatus(await client.get('/api/v1'), 503)
    fault.remove()
    server.faults.add({ verb: '*', error: { code: 503 } })
    expectStatus(await client.get('/version'), 200)
    expectStatus(await client.get('/api/v1/namespaces'), 503)
  })

  test('a rule for one user never affects another', async () => {
    const [alice, bob] = [otherClient(server.as('alice', masters)), otherClient(server.as('bob', masters))]
    server.faults.add({ user: 'alice', nth: 1, expireToken: true })
    server.faults.add({ user: 'alice', error: { code: 500 } })
    server.faults.add({ user: 'alice', cut: 'before' })
    for (const name of ['one', 'two']) {
      const [ofAlice, ofBob] = await Promise.all([create(`alice-${name}`, alice), create(`bob-${name}`, bob)])
      assert.deepEqual([ofAlice.status, ofBob.status], [401, 201])
    }
    const impersonated = await client.send({
      path: configMaps('shop'),
      headers: { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' },
    })
    expectStatus(impersonated, 500)
    expectStatus(await client.get(configMaps('shop')), 200)
  })

  test('latencies come before the rule that decides, and end when the client disconnects', async () => {
    server.faults.add({ verb: 'get', resource: 'configmaps', latency: '1h' })
    const stuck = new AbortController()
    const waiting = client.send({ path: configMaps('shop', 'none'), signal: stuck.signal })
    await until(
      async () => server.faults.list()[0]?.fired,
      (fired) => fired === 1,
    )
    expectStatus(await client.get(configMaps('shop')), 200)
    stuck.abort()
    await assert.rejects(waiting, { name: 'AbortError' })
    server.faults.clear()
    for (const latency of [3, '2ms'] as const) server.faults.add({ verb: 'get', resource: 'configmaps', latency })
    server.faults.add({ verb: 'get', resource: 'configmaps', error: { code: 404 } })
    expectStatus(await client.get(configMaps('shop', 'none')), 404)
    assert.deepEqual(
      server.faults.list().map(({ fired }) => fired),
      [1, 1, 1],
    )
  })

  test('a latency beyond the timeout of the request: 504, and nothing is written', async () => {
    server.faults.add({ verb: 'create', latency: '1h' })
    expectFailure(await client.post(`${configMaps('shop')}?timeout=1s`, configMapOf('late')), 504, 'Timeout')
    server.faults.clear()
    assert.equal(await exists('late'), false)
  })

  test('shutdown ends latencies, and the requests are served', async () => {
    const other = await startServer()
    const outside = new ApiClient({ url: other.url, ca: other.caPem, token: other.token })
    other.faults.add({ resource: 'namespaces', latency: '1h' })
    const listed = outside.get('/api/v1/namespaces')
    await until(
      async () => other.faults.list()[0]?.fired,
      (fired) => fired === 1,
    )
    await other.close()
    expectStatus(await listed, 200)
    outside.close()
    other.faults.check()
  })

  test('a connection is cut before or after the commit', async () => {
    server.faults.add({ verb: 'create', resource: 'configmaps', cut: 'before', nth: 1 })
    server.faults.add({ verb: 'create', resource: 'configmaps', cut: 'after', nth: 1 })
    await assert.rejects(create('cut-before'), { code: 'ECONNRESET' })
    await assert.rejects(create('cut-after'), { code: 'ECONNRESET' })
    assert.deepEqual([await exists('cut-before'), await exists('cut-after')], [false, true])
    expectFailure(await create('cut-after'), 409, 'AlreadyExists')
    server.faults.check()
  })

  test('a connection is cut instead of a list, an error or a plain response', async () => {
    const fault = server.faults.add({ cut: 'after' })
    await assert.rejects(client.get(configMaps('shop')), { code: 'ECONNRESET' })
    await assert.rejects(client.get(configMaps('shop', 'none')), { code: 'ECONNRESET' })
    await assert.rejects(client.get('/healthz'), { code: 'ECONNRESET' })
    await assert.rejects(client.watch(`${configMaps('shop')}?watch=1`), { code: 'ECONNRESET' })
    assert.deepEqual([fault.matched, fault.fired], [4, 4])
  })

  test('over HTTP/2 the stream is reset, and others on the connection go on', async () => {
    const http2 = new Http2Client({ url: server.url, ca: server.caPem, token: server.token })
    try {
      server.faults.add({ verb: 'create', cut: 'before', nth: 1 })
      server.faults.add({ verb: 'create', cut: 'after', nth: 1 })
      const post = (name: string) => http2.send('POST', configMaps('shop'), configMapOf(name))
      await assert.rejects(post('stream-before'), { code: 'ERR_HTTP2_STREAM_ERROR' })
      await assert.rejects(post('stream-after'), { code: 'ERR_HTTP2_STREAM_ERROR' })
      const got = await Promise.all(['stream-before', 'stream-after'].map((name) => http2.send('GET', configMaps('shop', name))))
      assert.deepEqual(
        got.map(({ status }) => status),
        [404, 200],
      )
      server.faults.add({ verb: 'create', name: 'stream-named', cut: 'before' })
      await assert.rejects(post('stream-named'), { code: 'ERR_HTTP2_STREAM_ERROR' })
      assert.equal(await exists('stream-named'), false)
    } finally {
      http2.close()
    }
  })

  test('a token expires at the matched request, until the rule is removed', async () => {
    const dora = otherClient(server.as('dora', masters))
    const fault = server.faults.add({ user: 'dora', verb: 'list', expireToken: true })
    expectStatus(await dora.get('/version'), 200)
    expectFailure(await dora.get(configMaps('shop')), 401, 'Unauthorized')
    const unknown = otherClient({ token: 'unknown' })
    const { auditId: _, ...invalid } = expectFailure(await unknown.get('/version'), 401, 'Unauthorized')
    assert.deepEqual(expectFailure(await dora.get('/version'), 401, 'Unauthorized'), invalid, 'as for an invalid token')
    assert.deepEqual([fault.matched, fault.fired], [2, 2])
    expectStatus(await client.get(configMaps('shop')), 200)
    fault.remove()
    expectStatus(await dora.get(configMaps('shop')), 200)
  })

  test('another token of the same user is valid', async () => {
    const accounts = '/api/v1/namespaces/shop/serviceaccounts'
    expectStatus(await client.post(accounts, { metadata: { name: 'robot' } }), 201)
    const newToken = async (): Promise<string> => {
      const { json } = expectStatus(await client.post(`${accounts}/robot/token`, { spec: { expirationSeconds: 600 } }), 201)
      return (json['status'] as { readonly token: string }).token
    }
    const [first, second] = [otherClient({ token: await newToken() }), otherClient({ token: `${await newToken()}` })]
    // The second token expires with the second match, which never comes.
    server.faults.add({ user: 'system:serviceaccount:shop:robot', expireToken: true, times: 1 })
    const review = '/apis/authorization.cluster.io/v1/selfsubjectaccessreviews'
    const body = { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } }
    expectStatus(await first.post(review, body), 401)
    expectStatus(await second.post(review, body), 201)
    expectStatus(await first.get('/nothing'), 401)
  })

  test('check names the rules that never fired; add names the wrong member', () => {
    server.faults.add({ verb: 'delete', resource: 'nodes', error: { code: 500 } })
    assert.throws(() => server.faults.check(), /1 of 1 never fired:\n {2}fault \d+ \{"verb":"delete","resource":"nodes",.*nothing matched/)
    assert.throws(
      () => server.faults.add({ verb: 'destroy' as 'delete', error: { code: 500 } }),
      /^FaultRuleError: fault rule: verb must be/,
    )
  })
})
