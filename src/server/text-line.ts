// A line of the log for people: time, level, message, then fields as name=value.

import type { LogFields } from '../base/logger.js'

export function textLine(timeMs: number, level: string, fields: LogFields, message: string): string {
  let line = `${new Date(timeMs).toISOString()} ${level.padEnd(5)} ${oneLine(message)}`
  for (const [name, value] of Object.entries(fields)) line += ` ${name}=${valueText(value)}`
  return `${line}\n`
}

/** What comes from clients can neither end a line nor look like another field. */
function valueText(value: unknown): string {
  const text =
    value instanceof Error ? (value.stack ?? value.message) : typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  return /^[\w./:@%+-]+$/.test(text) ? text : JSON.stringify(text)
}

const oneLine = (text: string): string => (/[\n\r]/.test(text) ? JSON.stringify(text) : text)
