// Bytes that come one at a time: they are kept together, written together, and others have their turn between them.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { type AddressInfo, connect as connectNet, createServer as createNetServer, type Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { GatheredParts } from './gathered-parts.js'
import { getLines } from './get-lines.js'
import { passOn } from './pass-on.js'
import { ask, authority, certificate, startBackend, startProxy, startTcp } from './proxy.fixture.js'
import { ReadPauses } from './read-pauses.js'

test('few parts are kept as they came, many are copied into one place', () => {
  const parts = new GatheredParts()
  assert.equal(parts.whole().length, 0)
  const only = Buffer.from('only')
  parts.add(only)
  assert.equal(parts.whole(), only)
  for (let i = 0; i < 63; i++) parts.add(Buffer.from(String(i % 10)))
  const early = parts.whole().toString()
  // Whoever keeps a part of one byte keeps hundreds for it: what is changed in one later is not seen.
  const later = Array.from({ length: 1000 }, (_, i) => Buffer.from(String.fromCharCode(97 + (i % 26))))
  const wanted = early + Buffer.concat(later).toString()
  for (const part of later) parts.add(part)
  for (const part of later) part.fill(0)
  assert.equal(parts.whole().toString(), wanted)
  assert.equal(parts.bytes, wanted.length)
  parts.clear()
  assert.equal(parts.whole().length, 0)
})

class CountingTarget extends Writable {
  writes = 0
  text = ''
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes++
    this.text += chunk.toString()
    setImmediate(done)
  }
}

test('small parts of one turn are written as one, in order with large ones, and nothing is lost at the end', async () => {
  const from = new Readable({ read: () => undefined, highWaterMark: 1 })
  const to = new CountingTarget({ highWaterMark: 64 })
  const ended = new Promise<void>((resolve) => to.once('finish', resolve))
  passOn(from, to, { socket: undefined, isOver: () => to.destroyed, onEnd: () => void to.end() })
  await new Promise(setImmediate)
  for (let i = 0; i < 5000; i++) from.push('a')
  from.push('b'.repeat(10_000))
  for (let i = 0; i < 5000; i++) from.push('c')
  from.push(null)
  await ended
  assert.equal(to.text, 'a'.repeat(5000) + 'b'.repeat(10_000) + 'c'.repeat(5000))
  assert.ok(to.writes < 100, `${to.writes} writes`)
})

test('after many small parts a connection is not read from until the next turn', async () => {
  const calls: string[] = []
  const socket = { _handle: { readStop: () => calls.push('stop'), readStart: () => calls.push('start') } } as unknown as Socket
  const pauses = new ReadPauses(socket)
  for (let i = 0; i < 100_000; i++) pauses.count(4096)
  assert.deepEqual(calls, [])
  for (let i = 0; i < 10_000; i++) pauses.count(1)
  assert.deepEqual(calls, ['stop'])
  await new Promise(setImmediate)
  assert.deepEqual(calls, ['stop', 'start'])
  for (let i = 0; i < 10_000; i++) pauses.count(1)
  assert.deepEqual(calls, ['stop', 'start', 'stop'])
  await new Promise(setImmediate)
  for (let i = 0; i < 10; i++) pauses.pause()
  assert.deepEqual(calls.slice(4), ['stop'])
  await new Promise(setImmediate)
  assert.deepEqual(calls.slice(4), ['stop', 'start'])
})

test('sockets of this platform can be kept from reading', async () => {
  const server = createNetServer((socket) => socket.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connectNet((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  const { _handle } = socket as unknown as { readonly _handle: { readonly [name: string]: unknown } }
  assert.deepEqual([typeof _handle['readStop'], typeof _handle['readStart']], ['function', 'function'])
  socket.destroy()
  server.close()
})

test('bodies in chunks of one byte are passed on whole, there and back', async () => {
  const { url } = await startBackend((request, response) => {
    let bytes = 0
    request.on('data', (part: Buffer) => {
      bytes += part.length
    })
    request.on('end', () => {
      for (const letter of `${bytes} bytes`) response.write(letter)
      response.end()
    })
  })
  const { port } = await startProxy(url)
  assert.equal((await ask(port, '/', { method: 'POST', body: Buffer.alloc(70_000) })).body, '70000 bytes')
})

test('a server that says again and again that it will answer has not answered', async () => {
  const url = await startTcp((socket) => socket.once('data', () => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(50))))
  const { port, ends } = await startProxy(url)
  assert.equal((await ask(port, '/')).code, 503)
  assert.deepEqual(ends, ['net/http: too many 1xx informational responses'])
})

test('lines that come a byte at a time are whole lines, and one without an end is none', async (t) => {
  const text = `first\n\n${'second '.repeat(300)}\n${'x'.repeat(5000)}`
  const server = createServer(certificate, async (_request, response) => {
    for (const letter of text) if (!response.write(letter)) await once(response, 'drain')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const lines: string[] = []
  const { signal } = new AbortController()
  const limits = { headMs: 60_000, idleMs: 60_000, mostLineBytes: 4000, signal }
  await assert.rejects(async () => {
    for await (const line of getLines({ url: `https://127.0.0.1:${port}/`, ca: authority.cert, ...limits })) lines.push(line.toString())
  }, /a line is longer than 4000 bytes/)
  assert.deepEqual(lines, text.split('\n').slice(0, 3))
})
