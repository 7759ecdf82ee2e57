// Bodies that nobody has asked for yet: a connection brings little of them, whatever else happens, and none is lost.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { after, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { until } from '../base/until.fixture.js'
import { takeBody } from './direct-request.js'
import { issueCertificate } from './issue-certificate.js'
import { type Listener, listen, type RequestListener } from './listen.js'
import { stopReading } from './read-control.js'
import { ReadTurns } from './read-turns.js'
import { receivedBytes } from './socket-room.js'
import { holdUnasked, releaseUnasked, UnaskedBodies } from './unasked-bodies.js'

const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'ca', use: 'authority', ...times }), commonName: 'ca' }
const certificate = issueCertificate({ commonName: 'server', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)

/** A machine that stands still for a while has not lost anybody. */
const patient = { handshakeMs: 600_000, headersMs: 600_000, requestMs: 600_000, idleMs: 600_000, stallMs: 600_000 }

const opened: { close(): unknown }[] = []
after(() => Promise.all(opened.map((each) => each.close())))

async function serving(serve: RequestListener): Promise<Listener> {
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate, limits: patient }, serve)
  opened.push(listener)
  return listener
}

async function client({ port }: Listener): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca: authority.cert })
  opened.push({ close: () => socket.destroy() })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

const post = (path: string, bytes: number): Buffer =>
  Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`), Buffer.alloc(bytes, 'x')])

const chunkedPost = (path: string, bytes: number): Buffer => {
  const chunk = `3e8\r\n${'x'.repeat(1000)}\r\n`
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(Math.ceil(bytes / 1000))}0\r\n\r\n`,
  )
}

/** As long as it takes others to be served a hundred times: more than it takes to read all that was sent. */
async function meanwhile(listener: Listener): Promise<void> {
  const socket = await client(listener)
  for (let i = 0; i < 100; i++) {
    socket.write('GET /other HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
  }
}

for (const [how, request] of [
  ['of 60 KB', post('/late', 60_000)],
  ['of 20 KB', post('/late', 20_000)],
  ['of 45 KB in chunks', chunkedPost('/late', 45_000)],
  ['of 2 KB', post('/late', 2_000)],
] as const)
  test(`of bodies ${how} behind an answer without an end, twenty connections bring little, and all of it counts when it has ended`, async () => {
    const connections = 20
    /** Twenty times as much as a connection may bring. */
    const requests = Math.ceil((20 * (64 << 10)) / request.length)
    const endless: ServerResponse[] = []
    const late: [IncomingMessage, ServerResponse][] = []
    let isOver = false
    const serveLate = (message: IncomingMessage, response: ServerResponse): void => {
      const end = (): void => void response.end('ok')
      if (takeBody(message, { data: () => undefined, end, aborted: () => undefined })) return
      message.on('end', end).resume()
    }
    const listener = await serving((message, response) => {
      if (message.url === '/other') response.end('ok')
      else if (message.url === '/endless') endless.push(response as ServerResponse)
      else if (isOver) serveLate(message as IncomingMessage, response as ServerResponse)
      else late.push([message as IncomingMessage, response as ServerResponse])
    })
    const sockets = await Promise.all(Array.from({ length: connections }, () => client(listener)))
    const answered = new Map(sockets.map((socket) => [socket, 0]))
    for (const socket of sockets) {
      socket.on('data', (part: Buffer) => {
        answered.set(socket, (answered.get(socket) ?? 0) + part.toString('latin1').split('HTTP/1.1 200').length - 1)
      })
      socket.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n')
    }
    await until(() => endless.length === connections)
    const read = endless.map(({ req }) => req.socket)
    for (const socket of sockets) for (let i = 0; i < requests; i++) socket.write(request)
    await until(() => read.every((socket) => receivedBytes(socket) > 64 << 10))
    await meanwhile(listener)
    const most = Math.max(...read.map(receivedBytes))
    assert.ok(most < 192 << 10, `${most} bytes of ${requests * request.length} were read of a connection`)
    isOver = true
    for (const [message, response] of late) serveLate(message, response)
    for (const response of endless) response.end('ok')
    await until(() => [...answered.values()].every((count) => count === requests + 1))
    for (const socket of sockets) socket.destroy()
  })

function standIn() {
  const calls: string[] = []
  const handle = { reading: true, readStop: () => calls.push('stop'), readStart: () => calls.push('start') }
  return { socket: Object.assign(new EventEmitter(), { _handle: handle, bytesRead: 0 }) as unknown as Socket, handle, calls }
}

const part = Buffer.alloc(16 << 10)
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a connection is stopped by what is more than one reading of it brings, and goes on when it has less', () => {
  const { socket, calls } = standIn()
  const held = Array.from({ length: 4 }, () => holdUnasked(socket, part))
  assert.deepEqual(calls, [])
  held.push(holdUnasked(socket, Buffer.from('x')))
  assert.deepEqual(calls, ['stop'])
  held.push(holdUnasked(socket, part))
  for (const bytes of held.slice(0, 2)) releaseUnasked(socket, bytes)
  assert.deepEqual(calls, ['stop', 'stop', 'start'])
  for (const bytes of held.slice(2)) releaseUnasked(socket, bytes)
  assert.deepEqual(calls, ['stop', 'stop', 'start'], 'once')
})

test('very small parts count as what they take', () => {
  const { socket, calls } = standIn()
  for (let i = 0; i < 1000; i++) holdUnasked(socket, Buffer.from('x'))
  assert.ok(calls.length > 0)
})

