// The API of simulated kubelets: logs, exec, attach and port forwarding. An HTTP server without a port, reached by connections
// within the process, so that requests take the same path as requests to real kubelets.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { Dial } from '../../../../net/outbound/http-connect-tunnel.js'
import { Upstream } from '../../../../net/proxy/upstream.js'
import type { Location } from '../../../../verbs/virtual/virtual-resource-types.js'
import type { ControllerParts } from '../../../framework/controller.js'
import { annotationsOf } from '../node-template.js'
import type { Simulation } from '../simulated-nodes.js'
import { memoryConnection } from './memory-connection.js'
import { connectTo } from './pod-ports.js'
import { forwardPort, pairStreams } from './port-forward.js'
import { attachToLog, type CommandStreams, runCommand } from './remote-command.js'
import { type PodName, SimulatedPods } from './simulated-pods.js'
import { SpdyConnection, type SpdyStream } from './spdy-connection.js'
import { ChannelSocket } from './web-socket-channels.js'

/** Returns the connection to a simulated kubelet or pod; undefined for other locations. */
export function simulatedBackends(
  parts: ControllerParts,
  { rules }: Pick<Simulation, 'rules'>,
): (location: Location) => Upstream | undefined {
  const pods = new SimulatedPods(parts, rules)
  const server = kubeletServer(pods)
  const connect = (): Socket => {
    const [client, kubelet] = memoryConnection()
    server.emit('connection', kubelet)
    return client
  }
  return ({ node, pod: podName, trust, port = '80' }) => {
    const pod = podName && pods.read(podName)
    const kubelet = pods.kubeletOf(node ?? pod?.spec?.nodeName ?? '')
    if (kubelet === undefined) return undefined
    const dial: Dial = async (host, dialedPort) => {
      const address = { address: host, port: dialedPort }
      if (kubelet === 'silent') throw Object.assign(new Error('silent node'), { code: 'ETIMEDOUT', ...address })
      if (trust !== 'workload') return connect()
      const script = pod && pods.portOf(pod, Number(port))
      if (script === undefined) throw Object.assign(new Error('closed port'), { code: 'ECONNREFUSED', ...address })
      return connectTo(script)
    }
    return new Upstream({ dial, neverReusesConnections: true })
  }
}

/** Error of the kubelet, with plain text. */
class KubeletError extends Error {
  readonly code: number

  constructor(code: number, text: string) {
    super(text)
    this.code = code
  }
}

interface KubeletRequest {
  readonly endpoint: string
  readonly pod: PodName
  readonly container: string
  readonly query: URLSearchParams
}

function parseRequest({ url = '/' }: IncomingMessage): KubeletRequest {
  const { pathname, searchParams } = new URL(url, 'http://kubelet')
  // The uid of the pod may precede the container.
  const [, endpoint = '', namespace = '', name = '', ...rest] = pathname.split('/')
  return { endpoint, pod: { namespace, name }, container: rest.at(-1) ?? '', query: searchParams }
}

function kubeletServer(pods: SimulatedPods): Server {
  const server = createServer((request, response) => {
    serveRequest(pods, request, response).catch((thrown: unknown) => {
      const { code, message } = errorOf(thrown)
      if (response.headersSent) response.destroy()
      else response.writeHead(code, { 'Content-Type': 'text/plain' }).end(message)
    })
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, early: Buffer) => {
    socket.on('error', () => undefined)
    serveUpgrade(pods, request, socket, early).catch((thrown: unknown) => {
      const { code, message } = errorOf(thrown)
      if (socket.writable && !upgraded.has(socket)) refuseUpgrade(socket, code, message)
      else socket.destroy()
    })
  })
  return server
}

function errorOf(thrown: unknown): { readonly code: number; readonly message: string } {
  if (thrown instanceof KubeletError) return thrown
  return thrown instanceof ApiError ? { code: thrown.status.code ?? 500, message: thrown.message } : { code: 500, message: String(thrown) }
}

const upgraded = new WeakSet<Duplex>()

