// JSON endpoints: what is sent, how connections are shared, and what happens if a server sends too much, nothing, or closes.

import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import { authority, certificate } from '../proxy/proxy.fixture.js'
import { ResponseTimeoutError } from './http-client.js'
import { type EndpointLimits, type EndpointSettings, JsonEndpoint, type PostOptions } from './json-endpoint.js'

const ok = (body: string, headers = ''): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`

interface Fixture {
  readonly endpoint: JsonEndpoint
  /** In the order of acceptance. */
  readonly sockets: Socket[]
  readonly received: string[]
  post(text: string, options?: PostOptions): Promise<string>
}

interface FixtureOptions extends Partial<EndpointLimits> {
  readonly isTls?: boolean
  readonly settings?: Partial<EndpointSettings>
}

/** `respond` is called with each request body; requests are small enough to come in one read each. */
async function fixture(
  t: TestContext,
  respond: (socket: Socket, text: string) => void,
  { isTls = false, settings = {}, ...limits }: FixtureOptions = {},
): Promise<Fixture> {
  const sockets: Socket[] = []
  const received: string[] = []
  const accept = (socket: Socket): void => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    let pending = ''
    socket.on('data', (bytes: Buffer) => {
      pending += bytes.toString()
      const [head = '', body] = pending.split('\r\n\r\n', 2)
      if (body === undefined || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1])) return
      received.push(pending)
      pending = ''
      respond(socket, JSON.parse(body) as string)
    })
  }
  const server = isTls ? createTlsServer({ ...certificate, ALPNProtocols: ['http/1.1'] }, accept) : createServer(accept)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `${isTls ? 'https' : 'http'}://127.0.0.1:${port}/path?a=b`
  const endpoint = new JsonEndpoint({ url, ca: authority.cert, ...settings }, { timeoutMs: 60_000, ...limits })
  t.after(() => {
    endpoint.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    endpoint,
    sockets,
    received,
    post: async (text, options) => (await endpoint.post(JSON.stringify(text), options)).body.toString(),
  }
}

const echo = (socket: Socket, text: string): void => void socket.write(ok(text))

test('headers and body are sent, status, body and Retry-After come back, over one connection', async (t) => {
  const respond = (socket: Socket): unknown => socket.write('HTTP/1.1 201 Created\r\nretry-after: 3\r\ncontent-length: 2\r\n\r\n{}')
  const { endpoint, sockets, received } = await fixture(t, respond, { settings: { authorization: () => 'Bearer x', userAgent: 'agent' } })
  for (let i = 0; i < 3; i++) {
    const { status, body, retryAfter } = await endpoint.post({ i })
    assert.deepEqual([status, retryAfter, body.toString()], [201, 3, '{}'])
  }
  assert.equal(sockets.length, 1)
  for (const line of ['POST /path?a=b HTTP/1.1', 'User-Agent: agent', 'Content-Type: application/json', 'Authorization: Bearer x'])
    assert.ok(received[2]?.includes(`${line}\r\n`), line)
  assert.ok(received[2]?.endsWith('\r\n\r\n{"i":2}'))
})

test('requests share connections up to the limit, and others wait', async (t) => {
  const pending: (() => void)[] = []
  const respond = (socket: Socket, text: string): void =>
    text.startsWith('hold') ? void pending.push(() => echo(socket, text)) : echo(socket, text)
  const { sockets, post } = await fixture(t, respond, { maxSockets: 2 })
  const texts = ['hold1', 'hold2', 'third', 'fourth']
  const responses = texts.map((text) => post(text))
  await until(() => pending.length === 2)
  assert.equal(sockets.length, 2)
  for (const release of pending) release()
  assert.deepEqual(await Promise.all(responses), texts)
  assert.equal(sockets.length, 2)
})

test('an aborted caller sends nothing if it waits, and closes its connection if its request is under way', async (t) => {
  const { sockets, received, post } = await fixture(t, (socket, text) => text !== 'silent' && echo(socket, text), { maxSockets: 1 })
  let abort: (reason: unknown) => void = () => undefined
  const onAbort: PostOptions['onAbort'] = (listener) => {
    abort = listener
    return () => undefined
  }
  const silent = post('silent', { onAbort })
  const abortSilent = abort
  await until(() => received.length === 1)
  const waiting = post('waiting', { onAbort })
  const next = post('next')
  abort(new Error('aborted while waiting'))
  await assert.rejects(waiting, /aborted while waiting/)
  abortSilent(new Error('aborted under way'))
  await assert.rejects(silent, /aborted under way/)
  assert.equal(await next, 'next')
  await until(() => sockets[0]?.destroyed === true)
  assert.deepEqual([sockets.length, received.length], [2, 2])
  const abortedBefore: PostOptions['onAbort'] = (listener) => {
    listener(new Error('aborted before'))
    return () => undefined
  }
  await assert.rejects(post('never', { onAbort: abortedBefore }), /aborted before/)
  assert.equal(received.length, 2)
})

test('the timeout includes the wait for a connection, and callers that time out together open no connections', async (t) => {
  const { sockets, post } = await fixture(t, () => undefined, { maxSockets: 4 })
  const outcomes = await Promise.allSettled(Array.from({ length: 200 }, () => post('x', { timeoutMs: 100 })))
  for (const outcome of outcomes) assert.ok(outcome.status === 'rejected' && outcome.reason instanceof ResponseTimeoutError)
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(sockets.length <= 8, `${sockets.length} connections`)
})

