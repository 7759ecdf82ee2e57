// Errors of the client are known by what they say, wherever they were made.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { ConnectionError, isClientError, isNotFound, StatusError } from './errors.js'

test('errors of this library are known, and nothing else', () => {
  assert.ok(isClientError(new ConnectionError('it broke')) && isNotFound(new StatusError({ code: 404, reason: 'NotFound' })))
  for (const other of [undefined, null, 'status', new Error('status'), { kind: 'status', code: 404 }, { kind: 'Status', code: 404 }])
    assert.ok(!isClientError(other) && !isNotFound(other), String(other))
})

test('those of another copy with globals of its own as well', () => {
  const thrown: unknown = runInContext("Object.assign(new Error('not found'), { kind: 'status', code: 404 })", createContext({}))
  assert.ok(!(thrown instanceof Error) && isNotFound(thrown))
})
