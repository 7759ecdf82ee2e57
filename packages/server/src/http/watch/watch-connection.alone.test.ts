// Watches ended because their client is too slow: unsent bytes may be read until a timeout, then the connection is cut.

import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventBatch } from '../../objects/watch/watch-events.js'
import type { Watch, WatchSink } from '../../verbs/watch.js'
import type { Exchange } from '../pipeline/exchange.js'
import { drainTimeoutMs, WatchConnection } from './watch-connection.js'
import type { WatchEncoding } from './watch-encoding.js'
import { startWatchStream } from './watch-stream.js'

/** A fake HTTP/1.1 exchange with a given number of unsent bytes. */
function exchangeOf(unsentBytes: number) {
  const state = { isCut: false, isEnded: false, isDestroyed: false }
  const socket = {
    writableLength: unsentBytes,
    on: () => undefined,
    destroy: () => {
      state.isDestroyed = true
    },
  }
  const response = {
    socket,
    chunkedEncoding: false,
    writableNeedDrain: false,
    assignSocket: () => undefined,
    on: () => undefined,
    writeHead: () => undefined,
    flushHeaders: () => undefined,
    write: () => false,
    end: () => {
      state.isEnded = true
    },
  }
  const exchange = {
    response,
    warnings: [],
    auditId: '',
    lifecycle: { notify: () => undefined },
    onClose: () => undefined,
    dropHeaders: () => undefined,
    cut: () => {
      state.isCut = true
    },
  } as unknown as Exchange
  return { exchange, socket, state }
}

function watchOf(unsentBytes: number) {
  const fake = exchangeOf(unsentBytes)
  return { ...fake, connection: new WatchConnection(fake.exchange, 'application/json', 1024) }
}

test('abandoned watches are cut after the timeout; connections are destroyed only if the client read less than half', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const stalled = Array.from({ length: 10_000 }, () => watchOf(1 << 20))
    const slow = Array.from({ length: 100 }, () => watchOf(1 << 20))
    const quick = Array.from({ length: 100 }, () => watchOf(0))
    const all = [...stalled, ...slow, ...quick]
    for (const { connection } of all) connection.abandon()
    assert.ok(all.every(({ state }) => state.isEnded && !state.isCut))
    for (const { socket } of slow) socket.writableLength /= 4
    mock.timers.tick(drainTimeoutMs - 1)
    assert.ok(all.every(({ state }) => !state.isCut && !state.isDestroyed))
    mock.timers.tick(1)
    for (let iterations = 0; iterations < 100_000 && !all.every(({ state }) => state.isCut); iterations++) await nextTurn()
    assert.ok(all.every(({ state }) => state.isCut))
    assert.deepEqual(
      [stalled, slow, quick].map((watches) => watches.filter(({ state }) => state.isDestroyed).length),
      [stalled.length, 0, 0],
    )
  } finally {
    mock.timers.reset()
  }
})

test('a watch abandoned within an event is cut at once', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const { connection, state } = watchOf(4096)
    assert.equal(connection.write(Buffer.alloc(4096)), false)
    assert.equal(connection.isWithinEvent, true)
    connection.abandon()
    assert.deepEqual([state.isCut, state.isEnded], [true, false])
  } finally {
    mock.timers.reset()
  }
})

test('a watch that times out within an unread event is cut after the timeout', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const { exchange, state } = exchangeOf(1 << 20)
    let sink: WatchSink | undefined
    const watch = { start: (given: WatchSink) => (sink = given), close: () => undefined } as unknown as Watch
    const encoding = {
      contentType: 'application/json',
      isText: true,
      ready: () => undefined,
      frames: () => Buffer.alloc(4096),
    } as unknown as WatchEncoding
    startWatchStream(exchange, { watch, encoding, timeoutMs: 1000, bufferBytes: 1024, sent: undefined })
    assert.equal(sink?.events({ events: [] } as unknown as EventBatch), false, 'the buffer is full')
    sink?.end('done')
    assert.ok(!(state.isEnded || state.isCut), 'the event in progress can be read to its end')
    mock.timers.tick(drainTimeoutMs)
    await nextTurn()
    assert.ok(state.isCut)
  } finally {
    mock.timers.reset()
  }
})
