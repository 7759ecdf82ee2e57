// Streams of a client that sends without reading: the kubelet stops reading, instead of keeping replies in memory.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { memoryConnection } from './memory-connection.js'
import { SpdyConnection } from './spdy-connection.js'
import { ChannelSocket } from './web-socket-channels.js'

const maxBytes = 4 << 20
/** Iterations of the event loop without progress after which a connection is stalled. */
const stalledAfter = 200

async function isStalled(client: Socket): Promise<boolean> {
  for (let i = 0; i < stalledAfter && client.writableNeedDrain; i++) await new Promise((resolve) => setImmediate(resolve))
  return client.writableNeedDrain
}

/** Writes until the server stops reading; returns the number of bytes. */
async function flood(client: Socket, frame: Buffer): Promise<number> {
  let bytes = 0
  while (bytes < maxBytes) {
    bytes += frame.length
    if (!client.write(frame) && (await isStalled(client))) break
  }
  return bytes
}

async function assertResumes(client: Socket): Promise<void> {
  const drained = once(client, 'drain')
  client.resume()
  await drained
  client.destroy()
}

test('SPDY pings of a client that does not read', async () => {
  const [client, server] = memoryConnection()
  new SpdyConnection(server, () => undefined)
  const ping = Buffer.concat([Buffer.from([0x80, 3, 0, 6, 0, 0, 4, 0]), Buffer.alloc(1024)])
  assert.ok((await flood(client, ping)) < maxBytes)
  await assertResumes(client)
})

async function openWebSocket(): Promise<{ client: Socket; channels: ChannelSocket }> {
  const [client, server] = memoryConnection()
  const headers = { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-version': '13', 'sec-websocket-key': `${'A'.repeat(22)}==` }
  const channels = ChannelSocket.accept({ method: 'GET', url: '/', headers } as IncomingMessage, server, Buffer.alloc(0), '')
  await once(client, 'readable')
  client.read()
  client.pause()
  return { client, channels }
}

/** Masked frame with a mask of zeros. */
const frameOf = (opcode: number, payload: Buffer): Buffer =>
  Buffer.concat([
    payload.length < 126
      ? Buffer.from([0x80 | opcode, 0x80 | payload.length])
      : Buffer.from([0x80 | opcode, 0xfe, payload.length >> 8, payload.length & 255]),
    Buffer.alloc(4),
    payload,
  ])

test('messages to a full channel, between messages to an ignored one', async () => {
  const { client, channels } = await openWebSocket()
  const stdin = channels.open(0)
  channels.open(4).resume()
  const [toStdin, toResize] = [frameOf(2, Buffer.alloc(1025)), frameOf(2, Buffer.from([4, 1]))]
  assert.ok((await flood(client, Buffer.concat([toStdin, toResize]))) < maxBytes)
  stdin.resume()
  await assertResumes(client)
})
