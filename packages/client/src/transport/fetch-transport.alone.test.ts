// Connections of a browser's WebSocket, by a stand-in: they end with the client, with the signal of the caller, and leave nothing behind.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { BuiltInSocket } from './browser-socket.js'
import { ConnectionError, isClosedError } from './errors.js'
import { FetchTransport } from './fetch-transport.js'
import type { MessageSocket } from './transport.js'

class StandIn implements BuiltInSocket {
  static made: StandIn[] = []
  binaryType = ''
  readonly protocol = 'v4'
  readonly bufferedAmount = 0
  onopen: BuiltInSocket['onopen'] = null
  onerror: BuiltInSocket['onerror'] = null
  onclose: BuiltInSocket['onclose'] = null
  onmessage: BuiltInSocket['onmessage'] = null
  closes = 0
  readonly url: string
  readonly offered: readonly string[]

  constructor(url: string, offered: readonly string[]) {
    this.url = url
    this.offered = offered
    StandIn.made.push(this)
  }

  send(): void {}

  close(): void {
    this.closes++
    queueMicrotask(() => this.onclose?.({ code: 1000, reason: '', wasClean: true }))
  }
}

const surroundings = globalThis as { WebSocket?: unknown }
const request = { path: '/exec', headers: {}, protocols: ['v4'], credential: { authorization: 'Bearer secret' } }

async function readAll(socket: MessageSocket): Promise<number> {
  let count = 0
  for await (const _ of socket.messages()) count++
  return count
}

describe('a connection over the built-in WebSocket', () => {
  const original = surroundings.WebSocket
  beforeEach(() => {
    StandIn.made = []
    surroundings.WebSocket = StandIn
  })
  afterEach(() => {
    surroundings.WebSocket = original
  })

  /** The connection and what is behind it. */
  async function open(transport: FetchTransport, signal?: AbortSignal): Promise<readonly [MessageSocket, StandIn]> {
    const opening = transport.openSocket({ ...request, signal })
    const made = StandIn.made.at(-1) as StandIn
    made.onopen?.()
    return [await opening, made]
  }

  test('goes to the server, with the token in the name of a protocol', async () => {
    const [socket, made] = await open(new FetchTransport({ server: 'https://example.org/base/' }))
    assert.equal(made.url, 'wss://example.org/base/exec')
    assert.equal(made.offered[0], 'v4')
    assert.ok(made.offered.slice(1).every((name) => name.endsWith('.c2VjcmV0')))
    assert.equal(socket.protocol, 'v4')
  })

  test('ends when the client is closed, and no other is made', async () => {
    const transport = new FetchTransport({ server: 'https://example.org' })
    const [socket, made] = await open(transport)
    const early = transport.openSocket(request)
    const reading = readAll(socket)
    transport.close()
    await assert.rejects(reading, isClosedError)
    await assert.rejects(early, isClosedError)
    assert.deepEqual([made.closes > 0, StandIn.made[1]?.closes], [true, 1])
    await assert.rejects(transport.openSocket(request), isClosedError)
    await assert.rejects(socket.send(new Uint8Array(1)), isClosedError)
    assert.equal(StandIn.made.length, 2)
  })

  test('ends with the signal, before and after it was made, with its reason', async () => {
    const transport = new FetchTransport({ server: 'https://example.org' })
    const [before, after] = [new AbortController(), new AbortController()]
    const early = transport.openSocket({ ...request, signal: before.signal })
    before.abort(new Error('not wanted'))
    await assert.rejects(early, /not wanted/)
    await assert.rejects(transport.openSocket({ ...request, signal: before.signal }), /not wanted/)
    const [socket] = await open(transport, after.signal)
    after.abort(new Error('enough'))
    await assert.rejects(readAll(socket), /enough/)
  })

  test('that is over, or never was, leaves nothing with the signal', async () => {
    const transport = new FetchTransport({ server: 'https://example.org' })
    const { signal } = new AbortController()
    const [socket] = await open(transport, signal)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    socket.close()
    assert.equal(await readAll(socket), 0)
    const refused = transport.openSocket({ ...request, signal })
    StandIn.made.at(-1)?.onerror?.()
    await assert.rejects(
      refused,
      (error) => error instanceof ConnectionError && /cannot connect to https:\/\/example.org/.test(error.message),
    )
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})
