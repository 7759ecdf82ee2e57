// Tunnels through an HTTP CONNECT proxy (egress selector) over TCP, TLS or a Unix socket, with limits on its response.

import { connect as connectPlain, isIP, isIPv6, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { checkServerName } from '../tls/certificate-flaws.js'
import { trustedCertificates } from '../tls/trusted-certificates.js'
import { ChunkBuffer } from './chunk-buffer.js'
import { networkErrorMessage } from './network-error-message.js'

export type ConnectProxyAddress =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls?: ProxyTls | undefined }

interface ProxyTls {
  /** Default: the system's certificate authorities. */
  readonly ca?: string | undefined
  readonly cert: string
  readonly key: string
}

/** Opens a connection to an address; `leftMs`: time that the caller has left. */
export type Dial = (host: string, port: number, leftMs?: number) => Promise<Socket>

interface TunnelLimits {
  readonly timeoutMs: number
  readonly maxBytes: number
}

const defaultLimits: TunnelLimits = { timeoutMs: 30_000, maxBytes: 16 << 10 }

export function dialThrough(proxy: ConnectProxyAddress, { timeoutMs, maxBytes }: TunnelLimits = defaultLimits): Dial {
  const name = nameOf(proxy)
  return (host, port, leftMs = timeoutMs) =>
    new Promise((resolve, reject) => {
      const address = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
      if (!/^[A-Za-z0-9._:[\]-]+$/.test(address)) throw new Error(`${JSON.stringify(address)} is not a valid address`)
      const socket = openSocket(proxy)
      let isRequested = false
      const received = new ChunkBuffer()
      const detach = (): void => {
        clearTimeout(timer)
        socket.off('data', read)
        socket.off('error', fail)
        socket.off('close', end)
      }
      const refuse = (message: string): void => {
        detach()
        socket.on('error', ignore)
        socket.destroy()
        reject(new Error(message))
      }
      const fail = (error: Error): void =>
        refuse(
          isRequested
            ? `reading HTTP response from CONNECT to ${address} via proxy ${name} failed: ${networkErrorMessage(error)}`
            : `dialing proxy ${JSON.stringify(name)} failed: ${networkErrorMessage(error)}`,
        )
      const end = (): void => fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
      const read = (chunk: Buffer): void => {
        // The end of the head may span two chunks.
        const searchStart = Math.max(0, received.bytes - 3)
        received.add(chunk)
        const { bytes } = received
        const all = received.join()
        const headEnd = all.indexOf('\r\n\r\n', searchStart)
        if (headEnd < 0) {
          if (bytes > maxBytes) refuse(`reading HTTP response from CONNECT to ${address} via proxy ${name} failed: the head is too long`)
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
          detach()
          resolve(socket)
        }
      }
      const timer = setTimeout(() => fail(Object.assign(new Error(), { code: 'ETIMEDOUT' })), Math.min(leftMs, timeoutMs))
      socket.on('error', fail)
      socket.on('close', end)
      socket.on('data', read)
      socket.once(proxy.kind === 'tcp' && proxy.tls !== undefined ? 'secureConnect' : 'connect', () => {
        isRequested = true
        socket.setNoDelay(true)
        // The same Host header as in kube-apiserver.
        socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
      })
    })
}

const ignore = (): void => undefined

const nameOf = (proxy: ConnectProxyAddress): string => (proxy.kind === 'unix' ? proxy.path : `${proxy.host}:${proxy.port}`)

function openSocket(proxy: ConnectProxyAddress): Socket {
  if (proxy.kind === 'unix') return connectPlain({ path: proxy.path })
  const { host, port, tls } = proxy
  if (tls === undefined) return connectPlain({ host, port })
  const { ca, cert, key } = tls
  // SNI allows no IP address.
  const servername = isIP(host) === 0 ? host : ''
  return connectTls({ host, port, servername, cert, key, checkServerIdentity: checkServerName, ...trustedCertificates(ca) })
}

/** Destroys the tunnel if `begin` throws, such as for a certificate that does not match its key. */
export function withTunnel<T>(tunnel: Socket, begin: () => T): T {
  try {
    return begin()
  } catch (thrown) {
    tunnel.on('error', ignore)
    tunnel.destroy()
    throw thrown
  }
}

/** `createConnection` for http.Agent and http.request of Node.js. */
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
