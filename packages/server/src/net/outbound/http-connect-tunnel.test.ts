// Connections through a proxy: everything that goes out can go so, and a proxy that does not play along holds nobody.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { TlsOptions } from 'node:tls'
import { connectSocket, parseEndpoint } from '../storage/etcd/endpoint.js'
import { ConnectProxy } from './connect-proxy.fixture.js'
import { getDocument } from './get-document.js'
import { issueCertificate } from './issue-certificate.js'
import { JsonEndpoint } from './json-endpoint.js'
import { createConnectionWith, type Dial, dialThrough } from './tunnel.js'
import { Upstream } from './upstream.js'

const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'authority', use: 'authority', ...times }), commonName: 'authority' }
const pair = issueCertificate({ commonName: 'server', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)
const client = issueCertificate({ commonName: 'client', use: 'client', ...times }, authority)
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

async function proxyOf(t: TestContext, where: Parameters<typeof ConnectProxy.start>[0] = {}): Promise<ConnectProxy> {
  const proxy = await ConnectProxy.start(where)
  t.after(() => proxy.close())
  return proxy
}

const throughTcp = ({ port }: ConnectProxy, limits?: Parameters<typeof dialThrough>[1]): Dial =>
  dialThrough({ kind: 'tcp', host: '127.0.0.1', port }, limits)

/** In every way in which others are asked. */
async function askAll(t: TestContext, url: string, dial: Dial): Promise<readonly string[]> {
  const endpoint = new JsonEndpoint({ url, ca, dial }, { timeoutMs: 60_000 })
  const upstream = new Upstream({ ca, dial })
  t.after(() => {
    endpoint.close()
    upstream.close()
  })
  const posted = [await endpoint.post({}), await endpoint.post({})].map(({ body }) => body.toString())
  const got = await new Promise<string>((resolve, reject) => {
    const sent = upstream.request({ url: new URL(url), method: 'GET', headers: ['Host', new URL(url).host] })
    sent.once('response', (answer) => answer.once('data', (chunk: Buffer) => resolve(chunk.toString())))
    sent.once('error', reject)
    sent.end()
  })
  return [...posted, got]
}

test('whatever is asked goes through a proxy over TCP, kept connections included', async (t) => {
  const [port, proxy] = [await secureServer(t), await proxyOf(t)]
  const url = `https://127.0.0.1:${port}/`
  assert.deepEqual(await askAll(t, url, throughTcp(proxy)), Array(3).fill('{"from":"server"}'))
  const { body } = await getDocument({ url, ca, dial: throughTcp(proxy), timeoutMs: 60_000, mostBytes: 1000 })
  assert.equal(body.toString(), '{"from":"server"}')
  assert.deepEqual(proxy.asked, Array(3).fill(`127.0.0.1:${port}`))
})

test('so it does over TLS, where each side knows the other, and over a Unix socket', async (t) => {
  const port = await secureServer(t)
  const folder = mkdtempSync(join(tmpdir(), 'proxy-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'proxy.sock')
  const secure = await proxyOf(t, { tls: { ...pair, ca, requestCert: true, rejectUnauthorized: true } })
  const unix = await proxyOf(t, { path })
  const place = { kind: 'tcp', host: '127.0.0.1', port: secure.port } as const
  const answers = Array(3).fill('{"from":"server"}')
  assert.deepEqual(await askAll(t, `https://127.0.0.1:${port}/`, dialThrough({ ...place, tls: { ca, ...client } })), answers)
  assert.deepEqual(await askAll(t, `https://127.0.0.1:${port}/`, dialThrough({ kind: 'unix', path })), answers)
  assert.deepEqual([secure.asked.length, unix.asked.length], [2, 2])
  // A proxy that is somebody else.
  const wrong = issueCertificate({ commonName: 'other', use: 'authority', ...times }).cert
  await assert.rejects(
    dialThrough({ ...place, tls: { ca: wrong, ...client } })('127.0.0.1', port),
    /^Error: dialing proxy "127.0.0.1:\d+" failed: x509: /,
  )
})

test('a proxy with TLS is told the name by which it is known', async (t) => {
  const named = issueCertificate({ commonName: 'localhost', hosts: ['localhost'], use: 'server', ...times }, authority)
  const names: string[] = []
  const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
    names.push(name)
    done(null)
  }
  const proxy = await proxyOf(t, { tls: { ...named, SNICallback } })
  const dial = dialThrough({ kind: 'tcp', host: 'localhost', port: proxy.port, tls: { ca, ...client } })
  const socket = await dial('127.0.0.1', await secureServer(t))
  socket.destroy()
  assert.deepEqual(names, ['localhost'])
})

test('a tunnel behind which TLS cannot begin is closed, and whoever asked hears why', async (t) => {
  const [port, proxy] = [await secureServer(t), await proxyOf(t)]
  const sockets: Socket[] = []
  const dial: Dial = async (host, to) => {
    const socket = await throughTcp(proxy)(host, to)
    sockets.push(socket)
    return socket
  }
  // A key that is not that of the certificate.
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

test('a proxy has no more time than whoever asks has', async (t) => {
  const proxy = await proxyOf(t)
  proxy.answer = () => undefined
  const endpoint = parseEndpoint('http://127.0.0.1:1')
  await assert.rejects(connectSocket(endpoint, { tls: {}, timeoutMs: 50, dial: throughTcp(proxy) }), /i\/o timeout/)
})

test('what is not encrypted goes so, too', async (t) => {
  const port = await listening(
    t,
    createHttp((request, response) => request.resume().once('end', () => response.end('{"from":"plain"}'))),
  )
  const proxy = await proxyOf(t)
  assert.deepEqual(await askAll(t, `http://127.0.0.1:${port}/`, throughTcp(proxy)), Array(3).fill('{"from":"plain"}'))
  assert.equal(proxy.asked.length, 2)
})

const refusals: readonly { readonly what: string; readonly says: string; readonly why: RegExp }[] = [
  {
    what: 'says no',
    says: 'HTTP/1.1 403 Forbidden\r\n\r\n',
    why: /^proxy error from 127\.0\.0\.1:\d+ while dialing far:1, code 403: 403 Forbidden$/,
  },
  { what: 'says what is no answer', says: 'hello\r\n\r\n', why: /malformed HTTP response$/ },
  {
    what: 'says more than it was asked',
    says: 'HTTP/1.1 200 OK\r\n\r\nmore',
    why: /^unexpected 4 bytes of buffered data from CONNECT proxy/,
  },
  { what: 'does not come to an end', says: `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(1000)}`, why: /the head is too long$/ },
]
for (const { what, says, why } of refusals)
  test(`a proxy that ${what} is an error`, async (t) => {
    const proxy = await proxyOf(t)
    proxy.answer = (socket) => void socket.write(says)
    await assert.rejects(throughTcp(proxy, { timeoutMs: 60_000, mostBytes: 4096 })('far', 1), { message: why })
  })

test('a proxy that speaks a byte at a time is understood', async (t) => {
  const proxy = await proxyOf(t)
  proxy.answer = async (socket) => {
    for (const letter of `HTTP/1.1 200 ${'x'.repeat(200)}\r\nA: b\r\n\r\n`) {
      socket.write(letter)
      await new Promise(setImmediate)
    }
  }
  const socket = await throughTcp(proxy)('far', 1)
  socket.destroy()
})

test('a proxy that says nothing, hangs up or is not there is an error', async (t) => {
  const proxy = await proxyOf(t)
  proxy.answer = () => undefined
  await assert.rejects(throughTcp(proxy, { timeoutMs: 50, mostBytes: 4096 })('far', 1), /via proxy 127\.0\.0\.1:\d+ failed: i\/o timeout$/)
  proxy.answer = (socket) => void socket.destroy()
  await assert.rejects(throughTcp(proxy)('far', 1), /failed: (?:EOF|read: connection reset by peer)$/)
  await assert.rejects(
    dialThrough({ kind: 'tcp', host: '127.0.0.1', port: 1 })('far', 1),
    /^Error: dialing proxy "127\.0\.0\.1:1" failed: dial tcp/,
  )
  await assert.rejects(throughTcp(proxy)('far away\r\nX: y', 1), /is no address$/)
})

test('connections that are on their way count, and one that comes too late is closed', async (t) => {
  const [port, proxy] = [await secureServer(t), await proxyOf(t)]
  const endpoint = new JsonEndpoint(
    { url: `https://127.0.0.1:${port}/`, ca, dial: throughTcp(proxy) },
    { timeoutMs: 60_000, maxSockets: 2 },
  )
  const answers = await Promise.all(Array.from({ length: 10 }, () => endpoint.post({})))
  assert.ok(answers.every(({ status }) => status === 200) && proxy.asked.length <= 2, String(proxy.asked))
  endpoint.close()
  proxy.answer = () => undefined
  const late = new JsonEndpoint({ url: `https://127.0.0.1:${port}/`, ca, dial: throughTcp(proxy) }, { timeoutMs: 50 })
  await assert.rejects(late.post({}), /no answer within 50 ms/)
  late.close()
})
