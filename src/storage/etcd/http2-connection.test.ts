// Our side of HTTP/2 against Node's: headers in every guise, bodies larger than any window, and ends of every kind.

import assert from 'node:assert/strict'
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeHeaders, type Header } from './hpack.js'
import { Http2Connection, type StreamEvents } from './http2-connection.js'

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('')

interface Answer {
  readonly headers: readonly Header[]
  readonly body: Buffer
  readonly end: string
}

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

  const open = async (onClosed: (reason: string) => void = () => undefined): Promise<Http2Connection> => {
    const socket: Socket = connect(port, '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    return new Http2Connection(socket, onClosed)
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
    for (let round = 0; round < 12; round += 1) assert.equal((await call(connection, Buffer.alloc(4_000_000))).body.length, 4_000_000)
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
    while (heard.length < 2) await sleep(5)
    stream.cancel()
    while (!isClosed) await sleep(5)
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
