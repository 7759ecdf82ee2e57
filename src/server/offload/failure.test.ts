// Errors that cross to the thread for heavy requests and back.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badRequest } from '../../api/api-error.js'
import * as storage from '../../storage/storage.js'
import { errorOf, failureOf } from './failure.js'

const samples: { readonly [name: string]: (() => Error) | undefined } = {
  CompactedError: () => new storage.CompactedError(7),
  StorageUnavailableError: () => new storage.StorageUnavailableError('no room'),
  TooManyWritesError: () => new storage.TooManyWritesError(125),
  TooLargeError: () => new storage.TooLargeError('too large'),
  StorageRefusedError: () => new storage.StorageRefusedError('locked'),
}

test('every error of a store is on the other side what it was', () => {
  const names = Object.keys(storage).filter((name) => name.endsWith('Error'))
  assert.ok(names.length >= 4)
  for (const name of names) {
    const made = samples[name]?.()
    assert.ok(made !== undefined, `${name} has no sample here`)
    const arrived = errorOf(structuredClone(failureOf(made)))
    assert.equal(arrived.constructor, made.constructor)
    assert.equal(arrived.message, made.message)
  }
})

test('what clients are told goes over whole, and anything else as its message', () => {
  const told = badRequest('no')
  assert.deepEqual(errorOf(structuredClone(failureOf(told))), told)
  assert.equal(errorOf(failureOf('text')).message, 'text')
})
