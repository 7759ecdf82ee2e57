// Connections of clients that do not read are closed, except those with back-pressure.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import { endStallExemption, exemptFromStallCheck, StalledConnections } from './stalled-connections.js'

test('a client that does not read is disconnected, unless its connection is exempt', async () => {
  const stalled = new StalledConnections({ stallMs: 60, checkMs: 20 })
  const accepted: Socket[] = []
  const server = createServer((socket) => {
    accepted.push(socket.on('error', () => undefined))
    stalled.watch(socket)
    if (accepted.length === 2) exemptFromStallCheck(socket)
    socket.write(Buffer.alloc(64 << 20))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const clients = [1, 2].map(() => connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined))
  await until(() => accepted.length === 2)
  const [stalledSocket, exemptSocket] = accepted as [Socket, Socket]
  await until(() => stalledSocket.closed)
  await sleep(200)
  assert.equal(exemptSocket.destroyed, false)
  endStallExemption(exemptSocket)
  await until(() => exemptSocket.closed)
  stalled.close()
  server.close()
  for (const client of clients) client.destroy()
})

/** A fake socket whose client reads as the test says. */
class FakeSocket extends EventEmitter {
  writableLength = 1 << 20
  bytesWritten = 1 << 20
  isDestroyed = false

  /** The client reads bytes, and as many are written again. */
  read(bytes: number): void {
    this.bytesWritten += bytes
  }

  destroy(): void {
    this.isDestroyed = true
    this.emit('close')
  }
}

test('10,000 stalled clients are disconnected after the timeout, clients that read a byte per minute are not', () => {
  mock.timers.enable({ apis: ['setInterval'] })
  const seconds = 60
  const stalled = new StalledConnections({ stallMs: seconds * 1000 })
  const watched = (count: number): readonly FakeSocket[] =>
    Array.from({ length: count }, () => {
      const socket = new FakeSocket()
      stalled.watch(socket as unknown as Socket)
      return socket
    })
  const [stalledClients, slow, exempt, idle] = [watched(10_000), watched(100), watched(100), watched(100)]
  for (const socket of exempt) exemptFromStallCheck(socket)
  for (const socket of idle) socket.writableLength = 0
  const countDestroyed = (sockets: readonly FakeSocket[]): number => sockets.filter(({ isDestroyed }) => isDestroyed).length
  try {
    for (let check = 1; check <= 10 * seconds; check++) {
      if (check % (seconds - 1) === 0) for (const socket of slow) socket.read(1)
      mock.timers.tick(1000)
      // The first check is the baseline.
      assert.equal(countDestroyed(stalledClients), check <= seconds ? 0 : stalledClients.length, `check ${check}`)
    }
    assert.deepEqual([slow, exempt, idle].map(countDestroyed), [0, 0, 0])
    for (const socket of exempt) endStallExemption(socket)
    for (const socket of idle) socket.writableLength = 1
    for (let check = 0; check <= seconds; check++) mock.timers.tick(1000)
    assert.deepEqual([slow, exempt, idle].map(countDestroyed), [100, 100, 100], 'all clients that stopped reading')
  } finally {
    stalled.close()
    mock.timers.reset()
  }
})
