// A stream whose request was sent before the answer to another one had ended: it hears of room on the connection, too.

import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import type { Exchange } from './exchange.js'
import { onRoom } from './respond.js'

test('a pipelined stream is told when its connection has room', async () => {
  const responses: ServerResponse[] = []
  const server = createServer((_request, response) => void responses.push(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET /a HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2))
  while (responses.length < 2) await new Promise(setImmediate)
  const [first, second] = responses as [ServerResponse, ServerResponse]
  assert.equal(second.socket === null, true)
  const leaving: (() => void)[] = []
  let calls = 0
  onRoom({ response: second, onLeave: (call: () => void) => leaving.push(call) } as unknown as Exchange, () => calls++)
  const assigned = new Promise<Socket>((resolve) => second.once('socket', resolve))
  first.end()
  const socket = await assigned
  socket.emit('drain')
  assert.ok(calls > 0)
  const before = calls
  for (const leave of leaving) leave()
  socket.emit('drain')
  assert.equal(calls, before)
  client.destroy()
  server.closeAllConnections()
  server.close()
})
