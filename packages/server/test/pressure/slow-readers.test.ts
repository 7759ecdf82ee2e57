// Lists of 40 MB to many clients that hardly read, or not at all: the server sends what is taken, holds little, and hangs up in the end.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2'
import { after, before, describe } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { timedTest } from '../../src/base/timed-test.fixture.js'
import { configMapOf, configMaps, expectStatus, sleep, until } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'
import { trusting } from '../kit/trust.js'
import { MemoryWatch } from './memory-watch.js'

const requestTimeoutSeconds = 20
/** 40 MB in large objects, and 6 MB in many that take longer to turn into other forms. */
const large = { list: configMaps('default'), objects: 40, bytes: 1_000_000 }
const many = { list: configMaps('many'), objects: 120, bytes: 50_000 }
let server: ServerProcess

before(async () => {
  server = await ServerProcess.start({ flags: [`--request-timeout=${requestTimeoutSeconds}s`, '--read-cache-bytes=8MiB'] })
  expectStatus(await server.client.post('/api/v1/namespaces', { metadata: { name: 'many' } }), 201)
  await fill(large)
  await fill(many)
})
after(() => server.stop())

async function fill({ list, objects, bytes }: typeof large): Promise<void> {
  for (let i = 0; i < objects; i += 10) {
    const some = Array.from({ length: 10 }, (_, j) => `object-${String(i + j).padStart(3, '0')}`)
    await Promise.all(some.map((name) => make(list, objectOf(name, bytes))))
  }
}

/** Again when the server has no time for it: its requests may not take long here. */
async function make(list: string, object: ReturnType<typeof objectOf>): Promise<void> {
  await until(
    () => server.client.post(list, object),
    ({ status }) => status === 201 || status === 409,
  )
}

/** Differs from object to object. */
const objectOf = (name: string, bytes: number) =>
  configMapOf(name, { labels: { size: 'large' }, data: { text: `${name} is long. `.padEnd(bytes, name) } })

/** Length and hash; the age of an object in a table grows while we look. */
const hashOf = (bytes: Buffer): string => `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`
const withoutAges = (bytes: Buffer): Buffer => Buffer.from(bytes.toString('latin1').replace(/"\d+s"/g, '"age"'), 'latin1')

interface Form {
  readonly name: string
  readonly accept: string
  readonly path: string
  readonly gzip?: boolean
}

const table = 'application/json;as=Table;g=meta.cluster.io;v=v1'
const forms: readonly Form[] = [
  { name: 'JSON, selected', accept: 'application/json', path: `${many.list}?labelSelector=size%3Dlarge` },
  { name: 'JSON, a page', accept: 'application/json', path: `${many.list}?limit=119` },
  { name: 'JSON, gzip', accept: 'application/json', path: many.list, gzip: true },
  { name: 'pretty', accept: 'application/json', path: `${many.list}?pretty=true` },
  { name: 'YAML', accept: 'application/yaml', path: `${many.list}?limit=40` },
  { name: 'Table with objects', accept: table, path: `${many.list}?includeObject=Object` },
  { name: 'Protobuf', accept: 'application/vnd.cluster.protobuf', path: many.list },
]

const headersOf = ({ accept, gzip }: Form): Readonly<Record<string, string>> => ({
  accept,
  'accept-encoding': gzip ? 'gzip' : 'identity',
})

/** Asks on a connection of its own, and reads nothing. */
async function openHttp1(form: Form): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ...trusting(server.access.ca), ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  const headers = Object.entries({ ...headersOf(form), authorization: `Bearer ${server.access.token}`, host: 'x', connection: 'close' })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`GET ${form.path} HTTP/1.1\r\n${lines}\r\n`)
  return socket
}

