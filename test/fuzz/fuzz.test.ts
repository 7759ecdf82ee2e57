// Broken, hostile and rude clients: the server answers or hangs up, never fails, stays up, and gives back what it used for them.
//
// FUZZ_SECONDS sets how long the last test goes on, FUZZ_SEED repeats its choices.

import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import { after, before, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, sleep } from '../kit/fixtures.js'
import { Http2Client } from '../kit/http2-client.js'
import { RawSocket } from '../kit/raw-socket.js'
import { seededRandom } from '../kit/seeded-random.js'
import { ServerProcess } from '../kit/server-process.js'
import { brokenRequests, decentRequest, mutate } from './broken-requests.js'
import { hostileContents } from './hostile-content.js'

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 2)
const random = seededRandom('FUZZ_SEED')
let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({ flags: ['--read-cache-bytes=1MiB'] })
})
after(() => server.stop())

const patienceMs = 40_000
/** What the server chewed on when it gave no answer any more: nothing after it can be told. */
let stuckAt: string | undefined

/** A decent request works, and nothing went wrong inside. */
async function isWell(): Promise<void> {
  assert.equal(stuckAt, undefined, 'the server gave no answer')
  const answer = await server.client.post(`${configMaps('default')}?dryRun=All`, configMapOf('decent', { data: { a: 'b' } }))
  const { metadata, data } = expectStatus(answer, 201).json
  assert.deepEqual(
    [metadata.name, data, metadata.labels, JSON.stringify(answer.json).includes('polluted')],
    ['decent', { a: 'b' }, undefined, false],
  )
  const said = /[^\n]*internal error[^\n]*/.exec(server.stdout + server.stderr)?.[0]
  assert.equal(said, undefined, 'the server blames itself in its log')
}

const isAllowed = (status: number): boolean => status < 500 || status === 505

async function sendBroken(bytes: Buffer, { isComplete }: { readonly isComplete: boolean }): Promise<readonly number[]> {
  const socket = await RawSocket.open(server.access)
  socket.write(bytes)
  await socket.until((text) => !isComplete || /\r\n\r\n/.test(text), isComplete ? 40_000 : 100)
  if (isComplete) assert.ok(socket.isClosed || socket.statuses.length > 0, 'neither an answer nor the end of the connection')
  socket.close()
  return socket.statuses
}

test('broken requests', async (t) => {
  for (const { name, bytes, isComplete } of brokenRequests(server.access.token ?? '')) {
    await t.test(name, async () => {
      const statuses = await sendBroken(bytes, { isComplete })
      assert.deepEqual(
        statuses.filter((status) => !isAllowed(status)),
        [],
      )
    })
  }
  await isWell()
})

async function sendHostile(content: (typeof hostileContents)[number]): Promise<number> {
  const { method, path, body, type } = content
  const headers = type === undefined ? {} : { 'content-type': type }
  const answer = await Promise.race([
    server.client.send({ method, path, headers, ...(body === undefined ? {} : { body }) }),
    new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), patienceMs).unref()),
  ])
  if (answer === undefined) stuckAt = content.name
  assert.ok(answer !== undefined, `no answer within ${patienceMs} ms`)
  return answer.status
}

test('hostile content', async (t) => {
  for (const content of hostileContents) {
    if (stuckAt !== undefined) break
    await t.test(content.name, async () => {
      const status = await sendHostile(content).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_ASSERTION') throw error
        // Hanging up on whoever is still sending is an answer, too.
        assert.match(error.code ?? error.message, /ECONNRESET|EPIPE|HPE_/)
        return 0
      })
      assert.ok(isAllowed(status), `status ${status}`)
    })
  }
  await isWell()
})

