// The log: JSON lines on standard error. The library behind it is loaded with the first line that is written, off the path of a start.

import { createRequire } from 'node:module'
import type { pino } from 'pino'
import type { Logger } from '../base/logger.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogDestination {
  /** A file descriptor; 2 is standard error. */
  readonly fd: number
}

/** A logger with a lifetime: what it holds back is written by `close`. */
export interface ClosableLogger extends Logger {
  /** Writes what is still held back, before the process ends. */
  close(): void
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

export function createLogger(level: LogLevel, { fd }: LogDestination = { fd: 2 }): ClosableLogger {
  let sink: Sink | undefined
  const write = (at: LogLevel): Logger['info'] => {
    if (order.indexOf(at) < order.indexOf(level)) return () => undefined
    return (fields, message) => {
      sink ??= openSink(level, fd)
      sink.log[at](fields, message)
    }
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error'), close: () => sink?.flush() }
}

interface Sink {
  readonly log: pino.Logger
  readonly flush: () => void
}

function openSink(level: LogLevel, fd: number): Sink {
  const load = createRequire(import.meta.url)('pino') as typeof pino
  // Lines wait in memory only while the one before them is being written, so that a slow reader of the log does not stop the server.
  const destination = load.destination({ fd, sync: false, minLength: 0 })
  // A log that nobody reads any more is no reason to end.
  destination.on('error', () => undefined)
  const log = load(
    {
      level,
      base: null,
      timestamp: load.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: (error: unknown) => (error instanceof Error ? load.stdSerializers.err(error) : error) },
    },
    destination,
  )
  return { log, flush: () => flushQuietly(() => destination.flushSync()) }
}

function flushQuietly(flush: () => void): void {
  try {
    flush()
  } catch {
    // The log was closed before it was opened, or its reader is gone.
  }
}
