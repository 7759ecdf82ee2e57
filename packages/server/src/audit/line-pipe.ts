// Writes lines to a file descriptor whose reader may be slow, such as stdout; queued lines are limited in bytes and time.

import { writeSync } from 'node:fs'
import { waitAtMost } from '@cluster-apiserver/api/base/clock.js'
import type { LineWriter } from './log-backend.js'

interface LinePipeOptions {
  readonly descriptor: number
  readonly maxQueuedBytes: number
  readonly stallTimeoutMs: number
}

interface QueuedLines {
  readonly bytes: Buffer
  readonly isRestOfLine: boolean
  readonly resolve: () => void
  readonly reject: (problem: unknown) => void
}

const retryMs = 5
const newline = 10

export class LinePipe implements LineWriter {
  readonly #options: LinePipeOptions
  readonly #queue = new Set<QueuedLines>()
  #queuedBytes = 0
  /** Bytes of the first queue entry that are written already. */
  #writtenBytes = 0
  #timer: NodeJS.Timeout | undefined
  #lastWriteMs = 0
  #stallError: unknown

  constructor(options: LinePipeOptions) {
    this.#options = options
  }

  async append(lines: Buffer): Promise<void> {
    // The rest of a partial line is written before other lines.
    if (this.#stallError !== undefined) this.#drain()
    const isFirst = this.#queue.size === 0
    const written = isFirst ? this.#write(lines) : 0
    const { length } = lines
    if (written === length) return
    if (this.#stallError !== undefined) throw this.#stallError
    if (!isFirst && this.#queuedBytes + length > this.#options.maxQueuedBytes)
      throw new Error('the queue for the reader of the audit log is full')
    return new Promise((resolve, reject) => {
      if (isFirst) {
        this.#writtenBytes = written
        this.#lastWriteMs = performance.now()
      }
      this.#queue.add({ bytes: Buffer.from(lines), isRestOfLine: false, resolve, reject })
      this.#queuedBytes += length
      this.#timer ??= setTimeout(() => this.#drain(), retryMs)
    })
  }

  async close(): Promise<void> {
    if (this.#stallError !== undefined) this.#drain()
    if (this.#queue.size > 0 && this.#stallError === undefined)
      await waitAtMost(this.#options.stallTimeoutMs, Promise.allSettled([this.#whenDrained()]))
    this.#rejectAll(new Error('the server is shutting down'))
  }

  #whenDrained(): Promise<void> {
    return new Promise((resolve, reject) => this.#queue.add({ bytes: Buffer.alloc(0), isRestOfLine: false, resolve, reject }))
  }

  #drain(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      for (const each of this.#queue) {
        if (this.#writtenBytes < each.bytes.length) this.#writtenBytes += this.#write(each.bytes, this.#writtenBytes)
        if (this.#writtenBytes < each.bytes.length) break
        this.#remove(each)
        each.resolve()
      }
    } catch (thrown) {
      this.#dropQueue(thrown)
    }
    if (this.#queue.size === 0 || this.#stallError !== undefined) return
    if (performance.now() - this.#lastWriteMs > this.#options.stallTimeoutMs)
      this.#dropQueue(new Error('the reader of the audit log has stalled'))
    else this.#timer = setTimeout(() => this.#drain(), retryMs)
  }

  #write(bytes: Buffer, offset = 0): number {
    try {
      const written = writeSync(this.#options.descriptor, bytes, offset)
      this.#lastWriteMs = performance.now()
      this.#stallError = undefined
      return written
    } catch (thrown) {
      if (isBusy(thrown)) return 0
      throw thrown
    }
  }

  /** Drops the queue, but completes a partial line: otherwise the next line would be broken. */
  #dropQueue(problem: unknown): void {
    const [first] = this.#queue
    const at = this.#writtenBytes
    this.#rejectAll(problem)
    this.#stallError = problem
    if (first === undefined || (at === 0 ? !first.isRestOfLine : first.bytes[at - 1] === newline)) return
    const bytes = first.bytes.subarray(at, first.bytes.indexOf(newline, at) + 1)
    this.#queue.add({ bytes, isRestOfLine: true, resolve: ignore, reject: ignore })
    this.#queuedBytes = bytes.length
  }

  #rejectAll(problem: unknown): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const each of this.#queue) {
      this.#remove(each)
      each.reject(problem)
    }
  }

  #remove(each: QueuedLines): void {
    this.#queue.delete(each)
    this.#queuedBytes -= each.bytes.length
    this.#writtenBytes = 0
  }
}

const ignore = (): void => undefined

const isBusy = (thrown: unknown): boolean => thrown instanceof Error && 'code' in thrown && thrown.code === 'EAGAIN'
