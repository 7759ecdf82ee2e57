// Events and batches that are too large for their backend: an event goes without the objects in it or further shortened, and a batch in parts.

import type { AuditTallies, Backend } from './backend.js'
import type { AuditEvent } from './record.js'

export interface Truncation {
  readonly maxEventBytes: number
  readonly maxBatchBytes: number
}

export class Truncated implements Backend {
  readonly #backend: Backend
  readonly #limits: Truncation
  readonly #tallies: AuditTallies

  constructor(backend: Backend, limits: Truncation, tallies: AuditTallies) {
    this.#backend = backend
    this.#limits = limits
    this.#tallies = tallies
  }

  process(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    const parts: AuditEvent[][] = [[]]
    let bytes = 0
    let isWhole = true
    for (const event of events) {
      const fitting = this.#fit(event)
      if (fitting === undefined) {
        this.#tallies.countLost('truncate', 1)
        isWhole = false
        continue
      }
      const size = Buffer.byteLength(fitting.text)
      if (bytes + size > this.#limits.maxBatchBytes && bytes > 0) {
        parts.push([])
        bytes = 0
      }
      bytes += size
      parts.at(-1)?.push(fitting)
    }
    return this.#send(
      parts.filter(({ length }) => length > 0),
      isWhole,
    )
  }

  close(): Promise<void> {
    return this.#backend.close()
  }

  #send(parts: readonly (readonly AuditEvent[])[], isWhole: boolean): boolean | Promise<boolean> {
    const results = parts.map((part) => this.#backend.process(part))
    if (results.every((result) => typeof result === 'boolean')) return isWhole && results.every(Boolean)
    return Promise.all(results).then((all) => isWhole && all.every(Boolean))
  }

  #fit(event: AuditEvent): AuditEvent | undefined {
    const { maxEventBytes } = this.#limits
    if (isWithin(event.text, maxEventBytes)) return event
    const text = event.shortened().find((shorter) => isWithin(shorter, maxEventBytes))
    return text === undefined ? undefined : { text, shortened: () => [], facts: event.facts }
  }
}

/** A text has at least as many bytes as characters, and at most three times as many. */
const isWithin = (text: string, bytes: number): boolean =>
  text.length * 3 <= bytes || (text.length <= bytes && Buffer.byteLength(text) <= bytes)
