// The connections of a transport: kept for the next request, with TLS, and through a proxy where there is one.

import { setMaxListeners } from 'node:events'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import type { Credential } from '../transport.js'
import { connectTapped } from './answer-tap.js'
import type { TlsSettings } from './http-transport.js'
import { openTunnel } from './proxy.js'

export type Agents = HttpAgent

export interface AgentSettings {
  readonly tls?: TlsSettings | undefined
  readonly proxyUrl?: string | undefined
  readonly certificate: Credential['certificate']
  /** False: for one request. */
  readonly keepAlive?: boolean
}

/** Kept connections that nobody uses are closed after this time. */
const idleMs = 60_000

export function makeAgents(server: URL, { tls = {}, proxyUrl, certificate, keepAlive = true }: AgentSettings): Agents {
  const common = { keepAlive, keepAliveMsecs: 15_000, timeout: idleMs, scheduling: 'lifo' as const }
  const isTls = server.protocol === 'https:'
  const secure: ConnectionOptions = {
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.insecure === true ? { rejectUnauthorized: false } : {}),
    ...(tls.serverName === undefined || tls.serverName === '' ? {} : { servername: tls.serverName }),
    ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key }),
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
  }
  const agent = isTls ? new HttpsAgent({ ...common, ...secure }) : new HttpAgent(common)
  if (proxyUrl !== undefined) goThrough(agent, { server, proxyUrl, secure: isTls ? secure : undefined })
  // Only what is kept speaks nothing but HTTP.
  else if (keepAlive) tapConnections(agent)
  return agent
}

function tapConnections(agent: HttpAgent): void {
  const { createConnection } = agent as unknown as { createConnection(options: object): Socket }
  const connect = (options: object): Socket => connectTapped((onread) => createConnection.call(agent, { ...options, onread }))
  Object.assign(agent, { createConnection: connect })
}

interface Detour {
  readonly server: URL
  readonly proxyUrl: string
  readonly secure: ConnectionOptions | undefined
}

type Connected = (error: Error | null, socket?: Socket) => void

/** Also plain HTTP goes through a tunnel: a proxy sees where to, and nothing else. */
function goThrough(agent: HttpAgent, { server, proxyUrl, secure }: Detour): void {
  const host = server.hostname.replace(/^\[|\]$/g, '')
  const port = Number(server.port || (secure === undefined ? 80 : 443))
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)
  const connect = async (): Promise<Socket> => {
    const tunnel = await openTunnel(new URL(proxyUrl), { host, port }, closing.signal)
    if (secure === undefined) return tunnel
    return connectTls({ servername: /^[\d.]+$|:/.test(host) ? '' : host, ...secure, host, socket: tunnel })
  }
  const destroy = agent.destroy.bind(agent)
  Object.assign(agent, {
    // The agent knows of a tunnel only when it is open.
    destroy: (): void => {
      closing.abort()
      destroy()
    },
    createConnection: (_options: unknown, callback: Connected): void => {
      connect().then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error),
      )
    },
  })
}
