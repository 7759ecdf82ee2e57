// The wire: protocols, methods, compression, media types, limits, health and metrics, as real clients see them.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { ApiClient } from './kit/api-client.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, newNamespace, until } from './kit/fixtures.js'
import { Http2Client } from './kit/http2-client.js'
import { plainAccess, plainClient, plainUserFlags } from './kit/plain-user.js'
import { RawSocket } from './kit/raw-socket.js'
import { ServerProcess } from './kit/server-process.js'
import type { Wire } from './kit/wire.js'

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

  test('HTTP/2: the same answers, many at once, and watches', async () => {
    const http2 = new Http2Client(server.access)
    const namespace = await newNamespace(client, 'h2')
    const watch = http2.open('GET', `${configMaps(namespace)}?watch=1`)
    let frames = ''
    watch.setEncoding('utf8').on('data', (chunk: string) => {
      frames += chunk
    })
    const made = await Promise.all(Array.from({ length: 50 }, (_, i) => http2.send('POST', configMaps(namespace), configMapOf(`o-${i}`))))
    assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]))
    const list = await http2.send('GET', configMaps(namespace))
    // Loops of the server may write something in between.
    assert.deepEqual((JSON.parse(list.text) as Wire).items, (await client.get(configMaps(namespace))).json.items)
    for (let i = 0; i < 3000 && frames.split('\n').length < 51; i++) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(frames.split('\n').filter(Boolean).length, 50)
    const missing = await http2.send('GET', configMaps(namespace, 'nobody'))
    assert.deepEqual([missing.status, (JSON.parse(missing.text) as Wire).reason], [404, 'NotFound'])
    http2.close()
  })

  test('requests in a row on one connection are answered in their order', async () => {
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

  test('a client that asks before it sends is told to go on', async () => {
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

describe('connections that are kept', () => {
  // Node 20 takes the rest of a long body for an error (HPE_PAUSED) when it arrives before the last answer counts as written.
  test('long bodies and long answers in quick turns do not break them', async () => {
    const quick = await ServerProcess.start({ flags: ['--storage-backend=memory'] })
    const text = 'x'.repeat(50_000)
    const failures: string[] = []
    await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        await makeConfigMap(quick.client, 'default', configMapOf(`o-${i}`))
        for (let turn = 0; turn < 60; turn++) {
          const object = configMapOf(`o-${i}`, { data: { turn: String(turn), text } })
          const answer = await quick.client.put(configMaps('default', `o-${i}`), object).catch((error: Error) => error)
          if (answer instanceof Error || answer.status !== 200)
            failures.push(answer instanceof Error ? answer.message : String(answer.status))
        }
      }),
    )
    await quick.stop()
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
    test(`${method} is refused politely`, async () => {
      const answer = await client.send({ method, path: '/api/v1/namespaces/default' })
      assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status))
    })
  }
})

