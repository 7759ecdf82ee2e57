// A configuration file that is polled for changes; valid changes are applied.

import { readFileSync } from 'node:fs'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'

interface ReloadOptions {
  readonly path: string
  /** Content that is in effect already. */
  readonly text: string
  /** Applies the text, or throws without a change. */
  readonly apply: (text: string) => void
  readonly logger: Logger
  /** Files are polled, because they may be replaced, linked or mounted. */
  readonly pollMs?: number
}

/** Polls a file; does not keep the process alive. */
export class ReloadingFile {
  readonly #options: ReloadOptions
  readonly #timer: NodeJS.Timeout
  #content: string
  /** Each error is logged once. */
  #lastError = ''

  constructor(options: ReloadOptions) {
    this.#options = options
    this.#content = options.text
    this.#timer = setInterval(() => this.reload(), options.pollMs ?? 5_000).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  reload(): void {
    const { path, apply, logger } = this.#options
    try {
      const text = readFileSync(path, 'utf8')
      if (text !== this.#content) {
        apply(text)
        this.#content = text
        logger.info({ file: path }, 'configuration file reloaded')
      }
      this.#lastError = ''
    } catch (thrown) {
      const error = errorMessage(thrown)
      if (error !== this.#lastError)
        logger.warn({ file: path, error }, 'cannot reload configuration file; the previous content stays in effect')
      this.#lastError = error
    }
  }
}
