// A request that somebody else answers: passed on without what shows who its client is to this server, and counted while it lasts.

import { headersToForward, type RawHeaders, removeHeader, setHeader } from '../net/forwarded-headers.js'
import { type AnswerHead, type Forwarding, forward } from '../net/reverse-proxy.js'
import type { Upstream } from '../net/upstream.js'
import { isTokenProtocol } from '../net/web-socket.js'
import type { Exchange } from './exchange.js'
import { BrokenAnswerError } from './lifecycle.js'
import { OverloadedError } from './pressure.js'
import { headersBeside, writeHead } from './respond.js'

/**
 * How many requests are somebody else's to answer at a time: each holds two connections for as long as both sides like. Half of the room is the most
 * that one user gets, as whomever they act.
 */
export class ForwardingRoom {
  readonly #max: number
  readonly #maxEach: number
  readonly #byUser = new Map<string, number>()
  #open = 0

  constructor(max: number) {
    this.#max = max
    this.#maxEach = Math.ceil(max / 2)
  }

  get open(): number {
    return this.#open
  }

  /** Counts one until its client has gone, or until what is given is called; throws when there are too many. */
  enter(exchange: Pick<Exchange, 'onLeave' | 'user' | 'originalUser'>): () => void {
    const { name } = exchange.originalUser ?? exchange.user
    const held = this.#byUser.get(name) ?? 0
    if (this.#open >= this.#max || held >= this.#maxEach) throw new OverloadedError()
    this.#open++
    this.#byUser.set(name, held + 1)
    let isIn = true
    const leave = (): void => {
      if (!isIn) return
      isIn = false
      this.#open--
      const left = (this.#byUser.get(name) ?? 1) - 1
      if (left === 0) this.#byUser.delete(name)
      else this.#byUser.set(name, left)
    }
    exchange.onLeave(leave)
    return leave
  }
}

export interface Destination extends Pick<Forwarding, 'serverName' | 'transforms' | 'bytesPerSecond' | 'isRefusal' | 'isOwn' | 'into'> {
  readonly upstream: Upstream
  /** Where it is; the path of it counts where no other is given. */
  readonly url: URL
  /** Path and query, encoded. */
  readonly path?: string
  /** Changes the headers of the request, which are without the client's credentials. */
  readonly changeHeaders?: (headers: RawHeaders) => void
  /** Looks at the answer before anything of it is sent, and may change it or throw. */
  readonly inspect?: (head: AnswerHead) => void
  /** Writes another head than that of the answer. */
  readonly begin?: () => void
  /** Told when the protocol is about to change. */
  readonly onUpgrade?: () => void
}

/** Rejects with an `UpstreamError` where nothing was answered; resolves when all is over. */
export async function forwardExchange(exchange: Exchange, destination: Destination): Promise<void> {
  const { request, response } = exchange
  const { upstream, url, path, serverName, changeHeaders, inspect, begin, onUpgrade, transforms, bytesPerSecond, isRefusal, isOwn, into } =
    destination
  const headers = headersToForward(request, isCredential)
  withoutTokenProtocol(headers)
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
      // This server sends its own; a second one would lead to another entry of the audit log.
      removeHeader(head.headers, 'audit-id')
      if (begin !== undefined) begin()
      else writeHead(exchange, head.code, [...headersBeside(exchange), ...head.headers])
    },
    onData: (bytes) => {
      exchange.sentBytes += bytes
    },
    transforms,
    isRefusal,
    isOwn,
    into,
    bytesPerSecond,
    onBroken: () => {
      exchange.isCut = true
      exchange.lifecycle.panic(exchange, new BrokenAnswerError())
    },
    onUpgrade: () => {
      onUpgrade?.()
      exchange.lifecycle.tell('responseStarted', exchange)
    },
  })
}

/** What is for this server alone: who its client is, and as whom it acts. */
const isCredential = (name: string): boolean =>
  name === 'authorization' || name.startsWith('impersonate-') || name.startsWith('x-remote-') || name === 'audit-id'

function withoutTokenProtocol(headers: RawHeaders): void {
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
