// Memory limits of request bodies and unread responses, under ten times the load that they allow.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryPressure, OverloadedError } from './memory-pressure.js'

const mebibyte = 1 << 20
const limits = { bodyBytes: 128 * mebibyte, responseBytes: 256 * mebibyte, responseMs: 60_000 }

test('bodies beyond the limit are refused, until earlier ones are released', () => {
  const pressure = new MemoryPressure(limits)
  let accepted = 0
  let refused = 0
  for (let i = 0; i < (10 * limits.bodyBytes) / mebibyte; i++) {
    try {
      pressure.addBody(`user-${i % 4}`, mebibyte)
      accepted++
    } catch (thrown) {
      assert.ok(thrown instanceof OverloadedError)
      refused++
    }
    assert.ok(pressure.bodyBytes <= limits.bodyBytes)
  }
  assert.deepEqual([accepted, refused], [128, 1152])
  for (let i = 0; i < accepted; i++) pressure.releaseBody(`user-${i % 4}`, mebibyte)
  assert.equal(pressure.bodyBytes, 0)
  pressure.addBody('user-0', mebibyte)
})

test('requests are refused while unread responses exceed the limit', () => {
  const pressure = new MemoryPressure(limits)
  const releases: (() => void)[] = []
  let refused = 0
  for (let i = 0; i < (10 * limits.responseBytes) / mebibyte; i++) {
    if (pressure.isFullFor('other-user')) refused++
    else releases.push(pressure.addResponse(`user-${i % 4}`, { cut: () => undefined }, mebibyte))
  }
  // The response that exceeds the limit is still sent.
  assert.deepEqual([releases.length, refused], [257, 2303])
  for (const release of releases) {
    release()
    release()
  }
  assert.equal(pressure.responseBytes, 0)
  assert.equal(pressure.isFullFor('other-user'), false)
  pressure.close()
})

test('one user gets at most half of the memory', () => {
  const pressure = new MemoryPressure(limits)
  for (let i = 0; i < 64; i++) pressure.addBody('loud', mebibyte)
  assert.throws(() => pressure.addBody('loud', mebibyte), OverloadedError)
  pressure.addBody('quiet', mebibyte)
  const release = pressure.addResponse('loud', { cut: () => undefined }, limits.responseBytes / 2 + 1)
  assert.deepEqual([pressure.isFullFor('loud'), pressure.isFullFor('quiet')], [true, false])
  release()
  assert.equal(pressure.isFullFor('loud'), false)
  pressure.close()
})