function refuseUpgrade(socket: Duplex, code: number, message: string): void {
  const lines = [
    `HTTP/1.1 ${code} Refused`,
    'Content-Type: text/plain',
    `Content-Length: ${Buffer.byteLength(message)}`,
    'Connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${message}`)
}

async function serveRequest(pods: SimulatedPods, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { endpoint, pod, container, query } = parseRequest(request)
  request.resume()
  if (endpoint === 'healthz') {
    response.end('ok')
    return
  }
  if (endpoint !== 'containerLogs') throw new KubeletError(404, '404 page not found\n')
  const stop = new AbortController()
  response.once('close', () => stop.abort())
  const log = pods.log(pod, container, query, stop.signal)
  response.writeHead(200, { 'Content-Type': 'text/plain' })
  await pipeline(log, response)
}

async function serveUpgrade(pods: SimulatedPods, request: IncomingMessage, socket: Duplex, early: Buffer): Promise<void> {
  const kubeletRequest = parseRequest(request)
  const { endpoint, pod: name, container } = kubeletRequest
  const pod = pods.read(name)
  if (pod === undefined) throw new KubeletError(404, 'pod does not exist')
  if (endpoint === 'portForward') {
    if (pod.status?.phase !== 'Running') throw new KubeletError(500, `pod not found ("${name.name}_${name.namespace}")`)
    servePorts(pods, kubeletRequest, { request, socket, early })
    return
  }
  if (endpoint !== 'exec' && endpoint !== 'attach') throw new KubeletError(404, '404 page not found\n')
  const behaviour = pods.runningContainer(pod, container)
  if (behaviour === undefined)
    throw new KubeletError(
      500,
      endpoint === 'exec'
        ? `container not found ("${container}")`
        : `container ${container} not found in pod ${name.name}_${name.namespace}`,
    )
  const stop = new AbortController()
  socket.once('close', () => stop.abort())
  const streams = await openStreams(kubeletRequest, { request, socket, early })
  const follow = (query: Record<string, string>): AsyncIterable<string> =>
    pods.log(name, container, new URLSearchParams({ follow: 'true', ...query }), stop.signal)
  if (endpoint === 'attach') await attachToLog(streams, follow({}))
  else
    await runCommand(streams, kubeletRequest.query.getAll('command'), {
      container,
      annotation: annotationsOf(pods.parts.engine.identity).behaviour,
      scripts: behaviour.exec,
      timers: pods.parts.timers,
      containerEnd: drain(follow({ tailLines: '0' })),
      signal: stop.signal,
    })
  streams.close()
}

async function drain(log: AsyncIterable<string>): Promise<void> {
  for await (const _text of log);
}

interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly early: Buffer
}

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

/** Subprotocols, such as `v4.channel`, with the suffixes of all identities. */
const namesOf = (prefixes: readonly string[]): readonly string[] =>
  identityNames.flatMap((name) => prefixes.map((prefix) => `${prefix}.${identityOf(name).groupSuffix}`))

const channelNames = namesOf(['v5.channel', 'v4.channel', 'v4.base64.channel', 'channel', 'base64.channel'])
const spdyCommandNames = namesOf(['v4.channel', 'v3.channel', 'v2.channel', 'channel'])
const spdyPortNames = namesOf(['portforward'])

