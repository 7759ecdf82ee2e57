// The gRPC channel against servers in the same process: message sizes, failures, GOAWAY and hostile servers.

import assert from 'node:assert/strict'
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import { createFrameReader, frame, GrpcChannel } from './grpc-channel.js'
import { grpcCodes } from './grpc-error.js'

const path = '/service/Method'
const grpc = { ':status': 200, 'content-type': 'application/grpc' }

async function openTo(port: number, context: TestContext): Promise<GrpcChannel> {
  const socket: Socket = connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  const channel = new GrpcChannel({ socket, url: `http://127.0.0.1:${port}` })
  context.after(() => channel.close('done'))
  return channel
}

const unavailable = (message: RegExp) => ({ name: 'GrpcError', code: grpcCodes.unavailable, message })

test('messages are read from chunks of any size', () => {
  const messages: string[] = []
  const read = createFrameReader((message) => messages.push(message.toString()))
  const long = 'abcdefghij'.repeat(1000)
  const bytes = Buffer.concat(['', 'x', long, 'y'].map((text) => frame(Buffer.from(text))))
  read(bytes)
  for (const byte of bytes) read(Buffer.from([byte]))
  assert.deepEqual(messages, ['', 'x', long, 'y', '', 'x', long, 'y'])
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

  const respond = (stream: ServerHttp2Stream, body: Buffer, trailers: Record<string, string> = { 'grpc-status': '0' }): void => {
    stream.respond(grpc, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end(body)
  }
  const echo = (stream: ServerHttp2Stream): void => {
    stream.on(
      'data',
      createFrameReader((message) => respond(stream, frame(message))),
    )
  }

  test('concurrent messages of any size, larger than the flow-control windows', async (context) => {
    serve = echo
    const channel = await openTo(port, context)
    const sizes = [0, 1, 4096, 4097, 16_384, 70_000, 1_000_000, 20_000_000]
    for (let round = 0; round < 2; round += 1) {
      const responses = await Promise.all(sizes.map((size) => channel.call(path, Buffer.alloc(size, 'abc'), 20_000)))
      for (const [index, bytes] of responses.entries())
        assert.ok(bytes.equals(Buffer.alloc(sizes[index] ?? 0, 'abc')), `${sizes[index]} bytes`)
    }
  })

  test('a call sends the gRPC headers and the metadata', async (context) => {
    let seen: Record<string, unknown> = {}
    serve = (stream, headers) => {
      seen = headers
      echo(stream)
    }
    const channel = await openTo(port, context)
    await channel.call(path, Buffer.from('1'), 2000)
    channel.setMetadata({ token: 'secret' })
    await channel.call(path, Buffer.from('2'), 2000)
    const { ':method': method, ':path': requestPath, 'content-type': type, te, token } = seen
    assert.deepEqual([method, requestPath, type, te, token], ['POST', path, 'application/grpc', 'trailers', 'secret'])
  })

  const failures = [
    {
      name: 'a status in the trailers',
      serve: (stream: ServerHttp2Stream) =>
        respond(stream, Buffer.alloc(0), { 'grpc-status': '9', 'grpc-message': 'etcdserver: %C3%A4 100% full' }),
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
        stream.end(frame(Buffer.from('x')))
      },
      fails: unavailable(/the call was cut off/),
    },
    { name: 'no message', serve: (stream: ServerHttp2Stream) => respond(stream, Buffer.alloc(0)), fails: { code: 13 } },
    {
      name: 'a stream that is reset',
      serve: (stream: ServerHttp2Stream) => stream.close(2),
      fails: unavailable(/INTERNAL_ERROR/),
    },
    {
      name: 'a stream that is cancelled',
      serve: (stream: ServerHttp2Stream) => stream.close(8),
      fails: unavailable(/cut off/),
    },
  ]
  for (const { name, serve: failingServe, fails } of failures) {
    test(`${name}: the call fails, and the next one succeeds`, async (context) => {
      const channel = await openTo(port, context)
      serve = failingServe
      await assert.rejects(channel.call(path, Buffer.from('1'), 2000), fails)
      serve = echo
      assert.equal((await channel.call(path, Buffer.from('2'), 2000)).toString(), '2')
    })
  }

  const attacks = [
    { name: 'a compressed message', body: Buffer.from([1, 0, 0, 0, 1, 0]), message: /compressed/ },
    { name: 'a message above the size limit', body: Buffer.from([0, 255, 255, 255, 255, 0]), message: /4294967295 bytes/ },
  ]
  for (const { name, body, message } of attacks) {
    test(`${name}: the connection is closed`, async (context) => {
      serve = (stream) => respond(stream, body)
      const channel = await openTo(port, context)
      await assert.rejects(channel.call(path, Buffer.from('1'), 2000), unavailable(message))
      await assert.rejects(channel.call(path, Buffer.from('1'), 2000), unavailable(/the connection is closed/))
    })
  }

  test('a call that times out is cancelled with RST_STREAM', async (context) => {
    let closedWith: number | undefined
    serve = (stream) => stream.on('close', () => (closedWith = stream.rstCode))
    const channel = await openTo(port, context)
    await assert.rejects(channel.call(path, Buffer.from('1'), 50), {
      code: grpcCodes.deadlineExceeded,
      message: 'no response within 50 ms',
    })
    await until(() => closedWith !== undefined)
    assert.equal(closedWith, 8)
  })

  test('a closed stream delivers nothing more', async (context) => {
    let isClosed = false
    serve = (stream) => {
      stream.on('close', () => (isClosed = true))
      stream.respond(grpc)
      const timer = setInterval(() => stream.write(frame(Buffer.from('more'))), 5)
      stream.on('close', () => clearInterval(timer))
    }
    const channel = await openTo(port, context)
    const events: string[] = []
    const stream = channel.open(path, { message: (bytes) => events.push(bytes.toString()), end: (error) => events.push(`${error}`) })
    stream.send(Buffer.from('one'))
    await until(() => events.length > 0)
    const before = events.length
    stream.close()
    await until(() => isClosed)
    channel.close('done')
    assert.equal(events.length, before)
  })

  test('close inside a stream callback is safe', async (context) => {
    serve = (stream) => {
      stream.respond(grpc)
      const timer = setInterval(() => stream.destroyed || stream.write(frame(Buffer.alloc(20_000))), 1)
      stream.on('close', () => clearInterval(timer))
    }
    for (let round = 0; round < 100; round += 1) {
      const channel = await openTo(port, context)
      const calls = Array.from({ length: 3 }, () => assert.rejects(channel.call(path, Buffer.alloc(20_000), 5000), unavailable(/^enough$/)))
      channel.open(path, { message: () => channel.close('enough'), end: () => undefined })
      await Promise.all(calls)
    }
  })

  test('close fails every open call once', async (context) => {
    let startedCalls = 0
    serve = () => (startedCalls += 1)
    const channel = await openTo(port, context)
    const events: string[] = []
    channel.onEnding(() => events.push('ending'))
    channel.onClosed(() => events.push('closed'))
    channel.open(path, { message: () => undefined, end: (error) => events.push(`stream: ${error?.message}`) })
    const call = assert.rejects(channel.call(path, Buffer.from('1'), 2000), unavailable(/^no more$/))
    await until(() => startedCalls === 2)
    channel.close('no more')
    channel.close('again')
    assert.deepEqual(events, ['stream: no more', 'ending', 'closed'])
    await call
  })

  test('after GOAWAY, calls that the server has accepted may finish, and new calls fail', async (context) => {
    const startedStreams: ServerHttp2Stream[] = []
    serve = (stream) => startedStreams.push(stream)
    const channel = await openTo(port, context)
    const events: string[] = []
    channel.onEnding(() => events.push('ending'))
    channel.onClosed(() => events.push('closed'))
    const first = channel.call(path, Buffer.from('1'), 5000)
    await until(() => startedStreams.length === 1)
    const second = assert.rejects(channel.call(path, Buffer.from('2'), 5000), unavailable(/the server ended the connection|REFUSED/))
    startedStreams[0]?.session?.goaway(0, startedStreams[0].id)
    await second
    await until(() => events.length > 0)
    assert.deepEqual(events, ['ending'])
    await assert.rejects(channel.call(path, Buffer.from('3'), 5000), unavailable(/the connection is closed/))
    if (startedStreams[0]) respond(startedStreams[0], frame(Buffer.from('yes')))
    assert.equal((await first).toString(), 'yes')
    await until(() => events.length === 2)
  })

  test('a call that does not finish after GOAWAY fails, so that it can be retried', async (context) => {
    serve = (stream) => stream.session?.goaway(0)
    const channel = await openTo(port, context)
    await assert.rejects(channel.call(path, Buffer.from('1'), 20_000), unavailable(/the server ended the connection \(0\)/))
  })

  test('a call waits for a slow server that responds to pings', async (context) => {
    serve = (stream) => void setTimeout(() => respond(stream, frame(Buffer.from('late'))), 5000)
    const channel = await openTo(port, context)
    assert.equal((await channel.call(path, Buffer.from('1'), 20_000)).toString(), 'late')
  })
})

