// The text of a file that somebody else renews: read again after a while, and while that cannot be, as it was.

import { readFileSync } from 'node:fs'
import { CredentialError } from '../errors.js'

const lastsMs = 60_000

export class FollowedFile {
  private readonly path: string
  private readonly what: string
  private content: string | undefined
  private readAtMs = Number.NEGATIVE_INFINITY

  /** `otherwise` counts as long as the file was never read. */
  constructor(path: string, what: string, otherwise?: string) {
    this.path = path
    this.what = what
    this.content = otherwise
  }

  text(): string {
    if (performance.now() - this.readAtMs >= lastsMs) this.renew()
    return this.content as string
  }

  /** Whether it is another one now. */
  renew(): boolean {
    const before = this.content
    try {
      this.content = readFileSync(this.path, 'utf8')
    } catch (cause) {
      // It is being replaced.
      if (before === undefined)
        throw new CredentialError(`${this.what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
    this.readAtMs = performance.now()
    return this.content !== before
  }
}
