// Writes log lines to a file descriptor, in order. The queue for a slow reader is limited, and so is the wait on close.

import { write } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { waitAtMost } from '@cluster-apiserver/api/base/clock.js'

interface LogWriterOptions {
  readonly fd: number
  /** Maximum size of the queue; further lines are dropped. */
  readonly maxQueuedBytes: number
  readonly onDropped: (lines: number) => void
}

const retryMs = 20
const closeTimeoutMs = 1_000

const newline = Buffer.from('\n')
const writeAsync = promisify(write)

export class LogWriter {
  readonly #options: LogWriterOptions
  #queue: string[] = []
  #queuedBytes = 0
  #dropped = 0
  #writing: Promise<void> | undefined
  #isClosed = false
  #isFailing = false
  #hasPartialLine = false

  constructor(options: LogWriterOptions) {
    this.#options = options
  }

  write(line: string): void {
    if (this.#isClosed) return
    if (this.#queuedBytes + line.length > this.#options.maxQueuedBytes) {
      this.#dropped += 1
      return
    }
    this.#queue.push(line)
    this.#queuedBytes += line.length
    this.#writing ??= this.#writeAll()
  }

  async close(): Promise<void> {
    await waitAtMost(closeTimeoutMs, this.flush())
    this.#isClosed = true
  }

  /** Resolves when the queue is written or dropped. */
  async flush(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0 && !this.#isClosed) {
      const bytes = Buffer.from(this.#queue.join(''))
      this.#queue = []
      await this.#writeBytes(bytes)
      this.#queuedBytes = this.#queue.reduce((sum, { length }) => sum + length, 0)
      this.#reportDropped()
    }
    this.#writing = undefined
  }

  async #writeBytes(lines: Buffer): Promise<void> {
    const bytes = this.#hasPartialLine ? Buffer.concat([newline, lines]) : lines
    for (let offset = 0; offset < bytes.length && !this.#isClosed; ) {
      try {
        offset += (await writeAsync(this.#options.fd, bytes, offset)).bytesWritten
        this.#hasPartialLine = bytes[offset - 1] !== newline[0]
      } catch (error) {
        if (isBusy(error)) await sleep(retryMs)
        else if (isFull(error)) {
          this.#dropped += bytes.subarray(offset).filter((byte) => byte === newline[0]).length
          this.#isFailing = true
          return
        } else this.#isClosed = true
      }
    }
    this.#isFailing = false
  }

  #reportDropped(): void {
    if (this.#dropped === 0 || this.#isFailing) return
    const lines = this.#dropped
    this.#dropped = 0
    this.#options.onDropped(lines)
  }
}

const hasCode = (error: unknown, codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

const isBusy = (error: unknown): boolean => hasCode(error, ['EAGAIN', 'EBUSY'])

/** Later lines may be written. Any error that is neither busy nor full means that the log has no reader. */
const isFull = (error: unknown): boolean => hasCode(error, ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'])
