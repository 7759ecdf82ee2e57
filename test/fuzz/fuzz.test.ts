// Malformed, hostile and misbehaving clients: the server responds or closes the connection, stays up, and frees their resources.

import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import { after, before, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, sleep } from '../kit/fixtures.js'
import { Http2Client } from '../kit/network/http2-client.js'
import { RawSocket } from '../kit/network/raw-socket.js'
import { seededRandom } from '../kit/seeded-random.js'
import { ServerProcess } from '../kit/server-process.js'
import { brokenRequests, mutate, validRequest } from './broken-requests.js'
import { hostileContents } from './hostile-content.js'

const random = seededRandom('FUZZ_SEED')
let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({ flags: ['--read-cache-bytes=1MiB'] })
})
after(() => server.stop())

const timeoutMs = 40_000
/** Request after which the server stopped responding: later results mean nothing. */
let stuckAt: string | undefined

/** Checks that a valid request succeeds and no internal error was logged. */
async function expectHealthy(): Promise<void> {
  assert.equal(stuckAt, undefined, 'the server sent no response')
  const response = await server.client.post(`${configMaps('default')}?dryRun=All`, configMapOf('valid', { data: { a: 'b' } }))
  const { metadata, data } = expectStatus(response, 201).json
  assert.deepEqual(
    [metadata.name, data, metadata.labels, JSON.stringify(response.json).includes('polluted')],
    ['valid', { a: 'b' }, undefined, false],
  )
  const logged = /[^\n]*internal error[^\n]*/.exec(server.stdout + server.stderr)?.[0]
  assert.equal(logged, undefined, 'the server logs an internal error')
}

const isAllowed = (status: number): boolean => status < 500 || status === 505

async function sendBroken(bytes: Buffer, { isComplete }: { readonly isComplete: boolean }): Promise<readonly number[]> {
  const socket = await RawSocket.open(server.access)
  socket.write(bytes)
  await socket.until((text) => !isComplete || /\r\n\r\n/.test(text), isComplete ? 40_000 : 100)
  if (isComplete) assert.ok(socket.isClosed || socket.statuses.length > 0, 'neither a response nor the end of the connection')
  socket.close()
  return socket.statuses
}

test('malformed requests', async (t) => {
  for (const { name, bytes, isComplete } of brokenRequests(server.access.token ?? '')) {
    await t.test(name, async () => {
      const statuses = await sendBroken(bytes, { isComplete })
      assert.deepEqual(
        statuses.filter((status) => !isAllowed(status)),
        [],
      )
    })
  }
  await expectHealthy()
})

async function sendHostile(content: (typeof hostileContents)[number]): Promise<number> {
  const { method, path, body, type } = content
  const headers = type === undefined ? {} : { 'content-type': type }
  const response = await Promise.race([
    server.client.send({ method, path, headers, ...(body === undefined ? {} : { body }) }),
    new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), timeoutMs).unref()),
  ])
  if (response === undefined) stuckAt = content.name
  assert.ok(response !== undefined, `no response within ${timeoutMs} ms`)
  return response.status
}

test('hostile content', async (t) => {
  for (const content of hostileContents) {
    if (stuckAt !== undefined) break
    await t.test(content.name, async () => {
      const status = await sendHostile(content).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_ASSERTION') throw error
        // Closing the connection of a client that is still sending is allowed.
        assert.match(error.code ?? error.message, /ECONNRESET|EPIPE|HPE_/)
        return 0
      })
      assert.ok(isAllowed(status), `status ${status}`)
    })
  }
  await expectHealthy()
})

