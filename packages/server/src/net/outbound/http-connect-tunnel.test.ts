// Tunnels through a CONNECT proxy: all outbound clients use it, and invalid responses of the proxy are errors.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { TlsOptions } from 'node:tls'
import { connectSocket, parseEndpoint } from '../../storage/etcd/etcd-endpoint.js'
import { Upstream } from '../proxy/upstream.js'
import { issueCertificate } from '../tls/issue-certificate.js'
import { ConnectProxy } from './connect-proxy.fixture.js'
import { getDocument } from './http-client.js'
import { createConnectionWith, type Dial, dialThrough } from './http-connect-tunnel.js'
import { JsonEndpoint } from './json-endpoint.js'

const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'authority', use: 'authority', ...validity }), commonName: 'authority' }
const pair = issueCertificate({ commonName: 'server', hosts: ['127.0.0.1'], use: 'server', ...validity }, authority)
const client = issueCertificate({ commonName: 'client', use: 'client', ...validity }, authority)
const ca = authority.cert

async function listening(t: TestContext, server: Server & { closeAllConnections(): void }): Promise<number> {
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const secureServer = (t: TestContext): Promise<number> =>
  listening(
    t,
    createServer(pair, (request, response) => request.resume().once('end', () => response.end('{"from":"server"}'))),
  )

async function proxyOf(t: TestContext, options: Parameters<typeof ConnectProxy.start>[0] = {}): Promise<ConnectProxy> {
  const proxy = await ConnectProxy.start(options)
  t.after(() => proxy.close())
  return proxy
}

const throughTcp = ({ port }: ConnectProxy, limits?: Parameters<typeof dialThrough>[1]): Dial =>
  dialThrough({ kind: 'tcp', host: '127.0.0.1', port }, limits)

/** Sends requests with each outbound client. */
async function requestAll(t: TestContext, url: string, dial: Dial): Promise<readonly string[]> {
  const endpoint = new JsonEndpoint({ url, ca, dial }, { timeoutMs: 60_000 })
  const upstream = new Upstream({ ca, dial })
  t.after(() => {
    endpoint.close()
    upstream.close()
  })
  const posted = [await endpoint.post({}), await endpoint.post({})].map(({ body }) => body.toString())
  const received = await new Promise<string>((resolve, reject) => {
    const request = upstream.request({ url: new URL(url), method: 'GET', headers: ['Host', new URL(url).host] })
    request.once('response', (response) => response.once('data', (chunk: Buffer) => resolve(chunk.toString())))
    request.once('error', reject)
    request.end()
  })
  return [...posted, received]
}

test('requests go through a proxy over TCP, and reuse connections', async (t) => {
  const [port, proxy] = [await secureServer(t), await proxyOf(t)]
  const url = `https://127.0.0.1:${port}/`
  assert.deepEqual(await requestAll(t, url, throughTcp(proxy)), Array(3).fill('{"from":"server"}'))
  const { body } = await getDocument({ url, ca, dial: throughTcp(proxy), timeoutMs: 60_000, maxBytes: 1000 })
  assert.equal(body.toString(), '{"from":"server"}')
  assert.deepEqual(proxy.requested, Array(3).fill(`127.0.0.1:${port}`))
})

test('requests go through a proxy over mutual TLS and over a Unix socket', async (t) => {
  const port = await secureServer(t)
  const folder = mkdtempSync(join(tmpdir(), 'proxy-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'proxy.sock')
  const secure = await proxyOf(t, { tls: { ...pair, ca, requestCert: true, rejectUnauthorized: true } })
  const unix = await proxyOf(t, { path })
  const address = { kind: 'tcp', host: '127.0.0.1', port: secure.port } as const
  const expected = Array(3).fill('{"from":"server"}')
  assert.deepEqual(await requestAll(t, `https://127.0.0.1:${port}/`, dialThrough({ ...address, tls: { ca, ...client } })), expected)
  assert.deepEqual(await requestAll(t, `https://127.0.0.1:${port}/`, dialThrough({ kind: 'unix', path })), expected)
  assert.deepEqual([secure.requested.length, unix.requested.length], [2, 2])
  // The proxy's certificate is not trusted.
  const otherCa = issueCertificate({ commonName: 'other', use: 'authority', ...validity }).cert
  await assert.rejects(
    dialThrough({ ...address, tls: { ca: otherCa, ...client } })('127.0.0.1', port),
    /^Error: dialing proxy "127.0.0.1:\d+" failed: x509: /,
  )
})

test('a TLS proxy gets its host name as SNI', async (t) => {
  const localhostPair = issueCertificate({ commonName: 'localhost', hosts: ['localhost'], use: 'server', ...validity }, authority)
  const names: string[] = []
  const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
    names.push(name)
    done(null)
  }
  const proxy = await proxyOf(t, { tls: { ...localhostPair, SNICallback } })
  const dial = dialThrough({ kind: 'tcp', host: 'localhost', port: proxy.port, tls: { ca, ...client } })
  const socket = await dial('127.0.0.1', await secureServer(t))
  socket.destroy()
  assert.deepEqual(names, ['localhost'])
})

test('a tunnel is closed if TLS cannot start in it, and the caller gets the error', async (t) => {
  const [port, proxy] = [await secureServer(t), await proxyOf(t)]
  const sockets: Socket[] = []
  const dial: Dial = async (host, to) => {
    const socket = await throughTcp(proxy)(host, to)
    sockets.push(socket)
    return socket
  }
  // The key does not match the certificate.
  const connect = createConnectionWith(dial, true)
  const failed = await new Promise<Error | null>((resolve) =>
    connect({ host: '127.0.0.1', port, cert: pair.cert, key: client.key }, resolve),
  )
  assert.match(String(failed), /key values mismatch/)
  const folder = mkdtempSync(join(tmpdir(), 'etcd-pair-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const tls = { certFile: join(folder, 'missing.crt'), keyFile: join(folder, 'missing.key') }
  const endpoint = parseEndpoint(`https://127.0.0.1:${port}`)
  await assert.rejects(connectSocket(endpoint, { tls, timeoutMs: 60_000, dial }), /missing\.crt/)
  assert.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [true, true],
  )
})

test('the timeout of the caller limits the proxy', async (t) => {
  const proxy = await proxyOf(t)
  proxy.respond = () => undefined
  const endpoint = parseEndpoint('http://127.0.0.1:1')
  await assert.rejects(connectSocket(endpoint, { tls: {}, timeoutMs: 50, dial: throughTcp(proxy) }), /i\/o timeout/)
})

test('plain HTTP requests go through the proxy as well', async (t) => {
  const port = await listening(
    t,
    createHttp((request, response) => request.resume().once('end', () => response.end('{"from":"plain"}'))),
  )
  const proxy = await proxyOf(t)
  assert.deepEqual(await requestAll(t, `http://127.0.0.1:${port}/`, throughTcp(proxy)), Array(3).fill('{"from":"plain"}'))
  assert.equal(proxy.requested.length, 2)
})

const refusals: readonly { readonly title: string; readonly response: string; readonly message: RegExp }[] = [
  {
    title: 'refuses',
    response: 'HTTP/1.1 403 Forbidden\r\n\r\n',
    message: /^proxy error from 127\.0\.0\.1:\d+ while dialing far:1, code 403: 403 Forbidden$/,
  },
  { title: 'sends a malformed response', response: 'hello\r\n\r\n', message: /malformed HTTP response$/ },
  {
    title: 'sends bytes after its response',
    response: 'HTTP/1.1 200 OK\r\n\r\nmore',
    message: /^unexpected 4 bytes of buffered data from CONNECT proxy/,
  },
  { title: 'sends an endless head', response: `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(1000)}`, message: /the head is too long$/ },
]
for (const { title, response, message } of refusals)
  test(`a proxy that ${title} is an error`, async (t) => {
    const proxy = await proxyOf(t)
    proxy.respond = (socket) => void socket.write(response)
    await assert.rejects(throughTcp(proxy, { timeoutMs: 60_000, maxBytes: 4096 })('far', 1), { message })
  })

test('a response in chunks of one byte is accepted', async (t) => {
  const proxy = await proxyOf(t)
  proxy.respond = async (socket) => {
    for (const char of `HTTP/1.1 200 ${'x'.repeat(200)}\r\nA: b\r\n\r\n`) {
      socket.write(char)
      await new Promise(setImmediate)
    }
  }
  const socket = await throughTcp(proxy)('far', 1)
  socket.destroy()
})

test('a proxy that is silent, closes the connection or refuses it is an error', async (t) => {
  const proxy = await proxyOf(t)
  proxy.respond = () => undefined
  await assert.rejects(throughTcp(proxy, { timeoutMs: 50, maxBytes: 4096 })('far', 1), /via proxy 127\.0\.0\.1:\d+ failed: i\/o timeout$/)
  proxy.respond = (socket) => void socket.destroy()
  await assert.rejects(throughTcp(proxy)('far', 1), /failed: (?:EOF|read: connection reset by peer)$/)
  await assert.rejects(
    dialThrough({ kind: 'tcp', host: '127.0.0.1', port: 1 })('far', 1),
    /^Error: dialing proxy "127\.0\.0\.1:1" failed: dial tcp/,
  )
  await assert.rejects(throughTcp(proxy)('far away\r\nX: y', 1), /is not a valid address$/)
})

test('connections being opened count towards the limit, and one that is late is closed', async (t) => {
  const [port, proxy] = [await secureServer(t), await proxyOf(t)]
  const endpoint = new JsonEndpoint(
    { url: `https://127.0.0.1:${port}/`, ca, dial: throughTcp(proxy) },
    { timeoutMs: 60_000, maxSockets: 2 },
  )
  const responses = await Promise.all(Array.from({ length: 10 }, () => endpoint.post({})))
  assert.ok(responses.every(({ status }) => status === 200) && proxy.requested.length <= 2, String(proxy.requested))
  endpoint.close()
  proxy.respond = () => undefined
  const lateEndpoint = new JsonEndpoint({ url: `https://127.0.0.1:${port}/`, ca, dial: throughTcp(proxy) }, { timeoutMs: 50 })
  await assert.rejects(lateEndpoint.post({}), /no response within 50 ms/)
  lateEndpoint.close()
})
