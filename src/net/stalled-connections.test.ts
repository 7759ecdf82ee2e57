// Clients that take nothing: their connections are cut, unless whoever writes to them waits for them.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bePatientWith, endPatienceWith, StalledConnections } from './stalled-connections.js'

test('a client that takes nothing is cut, but not one that is waited for', async () => {
  const stalled = new StalledConnections({ stallMs: 60, lookMs: 20 })
  const accepted: Socket[] = []
  const server = createServer((socket) => {
    accepted.push(socket.on('error', () => undefined))
    stalled.watch(socket)
    socket.write(Buffer.alloc(64 << 20))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const clients = [1, 2].map(() => connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined))
  while (accepted.length < 2) await sleep(5)
  const [cut, kept] = accepted as [Socket, Socket]
  bePatientWith(kept)
  await once(cut, 'close')
  await sleep(200)
  assert.equal(kept.destroyed, false)
  endPatienceWith(kept)
  await once(kept, 'close')
  stalled.close()
  server.close()
  for (const client of clients) client.destroy()
})
