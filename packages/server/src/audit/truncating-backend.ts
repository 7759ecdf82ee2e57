// Truncating audit backend: shortens events over the size limit, drops events that stay too large, and splits large batches.

import type { AuditCounters, Backend } from './audit.js'
import type { AuditEvent } from './audit-record.js'

export interface Truncation {
  readonly maxEventBytes: number
  readonly maxBatchBytes: number
}

export class TruncatingBackend implements Backend {
  readonly #backend: Backend
  readonly #limits: Truncation
  readonly #counters: AuditCounters

  constructor(backend: Backend, limits: Truncation, counters: AuditCounters) {
    this.#backend = backend
    this.#limits = limits
    this.#counters = counters
  }

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    const batches: AuditEvent[][] = [[]]
    let bytes = 0
    let isComplete = true
    for (const event of events) {
      const fitting = this.#truncate(event)
      if (fitting === undefined) {
        this.#counters.countLost('truncate', 1)
        isComplete = false
        continue
      }
      const size = Buffer.byteLength(fitting.text)
      if (bytes + size > this.#limits.maxBatchBytes && bytes > 0) {
        batches.push([])
        bytes = 0
      }
      bytes += size
      batches.at(-1)?.push(fitting)
    }
    const sent = batches.filter(({ length }) => length > 0).map((batch) => this.#backend.process(batch))
    return (await Promise.all(sent)).every(Boolean) && isComplete
  }

  close(): Promise<void> {
    return this.#backend.close()
  }

  #truncate(event: AuditEvent): AuditEvent | undefined {
    const { maxEventBytes } = this.#limits
    if (isWithin(event.text, maxEventBytes)) return event
    const text = event.shortened().find((shorter) => isWithin(shorter, maxEventBytes))
    return text === undefined ? undefined : { text, shortened: () => [], facts: event.facts }
  }
}

/** A string has between one and three times as many bytes as UTF-16 code units. */
const isWithin = (text: string, bytes: number): boolean =>
  text.length * 3 <= bytes || (text.length <= bytes && Buffer.byteLength(text) <= bytes)