/** Clients that speak well and behave badly. */
const manners: { readonly [name: string]: () => Promise<void> } = {
  'bodies that come byte by byte': async () => {
    const socket = await RawSocket.open(server.access)
    for (const byte of decentRequest(server.access.token ?? '', undefined, 'Connection: close\r\n')) {
      socket.write(Buffer.from([byte]))
      await new Promise(setImmediate)
    }
    await socket.until((text) => text.includes('"uid"'), 60_000)
    assert.deepEqual(socket.statuses, [201])
    socket.close()
  },
  'clients that close their half': async () => {
    const socket = await RawSocket.open(server.access)
    socket.write(decentRequest(server.access.token ?? ''))
    socket.socket.end()
    await socket.until(() => false, 40_000)
    assert.ok(socket.isClosed)
  },
  'clients that go away in the middle of a body': async () => {
    const request = decentRequest(server.access.token ?? '', `{"metadata":{"name":"${'a'.repeat(100_000)}"}}`)
    await crowd(20, async () => {
      const socket = await RawSocket.open(server.access)
      socket.write(request.subarray(0, 300 + random.below(50_000)))
      await sleep(random.below(30))
      socket.close()
    })
  },
  'watches that are cut': () =>
    crowd(40, async () => {
      const watch = await server.client.watch(`${configMaps('default')}?watch=1`)
      await sleep(random.below(50))
      watch.close()
    }),
  'readers that stop reading': () =>
    crowd(10, async () => {
      const socket = await RawSocket.open(server.access)
      socket.socket.pause()
      socket.write(`GET /api/v1/configmaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.access.token}\r\n\r\n`.repeat(20))
      await sleep(50)
      socket.close()
    }),
  'connections without a request': () =>
    crowd(50, async () => {
      const socket = await RawSocket.open(server.access)
      socket.close()
    }),
  'plain text on the TLS port': () => crowd(10, () => speakTcp(Buffer.from('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'))),
  'noise on the TLS port': () => crowd(10, () => speakTcp(Buffer.from(Array.from({ length: 300 }, () => random.below(256))))),
  'half a handshake': () => crowd(10, () => speakTcp(Buffer.from('16030100c8010000c40303', 'hex'))),
  'noise over HTTP/2': () => crowd(10, () => speakHttp2(Buffer.from(Array.from({ length: 500 }, () => random.below(256))))),
  'a good beginning of HTTP/2, then noise': () =>
    crowd(10, () =>
      speakHttp2(
        Buffer.concat([
          http2Preface,
          Buffer.from('000000040000000000', 'hex'),
          Buffer.from(Array.from({ length: 500 }, () => random.below(256))),
        ]),
      ),
    ),
  'a frame of HTTP/2 that is too long': () =>
    crowd(5, () => speakHttp2(Buffer.concat([http2Preface, Buffer.from('ffffff000000000001', 'hex'), Buffer.alloc(100_000)]))),
  'a flood of settings': () =>
    crowd(2, () =>
      speakHttp2(Buffer.concat([http2Preface, ...Array.from({ length: 5000 }, () => Buffer.from('000000040000000000', 'hex'))])),
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

async function crowd(size: number, act: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: size }, act))
}

function speakTcp(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectTcp(server.port, '127.0.0.1', () => socket.write(bytes))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    setTimeout(() => socket.destroy(), 150)
  })
}

async function speakHttp2(bytes: Buffer): Promise<void> {
  const socket = await RawSocket.open(server.access, 'h2')
  socket.write(bytes)
  await socket.until(() => false, 150)
  socket.close()
}

test('bad manners', async (t) => {
  await isWell()
  for (const [name, act] of Object.entries(manners)) await t.test(name, act)
  await isWell()
})

/** Everything once, and a hundred mutations. */
async function everything(): Promise<void> {
  const request = decentRequest(server.access.token ?? '', undefined, 'Connection: close\r\n')
  await crowd(100, async () => {
    const socket = await RawSocket.open(server.access)
    socket.write(mutate(request, random))
    await socket.until((text) => /\r\n\r\n/.test(text), 50)
    socket.close()
    assert.deepEqual(
      socket.statuses.filter((status) => !isAllowed(status)),
      [],
    )
  })
  for (const act of Object.values(manners)) await act()
  for (const content of hostileContents) if ((content.body?.length ?? 0) < 100_000) await sendHostile(content).catch(() => 0)
  await isWell()
}

const mebibyte = 1024 * 1024

test('what they used is given back', async (t) => {
  await isWell()
  await everything()
  await everything()
  await sleep(500)
  const before = { bytes: server.residentBytes, descriptors: server.openDescriptors }
  let rounds = 0
  for (const end = Date.now() + seconds * 1000; Date.now() < end; rounds++) await everything()
  for (let i = 0; i < 400 && server.openDescriptors > before.descriptors + 8; i++) await sleep(100)
  const after = { bytes: server.residentBytes, descriptors: server.openDescriptors }
  const grown = (after.bytes - before.bytes) / mebibyte
  t.diagnostic(
    `seed ${random.seed}: ${rounds} rounds, memory ${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MiB, descriptors ${before.descriptors} → ${after.descriptors}`,
  )
  assert.ok(rounds > 0)
  assert.ok(after.descriptors <= before.descriptors + 8, `${after.descriptors} descriptors, ${before.descriptors} before`)
  assert.ok(grown < 48, `${grown.toFixed(1)} MiB more than before`)
})
