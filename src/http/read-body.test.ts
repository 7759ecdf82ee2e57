// Bodies of requests, in whatever parts they come.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { mostBodyBytes } from '../base/most-body-bytes.js'
import type { Exchange } from './exchange.js'
import { readBody } from './read-body.js'

const exchangeOf = (request: PassThrough): Exchange =>
  ({ request: Object.assign(request, { headers: {} }), response: {}, holdBody: () => undefined }) as unknown as Exchange

test('a body that comes a byte at a time is read whole, and none of its parts is kept', async () => {
  const request = new PassThrough({ highWaterMark: 1 << 20 })
  const body = readBody(exchangeOf(request))
  const parts = Array.from({ length: 5000 }, (_, i) => Buffer.from(String(i % 10)))
  const wanted = Buffer.concat(parts).toString()
  for (const part of parts) request.write(part)
  await new Promise(setImmediate)
  for (const part of parts.slice(100)) part.fill(0)
  request.end()
  assert.equal((await body).toString(), wanted)
})

test('one that is too long is refused, whatever its parts', async () => {
  const request = new PassThrough()
  const body = readBody(exchangeOf(request))
  for (let i = 0; i <= mostBodyBytes; i += 1 << 20) request.write(Buffer.alloc(1 << 20))
  await assert.rejects(body, { message: /limit is/ })
  request.destroy()
})

test('whose time is up waits for no more of it, and nothing more of it is held', async () => {
  const request = new PassThrough()
  let held = 0
  const exchange = Object.assign(exchangeOf(request), {
    holdBody: (bytes: number) => {
      held += bytes
    },
  })
  const body = readBody(exchange)
  request.write('{"a":')
  await new Promise(setImmediate)
  exchange.bodyReader?.stop(new Error('time is up'))
  request.write('1')
  await assert.rejects(body, { message: 'time is up' })
  await new Promise(setImmediate)
  assert.equal(held, 5)
  assert.equal(exchange.bodyReader, undefined)
  request.end()
})
