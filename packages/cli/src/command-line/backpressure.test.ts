// Writing with backpressure, and to destroyed streams.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { writeDrained } from './backpressure.js'

test('writeDrained waits for drain', async () => {
  const stream = new PassThrough({ highWaterMark: 4 })
  assert.equal(await writeDrained(stream, 'a'), true)
  let isWritten = false
  const writing = writeDrained(stream, 'bcdefgh').then((isOpen) => {
    isWritten = true
    return isOpen
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isWritten, false)
  stream.resume()
  assert.equal(await writing, true)
  assert.deepEqual([stream.listenerCount('drain'), stream.listenerCount('close')], [0, 0])
})

test('writeDrained returns false when the stream is destroyed', async () => {
  const stream = new PassThrough({ highWaterMark: 4 })
  const writing = writeDrained(stream, 'abcdefgh')
  stream.destroy()
  assert.equal(await writing, false)
  assert.equal(await writeDrained(stream, 'more'), false)
})
