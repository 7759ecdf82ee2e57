// Requests passed on to another server and back: both protocols of clients, and every way in which either side fails.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as requestHttps } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTls } from 'node:tls'
import { ask, authority, certificate, closing, dial, eventually, startBackend, startProxy, startTcp } from './proxy.fixture.js'
import type { UpstreamTls } from './upstream.js'

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

test('a request is passed on with its body, and without what is about the connection', async () => {
  const { url } = await startBackend(echo)
  const { port } = await startProxy(url)
  const body = Buffer.alloc(300_000, 'x')
  const headers = { 'X-Mine': '1', Connection: 'X-Secret, close', 'X-Secret': 's', TE: 'gzip', 'X-Forwarded-For': '10.1.1.1' }
  const got = await ask(port, '/a/b?c=d', { method: 'POST', headers, body })
  const seen = JSON.parse(got.body)
  assert.deepEqual([got.code, seen.method, seen.url, seen.bytes], [200, 'POST', '/a/b?c=d', body.length])
  assert.equal(seen.headers['x-mine'], '1')
  assert.equal(seen.headers['x-secret'], undefined)
  assert.equal(seen.headers.te, undefined)
  assert.equal(seen.headers['x-forwarded-for'], '10.1.1.1, 127.0.0.1')
  assert.equal(seen.headers.host, `127.0.0.1:${port}`)
  assert.equal(got.headers['keep-alive'], undefined)
  assert.equal(got.headers['x-own'], 'a, b')
})

test('clients of HTTP/2 are served the same', async () => {
  const { url } = await startBackend(echo)
  const { port } = await startProxy(url)
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })
  closing.push(() => session.destroy())
  const stream = session.request({ ':path': '/h2', ':method': 'PUT', cookie: 'a=b' })
  stream.end(Buffer.alloc(200_000))
  const [headers] = await once(stream, 'response')
  let text = ''
  for await (const chunk of stream) text += chunk
  const seen = JSON.parse(text)
  assert.deepEqual([headers[':status'], seen.method, seen.url, seen.bytes], [200, 'PUT', '/h2', 200_000])
  assert.equal(seen.headers.cookie, 'a=b')
  assert.equal(seen.headers.host, `127.0.0.1:${port}`)
})

test('headers that HTTP/2 allows once are passed on once', async () => {
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
  const answer = `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\nContent-Length: 2\r\n\r\nok`
  const { port } = await startProxy(await startTcp((socket) => socket.on('data', () => socket.write(answer))))
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })
  closing.push(() => session.destroy())
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
  // In HTTP/1.1 they stay as they came.
  const sent = requestHttps({ host: '127.0.0.1', port, ca: authority.cert, agent: false }).end()
  const [plain] = (await once(sent, 'response')) as [IncomingMessage]
  assert.equal(plain.resume().rawHeaders.filter((name) => /^content-type$/i.test(name)).length, 2)
})

