// The TLS port over real sockets: both protocols, limits, client certificates, certificate renewal and graceful shutdown.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent, get } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { after, test } from 'node:test'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import { issueCertificate } from '../tls/issue-certificate.js'
import type { RequestListener } from './http-messages.js'
import { type Listener, type ListenOptions, listen } from './listen.js'
import { ListenError } from './listen-error.js'

const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'ca', use: 'authority', ...validity }), commonName: 'ca' }
const serverCertificate = (name: string) =>
  issueCertificate({ commonName: name, hosts: ['localhost', '127.0.0.1', '::1'], use: 'server', ...validity }, authority)
const certificate = serverCertificate('first')
const listeners: Listener[] = []
after(() => Promise.all(listeners.map((listener) => listener.close())))

async function start(serve: RequestListener, options: Partial<ListenOptions> = {}): Promise<Listener> {
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate, ...options }, serve)
  listeners.push(listener)
  return listener
}

const echo: RequestListener = (request, response) => void response.end(`${request.method} ${request.url} ${request.httpVersion}`)

async function getHttp1(port: number, path = '/', agent: Agent | false = false): Promise<string> {
  const request = get({ host: '127.0.0.1', port, path, ca: authority.cert, agent })
  const [response] = await once(request, 'response')
  let body = ''
  for await (const chunk of response) body += chunk
  return body
}

async function getHttp2(session: ClientHttp2Session, path = '/'): Promise<string> {
  const stream = session.request({ ':path': path })
  let body = ''
  for await (const chunk of stream) body += chunk
  return body
}

async function dial(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: authority.cert, ALPNProtocols: ['http/1.1'], ...options })
  await once(socket, 'secureConnect')
  return socket
}

async function readAll(socket: TLSSocket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => (text += chunk))
  socket.on('error', () => undefined)
  if (!socket.closed) await once(socket, 'close')
  return text
}

const http2To = (port: number): ClientHttp2Session => connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert })

test('HTTP/1.1 and HTTP/2 on one port', async () => {
  const { port, address } = await start(echo)
  assert.equal(address, '127.0.0.1')
  assert.equal(await getHttp1(port, '/a?b'), 'GET /a?b 1.1')
  const session = http2To(port)
  assert.equal(await getHttp2(session, '/a?b'), 'GET /a?b 2.0')
  assert.equal(session.remoteSettings.maxConcurrentStreams, 250)
  session.close()
})

test('connections beyond the limit are closed', async () => {
  const { port } = await start(echo, { limits: { maxConnections: 20 } })
  const sockets = Array.from({ length: 200 }, () =>
    connectTls({ host: '127.0.0.1', port, ca: authority.cert }).on('error', () => undefined),
  )
  const ends = await Promise.all(
    sockets.map((socket) =>
      Promise.race([once(socket, 'secureConnect').then(() => 'open'), once(socket, 'close').then(() => 'closed')]).catch(() => 'closed'),
    ),
  )
  assert.equal(ends.filter((end) => end === 'open').length, 20)
  for (const socket of sockets) socket.destroy()
})

test('silent connections in all handshake slots are evicted for other clients', async () => {
  const { port } = await start(echo, { limits: { maxHandshakes: 4 } })
  const silent = Array.from({ length: 4 }, () => connectTcp(port, '127.0.0.1'))
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  assert.equal(await getHttp1(port, '/late'), 'GET /late 1.1')
  assert.equal(await getHttp1(port, '/later'), 'GET /later 1.1')
  for (const socket of silent) socket.destroy()
})

