// Request bodies: chunk sizes, size limit and timeouts.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { maxBodyBytes } from '@cluster-apiserver/api/base/size-limits.js'
import type { Exchange } from '../pipeline/exchange.js'
import { readPatch } from './patch-body.js'
import { readBody } from './read-body.js'

const exchangeOf = (request: PassThrough): Exchange =>
  ({ request: Object.assign(request, { headers: {} }), response: {}, chargeBody: () => undefined }) as unknown as Exchange

test('a body in chunks of one byte is copied, so that its chunks are not retained', async () => {
  const request = new PassThrough({ highWaterMark: 1 << 20 })
  const body = readBody(exchangeOf(request))
  const chunks = Array.from({ length: 900 }, (_, i) => Buffer.from(String(i % 10)))
  const expected = Buffer.concat(chunks).toString()
  for (const chunk of chunks) request.write(chunk)
  await new Promise(setImmediate)
  for (const chunk of chunks.slice(100)) chunk.fill(0)
  request.end()
  assert.equal((await body).toString(), expected)
})

test('a body in thousands of tiny chunks closes the connection', () => {
  const request = new PassThrough({ highWaterMark: 1 << 20 })
  readBody(exchangeOf(request)).catch(() => undefined)
  for (let i = 0; i < 2000 && !request.destroyed; i++) request.write('x')
  assert.equal(request.destroyed, true)
})

test('a body over the size limit is refused', async () => {
  const request = new PassThrough()
  const body = readBody(exchangeOf(request))
  for (let i = 0; i <= maxBodyBytes; i += 1 << 20) request.write(Buffer.alloc(1 << 20))
  await assert.rejects(body, { message: /limit is/ })
  request.destroy()
})

test('after a timeout no more of the body is kept', async () => {
  const request = new PassThrough()
  let chargedBytes = 0
  const exchange = Object.assign(exchangeOf(request), {
    chargeBody: (bytes: number) => {
      chargedBytes += bytes
    },
  })
  const body = readBody(exchange)
  request.write('{"a":')
  await new Promise(setImmediate)
  exchange.bodyReader?.stop(new Error('timed out'))
  request.write('1')
  await assert.rejects(body, { message: 'timed out' })
  await new Promise(setImmediate)
  assert.equal(chargedBytes, 5)
  assert.equal(exchange.bodyReader, undefined)
  request.end()
})

test('an applied configuration is decoded as JSON or YAML', () => {
  assert.deepEqual(readPatch('apply', Buffer.from('{ a: x }')).patch, { a: 'x' })
  assert.deepEqual(readPatch('apply', Buffer.from('{"a":"x"}')).patch, { a: 'x' })
  assert.deepEqual(readPatch('apply', Buffer.from('a: 1')).patch, { a: 1 })
})
