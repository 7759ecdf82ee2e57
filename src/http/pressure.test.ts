// The bounds on bodies and answers, with ten times as much as they allow.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OverloadedError, Pressure } from './pressure.js'

const mebibyte = 1 << 20
const limits = { bodyBytes: 128 * mebibyte, answerBytes: 256 * mebibyte, answerMs: 60_000 }

test('bodies: of ten times as much nothing is held beyond the bound, and there is room again when they have gone', () => {
  const pressure = new Pressure(limits)
  let held = 0
  let refused = 0
  for (let i = 0; i < (10 * limits.bodyBytes) / mebibyte; i++) {
    try {
      pressure.addBody(mebibyte)
      held++
    } catch (thrown) {
      assert.ok(thrown instanceof OverloadedError)
      refused++
    }
    assert.ok(pressure.bodyBytes <= limits.bodyBytes)
  }
  assert.deepEqual([held, refused], [128, 1152])
  for (let i = 0; i < held; i++) pressure.releaseBody(mebibyte)
  assert.equal(pressure.bodyBytes, 0)
  pressure.addBody(mebibyte)
})

test('answers: when they are too many nothing is begun, and each counts until its client has it', () => {
  const pressure = new Pressure(limits)
  const leave: (() => void)[] = []
  let refused = 0
  for (let i = 0; i < (10 * limits.answerBytes) / mebibyte; i++) {
    if (pressure.isFull) refused++
    else leave.push(pressure.holdAnswer({ cut: () => undefined }, mebibyte))
  }
  // The one that fills it is still answered.
  assert.deepEqual([leave.length, refused], [257, 2303])
  for (const go of leave) {
    go()
    go()
  }
  assert.equal(pressure.answerBytes, 0)
  assert.equal(pressure.isFull, false)
  pressure.close()
})