test('a client without ALPN gets HTTP/1.1', async () => {
  const { port } = await start(echo)
  const socket = connectTls({ host: '127.0.0.1', port, ca: authority.cert })
  socket.write('GET /plain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  assert.match(await readAll(socket), /^HTTP\/1\.1 200 OK[\s\S]*GET \/plain 1\.1/)
})

const longValue = 'x'.repeat(2000)
for (const row of [
  {
    name: 'headers too long',
    send: `GET / HTTP/1.1\r\nHost: x\r\nA: ${longValue}\r\n\r\n`,
    limits: { maxHeaderBytes: 1000 },
    response: /^HTTP\/1\.1 431 /,
  },
  { name: 'not HTTP', send: 'hello\r\n\r\n', limits: {}, response: /^HTTP\/1\.1 400 / },
  { name: 'headers too slow', send: 'GET / HTTP/1.1\r\nHost: x\r\n', limits: { headersMs: 100 }, response: /^HTTP\/1\.1 408 / },
  {
    name: 'body too slow',
    send: 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab',
    limits: { requestMs: 100 },
    response: /^HTTP\/1\.1 408 /,
  },
  { name: 'an idle connection', send: 'GET /last HTTP/1.1\r\nHost: x\r\n\r\n', limits: { idleMs: 50 }, response: /^HTTP\/1\.1 200 / },
]) {
  test(`connection closed: ${row.name}`, async () => {
    const serve: RequestListener = (request, response) => void (request.method === 'POST' ? undefined : response.end())
    const { port } = await start(serve, { limits: { ...row.limits, ...(row.limits.requestMs ? { headersMs: 100 } : {}) } })
    const socket = await dial(port)
    socket.write(row.send)
    assert.match(await readAll(socket), row.response)
  })
}

test('timeouts of requests do not end a slow response', async () => {
  const { port } = await start((_, response) => void setTimeout(() => response.end('late'), 300), {
    limits: { headersMs: 50, requestMs: 50, idleMs: 50 },
  })
  assert.equal(await getHttp1(port), 'late')
  const session = http2To(port)
  assert.equal(await getHttp2(session), 'late')
  session.close()
})

const longHeaders = (count: number, bytes: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, 'x'.repeat(bytes)]))

test('headers of 50 KB pass, more than 64 KiB or 256 of them do not', async () => {
  const { port } = await start((request, response) => void response.end(`${JSON.stringify(request.headers).length}`.padStart(6)))
  // Node.js closes the connection with its response, which a client that is still sending may miss.
  const http1 = async (headers: Record<string, string>): Promise<number> => {
    const responded = once(get({ host: '127.0.0.1', port, ca: authority.cert, agent: false, headers }), 'response')
    const [response] = await responded.catch(() => [{ statusCode: 431, resume: () => undefined }])
    response.resume()
    return response.statusCode
  }
  assert.equal(await http1(longHeaders(1, 50_000)), 200)
  assert.equal(await http1(longHeaders(2, 40_000)), 431)
  assert.equal(await http1(longHeaders(200, 1)), 200)
  assert.equal(await http1(longHeaders(300, 1)), 431)
  assert.equal(await http1(longHeaders(20, 33_000)), 431)
  assert.equal(await http1(longHeaders(2560, 1)), 431)
  const isServed = (headers: Record<string, string>): Promise<boolean> => {
    const session = http2To(port)
    const stream = session.request({ ':path': '/', ...headers })
    return new Promise((resolve) => {
      stream.on('error', () => undefined).resume()
      stream.once('response', () => resolve(true))
      stream.once('close', () => resolve(false))
    }).finally(() => session.destroy()) as Promise<boolean>
  }
  assert.equal(await isServed(longHeaders(1, 50_000)), true)
  assert.equal(await isServed(longHeaders(2, 40_000)), false)
  assert.equal(await isServed(longHeaders(300, 1)), false)
  assert.equal(await isServed(longHeaders(20, 33_000)), false)
  assert.equal(await isServed(longHeaders(2560, 1)), false)
})

test('an HTTP/2 rapid reset attack leaks no file descriptor', { timeout: 120_000 }, async () => {
  const { port } = await start(echo)
  const descriptors = (): number => readdirSync('/proc/self/fd').length
  const before = descriptors()
  const frame = (type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer => {
    const head = Buffer.alloc(9)
    head.writeUIntBE(payload.length, 0, 3)
    head[3] = type
    head[4] = flags
    head.writeUInt32BE(stream, 5)
    return Buffer.concat([head, payload])
  }
  const field = (name: string, value: string): Buffer =>
    Buffer.from(`\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`, 'latin1')
  const headers = Buffer.concat([field(':method', 'GET'), field(':path', '/'), field(':scheme', 'https'), field(':authority', 'x')])
  const resets = Array.from({ length: 2000 }, (_, i) => [
    frame(1, 5, 2 * i + 1, headers),
    frame(3, 0, 2 * i + 1, Buffer.from([0, 0, 0, 8])),
  ])
  const attack = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0), ...resets.flat()])
  for (let i = 0; i < 10; i++) {
    const socket = connectTls({ host: '127.0.0.1', port, ca: authority.cert, ALPNProtocols: ['h2'] })
    socket.on('error', () => undefined).resume()
    await once(socket, 'secureConnect')
    await new Promise((resolve) => socket.write(attack, resolve))
    socket.destroy()
  }
  await until(() => descriptors() <= before, 100)
})

