// The backend that writes events to a file, each as a line.

import type { Logger } from '../base/logger.js'
import type { AuditTallies, Backend } from './backend.js'
import { legacyLine } from './legacy-line.js'
import type { AuditEvent } from './record.js'

/** Where lines go: a file, or something that stands for it in tests. */
export interface LineTarget {
  append(text: string): void
  close(): Promise<void>
}

export interface LogBackendParts {
  readonly target: LineTarget
  readonly format: 'json' | 'legacy'
  readonly tallies: AuditTallies
  readonly logger: Logger
  /** Whether whoever sends an event wants to know that it is written; otherwise those of one turn of a request are written together. */
  readonly isStrict: boolean
}

export class LogBackend implements Backend {
  readonly #parts: LogBackendParts
  #lines = ''
  #count = 0
  #isFailing = false

  constructor(parts: LogBackendParts) {
    this.#parts = parts
  }

  process(events: readonly AuditEvent[]): boolean {
    const isFirst = this.#lines === ''
    for (const { text, facts } of events) this.#lines += `${this.#parts.format === 'json' ? text : legacyLine(facts)}\n`
    this.#count += events.length
    if (this.#parts.isStrict) return this.#flush()
    // Before anything else happens in this process: what is answered at once costs one write.
    if (isFirst) queueMicrotask(() => this.#flush())
    return true
  }

  async close(): Promise<void> {
    this.#flush()
    await this.#parts.target.close()
  }

  #flush(): boolean {
    if (this.#lines === '') return true
    const { target, tallies, logger } = this.#parts
    const lines = this.#lines
    const count = this.#count
    this.#lines = ''
    this.#count = 0
    try {
      target.append(lines)
      this.#isFailing = false
      return true
    } catch (thrown) {
      tallies.countLost('log', count)
      // Once for each time that it begins to fail: a full disk must not fill the log, too.
      if (!this.#isFailing) logger.error({ err: thrown }, 'audit events cannot be written to the audit log and are lost')
      this.#isFailing = true
      return false
    }
  }
}
