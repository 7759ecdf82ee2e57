// A watch stream: writes event frames as they come, with back-pressure from the client's socket to the watcher.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { WebSocketHandshake } from '../../net/listen/websocket.js'
import type { Watch, WatchSink } from '../../verbs/watch.js'
import type { Exchange } from '../pipeline/exchange.js'
import { drainTimeoutMs, WatchConnection } from './watch-connection.js'
import type { WatchEncoding } from './watch-encoding.js'
import { WebSocketWatch } from './websocket-watch.js'

type EventBatch = Parameters<WatchSink['events']>[0]

/** What a stream needs of a watch; a test kit puts a faulty one between. */
export type WatchSource = Pick<Watch, 'start' | 'resume' | 'onProgress' | 'close'>

export interface SentEvents {
  add(events: number, bytes: number): void
}

export function startWatchStream(
  exchange: Exchange,
  input: {
    readonly watch: WatchSource
    readonly encoding: WatchEncoding
    readonly timeoutMs: number
    readonly bufferBytes: number
    readonly sent: SentEvents | undefined
    /** Set for WebSocket clients. */
    readonly handshake?: WebSocketHandshake | undefined
  },
): void {
  const { watch, encoding, bufferBytes, sent, handshake } = input
  const connection =
    handshake === undefined
      ? new WatchConnection(exchange, encoding.contentType, bufferBytes)
      : new WebSocketWatch(exchange, handshake, { bufferBytes, isText: encoding.isText })
  exchange.dropHeaders()
  let isEnded = false
  /** While a batch is converted, later events wait in the watch, as for a slow client. */
  let isConverting = false
  /** An event that was partly written may be read to its end. */
  const finish = (): void => {
    if (connection.isWithinEvent) setTimeout(() => connection.isWithinEvent && connection.abandon(), drainTimeoutMs).unref()
    else connection.finish()
  }
  const fail = (thrown: unknown): false => {
    if (isEnded) return false
    isEnded = true
    watch.close()
    if (!(thrown instanceof ApiError)) exchange.lifecycle.panic(exchange, thrown)
    if (connection.isWithinEvent) exchange.cut()
    else {
      connection.writeWhole(encoding.error(ApiError.from(thrown)))
      finish()
    }
    return false
  }
  const write = (batch: EventBatch): boolean => {
    const bytes = encoding.frames(batch)
    sent?.add(batch.events.length, bytes.length)
    return connection.write(bytes)
  }
  const writeWhenReady = async (batch: EventBatch, waiting: Promise<void>): Promise<void> => {
    isConverting = true
    await waiting
    isConverting = false
    if (!isEnded && write(batch)) watch.resume()
  }
  const sink: WatchSink = {
    events: (batch) => {
      try {
        const waiting = encoding.ready(batch)
        if (waiting === undefined) return write(batch)
        writeWhenReady(batch, waiting).catch(fail)
        return false
      } catch (thrown) {
        return fail(thrown)
      }
    },
    bookmark: (revision) => connection.writeWhole(encoding.bookmark(revision)),
    end: (reason) => {
      isEnded = true
      // A slow client would not read the end of the stream.
      if (reason === 'too-slow') connection.abandon()
      else finish()
    },
    fail,
    unsent: () => connection.unsent(),
  }
  connection.onDrain(() => {
    if (isConverting) return
    const isWritable = connection.writeRest()
    if (isEnded) {
      // The watch timed out while an event was partly written.
      if (!connection.isWithinEvent) connection.finish()
    } else if (isWritable) watch.resume()
    else watch.onProgress()
  })
  exchange.onClose(() => {
    isEnded = true
    watch.close()
  })
  if (!exchange.isClosed) watch.start(sink, input.timeoutMs)
}
