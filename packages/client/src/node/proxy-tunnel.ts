// Tunnels through proxies: HTTP CONNECT over TCP or TLS, and SOCKS5.

import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { parseIp } from '@cluster-apiserver/api/api/validation/network/ip.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { ConnectionError } from '../errors.js'

interface Target {
  readonly host: string
  readonly port: number
}

const handshakeTimeoutMs = 30_000
const maxHeadBytes = 64 * 1024

export async function openTunnel(proxy: URL, target: Target, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const socket = dial(proxy)
  const stop = (): unknown => socket.destroy(new Error('aborted'))
  signal.addEventListener('abort', stop, { once: true })
  socket.setTimeout(handshakeTimeoutMs, () => socket.destroy(new Error(`no response within ${handshakeTimeoutMs} ms`)))
  const reader = new SocketReader(socket, maxHeadBytes)
  try {
    await (proxy.protocol.startsWith('socks5') ? connectSocks5(socket, reader, proxy, target) : connectHttp(socket, reader, proxy, target))
    reader.release()
  } catch (cause) {
    socket.destroy()
    const { host, protocol } = proxy
    throw new ConnectionError(`through the proxy ${protocol}//${host}: ${errorMessage(cause)}`, cause)
  } finally {
    signal.removeEventListener('abort', stop)
  }
  socket.setTimeout(0)
  return socket
}

const defaultPorts: { readonly [protocol: string]: number } = { 'http:': 80, 'https:': 443, 'socks5:': 1080, 'socks5h:': 1080 }

function dial(proxy: URL): Socket {
  const defaultPort = defaultPorts[proxy.protocol]
  if (defaultPort === undefined) throw new ConnectionError(`unsupported proxy protocol ${proxy.protocol}//; supported: http, https, socks5`)
  const address = { host: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(proxy.port || defaultPort) }
  if (proxy.protocol !== 'https:') return connect(address)
  return connectTls({ ...address, servername: isIP(address.host) === 0 ? address.host : '' })
}

const credentialsOf = (proxy: URL): readonly [string, string] => [decodeURIComponent(proxy.username), decodeURIComponent(proxy.password)]

async function connectHttp(socket: Socket, reader: SocketReader, proxy: URL, { host, port }: Target): Promise<void> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const [user, password] = credentialsOf(proxy)
  const login = user === '' ? '' : `Proxy-Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n`
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${login}\r\n`)
  const head = await reader.readUntil('\r\n\r\n')
  const [line = ''] = head.split('\r\n', 1)
  const [, code] = /^HTTP\/1\.[01] (\d{3})/.exec(line) ?? []
  if (code !== '200') throw new Error(code === undefined ? 'the response is not HTTP' : `it responded with ${line.slice(9)}`)
}

const socksErrors: readonly string[] = [
  '',
  'general failure',
  'connection not allowed by ruleset',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'TTL expired',
  'command not supported',
  'address type not supported',
]

/** SOCKS5 (RFC 1928). Methods: 0 without authentication, 2 with user and password. */
async function connectSocks5(socket: Socket, reader: SocketReader, proxy: URL, target: Target): Promise<void> {
  const [user, password] = credentialsOf(proxy)
  socket.write(user === '' ? Uint8Array.of(5, 1, 0) : Uint8Array.of(5, 2, 0, 2))
  const [version, method] = await reader.read(2)
  if (version !== 5) throw new Error('the response is not SOCKS5')
  if (method === 2) await authenticateSocks5(socket, reader, user, password)
  else if (method !== 0) throw new Error('it requires an authentication method other than user and password')
  socket.write(Buffer.concat([Uint8Array.of(5, 1, 0), addressOf(target.host), Uint8Array.of(target.port >> 8, target.port & 255)]))
  const [, reply = 1, , addressType = 0] = await reader.read(4)
  if (reply !== 0) throw new Error(socksErrors[reply] ?? `it responded with code ${reply}`)
  const length = addressType === 1 ? 4 : addressType === 4 ? 16 : ((await reader.read(1))[0] ?? 0)
  await reader.read(length + 2)
}

async function authenticateSocks5(socket: Socket, reader: SocketReader, user: string, password: string): Promise<void> {
  const [name, secret] = [Buffer.from(user), Buffer.from(password)]
  if (name.length > 255 || secret.length > 255) throw new Error('user or password is longer than 255 bytes')
  socket.write(Buffer.concat([Uint8Array.of(1, name.length), name, Uint8Array.of(secret.length), secret]))
  const [, reply] = await reader.read(2)
  if (reply !== 0) throw new Error('it rejected user and password')
}

function addressOf(host: string): Buffer {
  if (isIP(host) === 4) return Buffer.from([1, ...host.split('.').map(Number)])
  if (isIP(host) === 6) return Buffer.from([4, ...(parseIp(host) ?? [])])
  const name = Buffer.from(host)
  if (name.length > 255) throw new Error('the host name of the server is longer than 255 bytes')
  return Buffer.concat([Uint8Array.of(3, name.length), name])
}

class SocketReader {
  private readonly socket: Socket
  private readonly maxBytes: number
  private buffered = Buffer.alloc(0)
  private wake: () => void = () => undefined
  private failure: Error | undefined

  constructor(socket: Socket, maxBytes: number) {
    this.socket = socket
    this.maxBytes = maxBytes
    socket.on('data', this.onData)
    socket.on('error', this.onError)
    socket.on('close', this.onClose)
  }

  async read(length: number): Promise<Buffer> {
    await this.until(() => (this.buffered.length >= length ? length : -1))
    return this.takeBytes(length)
  }

  async readUntil(delimiter: string): Promise<string> {
    const end = await this.until(() => this.buffered.indexOf(delimiter))
    return this.takeBytes(end + delimiter.length).toString('latin1')
  }

  /** Hands the socket over. Throws on unread bytes: in TLS and HTTP the client sends first. */
  release(): void {
    this.socket.off('data', this.onData)
    this.socket.off('error', this.onError)
    this.socket.off('close', this.onClose)
    if (this.buffered.length > 0) throw new Error('it sent unexpected data after its response')
  }

  private takeBytes(length: number): Buffer {
    const head = this.buffered.subarray(0, length)
    this.buffered = this.buffered.subarray(length)
    return head
  }

  private async until(find: () => number): Promise<number> {
    for (;;) {
      const found = find()
      if (found >= 0) return found
      if (this.failure !== undefined) throw this.failure
      if (this.buffered.length > this.maxBytes) throw new Error(`its response is longer than ${this.maxBytes} bytes`)
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  private readonly onData = (chunk: Buffer): void => {
    this.buffered = Buffer.concat([this.buffered, chunk])
    this.wake()
  }

  private readonly onError = (error: Error): void => {
    this.failure ??= error
    this.wake()
  }

  private readonly onClose = (): void => this.onError(new Error('it closed the connection'))
}
