// An address of etcd as the operator writes it, and a connected socket to it.

import { readFileSync } from 'node:fs'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type Dial, withTunnel } from '../../net/tunnel.js'
import { StorageRefusedError } from '../storage.js'

export interface Endpoint {
  /** Such as `https://10.0.0.1:2379`, without a user. */
  readonly url: string
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
}

/** Files in PEM form, read again for every connection, so that certificates can be renewed. */
export interface EtcdTls {
  /** Who signed the certificates of etcd; left out: the authorities of this machine. */
  readonly caFile?: string
  /** Together with `keyFile`: who we are. */
  readonly certFile?: string
  readonly keyFile?: string
}

const usualPort = 2379

/** Throws StorageRefusedError for what is no address. */
export function parseEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isWeb || url.hostname === '' || url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    // It may end up in a log.
    const shown = text.replace(/\/\/.*@/, '//…@')
    throw new StorageRefusedError(`${JSON.stringify(shown)} is no address of etcd: write it like https://10.0.0.1:2379`)
  }
  const isSecure = url.protocol === 'https:'
  // A URL leaves out the port that is usual for the web, which is not the one that is usual for etcd.
  const webPort = /:\d+\/?$/.test(text) ? (isSecure ? 443 : 80) : usualPort
  const port = url.port === '' ? webPort : Number(url.port)
  return { url: `${url.protocol}//${url.hostname}:${port}`, host: url.hostname.replace(/^\[|\]$/g, ''), port, isSecure }
}

export interface ConnectOptions {
  readonly tls: EtcdTls
  readonly timeoutMs: number
  /** Left out: directly. */
  readonly dial?: Dial | undefined
}

/** Rejects with an error whose message is a reason in plain words. */
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
  const file = (path: string | undefined): Buffer | undefined => (path === undefined ? undefined : readFileSync(path))
  const begin = (): Socket =>
    connectTls({
      host,
      port,
      ...(tunnel === undefined ? {} : { socket: tunnel }),
      ...(isIP(host) ? {} : { servername: host }),
      ALPNProtocols: ['h2'],
      ca: file(tls.caFile),
      cert: file(tls.certFile),
      key: file(tls.keyFile),
    })
  return tunnel === undefined ? begin() : withTunnel(tunnel, begin)
}

const reasons: { readonly [code: string]: string } = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
  ECONNRESET: 'the connection was cut off',
  EPROTO: 'it does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an authority that is not trusted here',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by nobody who is trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an authority that is not trusted here',
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

/** Addresses with the user that one of them names: `https://name:password@10.0.0.1:2379`. */
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
