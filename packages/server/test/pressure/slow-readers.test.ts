// Lists of 40 MB for many clients that read slowly or not at all: the server buffers little and closes stalled connections.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2'
import { after, before, describe, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { configMapOf, configMaps, expectStatus, sleep, until } from '../../../../test/kit/fixtures.js'
import { secureContextFor } from '../../../../test/kit/secure-context.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'
import { PeakMemory } from './peak-memory.js'

const requestTimeoutSeconds = 20
/** 40 MB in large objects, and 6 MB in many small ones, which take longer to encode in other representations. */
const large = { list: configMaps('default'), objects: 40, bytes: 1_000_000 }
const manySmall = { list: configMaps('many'), objects: 120, bytes: 50_000 }
let server: ServerProcess

before(async () => {
  server = await ServerProcess.start({ flags: [`--request-timeout=${requestTimeoutSeconds}s`, '--read-cache-bytes=8MiB'] })
  expectStatus(await server.client.post('/api/v1/namespaces', { metadata: { name: 'many' } }), 201)
  await fill(large)
  await fill(manySmall)
})
after(() => server.stop())

async function fill({ list, objects, bytes }: typeof large): Promise<void> {
  for (let i = 0; i < objects; i += 10) {
    const some = Array.from({ length: 10 }, (_, j) => `object-${String(i + j).padStart(3, '0')}`)
    await Promise.all(some.map((name) => make(list, objectOf(name, bytes))))
  }
}

/** Retries if the server is overloaded: request timeouts are short here. */
async function make(list: string, object: ReturnType<typeof objectOf>): Promise<void> {
  await until(
    () => server.client.post(list, object),
    ({ status }) => status === 201 || status === 409,
  )
}

/** Different content per object. */
const objectOf = (name: string, bytes: number) =>
  configMapOf(name, { labels: { size: 'large' }, data: { text: `${name} is long. `.padEnd(bytes, name) } })

/** Length and hash without ages, which grow during the test. */
const hashOf = (bytes: Buffer): string => `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`
const withoutAges = (bytes: Buffer): Buffer => Buffer.from(bytes.toString('latin1').replace(/"\d+s"/g, '"age"'), 'latin1')

interface Representation {
  readonly name: string
  readonly accept: string
  readonly path: string
  readonly gzip?: boolean
}

const table = 'application/json;as=Table;g=meta.cluster.io;v=v1'
const representations: readonly Representation[] = [
  { name: 'JSON, gzip', accept: 'application/json', path: manySmall.list, gzip: true },
  { name: 'YAML', accept: 'application/yaml', path: `${manySmall.list}?limit=40` },
  { name: 'Table with objects', accept: table, path: `${manySmall.list}?includeObject=Object` },
  { name: 'Protobuf', accept: 'application/vnd.cluster.protobuf', path: manySmall.list },
]

const headersOf = ({ accept, gzip }: Representation): Readonly<Record<string, string>> => ({
  accept,
  'accept-encoding': gzip ? 'gzip' : 'identity',
})

/** Sends a request on its own connection and does not read. */
async function openHttp1(representation: Representation): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ...secureContextFor(server.access.ca), ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  const headers = Object.entries({
    ...headersOf(representation),
    authorization: `Bearer ${server.access.token}`,
    host: 'x',
    connection: 'close',
  })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`GET ${representation.path} HTTP/1.1\r\n${lines}\r\n`)
  return socket
}

/** The rest of the response; fails if the connection was closed early. */
async function restOf(stream: TLSSocket | ClientHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

interface Http2Reader {
  readonly stream: ClientHttp2Stream
  close(): void
}

function openHttp2(representation: Representation): Http2Reader {
  const session = connectHttp2(server.url, secureContextFor(server.access.ca))
  session.on('error', () => undefined)
  const stream = session.request({
    ':path': representation.path,
    authorization: `Bearer ${server.access.token}`,
    ...headersOf(representation),
  })
  stream.on('error', () => undefined)
  stream.pause()
  return { stream, close: () => session.destroy() }
}

describe('lists of 40 MB', () => {
  let changedBytes = 1000
  test('50 clients that do not read: little is buffered, late readers get everything, stalled ones are closed', async (context) => {
    const representation: Representation = { name: 'JSON', accept: 'application/json', path: large.list }
    const whole = hashOf((await server.client.get(large.list)).bytes)
    const memory = new PeakMemory(server, context)
    const descriptors = server.openDescriptors
    const http1 = await Promise.all(Array.from({ length: 25 }, () => openHttp1(representation)))
    const http2 = Array.from({ length: 25 }, () => openHttp2(representation))
    try {
      await sleep(1000)
      expectStatus(await server.client.get('/api/v1/namespaces/default'), 200)
      // A change meanwhile: started lists show their own revision.
      expectStatus(await server.client.put(`${large.list}/object-020`, objectOf('object-020', ++changedBytes)), 200)
      const [overHttp1] = http1 as [TLSSocket]
      const [overHttp2] = http2 as [Http2Reader]
      const [first, second] = await Promise.all([restOf(overHttp1), restOf(overHttp2.stream)])
      assert.deepEqual([hashOf(withoutChunks(first)), hashOf(second)], [whole, whole])
      overHttp1.destroy()
      overHttp2.close()
      // A client that does not read cannot notice the close; the file descriptors of the server show it.
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

  for (const representation of representations) {
    test(`${representation.name}: 10 clients that do not read, then two that read everything`, async (context) => {
      const memory = new PeakMemory(server, context)
      const http1 = await Promise.all(Array.from({ length: 5 }, () => openHttp1(representation)))
      const http2 = Array.from({ length: 5 }, () => openHttp2(representation))
      context.after(() => {
        for (const socket of http1) socket.destroy()
        for (const { close } of http2) close()
      })
      await sleep(500)
      expectStatus(await server.client.get('/api/v1/namespaces/default'), 200)
      const [reader] = http2
      const { bytes } = await server.client.get(representation.path, headersOf(representation))
      assert.equal(hashOf(withoutAges(await restOf((reader as Http2Reader).stream))), hashOf(withoutAges(bytes)))
      const plain = representation.gzip ? gunzipSync(bytes) : bytes
      assert.ok(plain.length > 40 * manySmall.bytes, plain.toString('utf8', 0, 500))
      memory.expectBelow(400, representation.name)
    })
  }
})

/** Decodes a chunked body. */
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
