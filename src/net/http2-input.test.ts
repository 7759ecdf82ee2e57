// Connections of HTTP/2 that send very many frames: a little in each turn, in their order, all of them, and of many connections no more than of one.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http2'
import { type AddressInfo, connect, createServer as createTcp, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { Http2Inputs } from './http2-input.js'
import { Http2Sessions } from './http2-sessions.js'
import { PacedEnds } from './paced-ends.js'
import { goOnReading, stopReading } from './read-control.js'
import { ReadTurns } from './read-turns.js'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
/** POST / of the stream 1. */
const head = Buffer.from([0, 0, 6, 1, 4, 0, 0, 0, 1, 0x83, 0x84, 0x87, 0x41, 1, 0x78])
const letters = 'abcdefghijklmnopqrstuvwxyz'
const repeats = 250
const bodyBytes = 26 * repeats
const frames = Buffer.from(Array.from(letters.repeat(repeats), (letter) => [0, 0, 1, 0, 0, 0, 0, 0, 1, letter.charCodeAt(0)]).flat())
const end = Buffer.from([0, 0, 0, 0, 1, 0, 0, 0, 1])

const opened: { close(): unknown }[] = []
after(() => {
  for (const each of opened) each.close()
})

/** A server whose connections are paced from the beginning; `take`: is told of each part of a body. */
async function start(take: (part: Buffer) => void) {
  const inputs = new Http2Inputs()
  const sockets: Socket[] = []
  const bodies: string[] = []
  const http2 = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => {
      body += part.toString()
      take(part)
    })
    request.on('end', () => {
      bodies.push(body)
      response.end('whole')
    })
  })
  const sessions = new Http2Sessions(() => http2, { idleMs: 60_000, goawayChance: 0 }, { turns: new ReadTurns(), ends: new PacedEnds() })
  const tcp = createTcp((socket) => {
    socket.on('error', () => undefined)
    sockets.push(socket)
    const session = sessions.accept(socket)
    assert.ok(session)
    assert.equal(inputs.pace(socket, session), true)
  })
  opened.push(tcp)
  await once(tcp.listen(0, '127.0.0.1'), 'listening')
  return { port: (tcp.address() as AddressInfo).port, sockets, bodies }
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  opened.push({ close: () => socket.destroy() })
  await once(socket, 'connect')
  return socket
}

async function hearsAnswer(socket: Socket): Promise<void> {
  for (let text = ''; !text.includes('whole'); ) text += String((await once(socket, 'data'))[0])
}

test('a body in frames of one byte comes whole and in order, a few frames in each turn', async () => {
  let [inTurn, most, isPlanned] = [0, 0, false]
  const { port, bodies } = await start((part) => {
    inTurn += part.length
    most = Math.max(most, inTurn)
    for (const until = performance.now() + part.length / 100; performance.now() < until; );
    if (isPlanned) return
    isPlanned = true
    setImmediate(() => {
      isPlanned = false
      inTurn = 0
    })
  })
  const clients = await Promise.all([dial(port), dial(port), dial(port)])
  for (const client of clients) client.write(Buffer.concat([preface, settings, head, frames, end]))
  await Promise.all(clients.map(hearsAnswer))
  assert.deepEqual(bodies, Array(3).fill(letters.repeat(repeats)))
  // A millisecond for a hundred: three of them, and the piece that was begun.
  assert.ok(most < bodyBytes / 5, `${most} frames in one turn`)
})

test('while reading is stopped nothing is handed on, and then the rest', async () => {
  let bytes = 0
  const { port, sockets, bodies } = await start((part) => {
    bytes += part.length
    const [socket] = sockets
    if (socket !== undefined && bytes - part.length < 1000 && bytes >= 1000) stopReading(socket, 'requests')
  })
  const client = await dial(port)
  client.write(Buffer.concat([preface, settings, head, frames, end]))
  while (bytes < 1000) await new Promise(setImmediate)
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  assert.ok(bytes < bodyBytes / 2, `${bytes} bytes`)
  goOnReading(sockets[0] as Socket, 'requests')
  await hearsAnswer(client)
  assert.deepEqual(bodies, [letters.repeat(repeats)])
})

test('an ordinary client has its answers, and one that goes is let go', async () => {
  const { port, sockets, bodies } = await start(() => undefined)
  const client = await dial(port)
  client.write(Buffer.concat([preface, settings, head]))
  for (const part of [frames.subarray(0, bodyBytes), frames.subarray(bodyBytes), end]) {
    client.write(part)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await hearsAnswer(client)
  assert.deepEqual(bodies, [letters.repeat(repeats)])
  client.destroy()
  const [socket] = sockets
  assert.ok(socket)
  if (!socket.closed) await once(socket, 'close')
})
