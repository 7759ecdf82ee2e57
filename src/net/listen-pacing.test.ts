// A server that listens hands on what comes over HTTP/2 in very many frames a little at a time, and closes many connections in the same way.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Http2ServerRequest } from 'node:http2'
import { type AddressInfo, connect as connectTcp, createServer as createTcp, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, createSecureContext, type TLSSocket } from 'node:tls'
import { until } from '../base/until.fixture.js'
import { issueCertificate } from './issue-certificate.js'
import { type Listener, listen, type Response } from './listen.js'

const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'ca', use: 'authority', ...times }), commonName: 'ca' }
const certificate = issueCertificate({ commonName: 'server', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)

const opened: { close(): unknown }[] = []
after(() => Promise.all(opened.map((each) => each.close())))

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
/** POST / of the stream 1. */
const head = Buffer.from([0, 0, 6, 1, 4, 0, 0, 0, 1, 0x83, 0x84, 0x87, 0x41, 1, 0x78])
/** Of one byte each. */
const frames = (count: number): Buffer => Buffer.concat(Array(count).fill(Buffer.from([0, 0, 1, 0, 0, 0, 0, 0, 1, 0x61])))

test('after very many frames of one byte others have their turn between a few of them', async () => {
  const came = { all: 0, inTurn: 0, most: 0 }
  let isPlanned = false
  const listener: Listener = await listen({ host: '127.0.0.1', port: 0, certificate }, (request) => {
    const { stream } = request as Http2ServerRequest
    const { push } = stream
    // As much work for each frame as some make of one.
    stream.push = (part: Buffer) => {
      for (const end = performance.now() + 0.01; performance.now() < end; );
      came.all++
      came.inTurn++
      came.most = Math.max(came.most, came.inTurn)
      if (!isPlanned) {
        isPlanned = true
        setImmediate(() => {
          isPlanned = false
          came.inTurn = 0
        })
      }
      return push.call(stream, part)
    }
    request.on('error', () => undefined).resume()
  })
  opened.push(listener)
  const socket = connect({ host: '127.0.0.1', port: listener.port, ca: authority.cert, ALPNProtocols: ['h2'] })
  opened.push({ close: () => socket.destroy() })
  socket.on('error', () => undefined).resume()
  await once(socket, 'secureConnect')
  // By these it becomes one whose bytes are handed on in pieces.
  socket.write(Buffer.concat([preface, settings, head, frames(2000)]))
  await until(() => came.all === 2000)
  came.most = 0
  socket.write(frames(6000))
  await until(() => came.all === 8000)
  // A millisecond for a hundred: three of them, and the piece that was begun.
  assert.ok(came.most < 1200, `${came.most} frames in one turn`)
})

/** Made once, and not for each connection. */
const trusted = { secureContext: createSecureContext({ ca: authority.cert }) }
const idleMs = 300
const idle = 60

/** How many there were, and how many at most in one turn of the event loop. */
class PerTurn {
  all = 0
  most = 0
  #inTurn = 0

  readonly count = (): void => {
    if (this.#inTurn++ === 0) {
      setImmediate(() => {
        this.#inTurn = 0
      })
    }
    this.most = Math.max(this.most, this.#inTurn)
    this.all++
  }
}

test('connections that were idle for the same time are closed a few in each turn', async () => {
  const responses: Response[] = []
  const closed = new PerTurn()
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate, limits: { idleMs } }, (request, response) => {
    request.socket.once('close', closed.count)
    // All of them are idle from the same moment.
    if (responses.push(response) === idle) for (const each of responses) each.end()
  })
  opened.push(listener)
  for (let i = 0; i < idle; i++) {
    const socket = connect({ host: '127.0.0.1', port: listener.port, ...trusted })
    opened.push({ close: () => socket.destroy() })
    socket.on('error', () => undefined).resume()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  }
  await until(() => closed.all === idle)
  assert.ok(closed.most <= 30, `${closed.most} in one turn`)
})

