// Far more clients than the server answers at once: each is answered or sent away with a word when to come again, and leaves nothing behind.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, sleep, until } from '../kit/fixtures.js'
import { Http2Client } from '../kit/http2-client.js'
import { plainAccess, plainClient, plainUserFlags } from '../kit/plain-user.js'
import { RawSocket } from '../kit/raw-socket.js'
import { ServerProcess } from '../kit/server-process.js'
import { MemoryWatch } from './memory-watch.js'

let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({ flags: ['--max-requests-inflight=100', '--max-mutating-requests-inflight=50', ...plainUserFlags()] })
})
after(() => server.stop())

/** More than there is room for. */
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

/** How many got which answer. */
function tally(sockets: readonly RawSocket[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { statuses } of sockets) for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const total = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

const shedAnswer = /^HTTP\/1\.1 429 [\s\S]*Retry-After: 1\r\n[\s\S]*\r\n\r\nToo many requests, please try again later\.\n$/

test(`${clients} clients at once: answered or shed, and what they used comes back`, async (context) => {
  await sleep(200)
  const descriptors = server.openDescriptors
  const memory = new MemoryWatch(server, context)
  const sockets = await openAll()
  const { token } = plainAccess(server)
  for (const [i, socket] of sockets.entries())
    socket.write(
      i % 2 === 0 ? head(token, 'GET', '/api/v1/namespaces') : post(token, JSON.stringify(configMapOf(`crowd-${i}`, { data: { a: 'b' } }))),
    )
  await until(
    async () => total(tally(sockets)),
    (count) => count === clients,
    60_000,
  )
  const counts = tally(sockets)
  assert.deepEqual(
    Object.keys(counts).filter((status) => !['200', '201', '429'].includes(status)),
    [],
  )
  // One user has a hand of queues, which take some 450 requests in all; reads share them with writes.
  assert.ok((counts['200'] ?? 0) > clients / 8, `${counts['200']} reads were answered`)
  for (const socket of sockets) if (socket.statuses[0] === 429) assert.match(socket.received, shedAnswer)
  memory.expectBelow(250, `${clients} clients at once`)
  for (const socket of sockets) socket.close()
  await until(
    async () => server.openDescriptors,
    (open) => open <= descriptors + 2,
  )
})

test(`${clients} creates at once by an administrator: none is refused`, async () => {
  const connections = Array.from({ length: 5 }, () => new Http2Client(server.access))
  const answers = connections.flatMap((connection, i) =>
    Array.from({ length: clients / connections.length }, (_, j) =>
      connection.send('POST', configMaps('default'), configMapOf(`admin-${i}-${j}`)),
    ),
  )
  assert.deepEqual([...new Set((await Promise.all(answers)).map(({ status }) => status))], [201])
  assert.equal(answers.length, clients)
  for (const connection of connections) connection.close()
})

test('1,000 bodies of 3 MB that come slowly: what is held is bounded, the others are shed, small requests are answered', async (context) => {
  const big = await ServerProcess.start({ flags: ['--max-mutating-requests-inflight=0'] })
  const memory = new MemoryWatch(big, context)
  const connections = Array.from({ length: 10 }, () => new Http2Client(big.access))
  const counts: Record<string, number> = {}
  const uploads = connections.flatMap((connection) =>
    Array.from({ length: uploaders / connections.length }, () => {
      const stream = connection.open('POST', configMaps('default'), false)
      const upload = { stream, isOver: false }
      stream.on('error', () => undefined)
      stream.on('response', (headers) => {
        upload.isOver = true
        const answer = `${headers[':status']} ${headers['retry-after']}`
        counts[answer] = (counts[answer] ?? 0) + 1
      })
      return upload
    }),
  )
  const piece = Buffer.alloc(60_000, ' ')
  for (let round = 0; round < 4; round++) {
    for (const { stream, isOver } of uploads) if (!isOver && !stream.destroyed) stream.write(piece)
    await sleep(300)
  }
  await until(
    async () => counts['429 1'] ?? 0,
    (count) => count > 100,
  )
  assert.deepEqual(Object.keys(counts), ['429 1'])
  const started = performance.now()
  expectStatus(await big.client.get('/livez'), 200)
  assert.ok(performance.now() - started < 20_000)
  for (const connection of connections) connection.close()
  await until(
    () => big.client.post(configMaps('default'), configMapOf('afterwards')),
    ({ status }) => status === 201,
  )
  memory.expectBelow(450, '1,000 bodies of 3 MB')
  await big.stop()
})

test('probes are answered when there is no room for anything else', async () => {
  const busy = await ServerProcess.start({
    // A quarter of the time is what a request may wait.
    flags: ['--max-mutating-requests-inflight=1', '--max-requests-inflight=1', '--request-timeout=8s', ...plainUserFlags()],
  })
  const plain = plainClient(busy)
  const sockets = await Promise.all(Array.from({ length: 12 }, () => RawSocket.open(busy.access)))
  for (const socket of sockets) {
    socket.write(
      `POST ${configMaps('default')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${plainAccess(busy).token}\r\nContent-Length: 9\r\n\r\n{`,
    )
  }
  await until(
    () => plain.post(configMaps('default'), configMapOf('a')),
    ({ status }) => status === 429,
    60_000,
  )
  for (const path of ['/livez', '/readyz', '/healthz', '/readyz/ping']) expectStatus(await plain.get(path), 200)
  plain.close()
  for (const socket of sockets) socket.close()
  await busy.stop()
})

test('bodies over HTTP/2 that are refused while they are sent: their streams end, and nothing of them stays', async (context) => {
  const descriptors = server.openDescriptors
  const memory = new MemoryWatch(server, context)
  for (let i = 0; i < 12; i++) {
    const session = new Http2Client(server.access)
    // Larger than may be, which shows only when it is there.
    const refused = (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const stream = session.open('POST', configMaps('default'), false)
        stream.on('response', (headers) => resolve(headers[':status']))
        stream.on('error', reject)
        stream.resume()
        stream.write(Buffer.alloc(4 << 20, ' '))
      })
    try {
      assert.deepEqual(await Promise.all(Array.from({ length: 5 }, refused)), Array(5).fill(413))
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
