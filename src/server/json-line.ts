// A line of the log for programs: an object with level, time, the fields, and the message. As pino writes it, which is held beside it in the test: to
// load pino took 18 to 24 ms, in the middle of whatever was first worth a line.

import type { LogFields } from '../base/logger.js'

export function jsonLine(timeMs: number, level: string, fields: LogFields, message: string): string {
  let line = `{"level":"${level}","time":"${new Date(timeMs).toISOString()}"`
  for (const [name, value] of Object.entries(fields)) {
    const text = valueText(value)
    if (text !== undefined) line += `,${JSON.stringify(name)}:${text}`
  }
  return `${line},"msg":${JSON.stringify(message)}}\n`
}

/** A log must not fail by what it is told: what is no JSON is said to be none. */
function valueText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value instanceof Error ? described(value) : value)
  } catch (thrown) {
    return JSON.stringify(`[no JSON: ${thrown instanceof Error ? thrown.message : 'unknown'}]`)
  }
}

/** Of causes that go in a circle, or are very many. */
const mostCauses = 8

/** With those that caused it, and what else it says of itself in plain values. */
function described(error: Error): LogFields {
  const chain = [error]
  for (let { cause } = error; cause instanceof Error && chain.length < mostCauses; { cause } = cause) chain.push(cause)
  const plain = Object.entries(error).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
  return {
    ...Object.fromEntries(plain),
    type: error.constructor.name,
    message: chain.map(({ message }) => message).join(': '),
    stack: chain.map(({ stack, message }) => stack ?? message).join('\ncaused by: '),
  }
}