/** Valid requests with bad behaviour. */
const behaviours: { readonly [name: string]: () => Promise<void> } = {
  'bodies that come byte by byte': async () => {
    const socket = await RawSocket.open(server.access)
    for (const byte of validRequest(server.access.token ?? '', undefined, 'Connection: close\r\n')) {
      socket.write(Buffer.from([byte]))
      await new Promise(setImmediate)
    }
    await socket.until((text) => text.includes('"uid"'), 60_000)
    assert.deepEqual(socket.statuses, [201])
    socket.close()
  },
  'clients that half-close the connection': async () => {
    const socket = await RawSocket.open(server.access)
    socket.write(validRequest(server.access.token ?? ''))
    socket.socket.end()
    await socket.until(() => false, 40_000)
    assert.ok(socket.isClosed)
  },
  'clients that disconnect within a body': async () => {
    const request = validRequest(server.access.token ?? '', `{"metadata":{"name":"${'a'.repeat(100_000)}"}}`)
    await repeatConcurrently(20, async () => {
      const socket = await RawSocket.open(server.access)
      socket.write(request.subarray(0, 300 + random.below(50_000)))
      await sleep(random.below(30))
      socket.close()
    })
  },
  'watches that are disconnected': () =>
    repeatConcurrently(40, async () => {
      const watch = await server.client.watch(`${configMaps('default')}?watch=1`)
      await sleep(random.below(50))
      watch.close()
    }),
  'readers that stop reading': () =>
    repeatConcurrently(10, async () => {
      const socket = await RawSocket.open(server.access)
      socket.socket.pause()
      socket.write(`GET /api/v1/configmaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.access.token}\r\n\r\n`.repeat(20))
      await sleep(50)
      socket.close()
    }),
  'connections without a request': () =>
    repeatConcurrently(50, async () => {
      const socket = await RawSocket.open(server.access)
      socket.close()
    }),
  'plain text on the TLS port': () => repeatConcurrently(10, () => sendTcp(Buffer.from('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'))),
  'noise on the TLS port': () => repeatConcurrently(10, () => sendTcp(Buffer.from(Array.from({ length: 300 }, () => random.below(256))))),
  'half a handshake': () => repeatConcurrently(10, () => sendTcp(Buffer.from('16030100c8010000c40303', 'hex'))),
  'noise over HTTP/2': () =>
    repeatConcurrently(10, () => sendHttp2Bytes(Buffer.from(Array.from({ length: 500 }, () => random.below(256))))),
  'a valid HTTP/2 preface, then noise': () =>
    repeatConcurrently(10, () =>
      sendHttp2Bytes(
        Buffer.concat([
          http2Preface,
          Buffer.from('000000040000000000', 'hex'),
          Buffer.from(Array.from({ length: 500 }, () => random.below(256))),
        ]),
      ),
    ),
  'an HTTP/2 frame that is too long': () =>
    repeatConcurrently(5, () =>
      sendHttp2Bytes(Buffer.concat([http2Preface, Buffer.from('ffffff000000000001', 'hex'), Buffer.alloc(100_000)])),
    ),
  'a flood of SETTINGS frames': () =>
    repeatConcurrently(2, () =>
      sendHttp2Bytes(Buffer.concat([http2Preface, ...Array.from({ length: 5000 }, () => Buffer.from('000000040000000000', 'hex'))])),
    ),
  'HTTP/2 streams that are opened and dropped': async () => {
    const client = new Http2Client(server.access)
    for (let i = 0; i < 200 && !client.session.destroyed; i++) {
      const stream = client.open('GET', `${configMaps('default')}?watch=1`)
      stream.on('error', () => undefined)
      stream.close(8)
    }
    await sleep(100)
    client.close()
  },
  'HTTP/2 bodies that never end': async () => {
    const client = new Http2Client(server.access)
    for (let i = 0; i < 50; i++)
      client
        .open('POST', configMaps('default'), false)
        .on('error', () => undefined)
        .write('{"metadata":')
    await sleep(100)
    client.close()
  },
}

const http2Preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

async function repeatConcurrently(size: number, act: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: size }, act))
}

function sendTcp(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectTcp(server.port, '127.0.0.1', () => socket.write(bytes))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    setTimeout(() => socket.destroy(), 150)
  })
}

async function sendHttp2Bytes(bytes: Buffer): Promise<void> {
  const socket = await RawSocket.open(server.access, 'h2')
  socket.write(bytes)
  await socket.until(() => false, 150)
  socket.close()
}

test('misbehaving clients', async (t) => {
  await expectHealthy()
  for (const [name, act] of Object.entries(behaviours)) await t.test(name, act)
  await expectHealthy()
})

test('mutated requests; their connections are closed', async () => {
  const before = server.openDescriptors
  const request = validRequest(server.access.token ?? '', undefined, 'Connection: close\r\n')
  await repeatConcurrently(100, async () => {
    const socket = await RawSocket.open(server.access)
    socket.write(mutate(request, random))
    await socket.until((text) => /\r\n\r\n/.test(text), 50)
    socket.close()
    assert.deepEqual(
      socket.statuses.filter((status) => !isAllowed(status)),
      [],
    )
  })
  await expectHealthy()
  for (let i = 0; i < 400 && server.openDescriptors > before + 8; i++) await sleep(100)
  assert.ok(server.openDescriptors <= before + 8, `${server.openDescriptors} descriptors, ${before} before`)
})
