// Far more clients than the server handles at once: each gets a response or 429 with Retry-After, and all memory is freed.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, sleep, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { Http2Client } from '../../../../test/kit/network/http2-client.js'
import { RawSocket } from '../../../../test/kit/network/raw-socket.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'
import { unprivilegedAccess, unprivilegedClient, unprivilegedUserFlags } from '../../../../test/kit/unprivileged-user.js'
import { PeakMemory } from './peak-memory.js'

let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({
    flags: ['--max-requests-inflight=100', '--max-mutating-requests-inflight=50', ...unprivilegedUserFlags()],
  })
})
after(() => server.stop())

/** More than the 150 requests in flight that the flags of the server allow. */
const clients = 500
const uploaders = 1000

async function openAll(): Promise<readonly RawSocket[]> {
  const sockets: RawSocket[] = []
  for (let i = 0; i < clients; i += 100)
    sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => RawSocket.open(server.access)))))
  return sockets
}

const head = (token: string | undefined, method: string, path: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`

const post = (token: string | undefined, body: string): string =>
  head(token, 'POST', configMaps('default'), `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`) + body

/** Number of responses by status. */
function countStatuses(sockets: readonly RawSocket[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { statuses } of sockets) for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const total = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

const shedResponse = /^HTTP\/1\.1 429 [\s\S]*Retry-After: 1\r\n[\s\S]*\r\n\r\nToo many requests, please try again later\.\n$/

test(`${clients} concurrent clients get a response or 429, and their memory is freed`, async (context) => {
  await sleep(200)
  const descriptors = server.openDescriptors
  const memory = new PeakMemory(server, context)
  const sockets = await openAll()
  const { token } = unprivilegedAccess(server)
  for (const [i, socket] of sockets.entries())
    socket.write(
      i % 2 === 0 ? head(token, 'GET', '/api/v1/namespaces') : post(token, JSON.stringify(configMapOf(`crowd-${i}`, { data: { a: 'b' } }))),
    )
  await until(
    async () => total(countStatuses(sockets)),
    (count) => count === clients,
    60_000,
  )
  const counts = countStatuses(sockets)
  assert.deepEqual(
    Object.keys(counts).filter((status) => !['200', '201', '429'].includes(status)),
    [],
  )
  // Shuffle sharding assigns a few queues to one user, with about 450 requests in total, shared by reads and writes.
  assert.ok((counts['200'] ?? 0) > clients / 8, `${counts['200']} reads succeeded`)
  for (const socket of sockets) if (socket.statuses[0] === 429) assert.match(socket.received, shedResponse)
  memory.expectBelow(250, `${clients} clients at once`)
  for (const socket of sockets) socket.close()
  await until(
    async () => server.openDescriptors,
    (open) => open <= descriptors + 2,
  )
})

test(`${clients} concurrent creates by an administrator: none is rejected`, async () => {
  const connections = Array.from({ length: 5 }, () => new Http2Client(server.access))
  const responses = connections.flatMap((connection, i) =>
    Array.from({ length: clients / connections.length }, (_, j) =>
      connection.send('POST', configMaps('default'), configMapOf(`admin-${i}-${j}`)),
    ),
  )
  assert.deepEqual([...new Set((await Promise.all(responses)).map(({ status }) => status))], [201])
  assert.equal(responses.length, clients)
  for (const connection of connections) connection.close()
})

test('1,000 slow bodies of 3 MB: memory is bounded, excess requests get 429, small requests succeed', async (context) => {
  const big = await ServerProcess.start({ flags: ['--max-mutating-requests-inflight=0'] })
  const memory = new PeakMemory(big, context)
  const connections = Array.from({ length: 10 }, () => new Http2Client(big.access))
  const counts: Record<string, number> = {}
  const uploads = connections.flatMap((connection) =>
    Array.from({ length: uploaders / connections.length }, () => {
      const stream = connection.open('POST', configMaps('default'), false)
      const upload = { stream, isOver: false }
      stream.on('error', () => undefined)
      stream.on('response', (headers) => {
        upload.isOver = true
        const response = `${headers[':status']} ${headers['retry-after']}`
        counts[response] = (counts[response] ?? 0) + 1
      })
      return upload
    }),
  )
  const chunk = Buffer.alloc(60_000, ' ')
  for (let round = 0; round < 4; round++) {
    for (const { stream, isOver } of uploads) if (!isOver && !stream.destroyed) stream.write(chunk)
    await sleep(300)
  }
  await until(
    async () => counts['429 1'] ?? 0,
    (count) => count > 100,
  )
  assert.deepEqual(Object.keys(counts), ['429 1'])
  expectStatus(await big.client.get('/livez'), 200)
  for (const connection of connections) connection.close()
  await untilStatus(() => big.client.post(configMaps('default'), configMapOf('afterwards')), 201)
  memory.expectBelow(450, '1,000 bodies of 3 MB')
  await big.stop()
})

test('probes get a response when all slots are in use', async () => {
  const busy = await ServerProcess.start({
    // A request may wait for a quarter of its timeout.
    flags: ['--max-mutating-requests-inflight=1', '--max-requests-inflight=1', '--request-timeout=8s', ...unprivilegedUserFlags()],
  })
  const unprivileged = unprivilegedClient(busy)
  const sockets = await Promise.all(Array.from({ length: 12 }, () => RawSocket.open(busy.access)))
  for (const socket of sockets) {
    socket.write(
      `POST ${configMaps('default')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${unprivilegedAccess(busy).token}\r\nContent-Length: 9\r\n\r\n{`,
    )
  }
  await until(
    () => unprivileged.post(configMaps('default'), configMapOf('a')),
    ({ status }) => status === 429,
    60_000,
  )
  for (const path of ['/livez', '/readyz', '/healthz', '/readyz/ping']) expectStatus(await unprivileged.get(path), 200)
  unprivileged.close()
  for (const socket of sockets) socket.close()
  await busy.stop()
})

test('HTTP/2 bodies that are rejected while they are sent: streams end and memory is freed', async (context) => {
  const descriptors = server.openDescriptors
  const memory = new PeakMemory(server, context)
  for (let i = 0; i < 12; i++) {
    const session = new Http2Client(server.access)
    // Above the body limit, which shows only after the bytes have arrived.
    const sendRejected = (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const stream = session.open('POST', configMaps('default'), false)
        stream.on('response', (headers) => resolve(headers[':status']))
        stream.on('error', reject)
        stream.resume()
        stream.write(Buffer.alloc(4 << 20, ' '))
      })
    try {
      assert.deepEqual(await Promise.all(Array.from({ length: 5 }, sendRejected)), Array(5).fill(413))
    } finally {
      session.close()
    }
  }
  memory.expectBelow(300, '60 bodies of 4 MiB that are refused')
  await until(
    async () => server.openDescriptors,
    (open) => open <= descriptors + 2,
  )
})