test('the head and each part of a stream come as they are written', async () => {
  let finish = (): void => undefined
  const { url } = await startBackend((_request, response) => {
    response.flushHeaders()
    setTimeout(() => response.write('one'), 60)
    finish = () => response.end()
  })
  const { port } = await startProxy(url)
  const sent = requestHttps({ host: '127.0.0.1', port, ca: authority.cert, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const [chunk] = await once(response, 'data')
  assert.equal(String(chunk), 'one')
  finish()
  await once(response, 'end')
})

test('HEAD, 204 and 304 have no body, and redirects are not followed', async () => {
  const { url } = await startBackend((request, response) => {
    if (request.url === '/elsewhere') response.writeHead(302, { Location: 'http://10.255.255.1/' }).end()
    else if (request.url === '/nothing') response.writeHead(204).end()
    else response.writeHead(200, { 'Content-Length': 1000 }).end()
  })
  const { port } = await startProxy(url)
  const head = await ask(port, '/', { method: 'HEAD' })
  assert.deepEqual([head.code, head.headers['content-length'], head.body], [200, '1000', ''])
  const redirect = await ask(port, '/elsewhere')
  assert.deepEqual([redirect.code, redirect.headers.location], [302, 'http://10.255.255.1/'])
  assert.equal((await ask(port, '/nothing')).code, 204)
})

test('who cannot be reached is named in the words of the reference', async () => {
  const gone = await startTcp(() => undefined)
  const refused = new URL('http://127.0.0.1:1')
  assert.equal((await ask((await startProxy(refused)).port, '/')).body, 'dial tcp 127.0.0.1:1: connect: connection refused')
  const unknown = await ask((await startProxy(new URL('http://no-such-host.invalid'))).port, '/')
  assert.match(unknown.body, /^dial tcp: lookup no-such-host\.invalid: (no such host|server misbehaving)$/)
  const silent = await startProxy(gone, { limits: { headMs: 100 } })
  assert.equal((await ask(silent.port, '/')).body, 'net/http: timeout awaiting response headers')
  const closes = await startProxy(await startTcp((socket) => socket.once('data', () => socket.destroy())))
  assert.equal((await ask(closes.port, '/')).body, 'EOF')
})

test('a server that changes the protocol of its own accord has not answered', async () => {
  const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  const { port, ends } = await startProxy(await startTcp((socket) => socket.once('data', () => socket.write(head))))
  assert.equal((await ask(port, '/')).body, 'EOF')
  assert.deepEqual(ends, ['EOF'])
})

test('an answer whose code is none is no answer, whatever the client speaks', async () => {
  for (const code of ['099', '600', '999']) {
    const head = `HTTP/1.1 ${code} X\r\nContent-Length: 2\r\n\r\nok`
    const { port, ends } = await startProxy(await startTcp((socket) => socket.on('data', () => socket.write(head))))
    await ask(port, '/')
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })
    closing.push(() => session.destroy())
    const stream = session.request({ ':path': '/' })
    await once(stream, 'response')
    stream.resume()
    const why = `malformed HTTP status code "${Number(code)}"`
    assert.deepEqual(ends, [why, why])
  }
})

test('a slow client of HTTP/2 holds its server back as well', async () => {
  let written = 0
  const piece = Buffer.alloc(64 << 10)
  const { url } = await startBackend((_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(piece)) written += piece.length
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  const { port } = await startProxy(url)
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })
  closing.push(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  await once(stream, 'response')
  await sleep(400)
  const before = written
  await sleep(200)
  assert.equal(written, before, 'nothing more is taken')
  assert.ok(written < 24 << 20, `${written} bytes are on their way`)
  stream.destroy()
})

test('certificates of the other server are checked, by the name that was said', async () => {
  const server = createTls({ cert: certificate.cert, key: certificate.key }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  })
  server.on('tlsClientError', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => server.close())
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const answerWith = async (tls: UpstreamTls): Promise<string> => (await ask((await startProxy(url, { tls })).port, '/')).body
  assert.equal(await answerWith({}), 'x509: certificate signed by unknown authority')
  assert.equal(await answerWith({ insecure: true }), 'ok')
  assert.equal(await answerWith({ ca: authority.cert }), 'ok')
  assert.equal(await answerWith({ ca: authority.cert, serverName: 'localhost' }), 'ok')
  assert.match(
    await answerWith({ ca: authority.cert, serverName: 'other' }),
    /^x509: certificate is valid for localhost, 127\.0\.0\.1, not /,
  )
})

test('headers of an answer that do not end are not waited for', async () => {
  const url = await startTcp((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const more = setInterval(() => socket.write(`X-More: ${'x'.repeat(4000)}\r\n`), 1)
    socket.once('close', () => clearInterval(more))
  })
  const { port } = await startProxy(url)
  assert.match((await ask(port, '/')).body, /^net\/http: /)
  const slowly = await startTcp((socket) => {
    const more = setInterval(() => socket.write('H'), 20)
    socket.once('close', () => clearInterval(more))
  })
  const patient = await startProxy(slowly, { limits: { headMs: 200 } })
  assert.equal((await ask(patient.port, '/')).code, 503)
})

