// The reverse proxy: both client protocols, headers, back-pressure, and failures of either side.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as requestHttps } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTls } from 'node:tls'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import type { UpstreamTls } from '../outbound/open-socket.js'
import { authority, certificate, cleanups, dial, sendRequest, startBackend, startProxy, startTcp } from './proxy.fixture.js'

const echo = (request: IncomingMessage, response: ServerResponse): void => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    response.setHeader('Keep-Alive', 'timeout=7')
    response.setHeader('X-Own', ['a', 'b'])
    response.end(
      JSON.stringify({ method: request.method, url: request.url, headers: request.headers, bytes: Buffer.concat(chunks).length }),
    )
  })
}

test('request and body are forwarded without hop-by-hop headers', async () => {
  const { url } = await startBackend(echo)
  const { port } = await startProxy(url)
  const body = Buffer.alloc(300_000, 'x')
  const headers = { 'X-Mine': '1', Connection: 'X-Secret, close', 'X-Secret': 's', TE: 'gzip', 'X-Forwarded-For': '10.1.1.1' }
  const reply = await sendRequest(port, '/a/b?c=d', { method: 'POST', headers, body })
  const forwarded = JSON.parse(reply.body)
  assert.deepEqual([reply.code, forwarded.method, forwarded.url, forwarded.bytes], [200, 'POST', '/a/b?c=d', body.length])
  assert.equal(forwarded.headers['x-mine'], '1')
  assert.equal(forwarded.headers['x-secret'], undefined)
  assert.equal(forwarded.headers.te, undefined)
  assert.equal(forwarded.headers['x-forwarded-for'], '10.1.1.1, 127.0.0.1')
  assert.equal(forwarded.headers.host, `127.0.0.1:${port}`)
  assert.equal(reply.headers['keep-alive'], undefined)
  assert.equal(reply.headers['x-own'], 'a, b')
})

test('HTTP/2 clients are served the same', async () => {
  const { url } = await startBackend(echo)
  const { port } = await startProxy(url)
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })
  cleanups.push(() => session.destroy())
  const stream = session.request({ ':path': '/h2', ':method': 'PUT', cookie: 'a=b' })
  stream.end(Buffer.alloc(200_000))
  const [headers] = await once(stream, 'response')
  let text = ''
  for await (const chunk of stream) text += chunk
  const forwarded = JSON.parse(text)
  assert.deepEqual([headers[':status'], forwarded.method, forwarded.url, forwarded.bytes], [200, 'PUT', '/h2', 200_000])
  assert.equal(forwarded.headers.cookie, 'a=b')
  assert.equal(forwarded.headers.host, `127.0.0.1:${port}`)
})

test('headers that HTTP/2 allows once are not duplicated', async () => {
  const lines = [
    'Content-Type: a/b',
    'content-type: c/d',
    'Content-Encoding: x',
    'Content-Encoding: y',
    'X-Own: 1',
    'X-Own: 2',
    'ETag: e',
    'ETag: f',
  ]
  const response = `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\nContent-Length: 2\r\n\r\nok`
  const { port } = await startProxy(await startTcp((socket) => socket.on('data', () => socket.write(response))))
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })
  cleanups.push(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  const [headers] = await once(stream, 'response')
  let text = ''
  for await (const chunk of stream) text += chunk
  assert.equal(text, 'ok')
  const names = ['content-type', 'content-encoding', 'x-own', 'etag']
  assert.deepEqual(
    names.map((name) => headers[name]),
    ['a/b', 'x, y', '1, 2', 'e'],
  )
  // HTTP/1.1 clients get them as received.
  const request = requestHttps({ host: '127.0.0.1', port, ca: authority.cert, agent: false }).end()
  const [http1Response] = (await once(request, 'response')) as [IncomingMessage]
  assert.equal(http1Response.resume().rawHeaders.filter((name) => /^content-type$/i.test(name)).length, 2)
})

