// Headers, queries and connections, most of them without a credential.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { type AddressInfo, connect as connectTcp, createServer as createTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Access } from '../kit/api-client.js'
import { takeLongestBlockMs } from '../kit/event-loop-block.js'
import { configMapOf, configMaps, expectStatus, sleep, until } from '../kit/fixtures.js'
import { openUnread } from '../kit/network/raw-http2.js'
import { RawSocket } from '../kit/network/raw-socket.js'
import { repoRoot } from '../kit/paths.js'
import { fill, fillWith, listOf } from '../linear/shape.js'
import { type Attack, type Outcome, outcomeOf, type Target, worstOf } from './attack.js'
import type { ConnectionKind, ManyConnections } from './many-connections.js'

const anonymous = (finding: number, name: string, path: string, headers: Readonly<Record<string, string>> = {}): Attack => ({
  finding,
  limit: 'flood',
  name,
  run: async ({ anonymous: client }) => outcomeOf(await client.get(path, headers)),
})

/** Opens one stream and waits for its end. */
function request(session: ClientHttp2Session, headers: Readonly<Record<string, string | string[]>>): Promise<Outcome> {
  return new Promise((resolve) => {
    const stream = session.request(headers)
    let [status, bytes] = [0, 0]
    stream.on('response', (received) => {
      status = Number(received[':status'])
    })
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    stream.on('error', () => undefined)
    stream.on('close', () => resolve({ status: status || 431, bytes }))
  })
}

async function overHttp2(access: Access, act: (session: ClientHttp2Session) => Promise<readonly Outcome[]>): Promise<Outcome> {
  const session = connect(access.url, { ca: access.ca, maxSendHeaderBlockLength: 1 << 20 })
  session.on('error', () => undefined)
  try {
    return worstOf(await act(session))
  } finally {
    session.destroy()
  }
}

/** A header value in the HPACK table, so that repeating it costs one byte, on several streams. */
const repeatedHeader = (name: string, value: string, times: number, streams: number): Attack => ({
  finding: 2,
  limit: 'flood',
  name,
  run: ({ server }) => {
    const { token: _, ...access } = server.access
    return overHttp2(access, (session) =>
      Promise.all(listOf(streams, () => request(session, { ':path': '/api', accept: Array.from({ length: times }, () => value) }))),
    )
  },
})

const zeros = (count: number): string => `a/b;q=${fill('0', count)}x`

const headerAttacks: readonly Attack[] = [
  anonymous(2, 'a q-value of 60,000 zeros', '/api', { accept: zeros(60_000) }),
  anonymous(2, 'a q-value of 64,000 zeros', '/api', { accept: zeros(64_000) }),
  anonymous(2, '15,000 media types in Accept', '/api', { accept: fill('a/b,', 60_000) }),
  repeatedHeader('a q-value of 3,900 zeros 15 times in each of 20 streams', zeros(3900), 15, 20),
  repeatedHeader('media types of 3,900 bytes 15 times in each of 20 streams', fill('a/b,', 3900), 15, 20),
  repeatedHeader('a q-value of 3,900 zeros 150 times in each of 20 streams', zeros(3900), 150, 20),
  anonymous(7, 'a query of 60,000 bytes', `/api/v1/pods?${fillWith((i) => `p${i}=%41`, '&', 60_000)}`),
  {
    finding: 7,
    limit: 'request',
    name: 'a query of 60,000 bytes of invalid UTF-8, authenticated',
    run: async ({ server }) => outcomeOf(await server.client.get(`/api/v1/namespaces/none/pods?${fill('%41&%ff%41&', 60_000)}`)),
  },
  anonymous(7, 'a selector of 60,000 bytes', `/api/v1/pods?labelSelector=${fill('a!=b,', 60_000)}`),
]

/** Destroys a session with an open watch; `isReset`: resets the stream before. */
async function openAndReset({ ca, url, token }: Access, isReset: boolean): Promise<void> {
  const session = connect(url, { ca })
  session.on('error', () => undefined)
  const stream = session.request({ ':path': '/api/v1/pods?watch=true', authorization: `Bearer ${token}` })
  stream.on('error', () => undefined)
  await new Promise((resolve) => {
    stream.once('response', resolve)
    session.once('close', resolve)
  })
  if (isReset) stream.close(8)
  session.destroy()
}

/** Checks that file descriptors are released soon. */
async function resetSessions({ server }: Target): Promise<Outcome> {
  const before = server.openDescriptors
  for (let round = 0; round < 20; round++) await Promise.all(listOf(10, (i) => openAndReset(server.access, i % 2 === 0)))
  await until(
    async () => server.openDescriptors,
    (open) => open < before + 20,
    20_000,
  )
  return { status: 200, bytes: 0 }
}