test('an idle HTTP/2 connection is closed', async () => {
  const { port } = await start(echo, { limits: { idleMs: 50 } })
  const session = http2To(port)
  await getHttp2(session)
  if (!session.closed) await once(session, 'close')
})

test('goawayChance 1: the response is sent, and the session is closed with GOAWAY', async () => {
  const { port } = await start(echo, { limits: { goawayChance: 1 } })
  const session = http2To(port)
  const goaway = once(session, 'goaway')
  assert.equal(await getHttp2(session), 'GET / 2.0')
  await goaway
})

test('plain HTTP, an aborted handshake and a reset do not stop the server', async () => {
  const { port } = await start(echo)
  const plaintext = connectTcp(port, '127.0.0.1')
  plaintext.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(plaintext.resume(), 'close')
  const reset = await dial(port)
  reset.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nab')
  reset.destroy()
  const session = http2To(port)
  session.on('error', () => undefined)
  await once(session, 'connect')
  session.destroy()
  assert.equal(await getHttp1(port), 'GET / 1.1')
})

for (const row of [
  { name: 'requested with a client CA', clientCa: authority.cert, expectedName: 'jane' },
  { name: 'not requested without a client CA', clientCa: undefined, expectedName: 'no certificate' },
]) {
  test(`client certificate: ${row.name}`, async () => {
    const serve: RequestListener = (request, response) => {
      const peer = (request.socket as TLSSocket).getPeerCertificate()
      response.end(String(peer?.subject?.CN ?? 'no certificate'))
    }
    const { port } = await start(serve, row.clientCa === undefined ? {} : { clientCa: row.clientCa })
    const client = issueCertificate({ commonName: 'jane', organizations: ['devs'], use: 'client', ...validity }, authority)
    const socket = await dial(port, client)
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    assert.match(await readAll(socket), new RegExp(`${row.expectedName}$|${row.expectedName}\r\n`))
    assert.match(await getHttp1(port), /no certificate/)
  })
}

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`client certificate: verified on every connection, ${version}`, async () => {
    const serve: RequestListener = (request, response) => {
      const socket = request.socket as TLSSocket
      response.end(`authorized ${socket.authorized}, reused ${socket.isSessionReused()}`)
    }
    const listener = await start(serve, { clientCa: authority.cert })
    const client = issueCertificate({ commonName: 'jane', use: 'client', ...validity }, authority)
    let session: Buffer | undefined
    const verified = async (): Promise<string> => {
      const socket = await dial(listener.port, {
        ...client,
        minVersion: version,
        maxVersion: version,
        ...(session === undefined ? {} : { session }),
      })
      session = socket.getSession() ?? session
      socket.on('session', (newest) => {
        session = newest
      })
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      return (await readAll(socket)).split('\r\n').at(-1) ?? ''
    }
    assert.equal(await verified(), 'authorized true, reused false')
    assert.equal(await verified(), 'authorized true, reused false')
    listener.setClientCa(issueCertificate({ commonName: 'other', use: 'authority', ...validity }).cert)
    assert.equal(await verified(), 'authorized false, reused false')
  })
}

test('new connections get the new certificate; an invalid one is refused', async () => {
  const listener = await start(echo)
  const subject = async () => {
    const socket = await dial(listener.port)
    const { subject } = socket.getPeerCertificate()
    socket.destroy()
    return subject.CN
  }
  assert.equal(await subject(), 'first')
  listener.setCertificate(serverCertificate('second'))
  assert.equal(await subject(), 'second')
  assert.throws(() => listener.setCertificate({ cert: certificate.cert, key: authority.key }))
  assert.equal(await subject(), 'second')
})

