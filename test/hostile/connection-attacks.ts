// Headers, queries and connections, most of them of somebody without a credential.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { type AddressInfo, connect as connectTcp, createServer as createTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Access } from '../kit/api-client.js'
import { configMapOf, configMaps, expectStatus, sleep, until } from '../kit/fixtures.js'
import { takeTurn } from '../kit/longest-turn.js'
import { repoRoot } from '../kit/paths.js'
import { openUnread } from '../kit/raw-http2.js'
import { RawSocket } from '../kit/raw-socket.js'
import { fill, fillWith, listOf } from '../linear/shape.js'
import { type Attack, type Outcome, outcomeOf, type Target, worstOf } from './attack.js'
import type { Crowd, CrowdKind } from './crowd.js'

const anonymous = (finding: number, name: string, path: string, headers: Readonly<Record<string, string>> = {}): Attack => ({
  finding,
  name,
  run: async ({ anonymous: client }) => outcomeOf(await client.get(path, headers)),
})

/** One stream, whatever becomes of it. */
function ask(session: ClientHttp2Session, headers: Readonly<Record<string, string | string[]>>): Promise<Outcome> {
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

/** A value that the table of the connection keeps, so that naming it again costs a byte, on some streams at once. */
const repeated = (name: string, value: string, times: number, streams: number): Attack => ({
  finding: 2,
  name,
  run: ({ server }) => {
    const { token: _, ...access } = server.access
    return overHttp2(access, (session) =>
      Promise.all(listOf(streams, () => ask(session, { ':path': '/api', accept: Array.from({ length: times }, () => value) }))),
    )
  },
})

const zeros = (count: number): string => `a/b;q=${fill('0', count)}x`

const headerAttacks: readonly Attack[] = [
  anonymous(2, 'a weight of 60,000 zeros', '/api', { accept: zeros(60_000) }),
  anonymous(2, 'a weight of 64,000 zeros', '/api', { accept: zeros(64_000) }),
  anonymous(2, '15,000 clauses', '/api', { accept: fill('a/b,', 60_000) }),
  repeated('a weight of 3,900 zeros 15 times in each of 20 streams', zeros(3900), 15, 20),
  repeated('clauses of 3,900 bytes 15 times in each of 20 streams', fill('a/b,', 3900), 15, 20),
  repeated('a weight of 3,900 zeros 150 times in each of 20 streams', zeros(3900), 150, 20),
  anonymous(7, 'a query of 60,000 bytes', `/api/v1/pods?${fillWith((i) => `p${i}=%41`, '&', 60_000)}`),
  {
    finding: 7,
    name: 'a query of 60,000 bytes that are no text, of somebody who is known',
    run: async ({ server }) => outcomeOf(await server.client.get(`/api/v1/namespaces/none/pods?${fill('%41&%ff%41&', 60_000)}`)),
  },
  anonymous(7, 'a selector of 60,000 bytes', `/api/v1/pods?labelSelector=${fill('a!=b,', 60_000)}`),
]

/** Breaks off a session on which something was asked. */
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

/** Their descriptors are to be given back soon, not after a minute. */
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
    (answers) => answers === wanted || socket.isClosed,
  )
  const { statuses } = socket
  socket.close()
  return { status: statuses.find((status) => status >= 400) ?? 200, bytes: 0 }
}

const shortWatch = `${configMaps('default')}?watch=true&timeoutSeconds=1`

const openMs = 2000
const megabyte = 'x'.repeat(900_000)
const mostGrowth = 256 << 20

/** 500 watches on which nobody reads, and one object of 0.9 MB. */
const unreadWatches: Attack = {
  finding: 5,
  name: '500 watchers over HTTP/2 that do not read, and one object of 0.9 MB',
  prepare: async ({ server }) => void expectStatus(await server.client.post(configMaps('default'), configMapOf('hostile-watched')), 201),
  run: async ({ server }, round) => {
    const before = server.ownBytes
    const path = `${configMaps('default')}?watch=true&fieldSelector=metadata.name%3Dhostile-watched`
    const sockets: RawSocket[] = []
    for (let i = 0; i < 10; i++) sockets.push(await openUnread(server.access, path, 50))
    // All of them are open by then; to ask for metrics would be part of what is measured.
    await sleep(openMs)
    const changed = { ...configMapOf('hostile-watched', { data: { text: megabyte, round: String(round) } }) }
    const answer = expectStatus(await server.client.put(configMaps('default', 'hostile-watched'), changed), 200)
    await sleep(openMs)
    const grown = server.ownBytes - before
    if (grown > mostGrowth) throw new Error(`memory grew by ${(grown / 2 ** 20).toFixed(0)} MiB`)
    const tidy = (): void => {
      for (const socket of sockets) socket.close()
    }
    return { status: answer.status, bytes: 0, tidy }
  },
}

/** What a client of TLS says first; the server cannot know that it was said before. */
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

/** Very many connections, and on all of them the beginning of TLS at the same time: a millisecond of work each. */
async function helloAtOnce({ server }: Target, count: number, isHeldBack: boolean): Promise<Outcome> {
  const hello = await clientHello()
  const sockets = listOf(count, () => connectTcp(server.port, '127.0.0.1').on('error', () => undefined))
  const answered = sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve).once('close', resolve)))
  if (isHeldBack) await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  // So that all of it is there when the server looks.
  server.signal('SIGSTOP')
  for (const socket of sockets) socket.write(hello)
  await sleep(100)
  server.signal('SIGCONT')
  await Promise.all(answered)
  for (const socket of sockets) socket.destroy()
  return { status: 200, bytes: 0 }
}

/** Only that they end counts, and that their descriptors are given back. */
const killedCrowd = (kind: CrowdKind, protocol: Crowd['protocol'], name: string): Attack => ({
  finding: 7,
  name,
  run: async ({ server }) => {
    const before = server.openDescriptors
    const crowd: Crowd = { access: server.access, count: 2000, kind, protocol }
    const stdio = ['ignore', 'pipe', 'inherit'] as const
    const child = spawn(process.execPath, [`${repoRoot}.build/test/hostile/crowd.js`, JSON.stringify(crowd)], { stdio: [...stdio] })
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
    await takeTurn(server)
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
  { finding: 7, name: '200 HTTP/2 sessions that are reset and closed', run: resetSessions },
  { finding: 7, name: '300 connections at once', run: (target) => helloAtOnce(target, 300, false) },
  { finding: 7, name: '300 open connections that begin TLS at once', run: (target) => helloAtOnce(target, 300, true) },
  killedCrowd('idle', 'http/1.1', '2,000 idle connections whose client is killed'),
  killedCrowd('idle', 'h2', '2,000 idle HTTP/2 connections whose client is killed'),
  killedCrowd('watching', 'http/1.1', '2,000 watchers whose client is killed'),
  killedCrowd('watching', 'h2', '2,000 watchers over HTTP/2 whose client is killed'),
  killedCrowd('writing', 'http/1.1', '2,000 connections with half a request whose client is killed'),
  killedCrowd('writing', 'h2', '2,000 HTTP/2 connections with half a request whose client is killed'),
  { finding: 7, name: '5,000 pipelined requests on one connection', run: (target) => pipeline(target, [], 5000) },
  { finding: 7, name: '3,000 pipelined requests behind a watch that ends', run: (target) => pipeline(target, [shortWatch], 3000) },
]