for (const kind of ['idle', 'silent'])
  test(`connections that are ${kind} when the port is closed are closed a few in each turn, while others are served`, async () => {
    const closed = new PerTurn()
    const follow = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket }
      socket.once('close', closed.count)
    }
    let last: Response | undefined
    const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, (request, response) => {
      if (request.url === '/last') last = response
      else response.end()
    })
    subscribe('net.server.socket', follow)
    const ask = async (path: string | undefined): Promise<TLSSocket> => {
      const socket = connect({ host: '127.0.0.1', port: listener.port, ...trusted })
      opened.push({ close: () => socket.destroy() })
      socket.on('error', () => undefined)
      await once(socket, 'secureConnect')
      if (path !== undefined) socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      if (path === '/') await once(socket, 'data')
      return socket.resume()
    }
    for (let i = 0; i < idle; i++) await ask(kind === 'idle' ? '/' : undefined)
    const slow = await ask('/last')
    unsubscribe('net.server.socket', follow)
    await until(() => last !== undefined)
    const done = listener.close({ graceMs: 5000 })
    await until(() => closed.all === idle)
    assert.ok(closed.most <= 30, `${closed.most} in one turn`)
    last?.end('served')
    const [answer] = await once(slow, 'data')
    assert.match(String(answer), /served/)
    await done
  })

/** What a client of TLS says first; the server cannot know that it was said before. */
async function clientHello(): Promise<Buffer> {
  const server = createTcp().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }).on('error', () => undefined)
  const [socket]: Socket[] = await once(server, 'connection')
  const [hello] = await once(socket as Socket, 'data')
  client.destroy()
  server.close()
  return hello
}

for (const isBegun of [false, true])
  test(`connections that are reset ${isBegun ? 'before they are secure' : 'before they have said anything'} are closed a few in each turn`, async () => {
    const failed = new PerTurn()
    const listener = await listen({ host: '127.0.0.1', port: 0, certificate, onHandshakeError: failed.count }, () => undefined)
    opened.push(listener)
    const clients = Array.from({ length: 150 }, () => connectTcp(listener.port, '127.0.0.1').on('error', () => undefined))
    await Promise.all(clients.map((client) => once(client, 'connect')))
    if (isBegun) {
      const hello = await clientHello()
      for (const client of clients) client.write(hello)
      await Promise.all(clients.map((client) => once(client, 'data')))
    } else {
      // They are accepted by then.
      await sleep(200)
    }
    for (const client of clients) client.resetAndDestroy()
    await until(() => failed.all === clients.length)
    assert.ok(failed.most <= 30, `${failed.most} in one turn`)
  })

const reference = 0xbe
/** GET / with so many header fields beyond four, each a byte that stands for the last field that the connection has in its table. */
function get(stream: number, fields: number): Buffer {
  const block = Buffer.concat([Buffer.from([0x82, 0x84, 0x87, 0x01, 1, 0x78]), Buffer.alloc(fields, reference)])
  return Buffer.concat([Buffer.from([0, 0, block.length, 1, 5, 0, 0, stream >> 8, stream & 0xff]), block])
}
/** The same with a field that is put into the table. */
const firstGet = Buffer.from([0, 0, 11, 1, 5, 0, 0, 0, 1, 0x82, 0x84, 0x87, 0x01, 1, 0x78, 0x40, 1, 0x61, 1, 0x62])

test('a connection with thousands of header fields in one turn is closed, and one with as many requests is not', async () => {
  let served = 0
  const listener: Listener = await listen({ host: '127.0.0.1', port: 0, certificate }, (_request, response) => {
    served++
    response.end()
  })
  opened.push(listener)
  const ask = async (fields: number): Promise<{ isClosed: boolean; served: number }> => {
    served = 0
    let isClosed = false
    const socket = connect({ host: '127.0.0.1', port: listener.port, ca: authority.cert, ALPNProtocols: ['h2'] })
    opened.push({ close: () => socket.destroy() })
    socket
      .on('error', () => undefined)
      .on('close', () => {
        isClosed = true
      })
    socket.resume()
    await once(socket, 'secureConnect')
    socket.write(Buffer.concat([preface, settings, firstGet, ...Array.from({ length: 60 }, (_, i) => get(2 * i + 3, fields))]))
    await until(() => isClosed || served === 61)
    return { isClosed, served }
  }
  assert.deepEqual(await ask(12), { isClosed: false, served: 61 })
  const { isClosed, served: before } = await ask(240)
  assert.ok(isClosed && before < 30, `closed: ${isClosed}, served: ${before}`)
})
