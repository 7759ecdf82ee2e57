// Watchers that were let go because they read too slowly: they may take what is on its way for a while, and then their connection is cut.

import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventBatch } from '../objects/watch-events.js'
import type { Watch, WatchSink } from '../verbs/watch.js'
import type { Exchange } from './exchange.js'
import { lastWordsMs, WatchConnection } from './watch-connection.js'
import { startWatchStream, type WatchForm } from './watch-stream.js'

/** A watch over HTTP/1.1 of which a test says how much its client has taken. */
function exchangeOf(waitingBytes: number) {
  const state = { isCut: false, isEnded: false, isDestroyed: false }
  const socket = {
    writableLength: waitingBytes,
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
    lifecycle: { tell: () => undefined },
    onLeave: () => undefined,
    forgetHeaders: () => undefined,
    cut: () => {
      state.isCut = true
    },
  } as unknown as Exchange
  return { exchange, socket, state }
}

function watchOf(waitingBytes: number) {
  const made = exchangeOf(waitingBytes)
  return { ...made, connection: new WatchConnection(made.exchange, 'application/json', 1024) }
}

test('ten thousand that take nothing are cut when their time is up, and not before; who has taken most of it keeps the connection', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const stuck = Array.from({ length: 10_000 }, () => watchOf(1 << 20))
    const slow = Array.from({ length: 100 }, () => watchOf(1 << 20))
    const quick = Array.from({ length: 100 }, () => watchOf(0))
    const all = [...stuck, ...slow, ...quick]
    for (const { connection } of all) connection.end()
    assert.ok(all.every(({ state }) => state.isEnded && !state.isCut))
    for (const { socket } of slow) socket.writableLength /= 4
    mock.timers.tick(lastWordsMs - 1)
    assert.ok(all.every(({ state }) => !state.isCut && !state.isDestroyed))
    mock.timers.tick(1)
    for (let turns = 0; turns < 100_000 && !all.every(({ state }) => state.isCut); turns++) await nextTurn()
    assert.ok(all.every(({ state }) => state.isCut))
    assert.deepEqual(
      [stuck, slow, quick].map((some) => some.filter(({ state }) => state.isDestroyed).length),
      [stuck.length, 0, 0],
    )
  } finally {
    mock.timers.reset()
  }
})

test('of half an event nobody has any use: the watch is cut at once', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const { connection, state } = watchOf(4096)
    assert.equal(connection.write(Buffer.alloc(4096)), false)
    assert.equal(connection.isWithinEvent, true)
    connection.end()
    assert.deepEqual([state.isCut, state.isEnded], [true, false])
  } finally {
    mock.timers.reset()
  }
})

test('a watch whose time is up within an event that nobody reads is let go as well', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const { exchange, state } = exchangeOf(1 << 20)
    let sink: WatchSink | undefined
    const watch = { start: (given: WatchSink) => (sink = given), close: () => undefined } as unknown as Watch
    const form = { contentType: 'application/json', isText: true, frames: () => Buffer.alloc(4096) } as unknown as WatchForm
    startWatchStream(exchange, { watch, form, timeoutMs: 1000, roomBytes: 1024, sent: undefined })
    assert.equal(sink?.events({ events: [] } as unknown as EventBatch), false, 'there is no room for all of it')
    sink?.end('done')
    assert.ok(!(state.isEnded || state.isCut), 'what has begun may still be read')
    mock.timers.tick(lastWordsMs)
    await nextTurn()
    assert.ok(state.isCut)
  } finally {
    mock.timers.reset()
  }
})
