// Reads the body of a request up to a size limit, and decodes it into an object.

import { badRequest, requestEntityTooLarge } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { fieldValidationOf } from '@cluster-apiserver/api/api/options/write-options.js'
import { maxBodyBytes } from '@cluster-apiserver/api/base/size-limits.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { Format } from '@cluster-apiserver/api/codec/content-negotiation.js'
import { cannotBeHandled, decodeBody, strictError } from '@cluster-apiserver/api/codec/decode-object.js'
import { BodyChunkCounter } from '../../net/listen/request-body-limits.js'
import { ChunkBuffer } from '../../net/outbound/chunk-buffer.js'
import { withDefaults } from '../../verbs/version-conversion.js'
import type { Exchange } from '../pipeline/exchange.js'

/** `maxBytes` is lower for bodies that are always decoded on the event loop, such as DeleteOptions. */
export async function readBody(exchange: Exchange, maxBytes = maxBodyBytes): Promise<Buffer> {
  const { request } = exchange
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBytes) throw tooLarge(exchange, maxBytes)
  if (exchange.isTimedOut) throw exchange.timeOut()
  if (exchange.isClosed || request.destroyed) throw badRequest(disconnected)
  const body = await new Promise<Buffer>((resolve, reject) => {
    const reading = new BodyReader(exchange, maxBytes, resolve, reject)
    exchange.bodyReader = reading
    request.on('data', (chunk: Buffer) => reading.data(chunk))
    request.on('end', () => reading.end())
    request.on('error', () => reading.fail('the body of the request could not be read to its end'))
    request.on('aborted', () => reading.fail(disconnected))
  })
  // Bodies that end in the same event-loop iteration are decoded in several iterations.
  await turnBudget.yieldIfSpent()
  return body
}

const disconnected = 'the client went away before the body of the request had ended'

class BodyReader {
  readonly #exchange: Exchange
  readonly #counter: BodyChunkCounter
  readonly #maxBytes: number
  readonly #resolve: (body: Buffer) => void
  readonly #reject: (reason: unknown) => void
  #first: Buffer | undefined = undefined
  #chunks: ChunkBuffer | undefined = undefined
  #bytes = 0
  #isStopped = false

  constructor(exchange: Exchange, maxBytes: number, resolve: (body: Buffer) => void, reject: (reason: unknown) => void) {
    this.#exchange = exchange
    this.#counter = new BodyChunkCounter(exchange.request)
    this.#maxBytes = maxBytes
    this.#resolve = resolve
    this.#reject = reject
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length
    this.#counter.count(chunk.length)
    if (this.#bytes > this.#maxBytes) this.#reject(tooLarge(this.#exchange, this.#maxBytes))
    else if (!this.#isStopped) this.#keep(chunk)
  }

  end(): void {
    const exchange = this.#exchange
    exchange.bodyReader = undefined
    const body = this.#chunks?.join() ?? this.#first ?? emptyBody
    exchange.onBody?.(body)
    this.#resolve(body)
  }

  fail(message: string): void {
    this.#exchange.bodyReader = undefined
    this.#reject(badRequest(message))
  }

  /** Rejects, and discards the rest of the body. */
  stop(reason: unknown): void {
    this.#exchange.bodyReader = undefined
    this.#isStopped = true
    this.#first = undefined
    this.#chunks?.clear()
    this.#reject(reason)
  }

  #keep(chunk: Buffer): void {
    try {
      this.#exchange.chargeBody(chunk.length)
      if (this.#first === undefined) this.#first = chunk
      else this.#bufferWith(this.#first).add(chunk)
    } catch (thrown) {
      this.#isStopped = true
      this.#first = undefined
      this.#chunks?.clear()
      closeAfterResponse(this.#exchange)
      this.#reject(thrown)
    }
  }

  #bufferWith(first: Buffer): ChunkBuffer {
    if (this.#chunks === undefined) {
      this.#chunks = new ChunkBuffer()
      this.#chunks.add(first)
    }
    return this.#chunks
  }
}

const emptyBody = Buffer.alloc(0)

/** Closes the HTTP/1.1 connection after the response, so that the client need not send the rest. */
function closeAfterResponse(exchange: Exchange): void {
  const { response } = exchange
  if ('assignSocket' in response && !response.headersSent) response.setHeader('Connection', 'close')
  exchange.request.resume()
}

function tooLarge(exchange: Exchange, maxBytes: number) {
  closeAfterResponse(exchange)
  return requestEntityTooLarge(`limit is ${maxBytes}`)
}

export interface SentBody {
  readonly bytes: Uint8Array
  readonly format: Format
  /** Size of a stored object that is over the limit already. */
  readonly maxBytes?: number
}

/** Unknown and duplicate fields are errors, warnings or ignored, as `fieldValidation` says. */
export function decodeSent(call: Call, { bytes, format }: SentBody): ApiObject {
  const resource = call.subresource?.shown ?? call.resource
  const hasView = call.subresource?.view !== undefined
  const decoded = decodeBody(format, bytes, resource)
  const unreadable = hasView ? undefined : resource.definition.unreadable?.(decoded.object)
  if (unreadable !== undefined) throw cannotBeHandled(resource, unreadable)
  const validation = fieldValidationOf(call)
  if (decoded.problems.length > 0 && validation === 'Strict') throw strictError(resource, decoded.strictProblems ?? decoded.problems)
  if (validation === 'Warn') for (const problem of decoded.problems) call.warn(problem)
  return hasView ? decoded.object : withDefaults(call, decoded.object)
}
