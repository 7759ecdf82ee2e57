// The WebSocket of browsers, by a stand-in: what was sent is read in order, and what nobody reads is bounded.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrowserMessageSocket, type BuiltInSocket } from './browser-socket.js'
import { ConnectionError } from './errors.js'

function standIn(): BuiltInSocket & { closes: number; bufferedAmount: number } {
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

async function readAll(socket: BrowserMessageSocket): Promise<number> {
  let count = 0
  for await (const _ of socket.messages()) count++
  return count
}

test('messages come in order, those before the end as well', async () => {
  const built = standIn()
  const socket = new BrowserMessageSocket(built)
  built.onmessage?.({ data: new Uint8Array([1]).buffer })
  built.onmessage?.({ data: 'ä' })
  built.onclose?.({ code: 1000, reason: '', wasClean: true })
  const seen: number[][] = []
  for await (const message of socket.messages()) seen.push([...message])
  assert.deepEqual(seen, [[1], [195, 164]])
  await assert.rejects(socket.send(new Uint8Array(1)), /closed/)
})

test('a connection that breaks says so, after what had come', async () => {
  const built = standIn()
  const socket = new BrowserMessageSocket(built)
  built.onmessage?.({ data: 'a' })
  built.onclose?.({ code: 1006, reason: 'gone', wasClean: false })
  await assert.rejects(readAll(socket), /cut off \(1006: gone\)/)
})

for (const [what, size] of [
  ['large', 1024 * 1024],
  ['empty', 0],
] as const)
  test(`a server that sends ${what} messages which nobody reads is cut off`, async () => {
    const built = standIn()
    const socket = new BrowserMessageSocket(built)
    const data = new ArrayBuffer(size)
    let sent = 0
    while (built.closes === 0 && sent < 1_000_000) {
      built.onmessage?.({ data })
      sent++
    }
    assert.ok(sent * size <= 64 * 1024 * 1024 && sent < 100_000, `${sent} messages were kept`)
    // What comes until it is closed is not kept either.
    for (let i = 0; i < 10; i++) built.onmessage?.({ data })
    let read = 0
    await assert.rejects(
      async () => {
        for await (const _ of socket.messages()) read++
      },
      (error) => error instanceof ConnectionError && /more came than was read/.test(error.message),
    )
    assert.equal(read, sent - 1)
  })