describe('representations', () => {
  test('gzip for big answers to those who take it', async () => {
    const namespace = await newNamespace(client, 'gzip')
    for (let i = 0; i < 20; i++) await makeConfigMap(client, namespace, configMapOf(`o-${i}`, { data: { text: 'abc '.repeat(4000) } }))
    const plain = expectStatus(await client.get(configMaps(namespace)), 200)
    const packed = expectStatus(await client.get(configMaps(namespace), { 'accept-encoding': 'gzip' }), 200)
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.ok(packed.bytes.length * 5 < plain.bytes.length)
    assert.deepEqual((JSON.parse(gunzipSync(packed.bytes).toString()) as Wire).items, plain.json.items)
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

  test('YAML in and out', async () => {
    const namespace = await newNamespace(client, 'yaml')
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yam\ndata:\n  text: |\n    one\n    two\n  number: "1"\n'
    const made = expectStatus(
      await client.send({
        method: 'POST',
        path: configMaps(namespace),
        body,
        headers: { 'content-type': 'application/yaml', accept: 'application/yaml' },
      }),
      201,
    )
    assert.match(String(made.headers['content-type']), /^application\/yaml/)
    assert.match(made.text, /^ {2}name: yam$/m)
    assert.deepEqual((await client.get(configMaps(namespace, 'yam'))).json.data, { text: 'one\ntwo\n', number: '1' })
    const broken = await client.send({
      method: 'POST',
      path: configMaps(namespace),
      body: 'a: [b',
      headers: { 'content-type': 'application/yaml' },
    })
    expectFailure(broken, 400, 'BadRequest')
  })

  test('pretty for people', async () => {
    assert.match((await client.get('/api/v1/namespaces/default?pretty=true')).text, /^\{\n {2}"kind": "Namespace",\n/)
    assert.doesNotMatch((await client.get('/api/v1/namespaces/default')).text, /\n {2}/)
  })

  test('a table', async () => {
    const table = expectStatus(
      await client.get('/api/v1/namespaces', { accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' }),
      200,
    ).json
    assert.deepEqual([table.kind, table.apiVersion], ['Table', 'meta.cluster.io/v1'])
    const columns = (table['columnDefinitions'] as { name: string }[]).map(({ name }) => name)
    assert.deepEqual(columns, ['Name', 'Status', 'Age'])
  })

  test('what nobody can make is refused with 406', async () => {
    expectFailure(await client.get('/api/v1/namespaces', { accept: 'image/png' }), 406, 'NotAcceptable')
    expectStatus(await client.get('/api/v1/namespaces', { accept: 'image/png, application/json' }), 200)
    expectStatus(await client.get('/api/v1/namespaces', { accept: '*/*' }), 200)
  })
})

describe('limits', () => {
  const tooMuch = 3 * 1024 * 1024 + 1

  test('a body that is announced as too long is refused before it is sent', async () => {
    const socket = await RawSocket.open(server.access)
    socket.write(request('POST', configMaps('default'), `Content-Type: application/json\r\nContent-Length: ${tooMuch}\r\n`))
    await socket.until((text) => text.includes('RequestEntityTooLarge'), 60_000)
    socket.close()
    assert.deepEqual(socket.statuses, [413])
  })

  test('a body that turns out too long is refused, and the server lives', async () => {
    const answer = await client
      .send({
        method: 'POST',
        path: configMaps('default'),
        body: Buffer.alloc(tooMuch, 'x'),
        headers: { 'transfer-encoding': 'chunked', 'content-type': 'application/json' },
      })
      .catch((error: NodeJS.ErrnoException) => error)
    // Whoever is still writing may see the connection close before it reads the answer.
    if (answer instanceof Error) assert.match(String((answer as NodeJS.ErrnoException).code), /EPIPE|ECONNRESET/)
    else expectFailure(answer, 413, 'RequestEntityTooLarge')
    expectStatus(await client.get('/readyz'), 200)
  })

  test('a body of almost the limit is read', async () => {
    const body = { ...configMapOf('big'), data: Object.fromEntries(Array.from({ length: 2 }, (_, i) => [`k${i}`, 'x'.repeat(500_000)])) }
    expectStatus(await client.post(configMaps('default'), body), 201)
  })

  test('requests at once beyond the limit are sent away with a word when to come again', async () => {
    const small = await ServerProcess.start({
      flags: ['--max-mutating-requests-inflight=1', '--enable-priority-and-fairness=false', ...plainUserFlags()],
    })
    const plain = plainClient(small)
    const socket = await RawSocket.open(small.access)
    socket.write(
      `POST ${configMaps('default')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${plainAccess(small).token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    )
    // Until the server has seen the one that does not end.
    const answer = await until(
      () => plain.post(configMaps('default'), { metadata: { generateName: 'a-' } }),
      ({ status }) => status === 429,
    )
    assert.deepEqual(
      [answer.text, answer.headers['content-type'], answer.headers['x-content-type-options'], answer.headers['retry-after']],
      ['Too many requests, please try again later.\n', 'text/plain; charset=utf-8', 'nosniff', '1'],
    )
    expectStatus(await plain.get('/api/v1/namespaces'), 200)
    expectStatus(await small.client.post(configMaps('default'), configMapOf('of-an-administrator')), 201)
    socket.close()
    // A client that went away gives its place back.
    await until(
      () => plain.post(configMaps('default'), { metadata: { generateName: 'a-' } }),
      ({ status }) => status === 201,
    )
    plain.close()
    await small.stop()
  })

  test('a request that does not end is given up', async () => {
    const small = await ServerProcess.start({ flags: ['--request-timeout=1s'] })
    const socket = await RawSocket.open(small.access)
    socket.write(
      `POST ${configMaps('default')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${small.access.token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    )
    await socket.until((text) => text.includes('"code"'), 60_000)
    // Nothing is left of it, whether its client goes or stays: neither its place nor what of its body has come.
    await until(
      () => small.client.get('/metrics'),
      ({ text }) => /^apiserver_current_inflight_requests\{request_kind="mutating"\} 0$/m.test(text),
    )
    socket.close()
    assert.ok(socket.statuses.length === 1 && [408, 504].includes(socket.statuses[0] ?? 0), socket.received)
    await small.stop()
  })
})

describe('who may see what', () => {
  const anonymous = (): ApiClient => new ApiClient({ url: server.url, ca: server.access.ca })

  test('without a credential: health and version, nothing else', async () => {
    const nobody = anonymous()
    for (const path of ['/livez', '/readyz', '/healthz', '/version']) expectStatus(await nobody.get(path), 200)
    for (const path of ['/livez/', '/livez/ping/', '/metrics/']) expectStatus(await client.get(path), 404)
    for (const path of ['/metrics', '/api/v1/namespaces', configMaps('default')]) expectFailure(await nobody.get(path), 403, 'Forbidden')
    expectFailure(await nobody.post(configMaps('default'), configMapOf('x')), 403, 'Forbidden')
    nobody.close()
  })

  test('with a wrong credential: nothing at all', async () => {
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

  test('the index of paths is for every reader, and nothing of the cluster lies in a namespace', async () => {
    const { json, text } = expectStatus(await client.get('/', { accept: 'text/html' }), 200)
    assert.equal(text, JSON.stringify(json, undefined, 2))
    assert.equal((await client.get('/index.html')).text, text)
    assert.equal((await client.post('/', {})).text, text)
    for (const path of ['namespaces', 'namespaces/default', 'nodes']) {
      expectFailure(await client.get(`/api/v1/namespaces/other/${path}`), 404, 'NotFound')
    }
  })

  test('metrics count what was asked', async () => {
    const count = async (): Promise<number> => {
      const { text, headers } = expectStatus(await client.get('/metrics'), 200)
      assert.match(String(headers['content-type']), /^text\/plain/)
      const line = text
        .split('\n')
        .find(
          (candidate) =>
            /^apiserver_request_total\{/.test(candidate) && /verb="GET"/.test(candidate) && /resource="secrets"/.test(candidate),
        )
      return Number(line?.split(' ').at(-1) ?? 0)
    }
    const before = await count()
    for (let i = 0; i < 3; i++) await client.get('/api/v1/namespaces/default/secrets/nobody')
    assert.equal((await count()) - before, 3)
    const { text } = await client.get('/metrics')
    for (const name of [
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'apiserver_longrunning_requests',
      'apiserver_request_duration_seconds_bucket',
    ]) {
      assert.match(text, new RegExp(`^${name}(?:\\{[^}]*\\})? [0-9.e+]+$`, 'm'))
    }
  })
})