test('head and chunks of a stream are forwarded without delay', async () => {
  let finish = (): void => undefined
  const { url } = await startBackend((_request, response) => {
    response.flushHeaders()
    setTimeout(() => response.write('one'), 60)
    finish = () => response.end()
  })
  const { port } = await startProxy(url)
  const request = requestHttps({ host: '127.0.0.1', port, ca: authority.cert, agent: false }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const [chunk] = await once(response, 'data')
  assert.equal(String(chunk), 'one')
  finish()
  await once(response, 'end')
})

test('HEAD, 204 and 304 have no body, and redirects are not followed', async () => {
  const { url } = await startBackend((request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { Location: 'http://10.255.255.1/' }).end()
    else if (request.url === '/empty') response.writeHead(204).end()
    else response.writeHead(200, { 'Content-Length': 1000 }).end()
  })
  const { port } = await startProxy(url)
  const head = await sendRequest(port, '/', { method: 'HEAD' })
  assert.deepEqual([head.code, head.headers['content-length'], head.body], [200, '1000', ''])
  const redirect = await sendRequest(port, '/redirect')
  assert.deepEqual([redirect.code, redirect.headers.location], [302, 'http://10.255.255.1/'])
  assert.equal((await sendRequest(port, '/empty')).code, 204)
})

test('connection errors have the messages of kube-apiserver', async () => {
  const unresponsive = await startTcp(() => undefined)
  const refused = new URL('http://127.0.0.1:1')
  assert.equal((await sendRequest((await startProxy(refused)).port, '/')).body, 'dial tcp 127.0.0.1:1: connect: connection refused')
  const unknown = await sendRequest((await startProxy(new URL('http://no-such-host.invalid'))).port, '/')
  assert.match(unknown.body, /^dial tcp: lookup no-such-host\.invalid: (no such host|server misbehaving)$/)
  const silent = await startProxy(unresponsive, { limits: { headMs: 100 } })
  assert.equal((await sendRequest(silent.port, '/')).body, 'net/http: timeout awaiting response headers')
  const closes = await startProxy(await startTcp((socket) => socket.once('data', () => socket.destroy())))
  assert.equal((await sendRequest(closes.port, '/')).body, 'EOF')
})

test('an unrequested 101 is an error', async () => {
  const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  const { port, outcomes } = await startProxy(await startTcp((socket) => socket.once('data', () => socket.write(head))))
  assert.equal((await sendRequest(port, '/')).body, 'EOF')
  assert.deepEqual(outcomes, ['EOF'])
})

test('an invalid status code is an error for both client protocols', async () => {
  for (const code of ['099', '600', '999']) {
    const head = `HTTP/1.1 ${code} X\r\nContent-Length: 2\r\n\r\nok`
    const { port, outcomes } = await startProxy(await startTcp((socket) => socket.on('data', () => socket.write(head))))
    await sendRequest(port, '/')
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })
    cleanups.push(() => session.destroy())
    const stream = session.request({ ':path': '/' })
    await once(stream, 'response')
    stream.resume()
    const message = `malformed HTTP status code "${Number(code)}"`
    assert.deepEqual(outcomes, [message, message])
  }
})

/** A proxy with a backend that writes until back-pressure stops it. */
async function startEndlessBackend(): Promise<{ readonly port: number; readonly written: () => number }> {
  let written = 0
  const block = Buffer.alloc(64 << 10)
  const { url } = await startBackend((_request, response) => {
    const writeMore = (): void => {
      while (!response.destroyed && response.write(block)) written += block.length
      if (!response.destroyed) response.once('drain', writeMore)
    }
    writeMore()
  })
  const { port } = await startProxy(url)
  return { port, written: () => written }
}

/** Waits until nothing more is written: a busy machine takes its time. */
async function untilBackPressure(written: () => number): Promise<void> {
  for (let before = -1; written() !== before; ) {
    before = written()
    await sleep(200)
    assert.ok(written() < 24 << 20, `${written()} bytes are buffered`)
  }
}

test('back-pressure of an HTTP/2 client reaches the backend', async () => {
  const { port, written } = await startEndlessBackend()
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })
  cleanups.push(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  await once(stream, 'response')
  await untilBackPressure(written)
  stream.destroy()
})

