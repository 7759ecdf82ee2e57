// Connections that end at the same time.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { until } from '../base/until.fixture.js'
import { PacedEnds } from './paced-ends.js'
import { handleOf } from './socket-handle.js'

const ends = new PacedEnds()
const sockets: Socket[] = []
/** How many have ended in this turn of the event loop, and at most. */
const ended = { all: 0, inTurn: 0, most: 0, failures: [] as unknown[], text: '' }

function countEnd(): void {
  if (ended.inTurn++ === 0) {
    setImmediate(() => {
      ended.inTurn = 0
    })
  }
  ended.most = Math.max(ended.most, ended.inTurn)
  ended.all++
}

const server = createServer({ allowHalfOpen: true }, (socket) => {
  ends.pace(socket)
  sockets.push(socket)
  socket.on('data', (part) => {
    ended.text += String(part)
  })
  socket.once('end', () => socket.end('bye'))
  socket.on('error', (error: NodeJS.ErrnoException) => ended.failures.push(error.code))
  socket.once('close', countEnd)
})

before(() => once(server.listen({ port: 0, host: '127.0.0.1', backlog: 1000 }), 'listening'))
after(() => server.close())

async function open(count: number): Promise<readonly Socket[]> {
  Object.assign(ended, { all: 0, most: 0, failures: [], text: '' })
  sockets.length = 0
  const { port } = server.address() as { port: number }
  const clients = Array.from({ length: count }, () =>
    connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined),
  )
  await until(() => sockets.length === count)
  return clients
}

/** All of it has arrived before any of it is looked at: what comes to this process comes in a later turn than what it sends. */
const count = 200
const mostInTurn = 40

test('many that come to their end do so a few per turn, with what came before it, and can still be answered', async () => {
  const clients = await open(count)
  let answers = ''
  for (const client of clients) {
    client.on('data', (part) => {
      answers += String(part)
    })
    client.end('x')
  }
  await until(() => ended.all === count)
  assert.ok(ended.most <= mostInTurn, `${ended.most} in one turn`)
  assert.equal(ended.text, 'x'.repeat(count))
  await until(() => answers.length === 3 * count)
})

test('many that fail do so a few per turn, and with what has happened', async () => {
  const clients = await open(count)
  for (const client of clients) client.resetAndDestroy()
  await until(() => ended.all === count)
  assert.ok(ended.most <= mostInTurn, `${ended.most} in one turn`)
  assert.deepEqual(ended.failures, Array(count).fill('ECONNRESET'))
})

test('a few end at once, and one that was closed here while it waited is closed once', async () => {
  const clients = await open(count)
  for (const client of clients) client.resetAndDestroy()
  await until(() => ended.all > 0)
  for (const socket of sockets) socket.destroy()
  await until(() => ended.all === count)
  const [alone] = await open(1)
  alone?.end()
  await until(() => ended.all === 1)
})

test('one that is read from while it waits, and says again that it has ended, waits once', async () => {
  const clients = await open(count)
  let isDone = false
  const readAll = (): void => {
    if (isDone) return
    for (const socket of sockets) if (!socket.destroyed) handleOf(socket)?.readStart?.()
    setImmediate(readAll)
  }
  readAll()
  for (const client of clients) client.end()
  await until(() => ended.all === count)
  isDone = true
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  let isAtOnce = false
  ends.soon(() => {
    isAtOnce = true
  })
  assert.ok(isAtOnce, 'others wait for what has ended already')
})

test('what is done quickly waits for few turns: more end than can begin in a turn', async () => {
  const waiting = 400
  let done = 0
  let turns = 0
  for (let i = 0; i < waiting; i++) ends.soon(() => void done++)
  while (done < waiting) {
    turns++
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(turns <= 25, `${turns} turns`)
})
