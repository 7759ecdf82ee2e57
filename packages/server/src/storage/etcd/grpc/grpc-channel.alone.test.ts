// The channel against a server in the same process: messages of any size, ends of every kind, and servers that mean harm.

import assert from 'node:assert/strict'
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { GrpcChannel } from './grpc-channel.js'
import { grpcCodes } from './grpc-error.js'
import { createFrameReader, messagePrefix } from './grpc-frames.js'

const path = '/service/Method'
const grpc = { ':status': 200, 'content-type': 'application/grpc' }
const framed = (message: Buffer): Buffer => Buffer.concat([messagePrefix(message.length), message])

async function openTo(port: number, context: TestContext): Promise<GrpcChannel> {
  const socket: Socket = connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  const channel = new GrpcChannel({ socket, url: `http://127.0.0.1:${port}` })
  context.after(() => channel.close('done'))
  return channel
}

const until = async (isDone: () => boolean): Promise<void> => {
  for (let waitedMs = 0; !isDone(); waitedMs += 5) {
    assert.ok(waitedMs < 30_000, 'it happens')
    await sleep(5)
  }
}

const unavailable = (message: RegExp) => ({ name: 'GrpcError', code: grpcCodes.unavailable, message })

test('a message that comes a byte at a time is kept in one place', () => {
  const messages: Buffer[] = []
  const read = createFrameReader((message) => messages.push(message))
  const text = 'abcdefghij'.repeat(1000)
  const parts = Array.from(framed(Buffer.from(text)), (byte) => Buffer.from([byte]))
  for (const part of parts.slice(0, -1)) read(part)
  // Whoever keeps a part of one byte keeps hundreds for it: what is changed in one later is not seen.
  for (const part of parts.slice(100, -1)) part.fill(0)
  read(parts.at(-1) ?? Buffer.alloc(0))
  assert.deepEqual(messages.map(String), [text])
})

test('messages with nothing in them, many at once, are refused', () => {
  let messages = 0
  const read = createFrameReader(() => messages++)
  assert.throws(() => read(Buffer.alloc(5 * 3000)), /the server sends empty messages/)
  assert.ok(messages < 100)
})

