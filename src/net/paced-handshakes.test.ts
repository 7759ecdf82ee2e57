// Connections that come, or begin with TLS, at the same time: a few in each turn, whoever says nothing takes nobody's turn, and all are served.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { issueCertificate } from './issue-certificate.js'
import { type Listener, listen } from './listen.js'
import { paceAccepts } from './paced-accepts.js'
import { PacedHandshakes } from './paced-handshakes.js'

class StandIn extends EventEmitter {
  reads = true
  readonly _handle = { readStop: () => this.#read(false), readStart: () => this.#read(true) }
  giveUp: (() => void) | undefined
  #read(reads: boolean): void {
    this.reads = reads
  }
  setTimeout(ms: number, giveUp?: () => void): this {
    this.giveUp = ms === 0 ? undefined : giveUp
    return this
  }
  destroy(): void {
    this.emit('close')
  }
}

const standIns = (count: number) => Array.from({ length: count }, () => new StandIn()) as unknown as (Socket & StandIn)[]

function pacing() {
  const begun: Socket[] = []
  const failed: Socket[] = []
  const handshakes = new PacedHandshakes({
    begin: (socket) => void begun.push(socket),
    onFailure: (socket) => void failed.push(socket),
    silentMs: 1000,
  })
  return { begun, failed, handshakes }
}

test('a few begin at once, and of the others those that have said something, a few in each turn', async () => {
  const { begun, handshakes } = pacing()
  const sockets = standIns(40)
  for (const socket of sockets) handshakes.add(socket)
  assert.deepEqual(begun, sockets.slice(0, 4))
  for (let i = 0; i < 5; i++) await nextTurn()
  assert.equal(begun.length, 4)
  for (const socket of sockets.slice(20)) socket.emit('readable')
  for (let before = 4; begun.length < 24; before = begun.length) {
    await nextTurn()
    assert.ok(begun.length > before && begun.length - before <= 4, `${begun.length - before} in one turn`)
  }
  assert.deepEqual(begun.slice(4), sockets.slice(20))
  assert.ok(sockets.slice(20).every((socket) => socket.listenerCount('error') === 0 && socket.giveUp === undefined))
})

test('one that ends makes room, and one that says nothing or goes has failed', async () => {
  const { begun, failed, handshakes } = pacing()
  const [first, second, third, fourth, silent, gone, ended, next] = standIns(8)
  assert.ok(first && second && third && fourth && silent && gone && ended && next)
  for (const socket of [first, second, third, fourth, silent, gone, ended]) handshakes.add(socket)
  silent.giveUp?.()
  gone.emit('readable')
  gone.destroy()
  ended.emit('end')
  for (let i = 0; i < 3; i++) await nextTurn()
  assert.deepEqual(failed, [silent, gone, ended])
  handshakes.end(first)
  handshakes.add(next)
  assert.deepEqual(begun, [first, second, third, fourth, next])
})

test('when connections become secure for too long in one turn, the others are read from in the next ones', async () => {
  const { handshakes } = pacing()
  const sockets = standIns(40)
  for (const socket of sockets) {
    handshakes.add(socket)
    socket.emit('readable')
  }
  for (let i = 0; i < 20; i++) await nextTurn()
  const [first, second, ...others] = sockets
  assert.ok(first && second)
  handshakes.end(first)
  for (const until = performance.now() + 5; performance.now() < until; );
  assert.ok(others.every((socket) => socket.reads))
  handshakes.end(second)
  assert.ok(others.every((socket) => !socket.reads))
  const count = (): number => others.filter((socket) => socket.reads).length
  for (let before = 0, turns = 0; before < others.length; before = count(), turns++) {
    await nextTurn()
    assert.ok(count() - before <= 4 && turns < 100, `${count() - before} in one turn`)
  }
})

test('connections that come at the same time are accepted in turns, all of them', async () => {
  let [accepted, inTurn, most] = [0, 0, 0]
  const server = createServer((socket) => {
    socket.on('error', () => undefined).resume()
    accepted++
    if (inTurn++ === 0) setImmediate(() => (inTurn = 0))
    most = Math.max(most, inTurn)
    for (const until = performance.now() + 1; performance.now() < until; );
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  paceAccepts(server)
  const { port } = server.address() as { port: number }
  const sockets = Array.from({ length: 100 }, () => connectTcp(port, '127.0.0.1').on('error', () => undefined))
  while (accepted < 100) await nextTurn()
  // Of those that come and of those that have waited.
  assert.ok(most <= 8, `${most} in one turn`)
  for (const socket of sockets) socket.destroy()
  server.close()
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

test('of very many that come at once each is answered, also beside those that say nothing, which are closed in the end', async () => {
  let errors = 0
  const listener = await listen(
    { host: '127.0.0.1', port: 0, certificate, limits: { handshakeMs: 3000 }, onHandshakeError: () => void errors++ },
    (_request, response) => void response.end('here'),
  )
  open.push(listener)
  const { port } = listener
  const silent = Array.from({ length: 30 }, () =>
    connectTcp(port, '127.0.0.1')
      .on('error', () => undefined)
      .resume(),
  )
  const closed = Promise.all(silent.map((socket) => once(socket, 'close')))
  const gone = connectTcp(port, '127.0.0.1')
  await once(gone, 'connect')
  gone.destroy()
  const answerOf = async (): Promise<boolean> => {
    const socket = connectTls({ host: '127.0.0.1', port, ca: certificate.cert })
    // Whoever closes its side is not answered where the end comes before the turn of its request.
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    let text = ''
    for await (const part of socket) text += String(part)
    return text.includes('here')
  }
  const answers = await Promise.all(Array.from({ length: 60 }, answerOf))
  assert.ok(answers.every(Boolean))
  await closed
  for (let looks = 0; errors < 31 && looks < 100_000; looks++) await nextTurn()
  assert.equal(errors, 31)
})
