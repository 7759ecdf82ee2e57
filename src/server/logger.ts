// The log: JSON lines on standard error. The library behind it is loaded with the first line that is written, off the path of a start.

import { createRequire } from 'node:module'
import type { pino } from 'pino'
import type { Logger } from '../base/logger.js'
import { LogWriter } from './log-writer.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogDestination {
  /** A file descriptor; 2 is standard error. */
  readonly fd: number
}

/** A logger with a lifetime: what it holds back is written by `close`. */
export interface ClosableLogger extends Logger {
  /** Resolves when everything said so far is written, or its reader is gone or has had its time; nothing is written after it. */
  close(): Promise<void>
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
const mostWaitingBytes = 4 << 20

export function createLogger(level: LogLevel, { fd }: LogDestination = { fd: 2 }): ClosableLogger {
  let sink: Sink | undefined
  const write = (at: LogLevel): Logger['info'] => {
    if (order.indexOf(at) < order.indexOf(level)) return () => undefined
    return (fields, message) => {
      sink ??= openSink(level, fd)
      sink.log[at](fields, message)
    }
  }
  const close = async (): Promise<void> => sink?.writer.close()
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error'), close }
}

interface Sink {
  readonly log: pino.Logger
  readonly writer: LogWriter
}

function openSink(level: LogLevel, fd: number): Sink {
  const load = createRequire(import.meta.url)('pino') as typeof pino
  const onLeftOut = (lines: number): void => log.warn({ lines }, 'the log was read too slowly, and lines were left out')
  const writer = new LogWriter({ fd, mostWaitingBytes, onLeftOut })
  const log = load(
    {
      level,
      base: null,
      timestamp: load.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: (error: unknown) => (error instanceof Error ? load.stdSerializers.err(error) : error) },
    },
    writer,
  )
  return { log, writer }
}
