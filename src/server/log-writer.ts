// Lines to a file descriptor, in their order and one write at a time: what waits for a slow reader is bounded, and so is the wait at the end.

import { write } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { atMost } from '../base/clock.js'

export interface LogWriterOptions {
  readonly fd: number
  /** What may wait for a slow reader; lines beyond are left out. */
  readonly mostWaitingBytes: number
  /** Called when lines are taken again, with the number of those that were left out. */
  readonly onLeftOut: (lines: number) => void
}

/** Of a reader that is not ready, and of one that never will be. */
const retryMs = 20
const closePatienceMs = 1_000

const newline = Buffer.from('\n')
const writeAsync = promisify(write)

export class LogWriter {
  readonly #options: LogWriterOptions
  #waiting: string[] = []
  #waitingBytes = 0
  #leftOut = 0
  #writing: Promise<void> | undefined
  #isOver = false
  /** The last lines found no room. */
  #isFailing = false
  /** Of the last line only a part did. */
  #isLineOpen = false

  constructor(options: LogWriterOptions) {
    this.#options = options
  }

  write(line: string): void {
    if (this.#isOver) return
    if (this.#waitingBytes + line.length > this.#options.mostWaitingBytes) {
      this.#leftOut += 1
      return
    }
    this.#waiting.push(line)
    this.#waitingBytes += line.length
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when all is written, when the reader is gone, or when it has had its time. */
  async close(): Promise<void> {
    await atMost(closePatienceMs, this.flush())
    this.#isOver = true
  }

  /** Resolves when nothing waits any more. */
  async flush(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isOver) {
      const bytes = Buffer.from(this.#waiting.join(''))
      this.#waiting = []
      await this.#writeBytes(bytes)
      this.#waitingBytes = this.#waiting.reduce((sum, { length }) => sum + length, 0)
      this.#tellLeftOut()
    }
    this.#writing = undefined
  }

  async #writeBytes(lines: Buffer): Promise<void> {
    const bytes = this.#isLineOpen ? Buffer.concat([newline, lines]) : lines
    for (let at = 0; at < bytes.length && !this.#isOver; ) {
      try {
        at += (await writeAsync(this.#options.fd, bytes, at)).bytesWritten
        this.#isLineOpen = bytes[at - 1] !== newline[0]
      } catch (error) {
        if (isBusy(error)) await sleep(retryMs)
        else if (isFull(error)) {
          this.#leftOut += bytes.subarray(at).filter((byte) => byte === newline[0]).length
          this.#isFailing = true
          return
        } else this.#isOver = true
      }
    }
    this.#isFailing = false
  }

  #tellLeftOut(): void {
    if (this.#leftOut === 0 || this.#isFailing) return
    const lines = this.#leftOut
    this.#leftOut = 0
    this.#options.onLeftOut(lines)
  }
}

const hasCode = (error: unknown, codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

const isBusy = (error: unknown): boolean => hasCode(error, ['EAGAIN', 'EBUSY'])

/** There may be room again later. Any other error means that nobody reads the log any more, which is no reason to end. */
const isFull = (error: unknown): boolean => hasCode(error, ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'])
