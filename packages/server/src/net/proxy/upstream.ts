// Upstream servers of the reverse proxy: pooled connections, certificate checks and timeouts.

import { type Agent, type ClientRequest, Agent as HttpAgent, type RequestOptions, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Duplex } from 'node:stream'
import { createConnectionWith, type Dial } from '../outbound/http-connect-tunnel.js'
import { hostOf, portOf, tlsOptions, type UpstreamTls } from '../outbound/open-socket.js'
import { type CertificateCounter, CertificateFlawCounter } from '../tls/certificate-flaws.js'
import type { KeyPair } from '../tls/issue-certificate.js'

/** Options for many forwarded requests. */
export interface UpstreamOptions extends UpstreamTls {
  /** Counts flaws of the server's certificate. */
  readonly counter?: CertificateCounter | undefined
  /** Default: a direct connection. */
  readonly dial?: Dial | undefined
  /** True: each request gets a new connection, so that a malicious server cannot respond to the request of another user. */
  readonly neverReusesConnections?: boolean
}

export interface UpstreamLimits {
  /** Time for connection and TLS handshake. */
  readonly connectMs: number
  /** Time from the connection to the end of the response head. */
  readonly headMs: number
  /** Time without a byte in either direction. */
  readonly idleMs: number
  /** Time without a byte in either direction on an upgraded connection. */
  readonly upgradedIdleMs: number
  readonly maxHeaderBytes: number
}

const defaultLimits: UpstreamLimits = {
  connectMs: 30_000,
  headMs: 3_600_000,
  idleMs: 3_600_000,
  upgradedIdleMs: 4 * 3_600_000,
  maxHeaderBytes: 64 << 10,
}

/** Idle connections: per server, in total, and their timeout. */
const idleSockets = { perServer: 8, total: 256, timeoutMs: 60_000 }

interface UpstreamRequest {
  readonly url: URL
  readonly method: string
  readonly path?: string | undefined
  readonly headers: string[]
  readonly isUpgrade?: boolean
  /** True: the request uses a new connection. */
  readonly isFresh?: boolean
  /** Name that the certificate must have, if it is not the host of the URL. */
  readonly serverName?: string | undefined
}

/** Connections to any number of servers with the same client certificate and trusted authorities. */
export class Upstream {
  readonly limits: UpstreamLimits
  #tls: UpstreamOptions
  readonly #flaws: CertificateFlawCounter | undefined
  readonly #agents = new Map<string, Agent>()

  constructor(tls: UpstreamOptions = {}, limits: Partial<UpstreamLimits> = {}) {
    this.#tls = tls
    this.#flaws = tls.counter && new CertificateFlawCounter(tls.counter)
    this.limits = { ...defaultLimits, ...limits }
  }

  /** Returns the request before it is sent. Redirects are not followed. */
  request({ url, method, path, headers, isUpgrade = false, isFresh = false, serverName }: UpstreamRequest): ClientRequest {
    const options: RequestOptions & { servername?: string } = {
      method,
      host: hostOf(url),
      port: portOf(url),
      path: path ?? `${url.pathname}${url.search}`,
      headers,
      maxHeaderSize: this.limits.maxHeaderBytes,
      agent: this.#agentFor(url.protocol, !isUpgrade && !isFresh && !this.#tls.neverReusesConnections),
      timeout: this.limits.idleMs,
      ...(serverName === undefined ? {} : { servername: serverName }),
    }
    const request = url.protocol === 'https:' ? requestHttps(options) : requestHttp(options)
    const flaws = this.#flaws
    if (flaws !== undefined && url.protocol === 'https:') {
      request.once('response', (response) => flaws.countResponse(response.socket))
      request.once('upgrade', (_response, socket) => flaws.countResponse(socket))
      request.on('error', (error) => flaws.countFailure(error))
    }
    return request
  }

  /** Applies to new connections; existing ones are not reused. */
  setClientCertificate({ cert, key }: KeyPair): void {
    this.#tls = { ...this.#tls, cert, key }
    for (const agent of this.#agents.values()) retire(agent)
    this.#agents.clear()
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
    this.#agents.clear()
  }

  #agentFor(protocol: string, isPooled: boolean): Agent {
    const name = `${protocol}${isPooled}`
    const existing = this.#agents.get(name)
    if (existing !== undefined) return existing
    const options = { keepAlive: isPooled, maxFreeSockets: idleSockets.perServer, timeout: idleSockets.timeoutMs }
    const isSecure = protocol === 'https:'
    const agent = isSecure ? new HttpsAgent({ ...options, ...tlsOptions(this.#tls) }) : new HttpAgent(options)
    const { dial } = this.#tls
    if (dial !== undefined) Object.assign(agent, { createConnection: createConnectionWith(dial, isSecure) })
    if (isPooled) limitIdleSockets(agent)
    this.#agents.set(name, agent)
    return agent
  }
}

/** Closes idle connections; others are closed when their requests end. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of [...(sockets ?? [])]) socket.destroy()
}

/** Limits idle connections in total, and closes those whose server sends bytes without a request. Node.js does neither. */
function limitIdleSockets(agent: Agent): void {
  const idle = new Set<Duplex>()
  const trackedSockets = new WeakSet<Duplex>()
  const keep = agent.keepSocketAlive.bind(agent)
  const reuse = agent.reuseSocket.bind(agent)
  agent.keepSocketAlive = (socket: Duplex): boolean => {
    if (idle.size >= idleSockets.total || !(keep(socket) as unknown as boolean)) return false
    idle.add(socket)
    socket.on('data', closeOnData)
    if (!trackedSockets.has(socket)) socket.once('close', () => idle.delete(socket))
    trackedSockets.add(socket)
    return true
  }
  agent.reuseSocket = (socket, request): void => {
    idle.delete(socket)
    socket.off('data', closeOnData)
    reuse(socket, request)
  }
}

function closeOnData(this: Duplex): void {
  this.destroy()
}
