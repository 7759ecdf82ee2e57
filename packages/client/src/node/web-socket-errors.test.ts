// Errors of WebSockets: broken connection, aborted signal, closed client.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { after, test } from 'node:test'
import { ConnectionError, isClosedError } from '../errors.js'
import { Requester } from '../requests/requester.js'
import { HttpTransport } from './http-transport.js'

const sockets = new Set<Duplex>()
const server = createServer()
after(() => {
  server.close()
  for (const socket of sockets) socket.destroy()
})
server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
  sockets.add(socket)
  socket.on('error', () => undefined)
  if (request.headers.authorization === 'Bearer old') {
    socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n')
    return
  }
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const accept = createHash('sha1').update(key).digest('base64')
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
  if (request.url === '/cut') setImmediate(() => socket.destroy())
})
const listening = new Promise<string>((resolve) =>
  server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
)

const createTransport = async (): Promise<HttpTransport> => new HttpTransport({ server: await listening })
const read = async (messages: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of messages);
}

test('a WebSocket rejects with ConnectionError, the abort reason or the closed error', async () => {
  const transport = await createTransport()
  const requester = new Requester({ transport })
  const broken = await requester.openSocket({ path: '/cut', protocols: [] })
  await assert.rejects(read(broken.messages()), ConnectionError)
  await assert.rejects(broken.send(new Uint8Array(1)), ConnectionError)
  const controller = new AbortController()
  const aborted = await requester.openSocket({ path: '/open', protocols: [], signal: controller.signal })
  const reading = read(aborted.messages())
  controller.abort(new RangeError('no time'))
  await assert.rejects(reading, RangeError)
  const open = await requester.openSocket({ path: '/open', protocols: [] })
  const waiting = read(open.messages())
  transport.close()
  await assert.rejects(waiting, isClosedError)
})

test('close() rejects pending requests and WebSockets, also during a proxy handshake', async () => {
  const accepted = new Set<Socket>()
  let onData: () => void = () => undefined
  /** Server or proxy that never responds. */
  const silentServer = createTcpServer((socket) => {
    accepted.add(socket.on('error', () => undefined))
    socket.once('data', () => onData())
  })
  const address = await new Promise<string>((resolve) =>
    silentServer.listen(0, '127.0.0.1', () => resolve(`127.0.0.1:${(silentServer.address() as AddressInfo).port}`)),
  )
  for (const settings of [
    { server: `http://${address}` },
    { server: 'http://api.example', proxyUrl: `http://${address}` },
    { server: 'https://api.example', proxyUrl: `socks5://${address}` },
  ]) {
    const transport = new HttpTransport(settings)
    const requester = new Requester({ transport })
    const pending: Promise<unknown>[] = []
    for (const send of [
      () => requester.json({ path: '/', method: 'POST' }),
      () => requester.json({ path: '/' }),
      () => requester.openSocket({ path: '/', protocols: [] }),
    ]) {
      const received = new Promise<void>((resolve) => (onData = resolve))
      pending.push(send())
      await received
    }
    transport.close()
    const results = await Promise.allSettled(pending)
    assert.deepEqual(
      results.map((result) => result.status === 'rejected' && isClosedError(result.reason)),
      [true, true, true],
      settings.server,
    )
  }
  await Promise.all([...accepted].map((socket) => socket.destroyed || new Promise((resolve) => socket.once('close', resolve))))
  silentServer.close()
})
