// The control API of the test kit: its token, routing, limits and invisibility.

import assert from 'node:assert/strict'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { clientOf } from '../../../../test/kit/embedded.js'
import { expectStatus } from '../../../../test/kit/fixtures.js'
import { RawSocket } from '../../../../test/kit/network/raw-socket.js'
import { newFolder, ServerProcess } from '../../../../test/kit/server-process.js'
import { controlClient, errorOf } from './control-client.js'

const tokenRequired = [401, 'the token of the test kit is required'] as const

describe('a server with the option testkit', () => {
  let server: EmbeddedServer
  let client: ApiClient
  let control: ApiClient
  const folder = newFolder()
  const log = join(folder, 'audit.log')
  const policy = join(folder, 'policy.yaml')
  const lines: string[] = []
  before(async () => {
    writeFileSync(policy, 'apiVersion: audit.cluster.io/v1\nkind: Policy\nrules: [{ level: RequestResponse }]\n')
    const logLine = (...args: readonly unknown[]): void => void lines.push(JSON.stringify(args))
    server = await startServer({
      testkit: true,
      logger: { debug: logLine, info: logLine, warn: logLine, error: logLine },
      flags: ['--v=6', `--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
    })
    client = clientOf(server)
    control = controlClient(server)
  })
  after(async () => {
    client.close()
    control.close()
    await server.close({ immediately: true })
    rmSync(folder, { recursive: true })
  })

  test('GET /testkit/ lists the endpoints', async () => {
    assert.match(server.testkit?.token ?? '', /^[0-9a-f]{64}$/)
    assert.equal(server.testkit?.url, `${server.url}/testkit`)
    const { json, headers } = expectStatus(await control.get('/testkit/'), 200)
    assert.equal(headers['content-type'], 'application/json')
    const endpoints = json['endpoints'] as readonly { readonly method: string; readonly path: string; readonly summary: string }[]
    assert.ok(endpoints.some(({ method, path }) => method === 'POST' && path === '/testkit/reset'))
    for (const { summary } of endpoints) assert.match(summary, /\w/)
    for (const path of ['/testkit', '/testkit?']) expectStatus(await control.get(path), 200)
  })

  test('only the token of the test kit is accepted, before anything else is read', async () => {
    const token = server.testkit?.token ?? ''
    const authorizations = [
      '',
      'Bearer',
      'Bearer ',
      `Bearer ${server.token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Basic ${token}`,
      token,
    ]
    for (const authorization of authorizations) {
      for (const path of ['/testkit/', '/testkit/reset', '/testkit/nothing', '/testkit/%zz']) {
        assert.deepEqual(errorOf(await client.send({ path, headers: { authorization } })), tokenRequired, `${authorization} ${path}`)
      }
    }
    for (const authorization of ['', `Bearer ${server.token}`]) {
      const post = { method: 'POST', path: '/testkit/reset', headers: { authorization }, body: '{'.repeat(2 << 20) }
      assert.deepEqual(errorOf(await client.send(post)), tokenRequired)
    }
    expectStatus(await client.send({ path: '/testkit/', headers: { authorization: `bearer ${token}` } }), 200)
  })

  test('the token of the test kit has no permission in the API', async () => {
    expectStatus(await control.get('/api/v1/namespaces'), 401)
    expectStatus(await control.get('/testkits/'), 401)
  })

  test('an impersonated administrator does not replace the token', async () => {
    const headers = { 'impersonate-user': 'admin' }
    assert.deepEqual(errorOf(await client.send({ path: '/testkit/', headers })), tokenRequired)
  })

  test('a filter of requests that can never match is refused', async () => {
    assert.deepEqual(errorOf(await control.get('/testkit/requests?status=ok')), [
      400,
      'requests: status must be a number or a list of numbers',
    ])
  })

  test('unknown paths and methods', async () => {
    const unknown = [404, 'no such endpoint; GET /testkit/ lists them']
    for (const path of ['/testkit/nothing', '/testkit//', '/testkit/reset/', '/testkit/../api', '/testkit/%zz', '/testkit/faults/'])
      assert.deepEqual(errorOf(await control.get(path)), unknown, path)
    const { headers, ...response } = await control.get('/testkit/reset')
    assert.deepEqual([response.status, headers['allow']], [405, 'POST'])
    for (const method of ['PUT', 'PATCH', 'HEAD', 'OPTIONS', 'DELETE']) expectStatus(await control.send({ method, path: '/testkit/' }), 405)
  })

  test('bodies: JSON objects of at most 1 MiB with known members', async () => {
    const send = async (body: unknown) => errorOf(await control.post('/testkit/reset', body))
    const deep = '[{"a":'.repeat(100_000)
    const rows: readonly (readonly [body: unknown, status: number, error: RegExp])[] = [
      ['{', 400, /^the body is not JSON: /],
      ['a=b', 400, /^the body is not JSON: /],
      ['[]', 400, /^the body must be a JSON object$/],
      ['null', 400, /^the body must be a JSON object$/],
      ['1', 400, /^the body must be a JSON object$/],
      [{ x: 1 }, 400, /^unknown member "x"; expected none$/],
      ['{"__proto__":{"x":1}}', 400, /^unknown member "__proto__"; expected none$/],
      [deep, 400, /^the body is not JSON: /],
      [Buffer.from([0x7b, 0xff, 0x7d]), 400, /^the body is not UTF-8$/],
      [' '.repeat((1 << 20) + 1), 413, /^the body must have at most 1048576 bytes$/],
    ]
    for (const [body, status, error] of rows) {
      const [foundStatus, foundError] = await send(body)
      assert.equal(foundStatus, status, String(foundError))
      assert.match(String(foundError), error)
    }
    const chunked = { method: 'POST', path: '/testkit/reset', headers: { 'transfer-encoding': 'chunked' }, body: ' '.repeat(2 << 20) }
    assert.equal((await control.send(chunked)).status, 413)
    for (const body of ['', ' ', '{}', ' '.repeat(1 << 20)]) expectStatus(await control.post('/testkit/reset', body), 200)
  })

  test('a client that disconnects within its body, or sends a body in tiny chunks, harms nobody', async () => {
    const access = { url: server.url, ca: server.caPem }
    const head = `POST /testkit/reset HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.testkit?.token}\r\n`
    const gone = await RawSocket.open(access)
    gone.write(`${head}Content-Length: 100\r\n\r\n{`)
    gone.close()
    const tiny = await RawSocket.open(access)
    for (let i = 0; i < 20; i++) tiny.write(`${i === 0 ? `${head}Transfer-Encoding: chunked\r\n\r\n` : ''}${'1\r\n \r\n'.repeat(100)}`)
    await tiny.until(() => false, 5_000)
    assert.ok(tiny.isClosed)
    expectStatus(await control.get('/testkit/'), 200)
  })

  test('an upgrade request gets a usual response', async () => {
    const socket = await RawSocket.open({ url: server.url, ca: server.caPem })
    socket.write('GET /testkit/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await socket.until((text) => text.includes('required'), 10_000)
    assert.deepEqual(socket.statuses, [401])
    socket.close()
  })

  test('no log, metric, audit event, discovery or OpenAPI document shows it', async () => {
    await control.get('/testkit/')
    await client.get('/testkit/nothing')
    expectStatus(await client.get('/api/v1/namespaces/default'), 200)
    const paths = ['/', '/api', '/apis', '/openapi/v2', '/openapi/v3', '/metrics', '/debug/pprof/', '/version', '/readyz?verbose']
    for (const path of paths) assert.ok(!(await client.get(path)).text.includes('testkit'), path)
    assert.ok(lines.some((line) => line.includes('/api/v1/namespaces/default')))
    assert.deepEqual(
      lines.filter((line) => line.includes('/testkit/')),
      [],
    )
    const events = readFileSync(log, 'utf8')
    assert.ok(events.includes('/api/v1/namespaces/default'))
    assert.ok(!events.includes('/testkit/'))
  })
})

test('a data folder keeps the token, readable by its owner only', async (t) => {
  const dataDir = newFolder()
  t.after(() => rmSync(dataDir, { recursive: true }))
  const tokens: string[] = []
  for (let i = 0; i < 2; i++) {
    const server = await startServer({ dataDir, testkit: true })
    tokens.push(server.testkit?.token ?? '')
    const control = controlClient(server)
    const [status, error] = errorOf(await control.post('/testkit/reset', {}))
    assert.equal(status, 409)
    assert.match(String(error), /^reset: only a server in memory can be reset/)
    control.close()
    await server.close({ immediately: true })
  }
  assert.equal(tokens[0], tokens[1])
  assert.equal(readFileSync(join(dataDir, 'testkit.token'), 'utf8'), `${tokens[0]}\n`)
  assert.equal(statSync(join(dataDir, 'testkit.token')).mode & 0o777, 0o600)
})

test('the command has it with --testkit, and says where the token is', async () => {
  const server = await ServerProcess.start({ flags: ['--testkit'] })
  const path = join(server.dataDir, 'testkit.token')
  assert.ok(server.stdout.includes(`\n  test kit: ${server.url}/testkit/ (token in ${path})\n`), server.stdout)
  const control = new ApiClient({ ...server.access, token: readFileSync(path, 'utf8').trim() })
  expectStatus(await control.get('/testkit/'), 200)
  control.close()
  assert.equal((await server.stop()).code, 0)
})

test('--testkit-token-file sets the token', async (t) => {
  const folder = newFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const token = 'secret-'.repeat(8)
  writeFileSync(join(folder, 'token'), `${token}\n`)
  const flags = [`--testkit-token-file=${join(folder, 'token')}`]
  const server = await startServer({ testkit: true, bindAddress: '0.0.0.0', flags })
  assert.equal(server.testkit?.token, token)
  const control = controlClient(server)
  expectStatus(await control.get('/testkit/'), 200)
  control.close()
  await server.close({ immediately: true })
  await assert.rejects(startServer({ testkit: true, bindAddress: '0.0.0.0' }), /--testkit: other machines can connect/)
})

test('without the option, /testkit/ is an unknown path like any other, byte for byte', async (t) => {
  const server = await startServer()
  t.after(() => server.close({ immediately: true }))
  assert.equal(server.testkit, undefined)
  const access = { url: server.url, ca: server.caPem }
  const responseTo = async (lines: readonly string[]): Promise<string> => {
    const socket = await RawSocket.open(access)
    socket.write(`${[...lines, 'Host: x', 'Audit-Id: a', 'Connection: close', '', ''].join('\r\n')}`)
    await socket.until(() => false, 10_000)
    assert.ok(socket.isClosed && socket.received !== '')
    return socket.received.replace(/^date: .*$/im, 'date')
  }
  for (const authorization of ['', `Authorization: Bearer ${server.token}`, 'Authorization: Bearer x']) {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD']) {
      for (const path of ['/', '', '/faults', '/clock/advance', '?x=y']) {
        const [found, expected] = await Promise.all(
          ['testkit', 'unknown'].map((name) =>
            responseTo([`${method} /${name}${path} HTTP/1.1`, ...(authorization === '' ? [] : [authorization])]),
          ),
        )
        assert.equal(found?.replaceAll('testkit', 'unknown'), expected, `${method} ${path} ${authorization}`)
      }
    }
  }
})
