// Messages over a fake browser WebSocket: order, broken connections, limits of unread messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionError } from '../errors.js'
import { type WebSocketLike, WebSocketMessages } from './web-socket-messages.js'

function fakeWebSocket(): WebSocketLike & { closes: number; bufferedAmount: number } {
  return {
    binaryType: 'arraybuffer',
    protocol: 'v4',
    bufferedAmount: 0,
    closes: 0,
    onopen: null,
    onerror: null,
    onclose: null,
    onmessage: null,
    send: () => undefined,
    close() {
      this.closes++
    },
  }
}

async function readAll(socket: WebSocketMessages): Promise<number> {
  let count = 0
  for await (const _ of socket.messages()) count++
  return count
}

test('messages before the close are read in order', async () => {
  const fake = fakeWebSocket()
  const socket = new WebSocketMessages(fake)
  fake.onmessage?.({ data: new Uint8Array([1]).buffer })
  fake.onmessage?.({ data: 'ä' })
  fake.onclose?.({ code: 1000, reason: '', wasClean: true })
  const received: number[][] = []
  for await (const message of socket.messages()) received.push([...message])
  assert.deepEqual(received, [[1], [195, 164]])
  await assert.rejects(socket.send(new Uint8Array(1)), /closed/)
})

test('an unclean close rejects after the queued messages', async () => {
  const fake = fakeWebSocket()
  const socket = new WebSocketMessages(fake)
  fake.onmessage?.({ data: 'a' })
  fake.onclose?.({ code: 1006, reason: 'gone', wasClean: false })
  await assert.rejects(readAll(socket), /broke off \(1006: gone\)/)
})

for (const [title, size] of [
  ['large', 1024 * 1024],
  ['empty', 0],
] as const)
  test(`too many unread ${title} messages close the connection`, async () => {
    const fake = fakeWebSocket()
    const socket = new WebSocketMessages(fake)
    const data = new ArrayBuffer(size)
    let sent = 0
    while (fake.closes === 0 && sent < 1_000_000) {
      fake.onmessage?.({ data })
      sent++
    }
    assert.ok(sent * size <= 64 * 1024 * 1024 && sent < 100_000, `${sent} messages were kept`)
    // Messages that arrive before the close event are dropped.
    for (let i = 0; i < 10; i++) fake.onmessage?.({ data })
    let read = 0
    await assert.rejects(
      async () => {
        for await (const _ of socket.messages()) read++
      },
      (error) => error instanceof ConnectionError && /messages arrived faster than they were read/.test(error.message),
    )
    assert.equal(read, sent - 1)
  })
