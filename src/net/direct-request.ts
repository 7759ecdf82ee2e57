// Requests of HTTP/1.1 whose bodies go from the parser to whoever wants them whole. Through a stream they take five more turns of Node's queue of
// ticks, and as many listeners, which is a twentieth of a small write; and a request without a body takes four of them to end for nobody.
//
// It is a stream like any other for whoever listens to it, pipes it or reads from it.

import { IncomingMessage } from 'node:http'
import { holdUnasked, releaseUnasked } from './unasked-bodies.js'

/** Who takes a body as it comes. */
export interface BodyTaker {
  data(part: Buffer): void
  end(): void
  /** It is broken off. */
  aborted(): void
}

/** What tells that a request has ended is asked for here: Node's parser forgets it then. */
const endedOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(IncomingMessage.prototype), 'readableEnded')?.get

export class DirectRequest extends IncomingMessage {
  #taker: BodyTaker | undefined = undefined
  /** What has come while nobody has said how he wants it. How much that may be is counted for the connection. */
  #kept: Buffer[] | undefined = undefined
  #heldBytes = 0
  /** Whether it is a stream for good. */
  #isStreamed = false
  /** Its end was not put into the stream. */
  #isEnded = false

  static {
    Object.defineProperty(DirectRequest.prototype, 'readableEnded', {
      configurable: true,
      get(this: DirectRequest): boolean {
        return (this.#isEnded && this.#kept === undefined) || endedOf?.call(this) === true
      },
    })
  }

  /** Gives the body to somebody, from its beginning. False where it is in the stream already, or somebody listens there. */
  takeBody(taker: BodyTaker): boolean {
    if (this.#isStreamed || this.#taker !== undefined || this.readableFlowing !== null || this.destroyed) return false
    const kept = this.#kept
    this.#taker = taker
    this.#kept = undefined
    // Nothing has to be read and let go when it was answered.
    ;(this as unknown as { _consuming: boolean })._consuming = true
    if (kept !== undefined) for (const part of kept) taker.data(part)
    this.#release()
    if (this.#isEnded) taker.end()
    return true
  }

  override push(part: Buffer | null): boolean {
    if (this.#taker !== undefined) {
      if (part === null) this.#end(this.#taker)
      else this.#taker.data(part)
      return true
    }
    if (!this.#isStreamed && this.readableFlowing === null && !this.#isHeard) {
      this.#keep(part)
      return true
    }
    this.#toStream()
    return super.push(part)
  }

  #keep(part: Buffer | null): void {
    if (part === null) {
      this.#isEnded = true
      return
    }
    if (this.#kept === undefined) this.#kept = [part]
    else this.#kept.push(part)
    this.#heldBytes += holdUnasked(this.socket, part)
  }

  #release(): void {
    if (this.#heldBytes > 0) releaseUnasked(this.socket, this.#heldBytes)
    this.#heldBytes = 0
  }

  #end(taker: BodyTaker): void {
    this.#isEnded = true
    taker.end()
    if (this.listenerCount('end') > 0) this.emit('end')
  }

  get #isHeard(): boolean {
    return this.listenerCount('end') > 0 || this.listenerCount('readable') > 0 || this.listenerCount('close') > 0
  }

  /** Whoever wants a stream has one, with what has come. */
  #toStream(): void {
    if (this.#isStreamed || this.#taker !== undefined) return
    this.#isStreamed = true
    const kept = this.#kept
    this.#kept = undefined
    if (kept !== undefined) for (const part of kept) super.push(part)
    this.#release()
    if (!this.#isEnded) return
    this.#isEnded = false
    super.push(null)
  }

  override on(event: string | symbol, listener: (...args: never[]) => void): this {
    if (streamEvents.has(event)) this.#toStream()
    return super.on(event as string, listener as (...args: unknown[]) => void)
  }

  override addListener(event: string | symbol, listener: (...args: never[]) => void): this {
    return this.on(event, listener)
  }

  override read(size?: number): unknown {
    this.#toStream()
    return super.read(size)
  }

  override resume(): this {
    this.#toStream()
    return super.resume()
  }

  /** Called when it was answered and nobody has read it: what has ended is let go at once. */
  _dump(): void {
    const self = this as unknown as { _dumped: boolean }
    if (this.#isEnded) {
      this.#kept = undefined
      this.#release()
      self._dumped = true
    } else dump.call(this)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#isEnded || !this.complete) this.#taker?.aborted()
    this.#release()
    super._destroy(error, callback)
  }
}

const streamEvents: ReadonlySet<string | symbol> = new Set(['data', 'readable', 'end', 'close'])

const dump = (IncomingMessage.prototype as unknown as { readonly _dump: (this: IncomingMessage) => void })._dump

/** The body of a request whose stream is not used. */
export const takeBody = (request: object, taker: BodyTaker): boolean => request instanceof DirectRequest && request.takeBody(taker)
