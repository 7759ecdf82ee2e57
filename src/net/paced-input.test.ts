// Bytes of a connection that sends very many parts: a little in each turn, in their order, and all of them; others are not touched.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { issueCertificate } from './issue-certificate.js'
import { type Listener, listen, type RequestListener } from './listen.js'
import { PacedInputs } from './paced-input.js'
import { goOnReading, stopReading } from './read-control.js'

/** A connection on which a test says what comes; `reads`: how often more was asked for. */
function connectionWith(take: (part: Buffer) => void) {
  const seen = { reads: 0, isEnded: false }
  const socket = new Duplex({ read: () => void seen.reads++ }) as unknown as Socket
  socket.on('data', take)
  socket.on('end', () => {
    seen.isEnded = true
  })
  return { socket, seen }
}

const letters = Buffer.from(Array.from({ length: 65_536 }, (_, i) => i % 251))

test('what has come at once is handed on in pieces, a few in each turn, and more is read when it was', async () => {
  const parts: Buffer[] = []
  const { socket, seen } = connectionWith((part) => {
    for (const until = performance.now() + 1; performance.now() < until; );
    parts.push(part)
  })
  await nextTurn()
  new PacedInputs().pace(socket)
  const { reads } = seen
  assert.equal(socket.push(letters), false, 'no more for now')
  socket.push(letters)
  socket.push(null)
  assert.equal(parts.length, 0)
  for (let before = 0; !seen.isEnded; before = parts.length) {
    await nextTurn()
    assert.ok(parts.length - before <= 4, `${parts.length - before} in one turn`)
    if (parts.length < 64) assert.equal(seen.reads, reads)
  }
  assert.deepEqual(Buffer.concat(parts), Buffer.concat([letters, letters]))
})

test('while it is stopped nothing is handed on, and then the rest', async () => {
  let bytes = 0
  const { socket, seen } = connectionWith((part) => {
    bytes += part.length
    if (bytes === 8192) stopReading(socket, 'requests')
  })
  await nextTurn()
  new PacedInputs().pace(socket)
  socket.push(letters)
  for (let i = 0; i < 1000 && bytes < 8192; i++) await nextTurn()
  for (let i = 0; i < 100; i++) await nextTurn()
  assert.equal(bytes, 8192)
  const { reads } = seen
  goOnReading(socket, 'requests')
  for (let i = 0; i < 10_000 && (bytes < letters.length || seen.reads === reads); i++) await nextTurn()
  assert.equal(bytes, letters.length)
  assert.ok(seen.reads > reads, 'more is asked for')
})

const certificate = issueCertificate({
  commonName: 'server',
  hosts: ['127.0.0.1'],
  use: 'server',
  notBefore: Date.now() - 1000,
  notAfter: Date.now() + 3_600_000,
})
const open: Listener[] = []
after(() => Promise.all(open.map((listener) => listener.close())))

async function dial(serve: RequestListener): Promise<TLSSocket> {
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, serve)
  open.push(listener)
  const socket = connect({ host: '127.0.0.1', port: listener.port, ca: certificate.cert, ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

const post = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const isDirect = (socket: Socket): boolean => (socket as unknown as { parser: { _consumed: boolean } }).parser._consumed

async function textUntil(socket: Socket, isEnough: (text: string) => boolean): Promise<string> {
  let text = ''
  const late = setTimeout(() => socket.destroy(), 20_000)
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1')
    if (isEnough(text)) socket.destroy()
  })
  if (!socket.closed) await once(socket, 'close')
  clearTimeout(late)
  return text
}

test('the parser is given less at a time when thousands of chunks come at once, and what is behind them is answered', async () => {
  const seen: string[] = []
  const socket = await dial((request, response) => {
    let bytes = 0
    request.on('data', (part: Buffer) => {
      bytes += part.length
    })
    request.on('end', () => {
      if (request.method === 'POST') seen.push(`${bytes} ${isDirect(request.socket as Socket) ? 'direct' : 'paced'}`)
      response.end('answer')
    })
  })
  const next = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500)
  socket.write(`${post}5\r\nusual\r\n0\r\n\r\n`)
  socket.write(`${post}${'1\r\nx\r\n'.repeat(50_000)}0\r\n\r\n${next}${post}5\r\nusual\r\n0\r\n\r\n`)
  const text = await textUntil(socket, (text) => text.split('answer').length > 503)
  assert.equal(text.split('answer').length - 1, 503)
  assert.deepEqual(seen, ['5 direct', '50000 paced', '5 paced'])
})

test('a client that ends in the middle of such a body is heard', async () => {
  let isAborted = false
  const socket = await dial((request) => {
    request.on('data', () => undefined)
    request.on('error', () => undefined)
    request.on('close', () => {
      isAborted = !(request as { readonly complete?: boolean }).complete
    })
  })
  socket.end(`${post}${'1\r\nx\r\n'.repeat(50_000)}`)
  socket.resume()
  if (!socket.closed) await once(socket, 'close')
  for (let i = 0; i < 100_000 && !isAborted; i++) await nextTurn()
  assert.equal(isAborted, true)
})
