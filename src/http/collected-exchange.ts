// A request that comes as a value and not over a connection, and its answer as a value: what another thread serves.

import { Readable, Writable } from 'node:stream'
import type { WireRequest, WireResponse } from './exchange.js'
import type { RequestListener } from './handle.js'
import type { OffloadedAnswer, OffloadedRequest } from './offload.js'

/** Serves one request by a listener, and resolves with all of its answer. */
export function collectAnswer(listener: RequestListener, sent: OffloadedRequest): Promise<OffloadedAnswer> {
  return new Promise((resolve, reject) => {
    const response = new CollectedResponse((answer) => resolve({ ...answer, annotations: [] }))
    response.once('error', reject)
    listener(new SentRequest(sent) as unknown as WireRequest, response as unknown as WireResponse)
  })
}

/** The members of a request that endpoints look at. */
class SentRequest extends Readable {
  readonly method: string
  readonly url: string
  readonly headers: OffloadedRequest['headers']
  readonly socket: { readonly remoteAddress: string }
  private rest: Uint8Array | undefined

  constructor({ method, url, headers, body, auditId, remoteAddress }: OffloadedRequest) {
    super()
    this.method = method
    this.url = url
    this.headers = { ...headers, 'audit-id': auditId }
    this.socket = { remoteAddress }
    this.rest = body
  }

  override _read(): void {
    const { rest } = this
    this.rest = undefined
    this.push(rest === undefined || rest.length === 0 ? null : Buffer.from(rest.buffer, rest.byteOffset, rest.byteLength))
    if (rest !== undefined && rest.length > 0) this.push(null)
  }
}

type Collected = Pick<OffloadedAnswer, 'code' | 'headers' | 'body'>

/** The members of a response to HTTP/1.1 that answers are written with. */
class CollectedResponse extends Writable {
  headersSent = false
  readonly socket = null
  readonly chunkedEncoding = false
  readonly #chunks: Uint8Array[] = []
  readonly #collect: (answer: Collected) => void
  #code = 200
  #headers: readonly string[] = []

  constructor(collect: (answer: Collected) => void) {
    super()
    this.#collect = collect
  }

  /** By which a response to HTTP/1.1 is known. */
  assignSocket(): void {
    throw new Error('an answer that is collected has no connection')
  }

  writeHead(code: number, headers: readonly string[]): this {
    this.headersSent = true
    this.#code = code
    this.#headers = headers
    return this
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk)
    done()
  }

  override _final(done: () => void): void {
    const [first = new Uint8Array(), ...others] = this.#chunks
    this.#collect({ code: this.#code, headers: this.#headers, body: others.length === 0 ? first : Buffer.concat(this.#chunks) })
    done()
  }
}
