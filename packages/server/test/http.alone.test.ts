// HTTP: protocols, methods, compression, media types, limits, health and metrics, as clients see them.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { ApiClient } from '../../../test/kit/api-client.js'
import { startEmbedded } from '../../../test/kit/embedded.js'
import {
  configMapOf,
  configMaps,
  expectFailure,
  expectStatus,
  makeConfigMap,
  newNamespace,
  until,
  untilStatus,
} from '../../../test/kit/fixtures.js'
import { Http2Client } from '../../../test/kit/network/http2-client.js'
import type { JsonObject } from '../../../test/kit/network/json-object.js'
import { RawSocket } from '../../../test/kit/network/raw-socket.js'
import { ServerProcess, skipWithWorkers } from '../../../test/kit/server-process.js'
import { unprivilegedAccess, unprivilegedClient, unprivilegedUserFlags } from '../../../test/kit/unprivileged-user.js'

let server: ServerProcess
let client: ApiClient
before(async () => {
  server = await ServerProcess.start()
  client = server.client
})
after(() => server.stop())

const request = (method: string, path: string, rest = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.access.token}\r\n${rest}\r\n`

describe('protocols', () => {
  for (const row of [
    { offers: ['h2', 'http/1.1'], chosen: 'h2' },
    { offers: ['http/1.1'], chosen: 'http/1.1' },
    { offers: [], chosen: false },
  ]) {
    test(`a client that offers ${row.offers.join(' and ') || 'nothing'}`, async () => {
      const { ca, url } = server.access
      const chosen = await new Promise((resolve, reject) => {
        const options = {
          host: '127.0.0.1',
          port: Number(new URL(url).port),
          ca,
          ...(row.offers.length === 0 ? {} : { ALPNProtocols: row.offers }),
        }
        const socket = connect(options, () => {
          resolve(socket.alpnProtocol)
          socket.destroy()
        })
        socket.on('error', reject)
      })
      assert.equal(chosen, row.chosen)
    })
  }

  test('HTTP/2: same responses, concurrent requests, watches', async () => {
    const http2 = new Http2Client(server.access)
    const namespace = await newNamespace(client, 'h2')
    const watch = http2.open('GET', `${configMaps(namespace)}?watch=1`)
    let frames = ''
    watch.setEncoding('utf8').on('data', (chunk: string) => {
      frames += chunk
    })
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, i) => http2.send('POST', configMaps(namespace), configMapOf(`o-${i}`))),
    )
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([201]))
    const list = await http2.send('GET', configMaps(namespace))
    // Only the items: writes of controllers in between change the resourceVersion of the list.
    assert.deepEqual((JSON.parse(list.text) as JsonObject).items, (await client.get(configMaps(namespace))).json.items)
    for (let i = 0; i < 3000 && frames.split('\n').length < 51; i++) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(frames.split('\n').filter(Boolean).length, 50)
    const missing = await http2.send('GET', configMaps(namespace, 'missing'))
    assert.deepEqual([missing.status, (JSON.parse(missing.text) as JsonObject).reason], [404, 'NotFound'])
    http2.close()
  })

  test('pipelined requests get their responses in order', async () => {
    const socket = await RawSocket.open(server.access)
    socket.write(
      request('GET', '/api/v1/namespaces/default') +
        request('GET', '/nowhere') +
        request('GET', '/livez') +
        request('GET', '/livez', 'Connection: close\r\n'),
    )
    await socket.until(() => false, 60_000)
    assert.deepEqual(socket.statuses, [200, 404, 200, 200])
    assert.ok(socket.isClosed)
  })

  test('Expect: 100-continue gets a 100 response', async () => {
    const socket = await RawSocket.open(server.access)
    const body = JSON.stringify(configMapOf('expected'))
    socket.write(
      request(
        'POST',
        configMaps('default'),
        `Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`,
      ),
    )
    assert.match(await socket.until((text) => text.includes('100 Continue'), 60_000), /^HTTP\/1\.1 100 Continue/)
    socket.write(body)
    await socket.until((text) => text.includes('"uid"'), 60_000)
    socket.close()
    assert.deepEqual(socket.statuses, [100, 201])
  })
})

describe('keep-alive connections', () => {
  // Node.js 20 fails with HPE_PAUSED if the rest of a long body arrives before the last response is written.
  test('survive long bodies and responses in quick succession', async () => {
    const quick = await startEmbedded('memory')
    const text = 'x'.repeat(50_000)
    const failures: string[] = []
    await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        await makeConfigMap(quick.client, 'default', configMapOf(`o-${i}`))
        for (let round = 0; round < 25; round++) {
          const object = configMapOf(`o-${i}`, { data: { round: String(round), text } })
          const response = await quick.client.put(configMaps('default', `o-${i}`), object).catch((error: Error) => error)
          if (response instanceof Error || response.status !== 200)
            failures.push(response instanceof Error ? response.message : String(response.status))
        }
      }),
    )
    await quick.close()
    assert.deepEqual(failures, [])
  })
})

describe('methods', () => {
  test('HEAD has no body', async () => {
    const live = await client.send({ method: 'HEAD', path: '/livez' })
    assert.deepEqual([live.status, live.bytes.length], [200, 0])
    const object = await client.send({ method: 'HEAD', path: '/api/v1/namespaces/default' })
    assert.deepEqual([object.status, object.bytes.length], [405, 0])
  })

  for (const method of ['OPTIONS', 'TRACE', 'PROPFIND', 'LOCK']) {
    test(`${method} is rejected with a Status`, async () => {
      const response = await client.send({ method, path: '/api/v1/namespaces/default' })
      assert.ok(response.status >= 400 && response.status < 500, String(response.status))
    })
  }
})

describe('representations', () => {
  test('large responses are gzipped if the client accepts it', async () => {
    const namespace = await newNamespace(client, 'gzip')
    for (let i = 0; i < 20; i++) await makeConfigMap(client, namespace, configMapOf(`o-${i}`, { data: { text: 'abc '.repeat(4000) } }))
    const plain = expectStatus(await client.get(configMaps(namespace)), 200)
    const gzipped = expectStatus(await client.get(configMaps(namespace), { 'accept-encoding': 'gzip' }), 200)
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.equal(gzipped.headers['content-encoding'], 'gzip')
    assert.ok(gzipped.bytes.length * 5 < plain.bytes.length)
    assert.deepEqual((JSON.parse(gunzipSync(gzipped.bytes).toString()) as JsonObject).items, plain.json.items)
    for (const accepted of ['identity', 'gzip;q=0', 'br']) {
      assert.equal(
        (await client.get(configMaps(namespace), { 'accept-encoding': accepted })).headers['content-encoding'],
        undefined,
        accepted,
      )
    }
    const small = await client.get('/api/v1/namespaces/default', { 'accept-encoding': 'gzip' })
    assert.equal(small.headers['content-encoding'], undefined)
  })

  test('YAML requests and responses', async () => {
    const namespace = await newNamespace(client, 'yaml')
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yam\ndata:\n  text: |\n    one\n    two\n  number: "1"\n'
    const responses = expectStatus(
      await client.send({
        method: 'POST',
        path: configMaps(namespace),
        body,
        headers: { 'content-type': 'application/yaml', accept: 'application/yaml' },
      }),
      201,
    )
    assert.match(String(responses.headers['content-type']), /^application\/yaml/)
    assert.match(responses.text, /^ {2}name: yam$/m)
    assert.deepEqual((await client.get(configMaps(namespace, 'yam'))).json.data, { text: 'one\ntwo\n', number: '1' })
    const broken = await client.send({
      method: 'POST',
      path: configMaps(namespace),
      body: 'a: [b',
      headers: { 'content-type': 'application/yaml' },
    })
    expectFailure(broken, 400, 'BadRequest')
  })

  test('pretty-printed JSON for browsers and curl', async () => {
    assert.match((await client.get('/api/v1/namespaces/default?pretty=true')).text, /^\{\n {2}"kind": "Namespace",\n/)
    assert.doesNotMatch((await client.get('/api/v1/namespaces/default')).text, /\n {2}/)
  })

  test('an unsupported Accept returns 406', async () => {
    expectFailure(await client.get('/api/v1/namespaces', { accept: 'image/png' }), 406, 'NotAcceptable')
    expectStatus(await client.get('/api/v1/namespaces', { accept: 'image/png, application/json' }), 200)
    expectStatus(await client.get('/api/v1/namespaces', { accept: '*/*' }), 200)
  })
})

describe('limits', () => {
  const tooManyBytes = 3 * 1024 * 1024 + 1

  test('a body with a too large Content-Length is rejected before it is sent', async () => {
    const socket = await RawSocket.open(server.access)
    socket.write(request('POST', configMaps('default'), `Content-Type: application/json\r\nContent-Length: ${tooManyBytes}\r\n`))
    await socket.until((text) => text.includes('RequestEntityTooLarge'), 60_000)
    socket.close()
    assert.deepEqual(socket.statuses, [413])
  })

  test('a too large chunked body is rejected, and the server stays up', async () => {
    const response = await client
      .send({
        method: 'POST',
        path: configMaps('default'),
        body: Buffer.alloc(tooManyBytes, 'x'),
        headers: { 'transfer-encoding': 'chunked', 'content-type': 'application/json' },
      })
      .catch((error: NodeJS.ErrnoException) => error)
    // A client that is still writing may see the connection close before it reads the response.
    if (response instanceof Error) assert.match(String((response as NodeJS.ErrnoException).code), /EPIPE|ECONNRESET/)
    else expectFailure(response, 413, 'RequestEntityTooLarge')
    expectStatus(await client.get('/readyz'), 200)
  })

  test('a body just below the limit is accepted', async () => {
    const body = { ...configMapOf('big'), data: Object.fromEntries(Array.from({ length: 2 }, (_, i) => [`k${i}`, 'x'.repeat(500_000)])) }
    expectStatus(await client.post(configMaps('default'), body), 201)
  })

  test('requests beyond the limit in flight get 429 with Retry-After', {
    skip: skipWithWorkers('each has a share of the limit'),
  }, async () => {
    const small = await ServerProcess.start({
      flags: ['--max-mutating-requests-inflight=1', '--enable-priority-and-fairness=false', ...unprivilegedUserFlags()],
    })
    const plain = unprivilegedClient(small)
    const socket = await RawSocket.open(small.access)
    socket.write(
      `POST ${configMaps('default')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${unprivilegedAccess(small).token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    )
    // Waits until the server has received the incomplete request.
    const response = await untilStatus(() => plain.post(configMaps('default'), { metadata: { generateName: 'a-' } }), 429)
    assert.deepEqual(
      [response.text, response.headers['content-type'], response.headers['x-content-type-options'], response.headers['retry-after']],
      ['Too many requests, please try again later.\n', 'text/plain; charset=utf-8', 'nosniff', '1'],
    )
    expectStatus(await plain.get('/api/v1/namespaces'), 200)
    expectStatus(await small.client.post(configMaps('default'), configMapOf('of-an-administrator')), 201)
    socket.close()
    // A disconnected client frees its slot.
    await untilStatus(() => plain.post(configMaps('default'), { metadata: { generateName: 'a-' } }), 201)
    plain.close()
    await small.stop()
  })

  test('an incomplete request times out', async () => {
    const small = await ServerProcess.start({ flags: ['--request-timeout=1s'] })
    const socket = await RawSocket.open(small.access)
    socket.write(
      `POST ${configMaps('default')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${small.access.token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    )
    await socket.until((text) => text.includes('"code"'), 60_000)
    // The slot and the received part of the body are freed, whether the client disconnects or not.
    await until(
      () => small.client.get('/metrics'),
      ({ text }) => /^apiserver_current_inflight_requests\{request_kind="mutating"\} 0$/m.test(text),
    )
    socket.close()
    assert.ok(socket.statuses.length === 1 && [408, 504].includes(socket.statuses[0] ?? 0), socket.received)
    await small.stop()
  })
})

describe('anonymous access', () => {
  const anonymous = (): ApiClient => new ApiClient({ url: server.url, ca: server.access.ca })

  test('without a credential: health and version only', async () => {
    const unauthenticated = anonymous()
    for (const path of ['/livez', '/readyz', '/healthz', '/version']) expectStatus(await unauthenticated.get(path), 200)
    for (const path of ['/livez/', '/livez/ping/', '/metrics/']) expectStatus(await client.get(path), 404)
    for (const path of ['/metrics', '/api/v1/namespaces', configMaps('default')])
      expectFailure(await unauthenticated.get(path), 403, 'Forbidden')
    expectFailure(await unauthenticated.post(configMaps('default'), configMapOf('x')), 403, 'Forbidden')
    unauthenticated.close()
  })

  test('with an invalid credential: 401 everywhere', async () => {
    for (const path of ['/livez', '/api/v1/namespaces']) {
      expectFailure(await client.get(path, { authorization: 'Bearer wrong' }), 401, 'Unauthorized')
    }
  })
})

describe('health, version, metrics', () => {
  for (const path of ['/livez', '/readyz', '/healthz']) {
    test(path, async () => {
      const short = await client.get(path)
      assert.deepEqual([short.status, short.text], [200, 'ok'])
      const verbose = (await client.get(`${path}?verbose`)).text
      assert.match(verbose, /^\[\+\]ping ok\n(?:\[\+\][^\n]+ ok\n)+healthz check passed\n$/)
      assert.match((await client.get(`${path}?verbose&exclude=ping`)).text, /^\[\+\]ping excluded: ok\n/)
      assert.equal((await client.get(`${path}/ping`)).text, 'ok')
      assert.equal((await client.get(`${path}/no-such-check`)).status, 404)
      assert.equal((await client.post(path, {})).text, 'ok')
    })
  }

  test('version', async () => {
    const { json, text } = await client.get('/version')
    assert.deepEqual([json['major'], json['minor']], ['1', '26'])
    assert.equal(text, JSON.stringify(json, undefined, 2))
    expectFailure(await client.get('/version', { accept: 'text/html' }), 406, 'NotAcceptable')
    expectFailure(await client.post('/version', {}), 405, 'MethodNotAllowed')
    for (const path of ['/version/x', '/openid/v1/jwks/x']) expectFailure(await client.get(path), 404, 'NotFound')
    for (const path of ['/version/', '/openid/v1/jwks/']) expectStatus(await client.get(path, { accept: '*/*' }), 200)
    for (const path of ['/metrics', '/openapi/v2', '/apis', '/apis/apps']) expectStatus(await client.post(path, {}), 200)
    for (const path of ['/api', '/api/v1', '/apis/apps/v1', '/apis/apiregistration.cluster.io'])
      expectFailure(await client.post(path, {}), 405, 'MethodNotAllowed')
    for (const path of ['/api/v2', '/apis/apps/v9']) expectFailure(await client.post(path, {}), 404, 'NotFound')
    expectStatus(await client.post('/apis/nobody.example.com', {}), 404)
  })

  test('the index of paths ignores Accept and method; cluster-scoped resources have no namespaced path', async () => {
    const { json, text } = expectStatus(await client.get('/', { accept: 'text/html' }), 200)
    assert.equal(text, JSON.stringify(json, undefined, 2))
    assert.equal((await client.get('/index.html')).text, text)
    assert.equal((await client.post('/', {})).text, text)
    for (const path of ['namespaces', 'namespaces/default', 'nodes']) {
      expectFailure(await client.get(`/api/v1/namespaces/other/${path}`), 404, 'NotFound')
    }
  })
})
