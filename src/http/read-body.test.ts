// Bodies of requests, in whatever parts they come.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { mostBodyBytes } from '../base/most-body-bytes.js'
import type { Exchange } from './exchange.js'
import { readPatch } from './patch-body.js'
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

/** In which turn of the event loop each of several bodies is handed over that end in one, where the work on each is longer than a piece. */
async function turnsOfBodies(count: number, bytes: number): Promise<readonly number[]> {
  let turn = 0
  const nextTurn = (): void => {
    turn++
    counting = setImmediate(nextTurn)
  }
  let counting = setImmediate(nextTurn)
  const turns: number[] = []
  const all = Array.from({ length: count }, async () => {
    const request = new PassThrough({ highWaterMark: 1 << 20 })
    const body = readBody(exchangeOf(request))
    request.end(Buffer.alloc(bytes))
    assert.equal((await body).length, bytes)
    turns.push(turn)
    const begunMs = performance.now()
    while (performance.now() - begunMs < 5);
  })
  await Promise.all(all)
  clearImmediate(counting)
  return turns
}

test('large bodies that end together are handed over one after the other, with turns of the event loop between them', async () => {
  const turns = await turnsOfBodies(8, 200_000)
  assert.equal(turns.length, 8)
  assert.equal(new Set(turns).size, 8, turns.join())
})

test('small ones are handed over at once', async () => {
  assert.equal(new Set(await turnsOfBodies(8, 1000)).size, 1)
})

test('an applied configuration is YAML, of which JSON is a part', () => {
  assert.deepEqual(readPatch('apply', Buffer.from('{ a: x }')).patch, { a: 'x' })
  assert.deepEqual(readPatch('apply', Buffer.from('{"a":"x"}')).patch, { a: 'x' })
  assert.deepEqual(readPatch('apply', Buffer.from('a: 1')).patch, { a: 1 })
})
