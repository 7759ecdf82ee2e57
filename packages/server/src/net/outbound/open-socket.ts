// Opens outbound sockets: TCP or TLS, directly or through a CONNECT tunnel, with the certificate checks of kube-apiserver.

import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { posix } from 'node:path'
import { type ConnectionOptions, connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import { checkServerName } from '../tls/certificate-flaws.js'
import type { KeyPair } from '../tls/issue-certificate.js'
import { trustedCertificates } from '../tls/trusted-certificates.js'
import { type Dial, withTunnel } from './http-connect-tunnel.js'

export interface UpstreamTls {
  /** PEM; default: the system's certificate authorities. */
  readonly ca?: string | undefined
  /** Accepts any server certificate. */
  readonly insecure?: boolean | undefined
  /** Name that the certificate must have, if it is not the host of the URL. */
  readonly serverName?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

export interface SocketTarget extends Pick<UpstreamTls, 'ca' | 'insecure' | 'serverName'> {
  readonly url: URL
  /** Where to connect, if it is not the host and port of the URL. */
  readonly address?: { readonly host: string; readonly port: number } | undefined
  /** Client certificate in PEM, read for each connection; the same value until it changes. */
  readonly clientPair?: (() => KeyPair | undefined) | undefined
  readonly dial?: Dial | undefined
}

export const tlsOptions = ({ ca, insecure = false, serverName, cert, key }: UpstreamTls) => ({
  rejectUnauthorized: !insecure,
  checkServerIdentity: checkServerName,
  ...trustedCertificates(ca),
  ...(serverName === undefined ? {} : { servername: serverName }),
  ...(cert === undefined ? {} : { cert }),
  ...(key === undefined ? {} : { key }),
})

/** Without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)

export const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))

/** The path without empty and dot segments and without a final slash, as the HTTP client of Kubernetes sends it. */
export function cleanPathOf({ pathname }: URL): string {
  const decoded = pathname.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const cleaned = posix.normalize(`/${decoded}/`).slice(0, -1)
  return cleaned === '' ? '/' : cleaned.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@]/g, percentEncode)
}

const percentEncode = (byte: string): string => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`

/** Concurrent handshakes with one server: each takes about a millisecond, and a burst would block the event loop. */
const maxOpening = 4

/** Opens sockets to one server. TLS sessions are resumed while the client certificate stays the same. */
export class SocketOpener {
  lastSocket: TLSSocket | undefined
  readonly #target: SocketTarget
  #context: { readonly pair: KeyPair | undefined; readonly secure: SecureContext; session: Buffer | undefined } | undefined

  #opening = 0
  readonly #waiting: (() => void)[] = []

  constructor(target: SocketTarget) {
    this.#target = target
  }

  /** Resolves with a connected socket; destroys it when the signal aborts, in any state. */
  async open(signal: AbortSignal): Promise<Socket> {
    if (this.#opening >= maxOpening) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#opening++
    try {
      return await this.#openNow(signal)
    } finally {
      this.#opening--
      this.#waiting.shift()?.()
    }
  }

  async #openNow(signal: AbortSignal): Promise<Socket> {
    const { url, address = { host: hostOf(url), port: portOf(url) }, dial } = this.#target
    const isTls = url.protocol === 'https:'
    signal.throwIfAborted()
    const tunnel = await dial?.(address.host, address.port)
    if (signal.aborted) tunnel?.on('error', ignore).destroy()
    signal.throwIfAborted()
    if (tunnel !== undefined && !isTls) return destroyOnAbort(signal, tunnel)
    const socket = destroyOnAbort(signal, this.#connect(tunnel === undefined ? address : { ...address, socket: tunnel }, isTls))
    socket.setNoDelay(true)
    return new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.once('close', () => reject(closedError()))
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        socket.off('error', reject)
        resolve(socket)
      })
    })
  }

  #connect(connectOptions: ConnectionOptions & { readonly host: string; readonly port: number }, isTls: boolean): Socket {
    if (!isTls) return connectTcp(connectOptions)
    const { url, serverName, clientPair } = this.#target
    const host = hostOf(url)
    // SNI allows no IP address.
    const servername = serverName ?? (isIP(host) === 0 ? host : '')
    const context = this.#contextFor(clientPair?.())
    const { secure: secureContext, session } = context
    const options = { ...connectOptions, ...tlsOptions(this.#target), servername, secureContext, ALPNProtocols: ['http/1.1'] }
    const begin = (): TLSSocket => connectTls({ ...options, ...(session === undefined ? {} : { session }) })
    const socket = connectOptions.socket === undefined ? begin() : withTunnel(connectOptions.socket as Socket, begin)
    socket.once('secureConnect', () => {
      this.lastSocket = socket
    })
    socket.on('session', (ticket: Buffer) => {
      context.session = ticket
    })
    // A rejected session must not fail all later connections.
    socket.on('error', () => {
      context.session = undefined
    })
    return socket
  }

  #contextFor(pair: KeyPair | undefined) {
    if (this.#context === undefined || this.#context.pair !== pair) {
      const { ca } = this.#target
      this.#context = { pair, secure: createSecureContext({ ...trustedCertificates(ca), ...pair }), session: undefined }
    }
    return this.#context
  }
}

const ignore = (): void => undefined

function destroyOnAbort(signal: AbortSignal, socket: Socket): Socket {
  const destroy = (): void => void socket.on('error', ignore).destroy()
  signal.addEventListener('abort', destroy, { once: true })
  return socket.once('close', () => signal.removeEventListener('abort', destroy))
}

/** True if the server closed or reset the connection. */
export const isReset = (thrown: unknown): boolean => ['ECONNRESET', 'EPIPE'].includes((thrown as NodeJS.ErrnoException).code ?? '')

/** The error of a connection that the server closed. */
export const closedError = (options?: ErrorOptions): Error => Object.assign(new Error('socket hang up', options), { code: 'ECONNRESET' })