describe('a misbehaving server', () => {
  const connectTo = async (context: TestContext, serveSocket: (socket: Socket) => void): Promise<GrpcChannel> => {
    const sockets: Socket[] = []
    const server = createTcpServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.resume()
      serveSocket(socket)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    context.after(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return openTo((server.address() as AddressInfo).port, context)
  }
  const http2Frame = (type: number, flags: number, streamId: number, content = Buffer.alloc(0)): Buffer => {
    const head = Buffer.alloc(9)
    head.writeUIntBE(content.length, 0, 3)
    head[3] = type
    head[4] = flags
    head.writeUInt32BE(streamId, 5)
    return Buffer.concat([head, content])
  }
  const settings = http2Frame(4, 0, 0)

  test('HTTP/1.1: the error says that the server does not speak HTTP/2', async (context) => {
    const channel = await connectTo(context, (socket) => socket.write('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'))
    await assert.rejects(channel.call(path, Buffer.from('1'), 5000), unavailable(/does not speak HTTP\/2/))
  })

  test('closed connection: the call fails', async (context) => {
    const channel = await connectTo(context, (socket) => void setTimeout(() => socket.destroy(), 50))
    await assert.rejects(channel.call(path, Buffer.from('1'), 5000), unavailable(/cut off|connection|ECONNRESET/))
  })

  test('no response to pings: the connection is closed', async (context) => {
    const channel = await connectTo(context, (socket) => socket.write(settings))
    await assert.rejects(channel.call(path, Buffer.from('1'), 30_000), unavailable(/stopped responding/))
  })

  const attacks = {
    'endless headers': Buffer.concat([
      http2Frame(1, 0, 1, Buffer.from([0x88])),
      ...Array.from({ length: 2000 }, () => http2Frame(9, 0, 1, Buffer.alloc(100))),
    ]),
    'a window above the limit': Buffer.concat(Array.from({ length: 2 }, () => http2Frame(8, 0, 0, Buffer.from('7fffffff', 'hex')))),
    'a frame above the limit': Buffer.from('ffffff000000000001', 'hex'),
  }
  for (const [title, bytes] of Object.entries(attacks)) {
    test(`${title}: the connection is closed`, async (context) => {
      const channel = await connectTo(context, (socket) => {
        socket.write(settings)
        setTimeout(() => socket.write(bytes), 50)
      })
      const events: string[] = []
      channel.onClosed(() => events.push('closed'))
      await assert.rejects(channel.call(path, Buffer.from('1'), 30_000), { code: grpcCodes.unavailable })
      await until(() => events.length === 1)
    })
  }
})
