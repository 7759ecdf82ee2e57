// WebSockets of the fetch transport with a fake browser WebSocket: URL, token, close, abort.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { ConnectionError, isClosedError } from '../errors.js'
import { FetchTransport } from './fetch-transport.js'
import type { MessageSocket } from './transport.js'
import type { WebSocketLike } from './web-socket-messages.js'

class FakeWebSocket implements WebSocketLike {
  static instances: FakeWebSocket[] = []
  binaryType = ''
  readonly protocol = 'v4'
  readonly bufferedAmount = 0
  onopen: WebSocketLike['onopen'] = null
  onerror: WebSocketLike['onerror'] = null
  onclose: WebSocketLike['onclose'] = null
  onmessage: WebSocketLike['onmessage'] = null
  closes = 0
  readonly url: string
  readonly offered: readonly string[]

  constructor(url: string, offered: readonly string[]) {
    this.url = url
    this.offered = offered
    FakeWebSocket.instances.push(this)
  }

  send(): void {}

  close(): void {
    this.closes++
    queueMicrotask(() => this.onclose?.({ code: 1000, reason: '', wasClean: true }))
  }
}

const globals = globalThis as { WebSocket?: unknown }
const request = { path: '/exec', headers: {}, protocols: ['v4'], credential: { authorization: 'Bearer secret' } }

async function readAll(socket: MessageSocket): Promise<number> {
  let count = 0
  for await (const _ of socket.messages()) count++
  return count
}

describe('WebSocket of the fetch transport', () => {
  const original = globals.WebSocket
  beforeEach(() => {
    FakeWebSocket.instances = []
    globals.WebSocket = FakeWebSocket
  })
  afterEach(() => {
    globals.WebSocket = original
  })

  async function open(transport: FetchTransport, signal?: AbortSignal): Promise<readonly [MessageSocket, FakeWebSocket]> {
    const opening = transport.openSocket({ ...request, signal })
    const fake = FakeWebSocket.instances.at(-1) as FakeWebSocket
    fake.onopen?.()
    return [await opening, fake]
  }

  test('connects with the token as a subprotocol', async () => {
    const [socket, fake] = await open(new FetchTransport({ server: 'https://example.org/base/' }))
    assert.equal(fake.url, 'wss://example.org/base/exec')
    assert.equal(fake.offered[0], 'v4')
    assert.ok(fake.offered.slice(1).every((name) => name.endsWith('.c2VjcmV0')))
    assert.equal(socket.protocol, 'v4')
  })

  test('close() ends open and pending sockets and rejects new ones', async () => {
    const transport = new FetchTransport({ server: 'https://example.org' })
    const [socket, fake] = await open(transport)
    const pending = transport.openSocket(request)
    const reading = readAll(socket)
    transport.close()
    await assert.rejects(reading, isClosedError)
    await assert.rejects(pending, isClosedError)
    assert.deepEqual([fake.closes > 0, FakeWebSocket.instances[1]?.closes], [true, 1])
    await assert.rejects(transport.openSocket(request), isClosedError)
    await assert.rejects(socket.send(new Uint8Array(1)), isClosedError)
    assert.equal(FakeWebSocket.instances.length, 2)
  })

  test('an aborted signal ends pending and open sockets with its reason', async () => {
    const transport = new FetchTransport({ server: 'https://example.org' })
    const [pendingController, openController] = [new AbortController(), new AbortController()]
    const pending = transport.openSocket({ ...request, signal: pendingController.signal })
    pendingController.abort(new Error('not wanted'))
    await assert.rejects(pending, /not wanted/)
    await assert.rejects(transport.openSocket({ ...request, signal: pendingController.signal }), /not wanted/)
    const [socket] = await open(transport, openController.signal)
    openController.abort(new Error('enough'))
    await assert.rejects(readAll(socket), /enough/)
  })

  test('closed and failed sockets leave no abort listener', async () => {
    const transport = new FetchTransport({ server: 'https://example.org' })
    const { signal } = new AbortController()
    const [socket] = await open(transport, signal)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    socket.close()
    assert.equal(await readAll(socket), 0)
    const refused = transport.openSocket({ ...request, signal })
    FakeWebSocket.instances.at(-1)?.onerror?.({})
    await assert.rejects(
      refused,
      (error) => error instanceof ConnectionError && /cannot connect to https:\/\/example.org/.test(error.message),
    )
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})