test('one that was stopped is not read from because another had a pause, wants it no more, or Node does not want it', async () => {
  const { socket, handle, calls } = standIn()
  const turns = new ReadTurns()
  const reading = turns.of(socket)
  const bytes = holdUnasked(socket, Buffer.alloc(70_000))
  turns.count(turns.of(standIn().socket), 3000)
  turns.count(reading, 200)
  for (let i = 0; i < 10; i++) await turn()
  assert.deepEqual(
    calls.filter((call) => call === 'start'),
    [],
  )
  stopReading(socket, 'requests')
  releaseUnasked(socket, bytes)
  assert.deepEqual(
    calls.filter((call) => call === 'start'),
    [],
  )
  const other = standIn()
  const held = holdUnasked(other.socket, Buffer.alloc(70_000))
  other.handle.reading = false
  releaseUnasked(other.socket, held)
  assert.deepEqual(other.calls, ['stop'])
  assert.equal(handle.reading, true)
})

test('beyond what all connections may hold together, those that hold something are stopped, and go on when there is room', async () => {
  const bodies = new UnaskedBodies({ one: 64 << 10, all: 100 << 10, most: 1 << 20 })
  const [first, second, third] = [standIn(), standIn(), standIn()]
  const held = [first, second, third].map(({ socket }) => bodies.hold(socket, Buffer.alloc(48 << 10)))
  assert.deepEqual([first.calls, second.calls, third.calls], [[], [], ['stop']])
  bodies.release(third.socket, held[2] as number)
  assert.deepEqual(third.calls, ['stop', 'start'], 'the rest of what was asked for must come, whatever others hold')
  const again = bodies.hold(third.socket, part)
  assert.deepEqual(third.calls, ['stop', 'start', 'stop'])
  bodies.release(first.socket, held[0] as number)
  await turn()
  assert.deepEqual(third.calls, ['stop', 'start', 'stop', 'start'])
  for (const [{ socket }, bytes] of [
    [second, held[1]],
    [third, again],
  ] as const)
    bodies.release(socket, bytes as number)
  assert.equal(bodies.bytes, 0)
})

test('what waits for room goes on a few at a time, until nobody waits', async () => {
  const bodies = new UnaskedBodies({ one: 10_000, all: 100_000, most: 1 << 20 })
  const large = Array.from({ length: 11 }, () => standIn())
  const releases = large.map(({ socket }) => ({ socket, bytes: bodies.hold(socket, Buffer.alloc(10_000)) }))
  const waiting = Array.from({ length: 50 }, () => standIn())
  for (const { socket } of waiting) bodies.hold(socket, Buffer.alloc(300))
  const running = (): number => waiting.filter(({ calls }) => calls.at(-1) === 'start').length
  for (const { socket, bytes } of releases.slice(0, 4)) bodies.release(socket, bytes)
  await turn()
  assert.ok(running() > 0 && running() < 10, `${running()} at once`)
  for (let i = 0; i < 100 && running() < waiting.length; i++) await turn()
  assert.equal(running(), waiting.length)
})

test('a connection that is closed holds nothing, and those that wait go on', async () => {
  const bodies = new UnaskedBodies({ one: 10_000, all: 20_000, most: 1 << 20 })
  const [gone, waiting] = [standIn(), standIn()]
  const bytes = bodies.hold(gone.socket, Buffer.alloc(30_000))
  bodies.hold(waiting.socket, Buffer.alloc(300))
  assert.deepEqual(waiting.calls, ['stop'])
  gone.socket.emit('close')
  await turn()
  assert.deepEqual(waiting.calls, ['stop', 'start'])
  bodies.release(gone.socket, bytes)
  assert.equal(bodies.bytes, 300)
})

/** Tells what was closed, and by its number; it is gone a turn later, as connections are. */
function closing(closed: number[], number: number): Socket {
  const { socket } = standIn()
  socket.destroy = () => {
    closed.push(number)
    setImmediate(() => socket.emit('close'))
    return socket
  }
  return socket
}

test('of those that hold as much, whoever brings more than there may be at all is closed', async () => {
  const bodies = new UnaskedBodies({ one: 10_000, all: 20_000, most: 50_000 })
  const closed: number[] = []
  for (let i = 0; i < 20; i++) bodies.hold(closing(closed, i), Buffer.alloc(10_000))
  assert.deepEqual(closed, [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
  assert.equal(bodies.bytes, 50_000)
  await turn()
  assert.equal(bodies.bytes, 50_000)
})

test('whoever holds most is closed for somebody who brings little, and what else comes of it counts no more', async () => {
  const bodies = new UnaskedBodies({ one: 10_000, all: 20_000, most: 50_000 })
  const closed: number[] = []
  const sockets = Array.from({ length: 5 }, (_, i) => closing(closed, i))
  const held = sockets.map((socket, i) => bodies.hold(socket, Buffer.alloc(i === 3 ? 10_400 : 9_900)))
  const late = closing(closed, 5)
  bodies.hold(late, Buffer.alloc(300))
  assert.deepEqual(closed, [3])
  assert.equal(bodies.bytes, 39_900)
  const [, , , largest] = sockets as [Socket, Socket, Socket, Socket]
  bodies.hold(largest, Buffer.alloc(9000))
  bodies.release(largest, held[3] as number)
  await turn()
  bodies.release(largest, 9000)
  assert.equal(bodies.bytes, 39_900)
  late.emit('close')
  for (const [i, socket] of sockets.entries()) if (i !== 3) bodies.release(socket, held[i] as number)
  assert.equal(bodies.bytes, 0)
})
