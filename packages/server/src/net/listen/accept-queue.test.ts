// Connections that wait for their TLS handshake.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { AcceptQueue } from './accept-queue.js'

test('a connection from another process is closed if it sends more than a ClientHello before its handshake begins', {
  timeout: 10_000,
}, async () => {
  const queue = new AcceptQueue({ maxConnections: 10, maxConnectionsPerAddress: 10, maxHandshakes: 0 }, () => undefined)
  const accepted: Socket[] = []
  const port = createServer((socket) => {
    accepted.push(socket)
    queue.accept(socket)
  })
  await once(port.listen(0, '127.0.0.1'), 'listening')
  const open = async (bytes: number): Promise<Socket> => {
    const client = connect((port.address() as AddressInfo).port, '127.0.0.1')
    client.on('error', () => undefined)
    await once(client, 'connect')
    client.write(Buffer.alloc(bytes))
    return client
  }
  const small = await open(2000)
  const large = await open(1 << 20)
  if (!large.closed) await new Promise((resolve) => large.once('close', resolve))
  assert.equal(small.closed, false)
  assert.deepEqual(
    accepted.map(({ destroyed }) => destroyed),
    [false, true],
  )
  queue.closeAll()
  small.destroy()
  port.close()
})