test('close waits for open requests of both protocols, and refuses new connections', async () => {
  const release: (() => void)[] = []
  const { port, ...listener } = await start((_, response) => void release.push(() => response.end('done')))
  const agent = new Agent({ keepAlive: true })
  const session = http2To(port)
  const responses = [getHttp1(port, '/', agent), getHttp2(session)]
  await until(() => release.length >= 2)
  const closed = listener.close({ graceMs: 60_000 })
  await assert.rejects(getHttp1(port), { code: 'ECONNREFUSED' })
  for (const end of release) end()
  assert.deepEqual(await Promise.all(responses), ['done', 'done'])
  const begun = performance.now()
  await closed
  assert.ok(performance.now() - begun < 50_000)
  agent.destroy()
})

test('close cuts off requests and handshakes after the grace period', async () => {
  const listener = await start(() => undefined)
  const hanging = connectTcp(listener.port, '127.0.0.1')
  await once(hanging, 'connect')
  const request = assert.rejects(getHttp1(listener.port), /socket hang up|ECONNRESET/)
  await new Promise((resolve) => setTimeout(resolve, 30))
  await listener.close({ graceMs: 30 })
  await request
  hanging.destroy()
})

test('a port in use is a ListenError with an explanation', async () => {
  const { port } = await start(echo)
  await assert.rejects(
    start(echo, { port }),
    (error: Error) => error instanceof ListenError && /^port \d+ of 127\.0\.0\.1 is in use/.test(error.message),
  )
  await assert.rejects(start(echo, { host: '192.0.2.1' }), /192\.0\.2\.1 is not an address of this machine/)
})

test('an HTTP/2 stream with an unread body ends with its response', async () => {
  const listener = await start((request, response) => {
    if (request.url === '/read') request.resume().once('end', () => response.end('read'))
    // Node.js itself ends streams of which nothing was read.
    else request.once('data', () => response.end('refused'))
  })
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { ca: authority.cert })
  after(() => session.destroy())
  const codes = new Map<number, number>()
  // More than may be open concurrently.
  for (let i = 0; i < 4; i++) {
    const streams = Array.from({ length: 100 }, () => session.request({ ':method': 'POST', ':path': '/' }, { endStream: false }))
    const bodies = await Promise.all(
      streams.map(async (stream) => {
        stream.on('error', () => undefined)
        stream.write(Buffer.alloc(20_000))
        let body = ''
        stream.on('data', (chunk) => (body += chunk))
        await once(stream, 'close')
        codes.set(stream.rstCode, (codes.get(stream.rstCode) ?? 0) + 1)
        return body
      }),
    )
    assert.deepEqual([...new Set(bodies)], ['refused'])
  }
  assert.deepEqual([...codes], [[0, 400]])
  const stream = session.request({ ':method': 'POST', ':path': '/read' }, { endStream: false })
  stream.end('all of it')
  let body = ''
  for await (const chunk of stream) body += chunk
  assert.equal(body, 'read')
})

test('an endless body after the response closes the connection; a finite one keeps it', async () => {
  const { port } = await start((_request, response) => void response.writeHead(403).end('no'))
  const head = (length: string): string => `POST / HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`
  const block = Buffer.alloc(65_536, 'x')
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')])
  const endless = [
    ['Transfer-Encoding: chunked', chunk],
    ['Content-Length: 100000000000', block],
  ] as const
  for (const [length, data] of endless) {
    const socket = await dial(port)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => undefined).resume()
    socket.write(head(length))
    const writeMore = (): void => {
      while (!socket.destroyed && socket.write(data));
      if (!socket.destroyed) socket.once('drain', writeMore)
    }
    writeMore()
    await closed
  }
  const finite = await dial(port)
  let received = ''
  finite.on('data', (bytes) => (received += bytes))
  for (let i = 0; i < 2; i++) {
    finite.write(head('Transfer-Encoding: chunked'))
    for (let n = 0; n < 48; n++) finite.write(chunk)
    finite.write('0\r\n\r\n')
  }
  await until(() => received.split('HTTP/1.1 403').length >= 3)
  finite.destroy()
})
