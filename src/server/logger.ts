// The log: lines on standard error, as JSON or for people.

import { escapeControls } from '../base/escape-controls.js'
import type { LogFields, Logger } from '../base/logger.js'
import { jsonLine } from './json-line.js'
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
  const lineOf = format === 'text' ? textLine : jsonLine
  const write = (at: LogLevel, fields: LogFields, message: string): void =>
    writer.write(escapeControls(lineOf(Date.now(), at, fields, message)))
  const writer = new LogWriter({ fd, mostWaitingBytes, onLeftOut: (lines) => write('warn', { lines }, leftOut) })
  const say = (at: LogLevel): Logger['info'] =>
    order.indexOf(at) < order.indexOf(level) ? () => undefined : (fields, message) => write(at, fields, message)
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error'), close: () => writer.close() }
}

const leftOut = 'log lines dropped: the log was not written fast enough, or its disk was full'
