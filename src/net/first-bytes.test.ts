// The first bytes of a connection, kept until they are wanted.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../base/until.fixture.js'
import { awaitFirstBytes } from './first-bytes.js'

interface Waiting {
  readonly socket: Socket
  readonly take: () => void
  ready: number
}

const waiting: Waiting[] = []
const server = createServer({ allowHalfOpen: true }, (socket) => {
  const one: Waiting = {
    socket,
    ready: 0,
    take: awaitFirstBytes(
      socket.on('error', () => undefined),
      () => void one.ready++,
    ),
  }
  waiting.push(one)
})

before(() => once(server.listen(0, '127.0.0.1'), 'listening'))
after(() => server.close())

async function open(): Promise<{ readonly client: Socket; readonly one: Waiting }> {
  const client = connect((server.address() as { port: number }).port, '127.0.0.1').on('error', () => undefined)
  const count = waiting.length
  await until(() => waiting.length > count)
  return { client, one: waiting.at(-1) as Waiting }
}

test('they wait below the stream, what follows is left to the system, and all of it is read in order', async () => {
  const { client, one } = await open()
  const { socket, take } = one
  assert.equal(one.ready, 0)
  client.write('first ')
  await until(() => one.ready === 1)
  client.end('second ')
  await sleep(20)
  assert.deepEqual([one.ready, socket.readableLength, socket.bytesRead], [1, 0, 6])
  take()
  assert.equal(socket.readableLength, 6)
  let text = ''
  for await (const part of socket) text += String(part)
  assert.equal(text, 'first second ')
})

test('whoever goes away without a word is not ready, and the stream has its end', async () => {
  const { client, one } = await open()
  client.end()
  await until(() => one.socket.readableEnded)
  assert.equal(one.ready, 0)
  one.socket.destroy()
})

test('one that nobody waits for any more is read as usual', async () => {
  const { client, one } = await open()
  one.take()
  const read = once(one.socket, 'data')
  client.end('late')
  assert.equal(String(await read), 'late')
  assert.equal(one.ready, 0)
  one.socket.destroy()
})
