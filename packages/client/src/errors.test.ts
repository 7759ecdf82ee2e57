// Predicates of client errors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { ConnectionError, isClientError, isNotFound, StatusError } from './errors.js'

test('isClientError and isNotFound accept only errors of this library', () => {
  assert.ok(isClientError(new ConnectionError('it broke')) && isNotFound(new StatusError({ code: 404, reason: 'NotFound' })))
  for (const other of [undefined, null, 'status', new Error('status'), { kind: 'status', code: 404 }, { kind: 'Status', code: 404 }])
    assert.ok(!isClientError(other) && !isNotFound(other), String(other))
})

test('isNotFound accepts errors of another realm', () => {
  const thrown: unknown = runInContext("Object.assign(new Error('not found'), { kind: 'status', code: 404 })", createContext({}))
  assert.ok(!(thrown instanceof Error) && isNotFound(thrown))
})
