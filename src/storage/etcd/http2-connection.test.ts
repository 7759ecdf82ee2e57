// Our side of HTTP/2 against Node's: headers in every guise, bodies larger than any window, and ends of every kind.

import assert from 'node:assert/strict'
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../base/until.fixture.js'
import { encodeHeaders, type Header } from './hpack.js'
import { type ConnectionEvents, Http2Connection, type StreamEvents } from './http2-connection.js'
import { createFrameParser, encodeFrame, type Frame, frameFlags, frameTypes } from './http2-frames.js'

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('')

interface Answer {
  readonly headers: readonly Header[]
  readonly body: Buffer
  readonly end: string
}

async function openTo(port: number, events: Partial<ConnectionEvents>): Promise<Http2Connection> {
  const socket: Socket = connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  return new Http2Connection(socket, { ending: () => undefined, closed: () => undefined, ...events })
}

const block = encodeHeaders([
  { name: ':method', value: 'POST' },
  { name: ':scheme', value: 'http' },
  { name: ':path', value: '/call' },
  { name: ':authority', value: 'x' },
  { name: 'long', value: 'y'.repeat(500) },
])

const call = (connection: Http2Connection, body: Buffer): Promise<Answer> =>
  new Promise((resolve) => {
    const headers: Header[] = []
    const chunks: Buffer[] = []
    const finish = (end: string): void => resolve({ headers, body: Buffer.concat(chunks), end })
    const events: StreamEvents = {
      headers: (more) => void headers.push(...more),
      data: (chunk) => void chunks.push(Buffer.from(chunk)),
      end: () => finish('end'),
      reset: finish,
    }
    connection.open(block, events).send(body, true)
  })

