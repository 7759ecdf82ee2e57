// Requests of HTTP/1.1 whose bodies go from the parser to whoever wants them whole. Through a stream they take five more turns of Node's queue of
// ticks, and as many listeners, which is a twentieth of a small write; and a request without a body takes four of them to end for nobody.
//
// It is a stream like any other for whoever listens to it, pipes it or reads from it.

import { IncomingMessage } from 'node:http'

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
  /** Whether parts of a body are in the stream. */
  #isStreamed = false
  /** Its end was not put into the stream. */
  #isEnded = false

  static {
    Object.defineProperty(DirectRequest.prototype, 'readableEnded', {
      configurable: true,
      get(this: DirectRequest): boolean {
        return this.#isEnded || endedOf?.call(this) === true
      },
    })
  }

  /** Gives the body to somebody, from its beginning. False where a part of it is in the stream already, or somebody listens there. */
  takeBody(taker: BodyTaker): boolean {
    if (this.#isStreamed || this.#taker !== undefined || this.readableFlowing !== null || this.destroyed) return false
    this.#taker = taker
    // Nothing has to be read and let go when it was answered.
    ;(this as unknown as { _consuming: boolean })._consuming = true
    if (this.#isEnded) taker.end()
    return true
  }

  override push(part: Buffer | null): boolean {
    if (this.#taker !== undefined) {
      if (part === null) this.#end(this.#taker)
      else this.#taker.data(part)
      return true
    }
    if (part === null && !this.#isStreamed && this.readableFlowing === null && !this.#isHeard) {
      this.#isEnded = true
      return true
    }
    this.#isStreamed = true
    return super.push(part)
  }

  #end(taker: BodyTaker): void {
    this.#isEnded = true
    taker.end()
    if (this.listenerCount('end') > 0) this.emit('end')
  }

  get #isHeard(): boolean {
    return this.listenerCount('end') > 0 || this.listenerCount('readable') > 0 || this.listenerCount('close') > 0
  }

  /** Whoever wants a stream has one that ends. */
  #stream(): void {
    if (!this.#isEnded || this.#taker !== undefined) return
    this.#isEnded = false
    this.#isStreamed = true
    super.push(null)
  }

  override on(event: string | symbol, listener: (...args: never[]) => void): this {
    if (streamEvents.has(event)) this.#stream()
    return super.on(event as string, listener as (...args: unknown[]) => void)
  }

  override addListener(event: string | symbol, listener: (...args: never[]) => void): this {
    return this.on(event, listener)
  }

  override read(size?: number): unknown {
    this.#stream()
    return super.read(size)
  }

  override resume(): this {
    this.#stream()
    return super.resume()
  }

  /** Called when it was answered and nobody has read it: of what has ended nothing is left to be let go. */
  _dump(): void {
    const self = this as unknown as { _dumped: boolean }
    if (this.#isEnded) self._dumped = true
    else dump.call(this)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#isEnded || !this.complete) this.#taker?.aborted()
    super._destroy(error, callback)
  }
}

const streamEvents: ReadonlySet<string | symbol> = new Set(['data', 'readable', 'end', 'close'])

const dump = (IncomingMessage.prototype as unknown as { readonly _dump: (this: IncomingMessage) => void })._dump

/** The body of a request whose stream is not used. */
export const takeBody = (request: object, taker: BodyTaker): boolean => request instanceof DirectRequest && request.takeBody(taker)
