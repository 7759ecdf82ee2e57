// Clients that take nothing: their connections are cut, unless whoever writes to them waits for them.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../base/until.fixture.js'
import { bePatientWith, endPatienceWith, StalledConnections } from './stalled-connections.js'

test('a client that takes nothing is cut, but not one that is waited for', async () => {
  const stalled = new StalledConnections({ stallMs: 60, lookMs: 20 })
  const accepted: Socket[] = []
  const server = createServer((socket) => {
    accepted.push(socket.on('error', () => undefined))
    stalled.watch(socket)
    if (accepted.length === 2) bePatientWith(socket)
    socket.write(Buffer.alloc(64 << 20))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const clients = [1, 2].map(() => connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined))
  await until(() => accepted.length === 2)
  const [cut, kept] = accepted as [Socket, Socket]
  await until(() => cut.closed)
  await sleep(200)
  assert.equal(kept.destroyed, false)
  endPatienceWith(kept)
  await until(() => kept.closed)
  stalled.close()
  server.close()
  for (const client of clients) client.destroy()
})

/** A connection of which a test says how much its client takes. */
class FakeSocket extends EventEmitter {
  writableLength = 1 << 20
  bytesWritten = 1 << 20
  isCut = false

  /** The client takes so much, and as much is written anew. */
  take(bytes: number): void {
    this.bytesWritten += bytes
  }

  destroy(): void {
    this.isCut = true
    this.emit('close')
  }
}

/** As many as a server has, for ten times as long as it waits: one look per second, without a clock. */
test('ten thousand clients that take nothing are cut when their time is up, and those that take a byte now and then never are', () => {
  mock.timers.enable({ apis: ['setInterval'] })
  const seconds = 60
  const stalled = new StalledConnections({ stallMs: seconds * 1000 })
  const watched = (count: number): readonly FakeSocket[] =>
    Array.from({ length: count }, () => {
      const socket = new FakeSocket()
      stalled.watch(socket as unknown as Socket)
      return socket
    })
  const [stuck, slow, waitedFor, idle] = [watched(10_000), watched(100), watched(100), watched(100)]
  for (const socket of waitedFor) bePatientWith(socket)
  for (const socket of idle) socket.writableLength = 0
  const cut = (sockets: readonly FakeSocket[]): number => sockets.filter(({ isCut }) => isCut).length
  try {
    for (let look = 1; look <= 10 * seconds; look++) {
      if (look % (seconds - 1) === 0) for (const socket of slow) socket.take(1)
      mock.timers.tick(1000)
      // The first look is what the others are compared with.
      assert.equal(cut(stuck), look <= seconds ? 0 : stuck.length, `look ${look}`)
    }
    assert.deepEqual([slow, waitedFor, idle].map(cut), [0, 0, 0])
    for (const socket of waitedFor) endPatienceWith(socket)
    for (const socket of idle) socket.writableLength = 1
    for (let look = 0; look <= seconds; look++) mock.timers.tick(1000)
    assert.deepEqual([slow, waitedFor, idle].map(cut), [100, 100, 100], 'whoever takes nothing any more')
  } finally {
    stalled.close()
    mock.timers.reset()
  }
})
