// The whole body of a request, up to a limit: what is longer is refused without being kept.

import { badRequest, requestEntityTooLarge } from '../api/api-error.js'
import { mostBodyBytes } from '../base/most-body-bytes.js'
import { type BodyTaker, takeBody } from '../net/direct-request.js'
import { GatheredParts } from '../net/gathered-parts.js'
import { bodyTurns } from './body-turns.js'
import type { Exchange } from './exchange.js'

/** `maxBytes`: of bodies that are always decoded on the event loop, such as DeleteOptions. */
export function readBody(exchange: Exchange, maxBytes = mostBodyBytes): Promise<Buffer> {
  const { request } = exchange
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBytes) return Promise.reject(tooLarge(exchange, maxBytes))
  if (exchange.isTimedOut) return Promise.reject(exchange.timeOut())
  return new Promise((resolve, reject) => {
    const reading = new BodyReading(exchange, maxBytes, resolve, reject)
    exchange.bodyReader = reading
    if (takeBody(request, reading)) return
    request.on('data', (chunk: Buffer) => reading.data(chunk))
    request.on('end', () => reading.end())
    request.on('error', () => reading.fail('the body of the request could not be read to its end'))
    request.on('aborted', () => reading.aborted())
  })
}

class BodyReading implements BodyTaker {
  readonly #exchange: Exchange
  readonly #maxBytes: number
  readonly #resolve: (body: Buffer) => void
  readonly #reject: (reason: unknown) => void
  /** The first part; most bodies come at once. */
  #first: Buffer | undefined = undefined
  #parts: GatheredParts | undefined = undefined
  #size = 0
  #isRefused = false

  constructor(exchange: Exchange, maxBytes: number, resolve: (body: Buffer) => void, reject: (reason: unknown) => void) {
    this.#exchange = exchange
    this.#maxBytes = maxBytes
    this.#resolve = resolve
    this.#reject = reject
  }

  data(part: Buffer): void {
    this.#size += part.length
    if (this.#size > this.#maxBytes) this.#reject(tooLarge(this.#exchange, this.#maxBytes))
    else if (!this.#isRefused) this.#keep(part)
  }

  end(): void {
    const exchange = this.#exchange
    exchange.bodyReader = undefined
    const body = this.#parts?.whole() ?? this.#first ?? nothing
    if (bodyTurns.take(body)) this.#resolve(body)
    else void bodyTurns.takeLater(body).then(() => this.#resolve(body))
  }

  aborted(): void {
    this.fail('the client went away before the body of the request had ended')
  }

  fail(why: string): void {
    this.#exchange.bodyReader = undefined
    this.#reject(badRequest(why))
  }

  /** Nobody waits for it any more: what still comes is let go. */
  stop(reason: unknown): void {
    this.#exchange.bodyReader = undefined
    this.#isRefused = true
    this.#first = undefined
    this.#parts?.clear()
    this.#reject(reason)
  }

  #keep(part: Buffer): void {
    try {
      this.#exchange.holdBody(part.length)
      if (this.#first === undefined) this.#first = part
      else this.#gathered(this.#first).add(part)
    } catch (thrown) {
      this.#isRefused = true
      this.#first = undefined
      this.#parts?.clear()
      hangUp(this.#exchange)
      this.#reject(thrown)
    }
  }

  #gathered(first: Buffer): GatheredParts {
    if (this.#parts === undefined) {
      this.#parts = new GatheredParts()
      this.#parts.add(first)
    }
    return this.#parts
  }
}

const nothing = Buffer.alloc(0)

/** The rest of the body is let go with the connection, so that the client is heard before it has sent everything. */
function hangUp(exchange: Exchange): void {
  if ('shouldKeepAlive' in exchange.response) exchange.response.shouldKeepAlive = false
  exchange.request.resume()
}

function tooLarge(exchange: Exchange, maxBytes: number) {
  hangUp(exchange)
  return requestEntityTooLarge(`limit is ${maxBytes}`)
}
