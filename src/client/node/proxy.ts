// A way through a proxy: CONNECT over HTTP or HTTPS, or SOCKS5. What comes out is a socket to the server itself.

import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { parseIp } from '../../api/validation/ip.js'
import { ConnectionError } from '../errors.js'
import { SocketReader } from './socket-reader.js'

export interface Target {
  readonly host: string
  readonly port: number
}

const patienceMs = 30_000
/** What a proxy says before the tunnel is open. */
const longestHead = 64 * 1024

/** `signal`: nobody wants it any more. */
export async function openTunnel(proxy: URL, target: Target, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const socket = dial(proxy)
  const stop = (): unknown => socket.destroy(new Error('it is not wanted any more'))
  signal.addEventListener('abort', stop, { once: true })
  socket.setTimeout(patienceMs, () => socket.destroy(new Error('it takes too long')))
  const reader = new SocketReader(socket, longestHead)
  try {
    await (proxy.protocol.startsWith('socks5') ? askSocks(socket, reader, proxy, target) : askHttp(socket, reader, proxy, target))
    reader.release()
  } catch (cause) {
    socket.destroy()
    const { host, protocol } = proxy
    throw new ConnectionError(`through the proxy ${protocol}//${host}: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  } finally {
    signal.removeEventListener('abort', stop)
  }
  socket.setTimeout(0)
  return socket
}

const defaultPorts: { readonly [protocol: string]: number } = { 'http:': 80, 'https:': 443, 'socks5:': 1080, 'socks5h:': 1080 }

function dial(proxy: URL): Socket {
  const usual = defaultPorts[proxy.protocol]
  if (usual === undefined) throw new ConnectionError(`a proxy of the form ${proxy.protocol}// is not known: http, https and socks5 are`)
  const address = { host: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(proxy.port || usual) }
  if (proxy.protocol !== 'https:') return connect(address)
  return connectTls({ ...address, servername: isIP(address.host) === 0 ? address.host : '' })
}

const userOf = (proxy: URL): readonly [string, string] => [decodeURIComponent(proxy.username), decodeURIComponent(proxy.password)]

async function askHttp(socket: Socket, reader: SocketReader, proxy: URL, { host, port }: Target): Promise<void> {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const [user, password] = userOf(proxy)
  const login = user === '' ? '' : `Proxy-Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n`
  socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n${login}\r\n`)
  const head = await reader.readUntil('\r\n\r\n')
  const [line = ''] = head.split('\r\n', 1)
  const [, code] = /^HTTP\/1\.[01] (\d{3})/.exec(line) ?? []
  if (code !== '200') throw new Error(code === undefined ? 'it does not speak HTTP' : `it answered ${line.slice(9)}`)
}

const socksErrors: readonly string[] = [
  '',
  'general failure',
  'not allowed by its rules',
  'the network cannot be reached',
  'the host cannot be reached',
  'the connection was refused',
  'the time was up',
  'the command is not supported',
  'the kind of address is not supported',
]

async function askSocks(socket: Socket, reader: SocketReader, proxy: URL, target: Target): Promise<void> {
  const [user, password] = userOf(proxy)
  socket.write(user === '' ? Uint8Array.of(5, 1, 0) : Uint8Array.of(5, 2, 0, 2))
  const [version, method] = await reader.read(2)
  if (version !== 5) throw new Error('it does not speak SOCKS5')
  if (method === 2) await logIn(socket, reader, user, password)
  else if (method !== 0) throw new Error('it wants another way to log in')
  socket.write(Buffer.concat([Uint8Array.of(5, 1, 0), addressOf(target.host), Uint8Array.of(target.port >> 8, target.port & 255)]))
  const [, answer = 1, , kind = 0] = await reader.read(4)
  if (answer !== 0) throw new Error(socksErrors[answer] ?? `it answered ${answer}`)
  const length = kind === 1 ? 4 : kind === 4 ? 16 : ((await reader.read(1))[0] ?? 0)
  await reader.read(length + 2)
}

async function logIn(socket: Socket, reader: SocketReader, user: string, password: string): Promise<void> {
  const [name, secret] = [Buffer.from(user), Buffer.from(password)]
  if (name.length > 255 || secret.length > 255) throw new Error('user and password may have 255 bytes each')
  socket.write(Buffer.concat([Uint8Array.of(1, name.length), name, Uint8Array.of(secret.length), secret]))
  const [, answer] = await reader.read(2)
  if (answer !== 0) throw new Error('it does not accept the user and password')
}

/** The proxy looks names up. */
function addressOf(host: string): Buffer {
  if (isIP(host) === 4) return Buffer.from([1, ...host.split('.').map(Number)])
  if (isIP(host) === 6) return Buffer.from([4, ...(parseIp(host) ?? [])])
  const name = Buffer.from(host)
  if (name.length > 255) throw new Error('the name of the server is too long')
  return Buffer.concat([Uint8Array.of(3, name.length), name])
}
