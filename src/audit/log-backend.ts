// The backend that writes events to a file, each as a line.

import { escapeControls } from '../base/escape-controls.js'
import type { Logger } from '../base/logger.js'
import type { AuditTallies, Backend } from './backend.js'
import { legacyLine } from './legacy-line.js'
import type { AuditEvent } from './record.js'

/** Where lines go: a file, or something that stands for it in tests. */
export interface LineTarget {
  /**
   * Writes all of it and returns nothing, or a promise where its reader has to be waited for; throws or rejects where it is lost. The memory is
   * used again: what has to wait is copied.
   */
  append(lines: Buffer): Promise<void> | undefined
  close(): Promise<void>
}

export interface LogBackendParts {
  readonly target: LineTarget
  readonly format: 'json' | 'legacy'
  readonly tallies: AuditTallies
  readonly logger: Logger
  /** Whether whoever sends an event wants to know that it is written; otherwise those of one turn of the event loop are written together. */
  readonly isStrict: boolean
}

/** What waits for the end of a turn; longer lines go by themselves. */
const scratchBytes = 64 << 10
const newline = 10

type Taken = boolean | Promise<boolean>

const both = (one: Taken, other: Taken): Taken => {
  if (typeof one === 'boolean' && typeof other === 'boolean') return one && other
  return Promise.all([one, other]).then(([first, second]) => first && second)
}

export class LogBackend implements Backend {
  readonly #parts: LogBackendParts
  readonly #scratch = Buffer.allocUnsafeSlow(scratchBytes)
  /** How much of it is taken. */
  #used = 0
  #count = 0
  #isFailing = false
  /** The last lines, while their reader is waited for. */
  #behind: Promise<boolean> | undefined

  constructor(parts: LogBackendParts) {
    this.#parts = parts
  }

  process(events: readonly AuditEvent[]): Taken {
    const isFirst = this.#used === 0
    let taken: Taken = true
    for (const event of events) taken = both(taken, this.#add(this.#parts.format === 'json' ? event.text : legacyLine(event.facts)))
    if (this.#parts.isStrict) return both(taken, this.#flush())
    // At the end of this turn of the event loop, before anything that was begun in it is done: all that was answered meanwhile costs one write.
    if (isFirst && this.#used > 0) setImmediate(() => this.#flush())
    // Requests come no faster than the lines before theirs are taken.
    return this.#behind ?? true
  }

  #add(text: string): Taken {
    const isAscii = Buffer.byteLength(text) === text.length
    const line = isAscii ? text : escapeControls(text)
    // A character has three bytes at most.
    const most = line.length * 3 + 1
    const taken = this.#used + most > scratchBytes ? this.#flush() : true
    this.#count += 1
    if (most > scratchBytes) return both(taken, this.#write(Buffer.from(`${line}\n`)))
    this.#used += this.#scratch.write(line, this.#used)
    this.#scratch[this.#used++] = newline
    return taken
  }

  async close(): Promise<void> {
    void this.#flush()
    await this.#parts.target.close()
    await this.#behind
  }

  #flush(): Taken {
    const bytes = this.#used
    this.#used = 0
    return bytes === 0 ? true : this.#write(this.#scratch.subarray(0, bytes))
  }

  /** All that were counted. */
  #write(lines: Buffer): Taken {
    const count = this.#count
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
