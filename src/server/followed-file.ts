// A configuration file that somebody may change while the server runs: read again and again, and taken over when it is right.

import { readFileSync } from 'node:fs'
import type { Logger } from '../base/logger.js'

export interface FollowOptions {
  readonly path: string
  /** What the file says already; told again only when it says something else. */
  readonly text: string
  /** Takes the text over, or throws one sentence about what is wrong with it: then everything stays as it was. */
  readonly take: (text: string) => void
  readonly logger: Logger
  /** Reading is easier to get right than being told: files are replaced, linked and mounted. */
  readonly everyMs?: number
}

/** Looks at the file from its making to `close`, and keeps no process alive. */
export class FollowedFile {
  readonly #options: FollowOptions
  readonly #timer: NodeJS.Timeout
  #seen: string
  /** What was wrong at the last look: told once, and not at every look. */
  #problem = ''

  constructor(options: FollowOptions) {
    this.#options = options
    this.#seen = options.text
    this.#timer = setInterval(() => this.look(), options.everyMs ?? 5_000).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  look(): void {
    const { path, take, logger } = this.#options
    try {
      const text = readFileSync(path, 'utf8')
      if (text !== this.#seen) {
        take(text)
        this.#seen = text
        logger.info({ file: path }, 'configuration file reloaded')
      }
      this.#problem = ''
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown.message : String(thrown)
      if (error !== this.#problem) logger.warn({ file: path, error }, 'cannot reload configuration file; keeping the previous content')
      this.#problem = error
    }
  }
}
