// The log: lines on standard error, as JSON or for people. The library behind JSON is loaded with the first line that is written, off the path of
// a start.

import { createRequire } from 'node:module'
import type { pino } from 'pino'
import type { Logger } from '../base/logger.js'
import { LogWriter } from './log-writer.js'
import { textLine } from './text-line.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogDestination {
  /** A file descriptor; 2 is standard error. */
  readonly fd: number
  readonly format?: LogFormat
}

export type LogFormat = 'json' | 'text'

/** A logger with a lifetime: what it holds back is written by `close`. */
export interface ClosableLogger extends Logger {
  /** Resolves when everything said so far is written, or its reader is gone or has had its time; nothing is written after it. */
  close(): Promise<void>
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
const mostWaitingBytes = 4 << 20

export function createLogger(level: LogLevel, { fd, format = 'json' }: LogDestination = { fd: 2 }): ClosableLogger {
  let sink: Sink | undefined
  const write = (at: LogLevel): Logger['info'] => {
    if (order.indexOf(at) < order.indexOf(level)) return () => undefined
    return (fields, message) => {
      sink ??= format === 'text' ? openTextSink(fd) : openSink(level, fd)
      sink.log[at](fields, message)
    }
  }
  const close = async (): Promise<void> => sink?.writer.close()
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error'), close }
}

interface Sink {
  readonly log: Logger
  readonly writer: LogWriter
}

function openTextSink(fd: number): Sink {
  const say =
    (at: LogLevel): Logger['info'] =>
    (fields, message) =>
      writer.write(textLine(Date.now(), at, fields, message))
  const log: Logger = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
  const writer = new LogWriter({ fd, mostWaitingBytes, onLeftOut: (lines) => log.warn({ lines }, leftOut) })
  return { log, writer }
}

const leftOut = 'log lines dropped: the log was not written fast enough, or its disk was full'

function openSink(level: LogLevel, fd: number): Sink {
  const load = createRequire(import.meta.url)('pino') as typeof pino
  const onLeftOut = (lines: number): void => log.warn({ lines }, leftOut)
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
