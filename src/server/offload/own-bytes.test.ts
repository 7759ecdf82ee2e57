// What is given to another thread is copied only where others have a part of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { allocateRoomy } from '../../base/front-room.js'
import { ownBytes } from './own-bytes.js'

/** As another thread gets it. */
function given(bytes: Uint8Array): Uint8Array {
  const { port1, port2 } = new MessageChannel()
  const own = ownBytes(bytes)
  port1.postMessage(own, [own.buffer])
  const got = (receiveMessageOnPort(port2) as { readonly message: Uint8Array }).message
  port1.close()
  return got
}

test('an answer of any length goes to another thread as it is, with room in front of it and without', () => {
  for (const length of [16 << 10, 50_000, 64 << 10, 65_000, 100_000, 500_000]) {
    const body = allocateRoomy(length).fill('b')
    const text = body.toString()
    const got = given(body)
    assert.ok(Buffer.from(got).toString() === text, `${length}`)
    assert.equal(body.length, 0, `${length} bytes were copied`)
  }
})

test('what others have a part of is copied, and stays theirs', () => {
  const all = Buffer.allocUnsafeSlow(50_000).fill('a')
  const body = all.subarray(10, 40_010)
  assert.equal(given(body).length, 40_000)
  assert.equal(body.length, 40_000)
  assert.equal(all.toString(), 'a'.repeat(50_000))
})