test('an answer that breaks off looks broken', async () => {
  const { url } = await startBackend((_request, response) => {
    response.write('half')
    setTimeout(() => response.destroy(), 30)
  })
  const { port, ends } = await startProxy(url)
  await assert.rejects(ask(port, '/'), /aborted|socket hang up/)
  await eventually(() => ends.length === 1, 'the request is over')
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })
  closing.push(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  stream.resume()
  await assert.rejects(once(stream, 'end'), /stream closed with error/i)
})

test('who goes is not served any more, before and in the middle of an answer', async () => {
  let open = 0
  const { url } = await startBackend((request, response) => {
    open++
    response.once('close', () => open--)
    if (request.url === '/stream') response.write('x')
  })
  const { port, ends } = await startProxy(url)
  for (const path of ['/never', '/stream']) {
    const socket = await dial(port)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await eventually(() => open === 1, 'the request arrived')
    socket.destroy()
    await eventually(() => open === 0, `${path} was given up`)
  }
  await eventually(() => ends.length === 2, 'both are over')
})

test('a kept connection that was closed meanwhile is not taken for a server that is away', async () => {
  let connections = 0
  const url = await startTcp((socket) => {
    const mine = ++connections
    let requests = 0
    socket.on('data', () => {
      requests++
      // The first connection answers once and then closes as soon as it is used again.
      if (mine === 1 && requests === 2) socket.destroy()
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  const { port } = await startProxy(url)
  assert.equal((await ask(port, '/')).body, 'ok')
  assert.equal((await ask(port, '/')).body, 'ok')
  assert.equal(connections, 2)
})

test('a server that goes on after its response loses the connection, so that nobody else gets what follows', async () => {
  const answer = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const sockets: Socket[] = []
  const url = await startTcp((socket) => {
    sockets.push(socket)
    const body = sockets.length === 1 ? 'first' : 'own'
    socket.on('data', () => socket.write(answer(body)))
  })
  const { port } = await startProxy(url)
  assert.equal((await ask(port, '/')).body, 'first')
  // A second response: its first part would be lost, and the rest taken for the next response.
  sockets[0]?.write(`${answer('lost')}HTTP/1.1 200 OK\r\ncontent-`)
  await eventually(() => sockets[0]?.destroyed === true, 'the connection is still open')
  assert.equal((await ask(port, '/')).body, 'own')
})

test('a slow client holds its server back, and not memory', async () => {
  let written = 0
  const piece = Buffer.alloc(64 << 10)
  const { url } = await startBackend((_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(piece)) written += piece.length
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  const { port } = await startProxy(url)
  const socket = await dial(port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  socket.pause()
  await sleep(400)
  const before = written
  await sleep(200)
  assert.equal(written, before, 'nothing more is taken')
  assert.ok(written < 24 << 20, `${written} bytes are on their way`)
  socket.destroy()
})

test('a slow server holds its client back', async () => {
  const { url } = await startBackend((request) => void request.pause())
  const { port } = await startProxy(url)
  const socket = await dial(port)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n')
  const piece = Buffer.alloc(1 << 20)
  let written = 0
  const more = (): void => {
    while (socket.write(piece)) written += piece.length
    socket.once('drain', more)
  }
  more()
  await sleep(500)
  const before = written
  await sleep(200)
  assert.equal(written, before)
  assert.ok(written < 24 << 20, `${written} bytes are on their way`)
  socket.destroy()
})

test('a plain server is spoken to without encryption', async () => {
  const { url } = await startBackend(echo)
  const sent = requestHttp(url).end()
  const [response] = await once(sent, 'response')
  assert.equal(response.statusCode, 200)
  response.resume()
})
