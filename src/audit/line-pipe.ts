// Lines to a descriptor whose reader may be slow, as that of standard output: what is not taken at once waits, bounded in bytes and in time.

import { writeSync } from 'node:fs'
import { atMost } from '../base/clock.js'
import type { LineTarget } from './log-backend.js'

export interface LinePipeOptions {
  readonly descriptor: number
  readonly mostWaitingBytes: number
  /** How long a reader may take nothing at all before what waits for it is lost. */
  readonly patienceMs: number
}

interface Waiting {
  readonly bytes: Buffer
  /** The rest of a line whose beginning is written. */
  readonly isRest: boolean
  readonly resolve: () => void
  readonly reject: (problem: unknown) => void
}

const retryMs = 5
const newline = 10

export class LinePipe implements LineTarget {
  readonly #options: LinePipeOptions
  readonly #waiting = new Set<Waiting>()
  #waitingBytes = 0
  /** How much of the first is written. */
  #at = 0
  #timer: NodeJS.Timeout | undefined
  #takenAtMs = 0
  /** Why the reader was given up: nothing waits for it until it takes something again. */
  #stuck: unknown

  constructor(options: LinePipeOptions) {
    this.#options = options
  }

  /** Nothing: all of it is written. It throws, or the promise rejects, where it is not and never will be. */
  append(lines: Buffer): Promise<void> | undefined {
    // What is left of a line comes before all others.
    if (this.#stuck !== undefined) this.#drain()
    const isFirst = this.#waiting.size === 0
    const written = isFirst ? this.#write(lines) : 0
    const { length } = lines
    if (written === length) return undefined
    if (this.#stuck !== undefined) throw this.#stuck
    if (!isFirst && this.#waitingBytes + length > this.#options.mostWaitingBytes) throw new Error('too many lines wait for their reader')
    return new Promise((resolve, reject) => {
      if (isFirst) {
        this.#at = written
        this.#takenAtMs = performance.now()
      }
      this.#waiting.add({ bytes: Buffer.from(lines), isRest: false, resolve, reject })
      this.#waitingBytes += length
      this.#timer ??= setTimeout(() => this.#drain(), retryMs)
    })
  }

  /** The reader has this long for what waits, and the rest is lost. */
  async close(): Promise<void> {
    if (this.#stuck !== undefined) this.#drain()
    if (this.#waiting.size > 0 && this.#stuck === undefined) await atMost(this.#options.patienceMs, Promise.allSettled([this.#last()]))
    this.#lose(new Error('the server ends'))
  }

  #last(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.add({ bytes: Buffer.alloc(0), isRest: false, resolve, reject }))
  }

  #drain(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      for (const each of this.#waiting) {
        if (this.#at < each.bytes.length) this.#at += this.#write(each.bytes, this.#at)
        if (this.#at < each.bytes.length) break
        this.#remove(each)
        each.resolve()
      }
    } catch (thrown) {
      this.#giveUp(thrown)
    }
    if (this.#waiting.size === 0 || this.#stuck !== undefined) return
    if (performance.now() - this.#takenAtMs > this.#options.patienceMs) this.#giveUp(new Error('nobody reads the lines'))
    else this.#timer = setTimeout(() => this.#drain(), retryMs)
  }

  /** As much as is taken now. */
  #write(bytes: Buffer, at = 0): number {
    try {
      const written = writeSync(this.#options.descriptor, bytes, at)
      this.#takenAtMs = performance.now()
      this.#stuck = undefined
      return written
    } catch (thrown) {
      if (isBusy(thrown)) return 0
      throw thrown
    }
  }

  /** Everything is lost, though a line that has begun will be ended: otherwise the next one would be broken, too. */
  #giveUp(problem: unknown): void {
    const [first] = this.#waiting
    const at = this.#at
    this.#lose(problem)
    this.#stuck = problem
    if (first === undefined || (at === 0 ? !first.isRest : first.bytes[at - 1] === newline)) return
    const bytes = first.bytes.subarray(at, first.bytes.indexOf(newline, at) + 1)
    this.#waiting.add({ bytes, isRest: true, resolve: ignore, reject: ignore })
    this.#waitingBytes = bytes.length
  }

  #lose(problem: unknown): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const each of this.#waiting) {
      this.#remove(each)
      each.reject(problem)
    }
  }

  #remove(each: Waiting): void {
    this.#waiting.delete(each)
    this.#waitingBytes -= each.bytes.length
    this.#at = 0
  }
}

const ignore = (): void => undefined

const isBusy = (thrown: unknown): boolean => thrown instanceof Error && 'code' in thrown && thrown.code === 'EAGAIN'
