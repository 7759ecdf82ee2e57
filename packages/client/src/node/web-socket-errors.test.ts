// Connections that carry messages, and how callers hear of their end: as errors of the client, the reason of their own signal, and once more after 401.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { after, test } from 'node:test'
import { ConnectionError, isClosedError } from '../errors.js'
import { Requester } from '../requester.js'
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

const transportTo = async (): Promise<HttpTransport> => new HttpTransport({ server: await listening })
const read = async (messages: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of messages);
}

test('a connection that is cut off, aborted or closed says which', async () => {
  const transport = await transportTo()
  const requester = new Requester({ transport })
  const cut = await requester.openSocket({ path: '/cut', protocols: [] })
  await assert.rejects(read(cut.messages()), ConnectionError)
  await assert.rejects(cut.send(new Uint8Array(1)), ConnectionError)
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

test('what has not been answered when the client is closed ends with it, and says so; also what is on its way through a proxy', async () => {
  const taken = new Set<Socket>()
  let hear: () => void = () => undefined
  /** Takes what comes, and never answers: a server, or a proxy before it. */
  const silent = createTcpServer((socket) => {
    taken.add(socket.on('error', () => undefined))
    socket.once('data', () => hear())
  })
  const address = await new Promise<string>((resolve) =>
    silent.listen(0, '127.0.0.1', () => resolve(`127.0.0.1:${(silent.address() as AddressInfo).port}`)),
  )
  for (const settings of [
    { server: `http://${address}` },
    { server: 'http://api.example', proxyUrl: `http://${address}` },
    { server: 'https://api.example', proxyUrl: `socks5://${address}` },
  ]) {
    const transport = new HttpTransport(settings)
    const requester = new Requester({ transport })
    const answers: Promise<unknown>[] = []
    for (const ask of [
      () => requester.json({ path: '/', method: 'POST' }),
      () => requester.json({ path: '/' }),
      () => requester.openSocket({ path: '/', protocols: [] }),
    ]) {
      const isHeard = new Promise<void>((resolve) => (hear = resolve))
      answers.push(ask())
      await isHeard
    }
    transport.close()
    const ends = await Promise.allSettled(answers)
    assert.deepEqual(
      ends.map((end) => end.status === 'rejected' && isClosedError(end.reason)),
      [true, true, true],
      settings.server,
    )
  }
  await Promise.all([...taken].map((socket) => socket.destroyed || new Promise((resolve) => socket.once('close', resolve))))
  silent.close()
})

test('a credential that is refused is renewed once', async () => {
  const transport = await transportTo()
  let token = 'old'
  const credentials = {
    current: () => ({ authorization: `Bearer ${token}` }),
    refuse: () => {
      token = 'new'
      return true
    },
  }
  const socket = await new Requester({ transport, credentials }).openSocket({ path: '/open', protocols: [] })
  socket.close()
  transport.close()
})
