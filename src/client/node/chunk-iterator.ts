// The body of an answer as it comes, chunk by chunk, with back-pressure.

import type { IncomingMessage } from 'node:http'
import { tapWithBody } from './answer-tap.js'

/** The other side is asked to wait when so much was not taken yet. */
const mostWaiting = 256 * 1024

type Result = IteratorResult<Uint8Array, undefined>

/** Nothing more will be heard of it, not even that: its connection broke, or it was read by somebody else. */
export const isOver = (message: IncomingMessage): boolean => message.destroyed || message.readableEnded

export class ChunkIterator implements AsyncIterator<Uint8Array, undefined, undefined> {
  private readonly message: IncomingMessage
  /** What is told to wait. */
  private source: { pause(): unknown; resume(): unknown }
  private waiting: Buffer[] = []
  private waitingBytes = 0
  private isPaused = false
  private hasEnded = false
  private failure: unknown
  private taker: { resolve(result: Result): void; reject(thrown: unknown): void } | undefined

  constructor(message: IncomingMessage, explain: (thrown: unknown) => unknown) {
    this.message = message
    this.source = message
    message.on('end', () => this.finish(undefined))
    message.on('error', (error) => this.finish(explain(error)))
    message.on('close', () => {
      if (!message.complete) this.finish(explain(new Error('it was cut off')))
    })
    if (isOver(message)) this.finish(explain(new Error('it was cut off before it was read')))
    const tap = tapWithBody(message)
    if (tap === undefined) {
      message.on('data', (chunk: Buffer) => this.take(chunk))
      return
    }
    this.source = message.socket
    message.resume()
    tap.takeBody(
      (part) => this.take(Buffer.from(part)),
      (error) => this.finish(explain(error)),
    )
  }

  next(): Promise<Result> {
    const [first] = this.waiting
    if (first !== undefined) {
      const value = this.waiting.length === 1 ? first : Buffer.concat(this.waiting)
      this.waiting = []
      this.waitingBytes = 0
      if (this.isPaused) {
        this.isPaused = false
        this.source.resume()
      }
      return Promise.resolve({ value, done: false })
    }
    if (this.failure !== undefined) return Promise.reject(this.failure)
    if (this.hasEnded) return Promise.resolve({ value: undefined, done: true })
    return new Promise((resolve, reject) => {
      this.taker = { resolve, reject }
    })
  }

  return(): Promise<Result> {
    this.message.destroy()
    this.finish(undefined)
    return Promise.resolve({ value: undefined, done: true })
  }

  private take(chunk: Buffer): void {
    if (this.hasEnded) return
    const { taker } = this
    if (taker !== undefined) {
      this.taker = undefined
      taker.resolve({ value: chunk, done: false })
      return
    }
    this.waiting.push(chunk)
    this.waitingBytes += chunk.length
    if (this.waitingBytes > mostWaiting && !this.isPaused) {
      this.isPaused = true
      this.source.pause()
    }
  }

  private finish(failure: unknown): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.failure = failure
    if (this.taker === undefined) return
    if (failure === undefined) this.taker.resolve({ value: undefined, done: true })
    else this.taker.reject(failure)
  }
}