async function pipeline({ server }: Target, first: readonly string[], count: number): Promise<Outcome> {
  const { access } = server
  const socket = await RawSocket.open(access)
  const requestOf = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${access.token}\r\n\r\n`
  socket.write([...first.map(requestOf), requestOf('/api/v1/namespaces/default').repeat(count)].join(''))
  const wanted = first.length + count
  await until(
    async () => socket.statuses.length,
    (responses) => responses === wanted || socket.isClosed,
  )
  const { statuses } = socket
  socket.close()
  return { status: statuses.find((status) => status >= 400) ?? 200, bytes: 0 }
}

const shortWatch = `${configMaps('default')}?watch=true&timeoutSeconds=1`

/** Time in which all watches open, or receive the object. */
const settleMs = 2000
const megabyte = 'x'.repeat(900_000)
const maxGrowthBytes = 256 << 20

/** 500 watches that do not read, and one object of 0.9 MB. */
const unreadWatches: Attack = {
  finding: 5,
  limit: 'largest',
  name: '500 watchers over HTTP/2 that do not read, and one object of 0.9 MB',
  prepare: async ({ server }) => void expectStatus(await server.client.post(configMaps('default'), configMapOf('hostile-watched')), 201),
  run: async ({ server }, round) => {
    const before = server.ownBytes
    const path = `${configMaps('default')}?watch=true&fieldSelector=metadata.name%3Dhostile-watched`
    const sockets: RawSocket[] = []
    for (let i = 0; i < 10; i++) sockets.push(await openUnread(server.access, path, 50))
    // A sleep, because reading metrics would be measured, too.
    await sleep(settleMs)
    const changed = { ...configMapOf('hostile-watched', { data: { text: megabyte, round: String(round) } }) }
    const response = expectStatus(await server.client.put(configMaps('default', 'hostile-watched'), changed), 200)
    await sleep(settleMs)
    const grown = server.ownBytes - before
    if (grown > maxGrowthBytes) throw new Error(`memory grew by ${(grown / 2 ** 20).toFixed(0)} MiB`)
    const tidy = (): void => {
      for (const socket of sockets) socket.close()
    }
    return { status: response.status, bytes: 0, tidy }
  },
}

/** A recorded TLS ClientHello. */
async function clientHello(): Promise<Buffer> {
  const listener = createTcp().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const tls = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'] }).on('error', () => undefined)
  const [socket]: Socket[] = await once(listener, 'connection')
  const [hello] = await once(socket as Socket, 'data')
  tls.destroy()
  listener.close()
  return hello
}

/** Many connections that start TLS at the same time, about a millisecond of work each. */
async function startTlsAtOnce({ server }: Target, count: number, isConnectedFirst: boolean): Promise<Outcome> {
  const hello = await clientHello()
  const sockets = listOf(count, () => connectTcp(server.port, '127.0.0.1').on('error', () => undefined))
  const responses = sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve).once('close', resolve)))
  if (isConnectedFirst) await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  // Everything has arrived when the server reads.
  server.signal('SIGSTOP')
  for (const socket of sockets) socket.write(hello)
  await sleep(100)
  server.signal('SIGCONT')
  await Promise.all(responses)
  for (const socket of sockets) socket.destroy()
  return { status: 200, bytes: 0 }
}

/** Only the close and the release of descriptors are measured. */
const killedClients = (kind: ConnectionKind, protocol: ManyConnections['protocol'], name: string): Attack => ({
  finding: 7,
  limit: 'closedConnections',
  name,
  run: async ({ server }) => {
    const before = server.openDescriptors
    const connections: ManyConnections = { access: server.access, count: 2000, kind, protocol }
    const stdio = ['ignore', 'pipe', 'inherit'] as const
    const child = spawn(process.execPath, [`${repoRoot}.build/test/hostile/many-connections.js`, JSON.stringify(connections)], {
      stdio: [...stdio],
    })
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
    await takeLongestBlockMs(server)
    child.kill('SIGKILL')
    await until(
      async () => server.openDescriptors,
      (open) => open < before + 20,
      20_000,
    )
    return { status: 200, bytes: 0 }
  },
})

export const connectionAttacks: readonly Attack[] = [
  ...headerAttacks,
  unreadWatches,
  { finding: 7, limit: 'flood', name: '200 HTTP/2 sessions that are reset and closed', run: resetSessions },
  { finding: 7, limit: 'flood', name: '300 connections at once', run: (target) => startTlsAtOnce(target, 300, false) },
  { finding: 7, limit: 'flood', name: '300 open connections that begin TLS at once', run: (target) => startTlsAtOnce(target, 300, true) },
  killedClients('idle', 'http/1.1', '2,000 idle connections whose client is killed'),
  killedClients('idle', 'h2', '2,000 idle HTTP/2 connections whose client is killed'),
  killedClients('watching', 'http/1.1', '2,000 watchers whose client is killed'),
  killedClients('watching', 'h2', '2,000 watchers over HTTP/2 whose client is killed'),
  killedClients('writing', 'http/1.1', '2,000 connections with half a request whose client is killed'),
  killedClients('writing', 'h2', '2,000 HTTP/2 connections with half a request whose client is killed'),
  { finding: 7, limit: 'request', name: '5,000 pipelined requests on one connection', run: (target) => pipeline(target, [], 5000) },
  {
    finding: 7,
    limit: 'request',
    name: '3,000 pipelined requests behind a watch that ends',
    run: (target) => pipeline(target, [shortWatch], 3000),
  },
]
