// Servers of others to which requests are passed on: kept connections, what is believed of their certificates, and how long they may take.

import { type Agent, type ClientRequest, Agent as HttpAgent, type RequestOptions, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Duplex } from 'node:stream'
import type { KeyPair } from './issue-certificate.js'
import { type CertificateTally, checkServerName, ShownCertificate } from './shown-certificate.js'
import { createConnectionWith, type Dial } from './tunnel.js'

export interface UpstreamTls {
  /** PEM; left out: the authorities of this machine. */
  readonly ca?: string | undefined
  /** Whatever certificate is shown is taken. */
  readonly insecure?: boolean | undefined
  /** The name that the certificate must have, where it is another than that of the address. */
  readonly serverName?: string | undefined
  /** PEM, both or none. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** Besides, for whoever passes many requests on. */
export interface UpstreamOptions extends UpstreamTls {
  /** Counts what the one server that all requests go to shows of itself; left out: nobody wants to know. */
  readonly tally?: CertificateTally | undefined
  /** Left out: directly. */
  readonly dial?: Dial | undefined
  /** True: no connection serves a second request, so bytes meant for one user cannot reach another. */
  readonly neverReuses?: boolean
}

export interface UpstreamLimits {
  /** For the connection and its encryption. */
  readonly connectMs: number
  /** From then on to the end of the headers of the answer. */
  readonly headMs: number
  /** How long nothing may come nor go. */
  readonly idleMs: number
  /** The same after the protocol was changed. */
  readonly upgradedIdleMs: number
  readonly maxHeaderBytes: number
}

export const usualUpstreamLimits: UpstreamLimits = {
  connectMs: 30_000,
  headMs: 3_600_000,
  idleMs: 3_600_000,
  upgradedIdleMs: 4 * 3_600_000,
  maxHeaderBytes: 64 << 10,
}

/** How many connections to one server are kept without a request, of how many altogether, and for how long. */
const freeSockets = { each: 8, all: 256, ms: 60_000 }

export interface UpstreamRequest {
  readonly url: URL
  readonly method: string
  /** Path and query; left out: those of the URL. */
  readonly path?: string | undefined
  /** Names and values by turns. */
  readonly headers: string[]
  /** The protocol will change: such a connection is new, and belongs to nobody else. */
  readonly isUpgrade?: boolean
  /** No kept connection. */
  readonly isFresh?: boolean
  /** Name that the certificate must have, if the URL has the resolved address instead. */
  readonly serverName?: string | undefined
}

/** One sort of connections: the same credentials and the same trust, to any number of servers. */
export class Upstream {
  readonly limits: UpstreamLimits
  #tls: UpstreamOptions
  readonly #shown: ShownCertificate | undefined
  readonly #agents = new Map<string, Agent>()

  constructor(tls: UpstreamOptions = {}, limits: Partial<UpstreamLimits> = {}) {
    this.#tls = tls
    this.#shown = tls.tally && new ShownCertificate(tls.tally)
    this.limits = { ...usualUpstreamLimits, ...limits }
  }

  /** A request that has not been sent yet. Redirects are answers like others. */
  request({ url, method, path, headers, isUpgrade = false, isFresh = false, serverName }: UpstreamRequest): ClientRequest {
    const options: RequestOptions & { servername?: string } = {
      method,
      host: hostOf(url),
      port: portOf(url),
      path: path ?? `${url.pathname}${url.search}`,
      headers,
      maxHeaderSize: this.limits.maxHeaderBytes,
      agent: this.#agentFor(url.protocol, !isUpgrade && !isFresh && !this.#tls.neverReuses),
      timeout: this.limits.idleMs,
      ...(serverName === undefined ? {} : { servername: serverName }),
    }
    const sent = url.protocol === 'https:' ? requestHttps(options) : requestHttp(options)
    const shown = this.#shown
    if (shown !== undefined && url.protocol === 'https:') {
      sent.once('response', (answer) => shown.countAnswer(answer.socket))
      sent.once('upgrade', (_answer, socket) => shown.countAnswer(socket))
      sent.on('error', (error) => shown.countFailure(error))
    }
    return sent
  }

  /** From now on this is shown: what is under way goes on, and no connection is used again that was made with another one. */
  showCertificate({ cert, key }: KeyPair): void {
    this.#tls = { ...this.#tls, cert, key }
    for (const agent of this.#agents.values()) retire(agent)
    this.#agents.clear()
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
    this.#agents.clear()
  }

  #agentFor(protocol: string, isKept: boolean): Agent {
    const name = `${protocol}${isKept}`
    const known = this.#agents.get(name)
    if (known !== undefined) return known
    const options = { keepAlive: isKept, maxFreeSockets: freeSockets.each, timeout: freeSockets.ms }
    const isSecure = protocol === 'https:'
    const agent = isSecure ? new HttpsAgent({ ...options, ...tlsOptions(this.#tls) }) : new HttpAgent(options)
    const { dial } = this.#tls
    if (dial !== undefined) Object.assign(agent, { createConnection: createConnectionWith(dial, isSecure) })
    if (isKept) boundFreeSockets(agent)
    this.#agents.set(name, agent)
    return agent
  }
}

/** What Node calls it. */
export const tlsOptions = ({ ca, insecure = false, serverName, cert, key }: UpstreamTls) => ({
  rejectUnauthorized: !insecure,
  checkServerIdentity: checkServerName,
  ...(ca === undefined ? {} : { ca }),
  ...(serverName === undefined ? {} : { servername: serverName }),
  ...(cert === undefined ? {} : { cert }),
  ...(key === undefined ? {} : { key }),
})

/** Of one request over HTTPS: a connection of its own, through a proxy or directly. */
export const wayOf = (dial: Dial | undefined): RequestOptions =>
  dial === undefined
    ? { agent: false }
    : { createConnection: createConnectionWith(dial, true) as unknown as NonNullable<RequestOptions['createConnection']> }

/** Without the brackets that an IPv6 address has in a URL. */
export const hostOf = ({ hostname }: URL): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)

export const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))

/** Its connections end with the requests on them. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of [...(sockets ?? [])]) socket.destroy()
}

/**
 * Node bounds the kept connections to each server, and not those to all: there may be thousands of servers. It also discards bytes that arrive on
 * a kept connection: a server that sends without a request would send forever, or have the rest taken for the next response.
 */
function boundFreeSockets(agent: Agent): void {
  const kept = new Set<Duplex>()
  const known = new WeakSet<Duplex>()
  const keep = agent.keepSocketAlive.bind(agent)
  const reuse = agent.reuseSocket.bind(agent)
  agent.keepSocketAlive = (socket: Duplex): boolean => {
    if (kept.size >= freeSockets.all || !(keep(socket) as unknown as boolean)) return false
    kept.add(socket)
    socket.on('data', closeOnData)
    if (!known.has(socket)) socket.once('close', () => kept.delete(socket))
    known.add(socket)
    return true
  }
  agent.reuseSocket = (socket, request): void => {
    kept.delete(socket)
    socket.off('data', closeOnData)
    reuse(socket, request)
  }
}

function closeOnData(this: Duplex): void {
  this.destroy()
}
