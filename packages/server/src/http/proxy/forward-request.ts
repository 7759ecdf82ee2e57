// Forwards a request to a kubelet, pod, service or extension server, without the client's credentials.

import { OverloadedError } from '../../flow-control/memory-pressure.js'
import { isTokenProtocol } from '../../net/listen/websocket.js'
import { headersToForward, type RawHeaders, removeHeader, setHeader } from '../../net/proxy/forwarded-headers.js'
import { type Forwarding, forward, type ResponseHead } from '../../net/proxy/reverse-proxy.js'
import type { Upstream } from '../../net/proxy/upstream.js'
import type { Exchange } from '../pipeline/exchange.js'
import { AbortedUpstreamError } from '../pipeline/lifecycle.js'
import { commonHeaders, writeHead } from '../responses/send-response.js'

/** Limits concurrent forwarded requests, each of which takes two connections. One user, also when impersonating, gets at most half. */
export class ForwardingLimit {
  readonly #max: number
  readonly #maxPerUser: number
  readonly #byUser = new Map<string, number>()
  #open = 0

  constructor(max: number) {
    this.#max = max
    this.#maxPerUser = Math.ceil(max / 2)
  }

  get open(): number {
    return this.#open
  }

  /** Counts a request until it is closed or the returned function is called; throws 429 beyond the limit. */
  enter(exchange: Pick<Exchange, 'onClose' | 'user' | 'originalUser'>): () => void {
    const { name } = exchange.originalUser ?? exchange.user
    const userCount = this.#byUser.get(name) ?? 0
    if (this.#open >= this.#max || userCount >= this.#maxPerUser) throw new OverloadedError()
    this.#open++
    this.#byUser.set(name, userCount + 1)
    let isCounted = true
    const release = (): void => {
      if (!isCounted) return
      isCounted = false
      this.#open--
      const left = (this.#byUser.get(name) ?? 1) - 1
      if (left === 0) this.#byUser.delete(name)
      else this.#byUser.set(name, left)
    }
    exchange.onClose(release)
    return release
  }
}

export interface Destination
  extends Pick<Forwarding, 'serverName' | 'transforms' | 'bytesPerSecond' | 'isRefusal' | 'isPlainGet' | 'into'> {
  readonly upstream: Upstream
  readonly url: URL
  readonly path?: string
  /** Changes the request headers; credentials were removed before. */
  readonly changeHeaders?: (headers: RawHeaders) => void
  /** Called with the response head before anything is sent; may change the head or throw. */
  readonly inspect?: (head: ResponseHead) => void
  /** Sends the response head; default: the head of the backend. */
  readonly begin?: () => void
  /** Called before the connection is upgraded. */
  readonly onUpgrade?: () => void
}

/** Resolves when the response has ended; rejects if none was sent, with an `UpstreamError` if the backend sent none. */
export async function forwardRequest(exchange: Exchange, destination: Destination): Promise<void> {
  const { request, response } = exchange
  const {
    upstream,
    url,
    path,
    serverName,
    changeHeaders,
    inspect,
    begin,
    onUpgrade,
    transforms,
    bytesPerSecond,
    isRefusal,
    isPlainGet,
    into,
  } = destination
  const headers = headersToForward(request, isCredential)
  removeTokenProtocol(headers)
  changeHeaders?.(headers)
  await forward({
    request,
    response,
    upstream,
    url,
    ...(path === undefined ? {} : { path }),
    serverName,
    headers,
    begin: (head) => {
      inspect?.(head)
      // The audit id of this server is sent instead.
      removeHeader(head.headers, 'audit-id')
      if (begin !== undefined) begin()
      else writeHead(exchange, head.code, [...commonHeaders(exchange), ...head.headers])
    },
    onData: (bytes) => {
      exchange.sentBytes += bytes
    },
    transforms,
    isRefusal,
    isPlainGet,
    into,
    bytesPerSecond,
    onBroken: () => {
      exchange.isCut = true
      exchange.lifecycle.panic(exchange, new AbortedUpstreamError())
    },
    onUpgrade: () => {
      onUpgrade?.()
      exchange.lifecycle.notify('responseStarted', exchange)
    },
  })
}

/** Headers meant for this server: credentials, impersonation, audit id. */
const isCredential = (name: string): boolean =>
  name === 'authorization' || name.startsWith('impersonate-') || name.startsWith('x-remote-') || name === 'audit-id'

/** Removes the subprotocol in which browsers send a bearer token. */
function removeTokenProtocol(headers: RawHeaders): void {
  const offered: string[] = []
  let hasToken = false
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() !== 'sec-websocket-protocol') continue
    for (const name of headers[i + 1]?.split(',') ?? []) {
      if (isTokenProtocol(name.trim())) hasToken = true
      else offered.push(name.trim())
    }
  }
  if (!hasToken) return
  removeHeader(headers, 'sec-websocket-protocol')
  if (offered.length > 0) setHeader(headers, 'Sec-WebSocket-Protocol', offered.join(','))
}
