// The requests that a server has received: to assert on, to wait for, and as a log. The oldest are dropped beyond a limit.

import type { Call } from '@cluster-apiserver/api/api/call.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import type { Exchange } from '../../../http/pipeline/exchange.js'
import type { RequestHooks } from '../../../http/pipeline/lifecycle.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { partsOf } from '../../../objects/object-keys.js'
import { type Duration, readDurationMs } from '../duration.js'
import { BodyStore, RecordedRequest } from './recorded-request.js'
import { compileFilter, type RequestFilter } from './request-filter.js'

const maxRequests = 1000
const defaultTimeoutMs = 10_000
const maxWaiting = 1000
/** Requests in the error of `until`. */
const shownRequests = 10

interface Waiting {
  readonly matches: (request: RecordedRequest) => boolean
  readonly resolve: (request: RecordedRequest) => void
  readonly fail: (reason: string) => void
}

export class RequestLog {
  readonly #requests: RecordedRequest[] = []
  readonly #open = new Map<Exchange, RecordedRequest>()
  readonly #waiting = new Set<Waiting>()
  readonly #writers = new Set<(line: string) => void>()
  readonly #bodies = new BodyStore()
  #isClosed = false

  /** Requests in the order in which they completed; watches and other streams in the order in which they started. */
  all(filter?: RequestFilter): readonly RecordedRequest[] {
    return filter === undefined ? [...this.#requests] : this.#requests.filter(compileFilter(filter))
  }

  last(count: number): readonly RecordedRequest[] {
    return count <= 0 ? [] : this.#requests.slice(-count)
  }

  /** The first request that matches. */
  find(filter: RequestFilter): RecordedRequest | undefined {
    return this.#requests.find(compileFilter(filter))
  }

  count(filter?: RequestFilter): number {
    return this.all(filter).length
  }

  /** Forgets all requests. A request in progress is recorded when it completes; an open stream is not recorded again. */
  clear(): void {
    this.#requests.length = 0
    this.#bodies.clear()
  }

  /** Resolves with the first request that matches, now or as soon as one completes; for a watch, when it has started. */
  until(filter: RequestFilter, options: { readonly timeout?: Duration } = {}): Promise<RecordedRequest> {
    refuseUnknownOptions('requests.until', options, { timeout: true })
    const matches = compileFilter(filter)
    const timeoutMs = readDurationMs(options.timeout ?? defaultTimeoutMs)
    const found = this.#requests.find(matches)
    if (found !== undefined) return Promise.resolve(found)
    if (this.#isClosed) return Promise.reject(new Error(this.#failureText('before the server closed')))
    if (this.#waiting.size >= maxWaiting)
      return Promise.reject(new Error(`requests.until: ${maxWaiting} calls are waiting, which is the maximum`))
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        matches,
        resolve: (request) => {
          clearTimeout(timer)
          resolve(request)
        },
        fail: (reason) => {
          clearTimeout(timer)
          this.#waiting.delete(waiting)
          reject(new Error(this.#failureText(reason)))
        },
      }
      const timer = setTimeout(() => waiting.fail(`within ${timeoutMs} ms`), timerMs(timeoutMs))
      this.#waiting.add(waiting)
    })
  }

  /** Keeps the bodies of later requests, up to 8 MiB in all. They may contain Secrets: nothing but `body()` shows them. */
  keepBodies(): void {
    this.#bodies.isKeeping = true
  }

  /** Writes a line for each later request, and one for the start and one for the end of a watch. Returns a function that stops it. */
  log(write: (line: string) => void = (line) => void process.stderr.write(`${line}\n`)): () => void {
    const writer = (line: string): void => write(line)
    this.#writers.add(writer)
    return () => void this.#writers.delete(writer)
  }

  text(filter?: RequestFilter): string {
    return this.all(filter).join('\n')
  }

  #failureText(reason: string): string {
    return `requests.until: no such request ${reason}; the last requests:\n${this.last(shownRequests).join('\n') || 'none'}`
  }

  /** Rejects all waiting calls of `until`. */
  close(): void {
    this.#isClosed = true
    for (const waiting of this.#waiting) waiting.fail('before the server closed')
  }

  /** Requests without a complete response, and streams. */
  get open(): ReadonlyMap<Exchange, RecordedRequest> {
    return this.#open
  }

  readonly hooks: RequestHooks = {
    received: (exchange) => {
      const request = new RecordedRequest(exchange, this.#bodies)
      this.#open.set(exchange, request)
    },
    responseStarted: (exchange) => {
      const request = this.#open.get(exchange)
      if (request === undefined || request.isOpen) return
      request.start(exchange)
      if (request.isOpen) this.#add(request)
    },
    responseComplete: (exchange) => {
      const request = this.#open.get(exchange)
      if (request === undefined) return
      this.#open.delete(exchange)
      const isKnown = request.isOpen
      request.complete(exchange)
      if (isKnown) this.#write(request)
      else this.#add(request)
    },
  }

  /** The name of a created object, which the path of the request does not have. */
  onCommit({ key }: StoredObject, { caller, resource }: Call): void {
    const request = this.#open.get(caller as Exchange)
    if (request?.name === '' && request.verb === 'create') request.name = partsOf(resource, key).name
  }

  #add(request: RecordedRequest): void {
    this.#requests.push(request)
    const dropped = this.#requests.length > maxRequests ? this.#requests.shift() : undefined
    if (dropped !== undefined) this.#bodies.delete(dropped)
    this.#write(request)
    for (const waiting of this.#waiting) {
      if (!waiting.matches(request)) continue
      this.#waiting.delete(waiting)
      waiting.resolve(request)
    }
  }

  #write(request: RecordedRequest): void {
    for (const write of this.#writers) write(String(request))
  }
}