/** All that is left; fails when it was cut off. */
async function restOf(stream: TLSSocket | ClientHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

interface Http2Reader {
  readonly stream: ClientHttp2Stream
  close(): void
}

function openHttp2(form: Form): Http2Reader {
  const session = connectHttp2(server.url, trusting(server.access.ca))
  session.on('error', () => undefined)
  const stream = session.request({ ':path': form.path, authorization: `Bearer ${server.access.token}`, ...headersOf(form) })
  stream.on('error', () => undefined)
  stream.pause()
  return { stream, close: () => session.destroy() }
}

describe('lists of 40 MB', () => {
  let changedBytes = 1000
  // Whoever reads later has what is left of the time of a request, which a busy machine may need for something else.
  timedTest('50 readers that take nothing: little is held, who reads later gets all of it, who never reads is cut off', async (context) => {
    const form: Form = { name: 'JSON', accept: 'application/json', path: large.list }
    const whole = hashOf((await server.client.get(large.list)).bytes)
    const memory = new MemoryWatch(server, context)
    const descriptors = server.openDescriptors
    const http1 = await Promise.all(Array.from({ length: 25 }, () => openHttp1(form)))
    const http2 = Array.from({ length: 25 }, () => openHttp2(form))
    try {
      await sleep(1000)
      const started = performance.now()
      expectStatus(await server.client.get('/api/v1/namespaces/default'), 200)
      assert.ok(performance.now() - started < 6000, 'others are answered meanwhile')
      // A change in between: what was begun is read to its end from the past.
      expectStatus(await server.client.put(`${large.list}/object-020`, objectOf('object-020', ++changedBytes)), 200)
      const [overHttp1] = http1 as [TLSSocket]
      const [overHttp2] = http2 as [Http2Reader]
      const [first, second] = await Promise.all([restOf(overHttp1), restOf(overHttp2.stream)])
      assert.deepEqual([hashOf(withoutChunks(first)), hashOf(second)], [whole, whole])
      overHttp1.destroy()
      overHttp2.close()
      // Those that never read cannot see that they were cut off: the server's descriptors can.
      await until(
        async () => server.openDescriptors - descriptors,
        (open) => open <= 24,
      )
      const states = (): readonly number[] => http2.slice(1).map(({ stream }) => stream.rstCode)
      await until(async () => states().every((code) => code === constants.NGHTTP2_INTERNAL_ERROR), Boolean)
      memory.expectBelow(400, '50 readers of a list of 40 MB')
    } finally {
      for (const socket of http1) socket.destroy()
      for (const reader of http2) reader.close()
    }
  })

  for (const form of forms) {
    timedTest(`${form.name}: 10 readers that take nothing, then two that take all`, async (context) => {
      const memory = new MemoryWatch(server, context)
      const http1 = await Promise.all(Array.from({ length: 5 }, () => openHttp1(form)))
      const http2 = Array.from({ length: 5 }, () => openHttp2(form))
      context.after(() => {
        for (const socket of http1) socket.destroy()
        for (const { close } of http2) close()
      })
      await sleep(500)
      const started = performance.now()
      expectStatus(await server.client.get('/api/v1/namespaces/default'), 200)
      assert.ok(performance.now() - started < 6000, 'others are answered meanwhile')
      const [reader] = http2
      const { bytes } = await server.client.get(form.path, headersOf(form))
      assert.equal(hashOf(withoutAges(await restOf((reader as Http2Reader).stream))), hashOf(withoutAges(bytes)))
      const plain = form.gzip ? gunzipSync(bytes) : bytes
      assert.ok(plain.length > 40 * many.bytes, plain.toString('utf8', 0, 500))
      memory.expectBelow(400, form.name)
    })
  }
})

/** The body of an answer that came in chunks. */
function withoutChunks(received: Buffer): Buffer {
  const parts: Buffer[] = []
  let at = received.indexOf('\r\n\r\n') + 4
  for (;;) {
    const lineEnd = received.indexOf('\r\n', at)
    const size = Number.parseInt(received.toString('latin1', at, lineEnd), 16)
    if (!(size > 0)) return Buffer.concat(parts)
    parts.push(received.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}