/** The first offered subprotocol that is known; a client that offers none gets an empty one. */
function negotiate({ headers }: IncomingMessage, known: readonly string[]): string {
  const header = headers['sec-websocket-protocol'] ?? headers['x-stream-protocol-version']
  const offered = String(header ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const found = offered.find((name) => known.includes(name))
  if (found === undefined && offered.length > 0)
    throw new KubeletError(
      403,
      `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${known.join(' ')}]`,
    )
  return found ?? ''
}

function acceptSpdy({ socket, early }: UpgradeRequest, protocol: string, onStream: (stream: SpdyStream) => void): void {
  upgraded.add(socket)
  const chosen = protocol === '' ? [] : [`X-Stream-Protocol-Version: ${protocol}`]
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: SPDY/3.1', ...chosen]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  if (early.length > 0) socket.unshift(early)
  new SpdyConnection(socket, onStream)
}

function acceptChannels({ request, socket, early }: UpgradeRequest, protocol: string): ChannelSocket {
  upgraded.add(socket)
  return ChannelSocket.accept(request, socket, early, protocol)
}

/** Time in which a client must open its streams. */
const streamsTimeoutMs = 30_000
/** Time in which a client may close the connection after the exit status. */
const closeTimeoutMs = 1000

type OpenStreams = CommandStreams & { close(): void }

function openStreams({ query }: KubeletRequest, upgrade: UpgradeRequest): Promise<OpenStreams> {
  const isTty = query.has('tty')
  const wanted = [
    ...(query.has('input') ? ['stdin'] : []),
    ...(query.has('output') ? ['stdout'] : []),
    ...(query.has('error') && !isTty ? ['stderr'] : []),
  ]
  if (wanted.length === 0) throw new KubeletError(400, 'you must specify at least 1 of stdin, stdout, stderr')
  return isWebSocket(upgrade.request) ? openChannels(upgrade, wanted, isTty) : openSpdyStreams(upgrade, wanted, isTty)
}

const channelNumbers = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const

async function openChannels(upgrade: UpgradeRequest, wanted: readonly string[], isTty: boolean): Promise<OpenStreams> {
  const protocol = negotiate(upgrade.request, channelNames)
  const socket = acceptChannels(upgrade, protocol)
  const open = (name: keyof typeof channelNumbers) => (wanted.includes(name) ? socket.open(channelNumbers[name]) : undefined)
  const streams = { stdin: open('stdin'), stdout: open('stdout'), stderr: open('stderr'), status: socket.open(channelNumbers.error) }
  for (const ignored of [socket.open(channelNumbers.resize), streams.status, streams.stdout, streams.stderr])
    ignored?.resume()
    // As a kubelet does: an empty message tells the client that the streams are open.
  ;(streams.stdout ?? streams.stderr ?? streams.status).write('')
  return { protocol, isTty, ...streams, close: () => socket.close() }
}

function openSpdyStreams(upgrade: UpgradeRequest, wanted: readonly string[], isTty: boolean): Promise<OpenStreams> {
  const protocol = negotiate(upgrade.request, spdyCommandNames)
  const { socket } = upgrade
  return new Promise((resolve, reject) => {
    const streams = new Map<string, SpdyStream>()
    const timer = setTimeout(() => reject(new Error('timed out waiting for client to create streams')), streamsTimeoutMs)
    socket.once('close', () => {
      clearTimeout(timer)
      reject(new Error('the connection is closed'))
    })
    acceptSpdy(upgrade, protocol, (stream) => {
      const { streamtype = '' } = stream.headers
      if (streamtype !== 'stdin') stream.resume()
      if (!Object.hasOwn(channelNumbers, streamtype)) return
      streams.set(streamtype, stream)
      const status = streams.get('error')
      if (status === undefined || !wanted.every((name) => streams.has(name))) return
      clearTimeout(timer)
      const [stdin, stdout, stderr] = ['stdin', 'stdout', 'stderr'].map((name) => streams.get(name))
      const close = (): void => {
        stdin?.end()
        setTimeout(() => socket.end(), closeTimeoutMs).unref()
      }
      resolve({ protocol, isTty, stdin, stdout, stderr, status, close })
    })
  })
}

/** Ports of one WebSocket: two channels each, with numbers of one byte. */
const maxPorts = 64

function servePorts(pods: SimulatedPods, { pod, query }: KubeletRequest, upgrade: UpgradeRequest): void {
  if (!isWebSocket(upgrade.request)) {
    const protocol = negotiate(upgrade.request, spdyPortNames)
    acceptSpdy(
      upgrade,
      protocol,
      pairStreams((streams) => void forwardPort(pods, pod, streams)),
    )
    return
  }
  const ports = query.getAll('port').flatMap((text) => text.split(',').map(Number))
  if (ports.length === 0 || ports.length > maxPorts || !ports.every((port) => Number.isInteger(port) && port > 0 && port < 65_536))
    throw new KubeletError(400, `query parameter "port" is required: at most ${maxPorts} numbers from 1 to 65535`)
  const socket = acceptChannels(upgrade, negotiate(upgrade.request, channelNames))
  ports.forEach((port, i) => {
    const [data, error] = [socket.open(2 * i), socket.open(2 * i + 1)]
    error.resume()
    for (const channel of [data, error]) channel.write(Buffer.from([port & 0xff, port >> 8]))
    void forwardPort(pods, pod, { port, data, error })
  })
}
