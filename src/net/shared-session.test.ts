// Questions over HTTP/2: they share a connection, and a server that leaves, refuses or floods holds nobody.

import assert from 'node:assert/strict'
import { constants, createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect as connectPlain, createServer as createPlainServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createServer, type TLSSocket } from 'node:tls'
import { until } from '../base/until.fixture.js'
import { AnswerTimeoutError } from './ask.js'
import { issueCertificate } from './issue-certificate.js'
import { type EndpointLimits, JsonEndpoint } from './json-endpoint.js'

const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'ca', use: 'authority', ...times }), commonName: 'ca' }
const certificate = issueCertificate({ commonName: 'server', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)

const endpointAt = (t: TestContext, port: number, limits: Partial<EndpointLimits> = {}): JsonEndpoint => {
  const settings = { url: `https://127.0.0.1:${port}/path`, ca: authority.cert, userAgent: 'me', authorization: () => 'Bearer x' }
  const endpoint = new JsonEndpoint(settings, { timeoutMs: 60_000, ...limits })
  t.after(() => endpoint.close())
  return endpoint
}

type Answer = (stream: ServerHttp2Stream, text: string) => void

async function standOf(t: TestContext, answer: Answer, { streams = 100, ...limits }: Partial<EndpointLimits> & { streams?: number } = {}) {
  const sessions: ServerHttp2Session[] = []
  const server = createSecureServer({ ...certificate, settings: { maxConcurrentStreams: streams } })
  server.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => undefined)
  })
  server.on('stream', (stream, headers) => {
    const { ':path': path, ':method': method, 'user-agent': agent, authorization, 'content-type': type } = headers
    assert.deepEqual([path, method, agent, authorization, type], ['/path', 'POST', 'me', 'Bearer x', 'application/json'])
    stream.on('error', () => undefined)
    let text = ''
    stream.on('data', (part) => {
      text += part
    })
    stream.on('end', () => answer(stream, JSON.parse(text)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const endpoint = endpointAt(t, port, limits)
  const ask = async (text: string): Promise<string> => (await endpoint.post(text === '' ? '""' : JSON.stringify(text))).body.toString()
  return { endpoint, sessions, ask, port }
}

const say: Answer = (stream, text) => {
  stream.respond({ ':status': 200, 'content-type': 'application/json', 'retry-after': '3' })
  stream.end(text)
}

test('questions at a time and one after the other share a connection', async (t) => {
  const { endpoint, sessions, ask } = await standOf(t, say)
  const { status, retryAfter, contentType, body } = await endpoint.post('"first"')
  assert.deepEqual([status, retryAfter, contentType, body.toString()], [200, 3, 'application/json', 'first'])
  const texts = Array.from({ length: 50 }, (_, i) => `text ${i}`)
  assert.deepEqual(await Promise.all(texts.map(ask)), texts)
  assert.equal(sessions.length, 1)
})

test('no more questions are on their way than the other side takes, and others wait', async (t) => {
  let [now, most] = [0, 0]
  const { ask } = await standOf(
    t,
    (stream, text) => {
      most = Math.max(most, ++now)
      setTimeout(() => {
        now--
        say(stream, text)
      }, 5)
    },
    { streams: 2 },
  )
  await ask('first')
  const texts = Array.from({ length: 12 }, (_, i) => `text ${i}`)
  assert.deepEqual(await Promise.all(texts.map(ask)), texts)
  assert.equal(most, 2)
})

test('a server that leaves is asked again over another connection', async (t) => {
  const { sessions, ask } = await standOf(t, say)
  assert.equal(await ask('a'), 'a')
  sessions[0]?.goaway()
  assert.equal(await ask('b'), 'b')
  sessions.at(-1)?.destroy()
  assert.equal(await ask('c'), 'c')
})

test('who waits while a session has ended and others cannot be opened stands in the way of nobody', async (t) => {
  const held: (() => void)[] = []
  const { sessions, port } = await standOf(t, (stream, text) => void held.push(() => say(stream, text)))
  // Whoever comes second meets nobody who speaks.
  const sockets: Socket[] = []
  const front = createPlainServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    if (sockets.length > 1) return
    const back = connectPlain(port, '127.0.0.1')
    back.on('error', () => undefined)
    socket.pipe(back).pipe(socket)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    front.close()
  })
  const endpoint = endpointAt(t, (front.address() as AddressInfo).port, { maxSockets: 2 })
  const first = endpoint.post('"first"')
  await until(() => held.length === 1)
  sessions[0]?.goaway()
  const others: Promise<unknown>[] = []
  // One after the other, until one does not come over the session that the server leaves.
  while (sockets.length < 3) {
    others.push(endpoint.post('"other"', { timeoutMs: 60_000 }).catch((thrown: unknown) => thrown))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  others.push(endpoint.post('"waits"').catch((thrown: unknown) => thrown))
  for (const answer of held) answer()
  assert.equal((await first).body.toString(), 'first')
  endpoint.close()
  await Promise.all(others)
})

test('who waits for an answer over a session that another one has followed is told when all is closed', async (t) => {
  const held: ServerHttp2Stream[] = []
  const { endpoint, sessions, ask } = await standOf(t, (stream, text) => (text === 'held' ? void held.push(stream) : say(stream, text)))
  const first = assert.rejects(ask('held'))
  await until(() => held.length === 1)
  sessions[0]?.goaway()
  while (sessions.length < 2) assert.equal(await ask('next'), 'next')
  endpoint.close()
  await first
})

test('what was refused untouched is asked again', async (t) => {
  let refused = 0
  const { ask } = await standOf(t, (stream, text) => (refused++ === 1 ? stream.close(constants.NGHTTP2_REFUSED_STREAM) : say(stream, text)))
  assert.equal(await ask('a'), 'a')
  assert.equal(await ask('b'), 'b')
  assert.equal(refused, 3)
})

test('a server that refuses everything is asked three times, and no connection stays', async (t) => {
  const { sessions, ask } = await standOf(t, (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM))
  await assert.rejects(ask('a'), { code: 'ERR_HTTP2_STREAM_ERROR' })
  assert.equal(sessions.length, 2)
  await until(() => sessions[0]?.destroyed === true)
})

test('an answer that fails, is too long or never comes fails alone', async (t) => {
  const answer: Answer = (stream, text) => {
    if (text === 'reset') stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    else if (text === 'silent') return
    else say(stream, text)
  }
  const { endpoint, sessions, ask } = await standOf(t, answer, { maxBytes: 100 })
  await ask('first')
  const silent = endpoint.post('"silent"', { timeoutMs: 300 })
  const outcomes = [
    assert.rejects(ask('reset'), { code: 'ERR_HTTP2_STREAM_ERROR' }),
    assert.rejects(ask('x'.repeat(101)), /longer than 100 bytes/),
    assert.rejects(silent, (thrown) => thrown instanceof AnswerTimeoutError),
  ]
  assert.equal(await ask('well'), 'well')
  await Promise.all(outcomes)
  assert.equal(await ask('after'), 'after')
  assert.equal(sessions.length, 1)
})

const frame = (type: number, flags: number, id: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, payload])
}

