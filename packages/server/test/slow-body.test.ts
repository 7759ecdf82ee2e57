// A body that does not end within --request-timeout: the client gets one response, and the connection is closed.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { startEmbedded, tokenOf } from '../../../test/kit/embedded.js'

test('a body that does not end in time gets one 504 and a closed connection', async (t) => {
  const { server, close } = await startEmbedded('memory', ['--request-timeout=1s'])
  t.after(close)
  const { port } = new URL(server.url)
  const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.write(
    `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokenOf(server)}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  )
  await once(socket, 'close')
  assert.deepEqual(text.match(/^HTTP\/1\.1 \d+/gm), ['HTTP/1.1 504'])
  assert.match(text, /^connection: close\r$/im)
})
