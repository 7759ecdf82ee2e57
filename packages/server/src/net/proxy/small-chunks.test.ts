// Streams in chunks of one byte are joined, and copied in order; responses with many 1xx heads are errors.

import assert from 'node:assert/strict'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { copyStream } from './copy-stream.js'
import { sendRequest, startBackend, startProxy, startTcp } from './proxy.fixture.js'

class CountingTarget extends Writable {
  writes = 0
  text = ''
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes++
    this.text += chunk.toString()
    setImmediate(done)
  }
}

test('small chunks of one turn are written as one, in order with large ones', async () => {
  const from = new Readable({ read: () => undefined, highWaterMark: 1 })
  const to = new CountingTarget({ highWaterMark: 64 })
  const ended = new Promise<void>((resolve) => to.once('finish', resolve))
  copyStream(from, to, { isTargetClosed: () => to.destroyed, onEnd: () => void to.end() })
  await new Promise(setImmediate)
  for (let i = 0; i < 5000; i++) from.push('a')
  from.push('b'.repeat(10_000))
  for (let i = 0; i < 5000; i++) from.push('c')
  from.push(null)
  await ended
  assert.equal(to.text, 'a'.repeat(5000) + 'b'.repeat(10_000) + 'c'.repeat(5000))
  assert.ok(to.writes < 100, `${to.writes} writes`)
})

test('request and response bodies in chunks of one byte are forwarded completely', async () => {
  const { url } = await startBackend((request, response) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on('end', () => {
      for (const char of `${bytes} bytes`) response.write(char)
      response.end()
    })
  })
  const { port } = await startProxy(url)
  assert.equal((await sendRequest(port, '/', { method: 'POST', body: Buffer.alloc(70_000) })).body, '70000 bytes')
})

test('too many 1xx responses are an error', async () => {
  const url = await startTcp((socket) => socket.once('data', () => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(50))))
  const { port, outcomes } = await startProxy(url)
  assert.equal((await sendRequest(port, '/')).code, 503)
  assert.deepEqual(outcomes, ['net/http: too many 1xx informational responses'])
})