describe('HTTP/2', () => {
  let server: Http2Server
  let serve: (stream: ServerHttp2Stream) => void = () => undefined
  let port = 0
  before(async () => {
    server = createServer()
    server.on('stream', (stream) => {
      stream.on('error', () => undefined)
      serve(stream)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    port = address && typeof address === 'object' ? address.port : 0
  })
  after(() => new Promise((resolve) => server.close(resolve)))

  const open = (closed: (reason: string) => void = () => undefined): Promise<Http2Connection> => openTo(port, { closed })

  const echo = (stream: ServerHttp2Stream): void => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.pipe(stream)
  }

  test('bodies of any size go and come, many at a time', async () => {
    serve = echo
    const connection = await open()
    const sizes = [0, 1, 16_384, 16_385, 70_000, 1_000_000, 5_000_000]
    const answers = await Promise.all(sizes.map((size) => call(connection, Buffer.alloc(size, 'abc'))))
    for (const [index, { body, headers, end }] of answers.entries()) {
      assert.equal(end, 'end')
      assert.ok(body.equals(Buffer.alloc(sizes[index] ?? 0, 'abc')), `${sizes[index]} bytes`)
      assert.equal(headers.find(({ name }) => name === 'grpc-status')?.value, '0')
    }
    connection.close('done')
  })

  test('windows are opened again: more passes than fits into them', async () => {
    serve = echo
    const connection = await open()
    for (let round = 0; round < 9; round += 1) assert.equal((await call(connection, Buffer.alloc(4_000_000))).body.length, 4_000_000)
    connection.close('done')
  })

  test('headers are decoded however they are encoded, and remembered as the server wants it', async () => {
    const connection = await open()
    const values = [printable, ...printable, 'application/grpc', 'x'.repeat(3000), 'etcdserver: mvcc: required revision has been compacted']
    for (const value of [...values, ...values]) {
      serve = (stream) => {
        stream.respond({ ':status': 200, 'grpc-message': value.trim() || '-', [`name-${value.length}`]: 'v' })
        stream.end()
      }
      const { headers } = await call(connection, Buffer.alloc(0))
      assert.equal(headers.find(({ name }) => name === 'grpc-message')?.value, value.trim() || '-')
      assert.equal(headers.find(({ name }) => name === ':status')?.value, '200')
      assert.equal(headers.find(({ name }) => name === `name-${value.length}`)?.value, 'v')
    }
    connection.close('done')
  })

  test('a stream that is broken off says so, and the others go on', async () => {
    serve = (stream) => stream.close(2)
    const connection = await open()
    assert.match((await call(connection, Buffer.alloc(10))).end, /the call was broken off \(2\)/)
    serve = echo
    assert.equal((await call(connection, Buffer.from('x'))).body.toString(), 'x')
    connection.close('done')
  })

  test('a stream that this side cancels is heard of no more', async () => {
    let isClosed = false
    serve = (stream) => {
      stream.respond({ ':status': 200 })
      stream.on('close', () => {
        isClosed = true
      })
      stream.write('hello')
    }
    const connection = await open()
    const heard: string[] = []
    const note = (what: string) => (): void => void heard.push(what)
    const stream = connection.open(block, { headers: note('headers'), data: note('data'), end: note('end'), reset: note('reset') })
    await until(() => heard.length >= 2)
    stream.cancel()
    await until(() => isClosed)
    connection.close('done')
    assert.deepEqual(heard, ['headers', 'data'])
  })

  test('the end of the connection is the end of its streams', async () => {
    const reasons: string[] = []
    serve = (stream) => stream.session?.goaway(0)
    const connection = await open((reason) => reasons.push(reason))
    assert.match((await call(connection, Buffer.alloc(1))).end, /the server ended the connection/)
    assert.equal(reasons.length, 1)
    assert.match((await call(connection, Buffer.alloc(1))).end, /the connection is closed/)
  })
})

describe('HTTP/2 with a server that does as it likes', () => {
  const prefaceBytes = 24
  const none = Buffer.alloc(0)
  const frame = (type: number, flags: number, streamId: number, content: Buffer = none): Buffer =>
    encodeFrame({ type, flags, streamId, content })
  const goAway = (lastStreamId: number): Buffer => {
    const content = Buffer.alloc(8)
    content.writeUInt32BE(lastStreamId)
    return frame(frameTypes.goAway, 0, 0, content)
  }
  const headers = encodeHeaders([{ name: ':status', value: '200' }])

  /** A connection to a server that is played by the test: what it receives, and what was heard of the connection's end. */
  const play = async (context: TestContext) => {
    const received: Frame[] = []
    const heard: string[] = []
    const sockets: Socket[] = []
    const server = createTcpServer((socket) => {
      sockets.push(socket)
      let skipped = 0
      const parse = createFrameParser((next) => void received.push({ ...next, content: Buffer.from(next.content) }))
      socket.on('error', () => undefined)
      socket.on('data', (chunk: Buffer) => {
        const preface = Math.min(prefaceBytes - skipped, chunk.length)
        skipped += preface
        parse(chunk.subarray(preface))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const connection = await openTo((server.address() as AddressInfo).port, {
      ending: (reason) => heard.push(`ending: ${reason}`),
      closed: (reason) => heard.push(`closed: ${reason}`),
    })
    context.after(() => {
      connection.close('done')
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const until = async (isDone: () => boolean): Promise<void> => {
      for (let waitedMs = 0; !isDone(); waitedMs += 2) {
        assert.ok(waitedMs < 30_000, 'it happens')
        await sleep(2)
      }
    }
    const begun = (): number => received.filter(({ flags }) => (flags & frameFlags.endStream) !== 0).length
    await until(() => sockets.length === 1)
    return { connection, received, heard, until, begun, send: (...parts: Buffer[]) => void sockets[0]?.write(Buffer.concat(parts)) }
  }

  test('a ping is answered at once', async (context) => {
    const { received, send, until } = await play(context)
    const pings = (): readonly Frame[] => received.filter(({ type }) => type === frameTypes.ping)
    const startMs = performance.now()
    for (let round = 0; round < 10; round += 1) {
      send(frame(frameTypes.ping, 0, 0, Buffer.from(`ping ${round}..`)))
      await until(() => pings().length > round)
    }
    assert.ok(performance.now() - startMs < 20_000)
    assert.deepEqual(
      pings().map(({ flags, content }) => [flags, content.toString()]),
      Array.from({ length: 10 }, (_, round) => [frameFlags.ack, `ping ${round}..`]),
    )
  })

  test('headers in a few pieces are put together', async (context) => {
    const { connection, send, until, begun } = await play(context)
    const answer = call(connection, none)
    await until(() => begun() === 1)
    send(frame(frameTypes.headers, 0, 1, headers.subarray(0, 3)), frame(frameTypes.continuation, 0, 1, headers.subarray(3, 4)))
    send(frame(frameTypes.continuation, frameFlags.endHeaders, 1, headers.subarray(4)), frame(frameTypes.data, frameFlags.endStream, 1))
    assert.deepEqual((await answer).headers, [{ name: ':status', value: '200' }])
  })

  const remembered = Buffer.concat([Buffer.from([0x40, 1]), Buffer.from('n'), Buffer.from([127, 0x81, 0x17]), Buffer.alloc(3072, 'v')])
  const attacks = {
    'headers without an end, in many small pieces': [
      frame(frameTypes.headers, 0, 1, headers),
      ...Array.from({ length: 100 }, () => frame(frameTypes.continuation, 0, 1)),
    ],
    'headers without an end, in large pieces': [
      frame(frameTypes.headers, 0, 1, Buffer.alloc(16_000)),
      ...Array.from({ length: 6 }, () => frame(frameTypes.continuation, 0, 1, Buffer.alloc(16_000))),
    ],
    'something else in the middle of headers': [frame(frameTypes.headers, 0, 1, headers), frame(frameTypes.ping, 0, 0, Buffer.alloc(8))],
    'a continuation of another stream': [
      frame(frameTypes.headers, 0, 1, headers),
      frame(frameTypes.continuation, frameFlags.endHeaders, 3),
    ],
    'a continuation of nothing': [frame(frameTypes.continuation, frameFlags.endHeaders, 1, headers)],
    'small headers that become large': [
      frame(frameTypes.headers, frameFlags.endHeaders, 1, Buffer.concat([remembered, Buffer.alloc(1000, 0x80 | 62)])),
    ],
    'a number without an end': [frame(frameTypes.headers, frameFlags.endHeaders, 1, Buffer.alloc(20, 0xff))],
    'a value that is not there': [frame(frameTypes.headers, frameFlags.endHeaders, 1, Buffer.from([0, 1, 110, 100, 118]))],
    'a window beyond all bounds': Array.from({ length: 2 }, () => frame(frameTypes.windowUpdate, 0, 0, Buffer.from('7fffffff', 'hex'))),
    'a frame beyond all bounds': [Buffer.from('ffffff000000000001', 'hex')],
    'thousands of pings at once': Array.from({ length: 5000 }, () => frame(frameTypes.ping, 0, 0, Buffer.alloc(8))),
    'thousands of settings at once': Array.from({ length: 5000 }, () => frame(frameTypes.settings, 0, 0)),
    'a stream of which only heads come': Array.from({ length: 100 }, () => frame(frameTypes.headers, frameFlags.endHeaders, 1, headers)),
    'thousands of heads for nobody': Array.from({ length: 5000 }, () => frame(frameTypes.headers, frameFlags.endHeaders, 101, headers)),
  }
  for (const [what, frames] of Object.entries(attacks)) {
    test(`${what}: the connection is closed`, async (context) => {
      const { connection, heard, send, until, begun } = await play(context)
      const answer = call(connection, none)
      await until(() => begun() === 1)
      send(...frames)
      await until(() => heard.length === 2)
      assert.notEqual((await answer).end, 'end')
      assert.match(heard.join(), /^ending: .*,closed: /)
    })
  }

  test('of a connection that the server ends, streams that it has begun with may end, and no more are opened', async (context) => {
    const { connection, heard, send, until, begun } = await play(context)
    const [first, second] = [call(connection, none), call(connection, none)]
    await until(() => begun() === 2)
    send(goAway(1))
    assert.match((await second).end, /the server ended the connection/)
    assert.deepEqual(heard, ['ending: the server ended the connection (0)'])
    assert.match((await call(connection, none)).end, /the connection is closed/)
    send(frame(frameTypes.headers, frameFlags.endHeaders, 1, headers), frame(frameTypes.data, frameFlags.endStream, 1, Buffer.from('yes')))
    const { end, body } = await first
    assert.deepEqual([end, body.toString()], ['end', 'yes'])
    assert.match(heard.join(), /,closed: /)
  })

  test('a stream that does not end is not waited for: it can be begun elsewhere', async (context) => {
    const { connection, send, until, begun } = await play(context)
    const answer = call(connection, none)
    await until(() => begun() === 1)
    send(goAway(2 ** 31 - 1))
    const startMs = performance.now()
    assert.match((await answer).end, /the server ended the connection/)
    const tookMs = performance.now() - startMs
    assert.ok(tookMs > 1000 && tookMs < 60_000, `${tookMs} ms`)
  })
})
