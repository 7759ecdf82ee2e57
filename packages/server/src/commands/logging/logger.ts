// The logger: lines on standard error, as JSON or text. Names of common fields: `error` (an Error or its message), `controller`,
// `key`, `user`, `verb`, `path` (of a request), `code`, `file`, `folder`, `endpoint`, `revision`; durations and delays end in `Ms`.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { LogFields, Logger } from '@cluster-apiserver/api/base/logger.js'
import { escapeJsonControls } from '@cluster-apiserver/api/base/text/escape-json-controls.js'
import { LogWriter } from './log-writer.js'

type LogLevel = 'debug' | 'info' | 'warn' | 'error'

interface LogDestination {
  /** A file descriptor; 2 is standard error. */
  readonly fd: number
  readonly format?: LogFormat
}

type LogFormat = 'json' | 'text'

interface ClosableLogger extends Logger {
  /** Resolves when all lines are written, or the reader has closed or is too slow. */
  close(): Promise<void>
}

const levelOrder: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
const maxQueuedBytes = 4 << 20

export function createLogger(level: LogLevel, { fd, format = 'json' }: LogDestination = { fd: 2 }): ClosableLogger {
  const lineOf = format === 'text' ? textLine : jsonLine
  const write = (lineLevel: LogLevel, fields: LogFields, message: string): void =>
    writer.write(escapeJsonControls(lineOf(Date.now(), lineLevel, fields, message)))
  const writer = new LogWriter({ fd, maxQueuedBytes, onDropped: (lines) => write('warn', { lines }, droppedMessage) })
  const log = (lineLevel: LogLevel): Logger['info'] =>
    levelOrder.indexOf(lineLevel) < levelOrder.indexOf(level) ? () => undefined : (fields, message) => write(lineLevel, fields, message)
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error'), close: () => writer.close() }
}

const droppedMessage = 'log lines dropped: the reader of the log is too slow, or its disk was full'

export function jsonLine(timeMs: number, level: string, fields: LogFields, message: string): string {
  let line = `{"level":"${level}","time":"${new Date(timeMs).toISOString()}"`
  for (const [name, value] of Object.entries(fields)) {
    const text = jsonText(value)
    if (text !== undefined) line += `,${JSON.stringify(name)}:${text}`
  }
  return `${line},"msg":${JSON.stringify(message)}}\n`
}

/** A value that JSON cannot express, such as a circular object, becomes an explanation: logging must not throw. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value instanceof Error ? errorFields(value) : value)
  } catch (thrown) {
    return JSON.stringify(`[not JSON: ${thrown instanceof Error ? thrown.message : 'unknown'}]`)
  }
}

/** Limit, because causes may be circular. */
const maxCauses = 8

/** An error response of the API, such as a conflict, also as the cause: its stack would not help. */
const isRefusal = (error: Error): boolean => [error, error.cause].some((thrown) => thrown instanceof ApiError && thrown.status.code < 500)

/** Message and stack of an error and its causes, and scalar properties such as `code`. */
function errorFields(error: Error): LogFields {
  const chain = [error]
  for (let { cause } = error; cause instanceof Error && chain.length < maxCauses; { cause } = cause) chain.push(cause)
  const scalars = Object.entries(error).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
  return {
    ...Object.fromEntries(scalars),
    type: error.constructor.name,
    message: chain.map(({ message }) => message).join(': '),
    ...(isRefusal(error) ? {} : { stack: chain.map(({ stack, message }) => stack ?? message).join('\ncaused by: ') }),
  }
}

export function textLine(timeMs: number, level: string, fields: LogFields, message: string): string {
  let line = `${new Date(timeMs).toISOString()} ${level.padEnd(5)} ${oneLine(message)}`
  for (const [name, value] of Object.entries(fields)) line += ` ${name}=${fieldText(value)}`
  return `${line}\n`
}

/** Quotes text from clients, which could otherwise add lines or fields. */
function fieldText(value: unknown): string {
  const shown = value instanceof Error ? ((isRefusal(value) ? undefined : value.stack) ?? value.message) : value
  const text = typeof shown === 'string' ? shown : (JSON.stringify(shown) ?? 'undefined')
  return /^[\w./:@%+-]+$/.test(text) ? text : JSON.stringify(text)
}

const oneLine = (text: string): string => (/[\n\r]/.test(text) ? JSON.stringify(text) : text)