const many = (part: Buffer): Buffer => Buffer.concat(Array.from({ length: Math.ceil(16_384 / part.length) }, () => part))

/** What a server sends without an end, after its settings. */
const floods: { readonly [name: string]: { readonly first?: Buffer; readonly more: Buffer } } = {
  pings: { more: many(frame(6, 0, 0, Buffer.alloc(8))) },
  settings: { more: many(frame(4, 0, 0, Buffer.alloc(0))) },
  'window updates': { more: many(frame(8, 0, 0, Buffer.from([0, 0, 0, 1]))) },
  'unknown frames': { more: frame(0x20, 0, 0, Buffer.alloc(16_000)) },
  'headers that do not end': { first: frame(1, 0, 1, Buffer.from([0x88])), more: many(frame(9, 0, 1, Buffer.from([0x40, 1, 97, 1, 98]))) },
  'pushed answers': { more: many(frame(5, 4, 1, Buffer.from([0, 0, 0, 2, 0x82, 0x84]))) },
}

for (const [name, { first, more }] of Object.entries(floods))
  test(`a server that floods with ${name} is left`, { timeout: 120_000 }, async (t) => {
    const sockets: TLSSocket[] = []
    const server = createServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.on('end', () => socket.destroy())
      const flood = (): void => {
        while (!socket.destroyed && socket.write(more));
        if (!socket.destroyed) socket.once('drain', flood)
      }
      socket.write(frame(4, 0, 0, Buffer.alloc(0)))
      socket.resume()
      setTimeout(() => {
        if (first !== undefined && !socket.destroyed) socket.write(first)
        flood()
      }, 50)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const endpoint = endpointAt(t, (server.address() as AddressInfo).port, { timeoutMs: 60_000 })
    // Long before its time is up: the connection ends, and with it the question.
    await assert.rejects(endpoint.post('{}'), (thrown) => !(thrown instanceof AnswerTimeoutError))
    await until(() => sockets.every(({ destroyed }) => destroyed))
  })
