// Writing waits for whoever reads, and not for whoever is gone.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { writeOn } from './write-on.js'

test('waits until there is room', async () => {
  const stream = new PassThrough({ highWaterMark: 4 })
  assert.equal(await writeOn(stream, 'a'), true)
  let isWritten = false
  const writing = writeOn(stream, 'bcdefgh').then((goesOn) => {
    isWritten = true
    return goesOn
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isWritten, false)
  stream.resume()
  assert.equal(await writing, true)
  assert.deepEqual([stream.listenerCount('drain'), stream.listenerCount('close')], [0, 0])
})

test('ends when the stream closes', async () => {
  const stream = new PassThrough({ highWaterMark: 4 })
  const writing = writeOn(stream, 'abcdefgh')
  stream.destroy()
  assert.equal(await writing, false)
  assert.equal(await writeOn(stream, 'more'), false)
})
