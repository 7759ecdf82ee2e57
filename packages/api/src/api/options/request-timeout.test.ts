// Tests of the `timeout` query parameter and its error messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api-error.js'
import { requestTimeout } from './request-timeout.js'

test('requestTimeout parses a duration and ignores zero and negative ones', () => {
  assert.equal(requestTimeout('timeout=1m30.5s'), 90_500)
  assert.equal(requestTimeout('watch=0&timeout=250ms'), 250)
  assert.equal(requestTimeout('%74imeout=2h'), 7_200_000)
  assert.equal(requestTimeout('timeout=1ns'), 1e-6)
  assert.equal(requestTimeout('timeout=.5us1.s'), 1000.0005)
  for (const query of ['', 'timeout=', 'timeout=0', 'timeout=0s', 'timeout=-5s', 'timeoutSeconds=x', 'timeout=%2b0'])
    assert.equal(requestTimeout(query), undefined, query)
})

test('an invalid duration returns 400 with the reason', () => {
  const messages = new Map([
    ['invalid', 'invalid duration "invalid"'],
    ['5', 'missing unit in duration "5"'],
    ['1s5', 'missing unit in duration "1s5"'],
    ['5x', 'unknown unit "x" in duration "5x"'],
    ['5 s', 'unknown unit " s" in duration "5 s"'],
    ['.s', 'invalid duration ".s"'],
    ['-', 'invalid duration "-"'],
    ['9999999h', 'invalid duration "9999999h"'],
  ])
  for (const [text, problem] of messages)
    assert.throws(
      () => requestTimeout(`timeout=${encodeURIComponent(text)}`),
      (error) =>
        error instanceof ApiError &&
        error.status.code === 400 &&
        error.message === `invalid timeout specified in the request URL - time: ${problem}`,
    )
})
