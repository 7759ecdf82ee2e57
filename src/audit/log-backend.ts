// The backend that writes events to a file, each as a line.

import type { Logger } from '../base/logger.js'
import type { AuditTallies, Backend } from './backend.js'
import { legacyLine } from './legacy-line.js'
import type { AuditEvent } from './record.js'

/** Where lines go: a file, or something that stands for it in tests. */
export interface LineTarget {
  /** Writes all of it and returns nothing, or a promise where its reader has to be waited for; throws or rejects where it is lost. */
  append(text: string): Promise<void> | undefined
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
  /** The last lines, while their reader is waited for. */
  #behind: Promise<boolean> | undefined

  constructor(parts: LogBackendParts) {
    this.#parts = parts
  }

  process(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    const isFirst = this.#lines === ''
    for (const { text, facts } of events) this.#lines += `${this.#parts.format === 'json' ? text : legacyLine(facts)}\n`
    this.#count += events.length
    if (this.#parts.isStrict) return this.#flush()
    // Before anything else happens in this process: what is answered at once costs one write.
    if (isFirst) queueMicrotask(() => this.#flush())
    // Requests come no faster than the lines before theirs are taken.
    return this.#behind ?? true
  }

  async close(): Promise<void> {
    void this.#flush()
    await this.#parts.target.close()
    await this.#behind
  }

  #flush(): boolean | Promise<boolean> {
    if (this.#lines === '') return true
    const lines = this.#lines
    const count = this.#count
    this.#lines = ''
    this.#count = 0
    try {
      const written = this.#parts.target.append(lines)
      if (written !== undefined) return this.#follow(written, count)
      this.#isFailing = false
      return true
    } catch (thrown) {
      return this.#lose(count, thrown)
    }
  }

  #follow(written: Promise<void>, count: number): Promise<boolean> {
    const done = written
      .then(
        () => {
          this.#isFailing = false
          return true
        },
        (thrown: unknown) => this.#lose(count, thrown),
      )
      .finally(() => {
        if (this.#behind === done) this.#behind = undefined
      })
    this.#behind = done
    return done
  }

  #lose(count: number, thrown: unknown): false {
    const { tallies, logger } = this.#parts
    tallies.countLost('log', count)
    // Once for each time that it begins to fail: a full disk must not fill the log, too.
    if (!this.#isFailing) logger.error({ err: thrown }, 'audit events cannot be written to the audit log and are lost')
    this.#isFailing = true
    return false
  }
}