test('a response over the size or memory limit fails, and its memory is released', async (t) => {
  let reservedBytes = 0
  const memory = {
    take: (bytes: number) => {
      if (reservedBytes + bytes > 2000) return false
      reservedBytes += bytes
      return true
    },
    give: (bytes: number) => {
      reservedBytes -= bytes
    },
  }
  const { post } = await fixture(t, (socket, text) => socket.write(ok('x'.repeat(Number(text)))), { maxBytes: 5000, memory })
  await assert.rejects(post('6000'), /longer than 5000 bytes/)
  await assert.rejects(post('3000'), /no memory/)
  assert.equal((await post('1000')).length, 1000)
  assert.equal(reservedBytes, 0)
})

test('a request is retried if the server closes a reused connection, not a new one', async (t) => {
  let closes = 1
  const { sockets, post } = await fixture(t, (socket, text) => (text === 'close' && closes-- > 0 ? socket.destroy() : echo(socket, text)))
  await assert.rejects(post('close'), { code: 'ECONNRESET' })
  assert.equal(await post('a'), 'a')
  closes = 1
  assert.equal(await post('close'), 'close')
  assert.equal(sockets.length, 3)
  sockets.at(-1)?.end()
  await until(() => sockets.at(-1)?.destroyed === true)
  assert.equal(await post('b'), 'b')
})

test('a server that always closes is tried three times at most', async (t) => {
  const { received, post } = await fixture(t, (socket, text) => (text === 'close' ? socket.destroy() : echo(socket, text)))
  await post('first')
  await assert.rejects(post('close'), { code: 'ECONNRESET' })
  assert.ok(received.length <= 4, `${received.length} requests`)
})

test('a connection is not reused if the server is about to close it or sent a second response; an early response counts', async (t) => {
  const { sockets, post } = await fixture(t, (socket, text) => {
    const headers = { close: 'connection: close\r\n', brief: 'keep-alive: timeout=1\r\n' }[text] ?? ''
    socket.write(text === 'twice' ? `${ok('x')}${ok('y')}` : ok('x', headers))
  })
  for (const text of ['close', 'brief', 'twice', 'usual', 'usual']) assert.equal(await post(text), 'x')
  assert.equal(sockets.length, 4)
  const early = await fixture(t, () => undefined)
  const responding = early.post('x'.repeat(64 << 20))
  await until(() => early.sockets.length === 1)
  early.sockets[0]?.pause().write(ok('early'))
  assert.equal(await responding, 'early')
})

test('a surplus response in its own TLS record is not taken for the response to the next request', async (t) => {
  const recordBytes = 16 << 10
  const padding = (bytes: number): string => `x-padding: ${'p'.repeat(bytes)}\r\n`
  // The first response fills a TLS record exactly.
  const first = ok('x', padding(recordBytes - ok('x', padding(0)).length))
  const respond = (socket: Socket, text: string): unknown => socket.write(text === 'evil' ? `${first}${ok('surplus')}` : ok('own'))
  const { post } = await fixture(t, respond, { isTls: true, maxSockets: 1 })
  assert.equal(await post('evil'), 'x')
  assert.equal(await post('next'), 'own')
  assert.deepEqual(await Promise.all([post('evil'), post('waits'), post('waits too')]), ['x', 'own', 'own'])
})

test('a response that changes the protocol, is ambiguous or is not HTTP is an error', async (t) => {
  const responses = [
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\nother',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(70_000)}\r\ncontent-length: 2\r\n\r\n{}`,
    '\0\0\0',
  ]
  const { post } = await fixture(t, (socket, text) => socket.write(responses[Number(text)] ?? ''))
  for (let i = 0; i < responses.length; i++)
    await assert.rejects(post(String(i)), (thrown) => !(thrown instanceof ResponseTimeoutError), `response ${i}`)
})

test('a refused connection is an error', async () => {
  const endpoint = new JsonEndpoint({ url: 'http://127.0.0.1:1/' }, { timeoutMs: 5000 })
  await assert.rejects(endpoint.post({}), { code: 'ECONNREFUSED' })
})

test('closing fails requests under way and those that wait, and nothing is sent afterwards', async (t) => {
  const { endpoint, sockets, received, post } = await fixture(t, (socket, text) => text === 'first' && echo(socket, text), {
    maxSockets: 2,
  })
  assert.equal(await post('first'), 'first')
  const waiting = ['a', 'b', 'c', 'd'].map((text) => assert.rejects(post(text), { code: 'ECONNRESET' }))
  await until(() => received.length === 3)
  endpoint.close()
  await Promise.all(waiting)
  await assert.rejects(post('later'), { code: 'ECONNRESET' })
  assert.deepEqual([sockets.length, received.length], [2, 3])
})

test('a burst of requests opens four connections concurrently', async (t) => {
  const sockets: Socket[] = []
  // Accepts TCP connections, but completes no handshake.
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const endpoint = new JsonEndpoint({ url: `https://127.0.0.1:${port}/`, ca: authority.cert }, { timeoutMs: 60_000 })
  t.after(() => {
    endpoint.close()
    server.close()
  })
  const posts = Array.from({ length: 20 }, () => assert.rejects(endpoint.post('{}')))
  await until(() => sockets.length >= 4)
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(sockets.length, 4)
  for (let closed = 0; closed < 20; closed++) {
    await until(() => sockets.length > closed)
    sockets[closed]?.destroy()
  }
  await Promise.all(posts)
})
