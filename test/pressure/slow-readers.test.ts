// Lists of 100 MB to many clients that hardly read, or not at all: the server sends what is taken, holds little, and hangs up in the end.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { configMapOf, configMaps, expectStatus, sleep, until } from '../kit/fixtures.js'
import { RawSocket } from '../kit/raw-socket.js'
import { ServerProcess } from '../kit/server-process.js'
import { MemoryWatch } from './memory-watch.js'

const objects = 100
const objectBytes = 1_000_000
const requestTimeoutSeconds = 5
const list = configMaps('default')
let server: ServerProcess

before(async () => {
  server = await ServerProcess.start({ flags: [`--request-timeout=${requestTimeoutSeconds}s`, '--read-cache-bytes=8MiB'] })
  for (let i = 0; i < objects; i += 10) {
    const some = Array.from({ length: 10 }, (_, j) => `large-${String(i + j).padStart(3, '0')}`)
    await Promise.all(some.map((name) => server.client.post(list, largeObject(name)).then((answer) => expectStatus(answer, 201))))
  }
})
after(() => server.stop())

/** Bytes that compress a little, and differ from object to object. */
const largeObject = (name: string) =>
  configMapOf(name, { labels: { size: 'large' }, data: { text: `${name} is long. `.padEnd(objectBytes, name) } })

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

interface Form {
  readonly name: string
  readonly accept: string
  readonly path?: string
  readonly gzip?: boolean
}

const table = 'application/json;as=Table;g=meta.cluster.io;v=v1'
const forms: readonly Form[] = [
  { name: 'JSON', accept: 'application/json' },
  { name: 'JSON, selected', accept: 'application/json', path: `${list}?labelSelector=size%3Dlarge` },
  { name: 'JSON, a page', accept: 'application/json', path: `${list}?limit=99` },
  { name: 'JSON, gzip', accept: 'application/json', gzip: true },
  { name: 'pretty', accept: 'application/json', path: `${list}?pretty=true` },
  { name: 'YAML', accept: 'application/yaml' },
  { name: 'Table with objects', accept: table, path: `${list}?includeObject=Object` },
  { name: 'Protobuf', accept: 'application/vnd.cluster.protobuf' },
]

const headersOf = ({ accept, gzip }: Form): Readonly<Record<string, string>> => ({
  accept,
  'accept-encoding': gzip ? 'gzip' : 'identity',
})

/** Asks on a connection of its own, and reads nothing. */
async function openHttp1(form: Form): Promise<RawSocket> {
  const socket = await RawSocket.open(server.access)
  socket.socket.pause()
  const headers = Object.entries({ ...headersOf(form), authorization: `Bearer ${server.access.token}`, host: 'x' })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`GET ${form.path ?? list} HTTP/1.1\r\n${lines}\r\n`)
  return socket
}

interface Http2Reader {
  readonly stream: ClientHttp2Stream
  isClosed: boolean
  close(): void
}

function openHttp2(form: Form): Http2Reader {
  const session = connectHttp2(server.url, { ca: server.access.ca })
  session.on('error', () => undefined)
  const stream = session.request({ ':path': form.path ?? list, authorization: `Bearer ${server.access.token}`, ...headersOf(form) })
  const reader = { stream, isClosed: false, close: () => session.destroy() }
  stream.on('error', () => undefined)
  stream.on('close', () => {
    reader.isClosed = true
  })
  stream.pause()
  return reader
}

async function restOf(stream: ClientHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

describe('lists of 100 MB', () => {
  test('50 readers that take nothing: little is held, who reads later gets all of it, who never reads is cut off', async () => {
    const form: Form = { name: 'JSON', accept: 'application/json' }
    const whole = hashOf((await server.client.get(list)).bytes)
    const memory = new MemoryWatch(server)
    const descriptors = server.openDescriptors
    const http1 = await Promise.all(Array.from({ length: 25 }, () => openHttp1(form)))
    const http2 = Array.from({ length: 25 }, () => openHttp2(form))
    await sleep(1000)
    const started = performance.now()
    expectStatus(await server.client.get('/api/v1/namespaces/default'), 200)
    assert.ok(performance.now() - started < 1000, 'others are answered meanwhile')
    // A change in between: what was begun is read to its end from the past.
    expectStatus(await server.client.put(configMaps('default', 'large-050'), largeObject('large-050')), 200)
    const read = http2.slice(0, 3).map(async ({ stream }) => hashOf(await restOf(stream)))
    assert.deepEqual(new Set(await Promise.all(read)), new Set([whole]))
    const overHttp1 = http1[0] as RawSocket
    overHttp1.socket.resume()
    await overHttp1.until((text) => text.endsWith('\r\n0\r\n\r\n'), 10_000)
    assert.equal(hashOf(withoutChunks(Buffer.from(overHttp1.received, 'latin1'))), whole)
    overHttp1.close()
    for (const reader of http2.slice(0, 3)) reader.close()
    // Those that never read cannot see that they were cut off: the server's descriptors can.
    await until(
      async () => server.openDescriptors - descriptors,
      (open) => open <= 22,
      (requestTimeoutSeconds + 5) * 1000,
    )
    assert.ok(await untilTrue(() => http2.every(({ isClosed }) => isClosed), 5000), 'streams that nobody reads are closed')
    memory.expectBelow(200, '50 readers of a list of 100 MB')
    for (const socket of http1) socket.close()
    for (const reader of http2) reader.close()
  })

  for (const form of forms) {
    test(`${form.name}: 10 readers that take nothing, then two that take all`, async () => {
      const memory = new MemoryWatch(server)
      const http1 = await Promise.all(Array.from({ length: 5 }, () => openHttp1(form)))
      const http2 = Array.from({ length: 5 }, () => openHttp2(form))
      await sleep(500)
      const started = performance.now()
      expectStatus(await server.client.get('/api/v1/namespaces/default'), 200)
      assert.ok(performance.now() - started < 1500, 'others are answered meanwhile')
      const [reader] = http2
      const { bytes } = await server.client.get(form.path ?? list, headersOf(form))
      assert.equal(hashOf(await restOf((reader as Http2Reader).stream)), hashOf(bytes))
      const plain = form.gzip ? gunzipSync(bytes) : bytes
      assert.ok(plain.length > 99 * objectBytes, String(plain.length))
      for (const socket of http1) socket.close()
      for (const { close } of http2) close()
      memory.expectBelow(200, form.name)
    })
  }
})

async function untilTrue(isTrue: () => boolean, patienceMs: number): Promise<boolean> {
  const end = Date.now() + patienceMs
  while (!isTrue() && Date.now() < end) await sleep(50)
  return isTrue()
}

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