describe('a channel', () => {
  let server: Http2Server
  let serve: (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void = () => undefined
  const sessions = new Set<ServerHttp2Session>()
  let port = 0
  before(async () => {
    server = createServer()
    server.on('session', (session) => {
      session.on('error', () => undefined)
      sessions.add(session)
      session.on('close', () => sessions.delete(session))
    })
    server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined)
      serve(stream, headers)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  after(() => {
    for (const session of sessions) session.destroy()
    return new Promise((resolve) => server.close(resolve))
  })

  const answer = (stream: ServerHttp2Stream, body: Buffer, trailers: Record<string, string> = { 'grpc-status': '0' }): void => {
    stream.respond(grpc, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end(body)
  }
  const echo = (stream: ServerHttp2Stream): void => {
    stream.on(
      'data',
      createFrameReader((message) => answer(stream, framed(message))),
    )
  }

  test('messages of any size go and come, many at a time, and more than fits into any window', async (context) => {
    serve = echo
    const channel = await openTo(port, context)
    const sizes = [0, 1, 4096, 4097, 16_384, 70_000, 1_000_000, 20_000_000]
    for (let round = 0; round < 2; round += 1) {
      const answers = await Promise.all(sizes.map((size) => channel.call(path, Buffer.alloc(size, 'abc'), 20_000)))
      for (const [index, bytes] of answers.entries())
        assert.ok(bytes.equals(Buffer.alloc(sizes[index] ?? 0, 'abc')), `${sizes[index]} bytes`)
    }
  })

  test('a call says what gRPC wants to know, and what is to be sent along', async (context) => {
    let seen: Record<string, unknown> = {}
    serve = (stream, headers) => {
      seen = headers
      echo(stream)
    }
    const channel = await openTo(port, context)
    await channel.call(path, Buffer.from('1'), 2000)
    channel.setMetadata([{ name: 'token', value: 'secret' }])
    await channel.call(path, Buffer.from('2'), 2000)
    const { ':method': method, ':path': at, 'content-type': type, te, token } = seen
    assert.deepEqual([method, at, type, te, token], ['POST', path, 'application/grpc', 'trailers', 'secret'])
  })

  const failures = [
    {
      name: 'a status in the trailers',
      serve: (stream: ServerHttp2Stream) =>
        answer(stream, Buffer.alloc(0), { 'grpc-status': '9', 'grpc-message': 'etcdserver: %C3%A4 100% full' }),
      fails: { code: 9, message: 'etcdserver: %C3%A4 100% full' },
    },
    {
      name: 'a status without a body',
      serve: (stream: ServerHttp2Stream) =>
        stream.respond({ ...grpc, 'grpc-status': '7', 'grpc-message': 'permission%20denied' }, { endStream: true }),
      fails: { code: 7, message: 'permission denied' },
    },
    {
      name: 'another HTTP status',
      serve: (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 503 })
        stream.end('no')
      },
      fails: unavailable(/does not speak gRPC \(HTTP status 503\)/),
    },
    {
      name: 'no status at all',
      serve: (stream: ServerHttp2Stream) => {
        stream.respond(grpc)
        stream.end(framed(Buffer.from('x')))
      },
      fails: unavailable(/the call was cut off/),
    },
    { name: 'no message', serve: (stream: ServerHttp2Stream) => answer(stream, Buffer.alloc(0)), fails: { code: 13 } },
    {
      name: 'a stream that is reset',
      serve: (stream: ServerHttp2Stream) => stream.close(2),
      fails: unavailable(/INTERNAL_ERROR|broken off/),
    },
    {
      name: 'a stream that is cancelled',
      serve: (stream: ServerHttp2Stream) => stream.close(8),
      fails: unavailable(/cut off|broken off \(8\)/),
    },
  ]
  for (const { name, serve: fail, fails } of failures) {
    test(`${name}: the call fails, and the next one is not touched by it`, async (context) => {
      const channel = await openTo(port, context)
      serve = fail
      await assert.rejects(channel.call(path, Buffer.from('1'), 2000), fails)
      serve = echo
      assert.equal((await channel.call(path, Buffer.from('2'), 2000)).toString(), '2')
    })
  }

  const attacks = [
    { name: 'a compressed message', body: Buffer.from([1, 0, 0, 0, 1, 0]), says: /compressed/ },
    { name: 'a message beyond all bounds', body: Buffer.from([0, 255, 255, 255, 255, 0]), says: /4294967295 bytes/ },
  ]
  for (const { name, body, says } of attacks) {
    test(`${name}: the connection is closed`, async (context) => {
      serve = (stream) => answer(stream, body)
      const channel = await openTo(port, context)
      await assert.rejects(channel.call(path, Buffer.from('1'), 2000), unavailable(says))
      await assert.rejects(channel.call(path, Buffer.from('1'), 2000), unavailable(/the connection is closed/))
    })
  }

  test('a call that takes too long is cancelled, and the server is told', async (context) => {
    let closedWith: number | undefined
    serve = (stream) => stream.on('close', () => (closedWith = stream.rstCode))
    const channel = await openTo(port, context)
    await assert.rejects(channel.call(path, Buffer.from('1'), 50), { code: grpcCodes.deadlineExceeded, message: 'no answer within 50 ms' })
    await until(() => closedWith !== undefined)
    assert.equal(closedWith, 8)
  })

  test('a stream that this side closes is heard of no more', async (context) => {
    let isClosed = false
    serve = (stream) => {
      stream.on('close', () => (isClosed = true))
      stream.respond(grpc)
      const timer = setInterval(() => stream.write(framed(Buffer.from('more'))), 5)
      stream.on('close', () => clearInterval(timer))
    }
    const channel = await openTo(port, context)
    const heard: string[] = []
    const stream = channel.open(path, { message: (bytes) => heard.push(bytes.toString()), end: (error) => heard.push(`${error}`) })
    stream.send(Buffer.from('one'))
    await until(() => heard.length > 0)
    const before = heard.length
    stream.close()
    await until(() => isClosed)
    channel.close('done')
    assert.equal(heard.length, before)
  })

  test('closing tells every open call at once, and nobody twice', async (context) => {
    let begun = 0
    serve = () => (begun += 1)
    const channel = await openTo(port, context)
    const heard: string[] = []
    channel.onEnding(() => heard.push('ending'))
    channel.onClosed(() => heard.push('closed'))
    channel.open(path, { message: () => undefined, end: (error) => heard.push(`stream: ${error?.message}`) })
    const call = assert.rejects(channel.call(path, Buffer.from('1'), 2000), unavailable(/^no more$/))
    await until(() => begun === 2)
    channel.close('no more')
    channel.close('again')
    assert.deepEqual(heard, ['stream: no more', 'ending', 'closed'])
    await call
  })

  test('of a connection that the server ends, calls that it has begun with may end, and no more are made', async (context) => {
    const begun: ServerHttp2Stream[] = []
    serve = (stream) => begun.push(stream)
    const channel = await openTo(port, context)
    const heard: string[] = []
    channel.onEnding(() => heard.push('ending'))
    channel.onClosed(() => heard.push('closed'))
    const first = channel.call(path, Buffer.from('1'), 5000)
    await until(() => begun.length === 1)
    const second = assert.rejects(channel.call(path, Buffer.from('2'), 5000), unavailable(/the server ended the connection|REFUSED/))
    begun[0]?.session?.goaway(0, begun[0].id)
    await second
    await until(() => heard.length > 0)
    assert.deepEqual(heard, ['ending'])
    await assert.rejects(channel.call(path, Buffer.from('3'), 5000), unavailable(/the connection is closed/))
    if (begun[0]) answer(begun[0], framed(Buffer.from('yes')))
    assert.equal((await first).toString(), 'yes')
    await until(() => heard.length === 2)
  })

  test('a call that does not end then is not waited for: it can be made elsewhere', async (context) => {
    serve = (stream) => stream.session?.goaway(0)
    const channel = await openTo(port, context)
    const startMs = performance.now()
    await assert.rejects(channel.call(path, Buffer.from('1'), 20_000), unavailable(/the server ended the connection \(0\)/))
    const tookMs = performance.now() - startMs
    assert.ok(tookMs > 1000 && tookMs < 19_000, `${tookMs} ms`)
  })

  test('a server that takes its time, but answers pings, is waited for', async (context) => {
    serve = (stream) => void setTimeout(() => answer(stream, framed(Buffer.from('late'))), 5000)
    const channel = await openTo(port, context)
    assert.equal((await channel.call(path, Buffer.from('1'), 20_000)).toString(), 'late')
  })
})

describe('a server that does as it likes', () => {
  const play = async (context: TestContext, says: (socket: Socket) => void): Promise<GrpcChannel> => {
    const sockets: Socket[] = []
    const server = createTcpServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.resume()
      says(socket)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    context.after(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return openTo((server.address() as AddressInfo).port, context)
  }
  const frame = (type: number, flags: number, streamId: number, content = Buffer.alloc(0)): Buffer => {
    const head = Buffer.alloc(9)
    head.writeUIntBE(content.length, 0, 3)
    head[3] = type
    head[4] = flags
    head.writeUInt32BE(streamId, 5)
    return Buffer.concat([head, content])
  }
  const settings = frame(4, 0, 0)

  test('one that speaks HTTP/1.1: the reason says so', async (context) => {
    const channel = await play(context, (socket) => socket.write('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'))
    await assert.rejects(channel.call(path, Buffer.from('1'), 5000), unavailable(/does not speak HTTP\/2/))
  })

  test('one that hangs up', async (context) => {
    const channel = await play(context, (socket) => void setTimeout(() => socket.destroy(), 50))
    await assert.rejects(channel.call(path, Buffer.from('1'), 5000), unavailable(/cut off|connection/))
  })

  test('one that says nothing more, not even to a ping', async (context) => {
    const channel = await play(context, (socket) => socket.write(settings))
    const startMs = performance.now()
    await assert.rejects(channel.call(path, Buffer.from('1'), 30_000), unavailable(/does not answer any more/))
    assert.ok(performance.now() - startMs < 29_000)
  })

  const attacks = {
    'headers without an end': Buffer.concat([
      frame(1, 0, 1, Buffer.from([0x88])),
      ...Array.from({ length: 2000 }, () => frame(9, 0, 1, Buffer.alloc(100))),
    ]),
    'a window beyond all bounds': Buffer.concat(Array.from({ length: 2 }, () => frame(8, 0, 0, Buffer.from('7fffffff', 'hex')))),
    'a frame beyond all bounds': Buffer.from('ffffff000000000001', 'hex'),
  }
  for (const [what, bytes] of Object.entries(attacks)) {
    test(`${what}: the connection is closed`, async (context) => {
      const channel = await play(context, (socket) => {
        socket.write(settings)
        setTimeout(() => socket.write(bytes), 50)
      })
      const heard: string[] = []
      channel.onClosed(() => heard.push('closed'))
      await assert.rejects(channel.call(path, Buffer.from('1'), 5000), { code: grpcCodes.unavailable })
      await until(() => heard.length === 1)
    })
  }
})