test('the backend certificate is checked, by serverName if given', async () => {
  const server = createTls({ cert: certificate.cert, key: certificate.key }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  })
  server.on('tlsClientError', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanups.push(() => server.close())
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const responseWith = async (tls: UpstreamTls): Promise<string> => (await sendRequest((await startProxy(url, { tls })).port, '/')).body
  assert.equal(await responseWith({}), 'x509: certificate signed by unknown authority')
  assert.equal(await responseWith({ insecure: true }), 'ok')
  assert.equal(await responseWith({ ca: authority.cert }), 'ok')
  assert.equal(await responseWith({ ca: authority.cert, serverName: 'localhost' }), 'ok')
  assert.match(
    await responseWith({ ca: authority.cert, serverName: 'other' }),
    /^x509: certificate is valid for localhost, 127\.0\.0\.1, not /,
  )
})

test('endless and slow response headers are errors', async () => {
  const url = await startTcp((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write(`X-More: ${'x'.repeat(4000)}\r\n`), 1)
    socket.once('close', () => clearInterval(timer))
  })
  const { port } = await startProxy(url)
  assert.match((await sendRequest(port, '/')).body, /^net\/http: /)
  const slowly = await startTcp((socket) => {
    const timer = setInterval(() => socket.write('H'), 20)
    socket.once('close', () => clearInterval(timer))
  })
  const proxy = await startProxy(slowly, { limits: { headMs: 200 } })
  assert.equal((await sendRequest(proxy.port, '/')).code, 503)
})

test('a broken response is broken for the client as well', async () => {
  const { url } = await startBackend((_request, response) => {
    response.write('half')
    setTimeout(() => response.destroy(), 30)
  })
  const { port, outcomes } = await startProxy(url)
  await assert.rejects(sendRequest(port, '/'), /aborted|socket hang up/)
  await until(() => outcomes.length === 1)
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })
  cleanups.push(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  stream.resume()
  await assert.rejects(once(stream, 'end'), /stream closed with error/i)
})

test('a client disconnect aborts the backend request, before and within a response', async () => {
  let open = 0
  const { url } = await startBackend((request, response) => {
    open++
    response.once('close', () => open--)
    if (request.url === '/stream') response.write('x')
  })
  const { port, outcomes } = await startProxy(url)
  for (const path of ['/never', '/stream']) {
    const socket = await dial(port)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await until(() => open === 1)
    socket.destroy()
    await until(() => open === 0)
  }
  await until(() => outcomes.length === 2)
})

test('a request is retried if an idle connection was closed', async () => {
  let connections = 0
  const url = await startTcp((socket) => {
    const connection = ++connections
    let requests = 0
    socket.on('data', () => {
      requests++
      // The first connection is closed when it is used again.
      if (connection === 1 && requests === 2) socket.destroy()
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  const { port } = await startProxy(url)
  assert.equal((await sendRequest(port, '/')).body, 'ok')
  assert.equal((await sendRequest(port, '/')).body, 'ok')
  assert.equal(connections, 2)
})

test('bytes after a response close the connection, so that no other request gets them', async () => {
  const responseOf = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const sockets: Socket[] = []
  const url = await startTcp((socket) => {
    sockets.push(socket)
    const body = sockets.length === 1 ? 'first' : 'own'
    socket.on('data', () => socket.write(responseOf(body)))
  })
  const { port } = await startProxy(url)
  assert.equal((await sendRequest(port, '/')).body, 'first')
  // A second response, of which the rest could be taken for the next one.
  sockets[0]?.write(`${responseOf('lost')}HTTP/1.1 200 OK\r\ncontent-`)
  await until(() => sockets[0]?.destroyed === true)
  assert.equal((await sendRequest(port, '/')).body, 'own')
})

test('back-pressure of an HTTP/1.1 client reaches the backend', async () => {
  const { port, written } = await startEndlessBackend()
  const socket = await dial(port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  socket.pause()
  await untilBackPressure(written)
  socket.destroy()
})

test('back-pressure of the backend reaches the client', async () => {
  const { url } = await startBackend((request) => void request.pause())
  const { port } = await startProxy(url)
  const socket = await dial(port)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n')
  const block = Buffer.alloc(1 << 20)
  let written = 0
  const writeMore = (): void => {
    while (socket.write(block)) written += block.length
    socket.once('drain', writeMore)
  }
  writeMore()
  await untilBackPressure(() => written)
  socket.destroy()
})

test('http URLs are requested without TLS', async () => {
  const { url } = await startBackend(echo)
  const request = requestHttp(url).end()
  const [response] = await once(request, 'response')
  assert.equal(response.statusCode, 200)
  response.resume()
})
