// The last requests of this tab, without credentials, for the page that shows them as commands.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { SocketRequest, Transport, TransportRequest, TransportResponse } from '@cluster-apiserver/client/browser.js'

export interface RecordedRequest {
  readonly id: number
  readonly atMs: number
  readonly method: string
  readonly path: string
  readonly accept: string
  readonly contentType: string
  /** Undefined without a body, and if it is longer than the limit. */
  readonly body: string | undefined
  readonly bodyLength: number
  status: number | undefined
  durationMs: number | undefined
  error: string | undefined
  /** The page that sent it was left. */
  isCancelled: boolean
}

const maxRequests = 200
const maxBodyCharacters = 16 * 1024

export class RecordedRequests {
  readonly list: RecordedRequest[] = []
  private readonly listeners = new Set<() => void>()
  private lastId = 0

  begin({ method, path, headers, body }: TransportRequest): RecordedRequest {
    const text = typeof body === 'string' ? body : undefined
    const recorded: RecordedRequest = {
      id: ++this.lastId,
      atMs: Date.now(),
      method,
      path,
      accept: textOf(headers['accept']),
      contentType: textOf(headers['content-type']),
      body: text !== undefined && text.length <= maxBodyCharacters ? text : undefined,
      bodyLength: body?.length ?? 0,
      status: undefined,
      durationMs: undefined,
      error: undefined,
      isCancelled: false,
    }
    this.list.push(recorded)
    if (this.list.length > maxRequests) this.list.shift()
    this.notify()
    return recorded
  }

  notify(): void {
    for (const listener of this.listeners) listener()
  }

  /** Returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

const textOf = (value: string | readonly string[] | undefined): string => (typeof value === 'string' ? value : (value?.join(', ') ?? ''))

/** Records requests, and calls `onUnauthorized` when the server no longer accepts the token. */
export class RecordingTransport implements Transport {
  private readonly inner: Transport
  private readonly requests: RecordedRequests
  private readonly onUnauthorized: () => void

  constructor(inner: Transport, requests: RecordedRequests, onUnauthorized: () => void) {
    this.inner = inner
    this.requests = requests
    this.onUnauthorized = onUnauthorized
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const recorded = this.requests.begin(request)
    const begunMs = performance.now()
    try {
      const response = await this.inner.send(request)
      recorded.status = response.status
      if (response.status === 401) this.onUnauthorized()
      return response
    } catch (thrown) {
      recorded.error = errorMessage(thrown)
      recorded.isCancelled = request.signal?.aborted === true
      throw thrown
    } finally {
      recorded.durationMs = performance.now() - begunMs
      this.requests.notify()
    }
  }

  openSocket(request: SocketRequest): ReturnType<Transport['openSocket']> {
    return this.inner.openSocket(request)
  }

  close(): void {
    this.inner.close()
  }
}
