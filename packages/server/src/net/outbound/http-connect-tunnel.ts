// Connections through a proxy that is asked with CONNECT, over TCP with or without TLS or over a Unix socket. What the proxy may say and how long it
// may take is bounded; from its yes on the connection is that to the other side.

import { connect as connectPlain, isIP, isIPv6, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { GatheredParts } from './gathered-parts.js'
import { describeNetworkFailure } from './network-failure.js'
import { checkServerName } from './shown-certificate.js'

/** Where a proxy is, and how each side knows the other. */
export type ProxyPlace =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls?: ProxyTls | undefined }

/** PEM. */
export interface ProxyTls {
  /** Left out: the authorities of this machine. */
  readonly ca?: string | undefined
  readonly cert: string
  readonly key: string
}

/** Opens a connection to a host and a port, ready for whatever is spoken there, within the time that is left to whoever asks. */
export type Dial = (host: string, port: number, leftMs?: number) => Promise<Socket>

export interface TunnelLimits {
  /** For the connection, its encryption and the proxy's answer. */
  readonly timeoutMs: number
  /** Of the head of the answer. */
  readonly mostBytes: number
}

const usualLimits: TunnelLimits = { timeoutMs: 30_000, mostBytes: 16 << 10 }

export function dialThrough(proxy: ProxyPlace, { timeoutMs, mostBytes }: TunnelLimits = usualLimits): Dial {
  const name = nameOf(proxy)
  return (host, port, leftMs = timeoutMs) =>
    new Promise((resolve, reject) => {
      const address = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
      if (!/^[A-Za-z0-9._:[\]-]+$/.test(address)) throw new Error(`${JSON.stringify(address)} is no address`)
      const socket = openSocket(proxy)
      let isAsked = false
      const parts = new GatheredParts()
      const leave = (): void => {
        clearTimeout(timer)
        socket.off('data', read)
        socket.off('error', fail)
        socket.off('close', end)
      }
      const refuse = (why: string): void => {
        leave()
        socket.on('error', nothing)
        socket.destroy()
        reject(new Error(why))
      }
      const fail = (error: Error): void =>
        refuse(
          isAsked
            ? `reading HTTP response from CONNECT to ${address} via proxy ${name} failed: ${describeNetworkFailure(error)}`
            : `dialing proxy ${JSON.stringify(name)} failed: ${describeNetworkFailure(error)}`,
        )
      const end = (): void => fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
      const read = (chunk: Buffer): void => {
        // The end of the head may have begun in what came before.
        const from = Math.max(0, parts.bytes - 3)
        parts.add(chunk)
        const { bytes } = parts
        // Few bytes are expected, and no more than the bound are kept.
        const all = parts.whole()
        const headEnd = all.indexOf('\r\n\r\n', from)
        if (headEnd < 0) {
          if (bytes > mostBytes) refuse(`reading HTTP response from CONNECT to ${address} via proxy ${name} failed: the head is too long`)
          return
        }
        const [line = ''] = all.toString('latin1', 0, headEnd).split('\r\n', 1)
        const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(line)?.[1]
        const rest = bytes - headEnd - 4
        if (status === undefined)
          refuse(`reading HTTP response from CONNECT to ${address} via proxy ${name} failed: malformed HTTP response`)
        else if (status !== '200') refuse(`proxy error from ${name} while dialing ${address}, code ${status}: ${line.slice(9, 200)}`)
        else if (rest > 0) refuse(`unexpected ${rest} bytes of buffered data from CONNECT proxy ${JSON.stringify(name)}`)
        else {
          leave()
          resolve(socket)
        }
      }
      const timer = setTimeout(() => fail(Object.assign(new Error(), { code: 'ETIMEDOUT' })), Math.min(leftMs, timeoutMs))
      socket.on('error', fail)
      socket.on('close', end)
      socket.on('data', read)
      socket.once(proxy.kind === 'tcp' && proxy.tls !== undefined ? 'secureConnect' : 'connect', () => {
        isAsked = true
        socket.setNoDelay(true)
        // The name of the host is that which the reference says.
        socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
      })
    })
}

const nothing = (): void => undefined

const nameOf = (proxy: ProxyPlace): string => (proxy.kind === 'unix' ? proxy.path : `${proxy.host}:${proxy.port}`)

function openSocket(proxy: ProxyPlace): Socket {
  if (proxy.kind === 'unix') return connectPlain({ path: proxy.path })
  const { host, port, tls } = proxy
  if (tls === undefined) return connectPlain({ host, port })
  const { ca, cert, key } = tls
  // Whoever chooses a certificate by the name is told it; an address is no name.
  const servername = isIP(host) === 0 ? host : ''
  return connectTls({ host, port, servername, cert, key, checkServerIdentity: checkServerName, ...(ca === undefined ? {} : { ca }) })
}

/** What is spoken through a tunnel may fail to begin, with a certificate that does not fit its key: nobody has the tunnel then. */
export function withTunnel<T>(tunnel: Socket, begin: () => T): T {
  try {
    return begin()
  } catch (thrown) {
    tunnel.on('error', nothing)
    tunnel.destroy()
    throw thrown
  }
}

/** For Node's agents and requests: opens through a tunnel what they would open by themselves. */
export const createConnectionWith =
  (dial: Dial, isSecure: boolean) =>
  (options: ConnectionOptions, done: (error: Error | null, socket?: Socket) => void): undefined => {
    const { host = '', port = isSecure ? 443 : 80 } = options
    dial(host, Number(port))
      .then((socket) => (isSecure ? withTunnel(socket, () => connectTls({ ...options, socket })) : socket))
      .then(
        (socket) => done(null, socket),
        (error: Error) => done(error),
      )
    return undefined
  }
