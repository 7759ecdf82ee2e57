// Bytes that have room for a head, and those that have none.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allocateRoomy, behindRoom } from './front-room.js'

test('many bytes can be put behind a head without a copy, once', () => {
  const body = allocateRoomy(50_000)
  assert.equal(body.length, 50_000)
  body.fill('b')
  const whole = behindRoom(body, 4)
  assert.ok(whole)
  whole.write('head')
  assert.equal(whole.toString(), `head${'b'.repeat(50_000)}`)
  assert.equal(whole.buffer, body.buffer)
  assert.equal(behindRoom(body, 4), undefined)
})

test('there is no room in front of a few bytes or very many, of those of others, nor for a long head', () => {
  const large = allocateRoomy((64 << 10) + 1)
  assert.equal(behindRoom(large, 4), undefined)
  assert.equal(large.buffer.byteLength, large.length)
  assert.equal(behindRoom(allocateRoomy(100), 4), undefined)
  assert.equal(behindRoom(Buffer.alloc(50_000).subarray(10_000), 4), undefined)
  const body = allocateRoomy(50_000)
  assert.equal(behindRoom(body.subarray(1), 4), undefined)
  assert.equal(behindRoom(body, 5000), undefined)
  assert.equal(behindRoom(body, 300)?.length, 50_300)
})
