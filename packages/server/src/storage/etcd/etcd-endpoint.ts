// etcd endpoints: parses an address, and opens a TCP or TLS connection to it.

import { readFileSync } from 'node:fs'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type Dial, withTunnel } from '../../net/outbound/http-connect-tunnel.js'
import { trustedCertificates } from '../../net/tls/trusted-certificates.js'
import { StorageRefusedError } from '../storage.js'

export interface Endpoint {
  readonly url: string
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
}

/** PEM files, read again for every connection, so that certificates can be renewed. */
export interface EtcdTls {
  /** Default: the root CAs of Node.js. */
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
}

const defaultPort = 2379

/** Throws StorageRefusedError for an invalid address. */
export function parseEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isHttp || url.hostname === '' || url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    // Without the password: it may be logged.
    const withoutPassword = text.replace(/\/\/.*@/, '//…@')
    throw new StorageRefusedError(`${JSON.stringify(withoutPassword)} is no address of etcd: write it like https://10.0.0.1:2379`)
  }
  const isSecure = url.protocol === 'https:'
  // URL omits an explicit port 80 or 443, the defaults of HTTP; without any port, etcd's default applies.
  const impliedPort = /:\d+\/?$/.test(text) ? (isSecure ? 443 : 80) : defaultPort
  const port = url.port === '' ? impliedPort : Number(url.port)
  return { url: `${url.protocol}//${url.hostname}:${port}`, host: url.hostname.replace(/^\[|\]$/g, ''), port, isSecure }
}

interface ConnectOptions {
  readonly tls: EtcdTls
  readonly timeoutMs: number
  readonly dial?: Dial | undefined
}

export async function connectSocket(endpoint: Endpoint, options: ConnectOptions): Promise<Socket> {
  const tunnel = await options.dial?.(endpoint.host, endpoint.port, options.timeoutMs)
  if (tunnel !== undefined && !endpoint.isSecure) return tunnel
  return new Promise((resolve, reject) => {
    const socket = endpoint.isSecure
      ? secureSocket(endpoint, options.tls, tunnel)
      : connectTcp({ host: endpoint.host, port: endpoint.port })
    const fail = (error: Error): void => {
      clearTimeout(timer)
      socket.destroy()
      reject(new Error(reasonOf(error)))
    }
    const timer = setTimeout(() => fail(new Error(`no connection within ${options.timeoutMs} ms`)), options.timeoutMs)
    socket.once('error', fail)
    socket.once(endpoint.isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      socket.off('error', fail)
      socket.setNoDelay(true)
      resolve(socket)
    })
  })
}

function secureSocket({ host, port }: Endpoint, tls: EtcdTls, tunnel: Socket | undefined): Socket {
  const readOptionalFile = (path: string | undefined): Buffer | undefined => (path === undefined ? undefined : readFileSync(path))
  const openTls = (): Socket =>
    connectTls({
      host,
      port,
      ...(tunnel === undefined ? {} : { socket: tunnel }),
      ...(isIP(host) ? {} : { servername: host }),
      ALPNProtocols: ['h2'],
      ...trustedCertificates(readOptionalFile(tls.caFile)),
      cert: readOptionalFile(tls.certFile),
      key: readOptionalFile(tls.keyFile),
    })
  return tunnel === undefined ? openTls() : withTunnel(tunnel, openTls)
}

const reasons: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ECONNRESET: 'connection reset',
  EPROTO: 'it does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an untrusted authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed and not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an untrusted authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an untrusted authority',
  CERT_HAS_EXPIRED: 'its certificate has expired',
}

function reasonOf(error: Error): string {
  // A host with several addresses fails with one error for each.
  const cause = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  const { code = '', message } = cause as NodeJS.ErrnoException
  return reasons[code] ?? message
}

export interface EtcdCredentials {
  readonly username: string
  readonly password: string
}

export function readEndpoints(texts: readonly string[]): {
  readonly endpoints: readonly Endpoint[]
  readonly credentials?: EtcdCredentials
} {
  const endpoints = texts.map(parseEndpoint)
  for (const text of texts) {
    const { username, password } = new URL(text)
    if (username !== '')
      return { endpoints, credentials: { username: decodeURIComponent(username), password: decodeURIComponent(password) } }
  }
  return { endpoints }
}
