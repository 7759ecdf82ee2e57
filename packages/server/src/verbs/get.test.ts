// GET with a resourceVersion that this replica has not seen yet.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { ObjectStore } from '../objects/object-store.js'
import { awaitRevision } from './get.js'

const store = { revision: 5, reach: () => Promise.resolve(false) } as unknown as ObjectStore
const call = { waitFor: <T>(work: Promise<T>) => work, resource: { definition: {} } } as unknown as Call

test('a known resourceVersion needs no wait', () => awaitRevision(store, call, { resourceVersion: 5 }))

test('the error for an unknown resourceVersion names it as requested', async () => {
  await assert.rejects(async () => awaitRevision(store, call, { resourceVersion: 6 }), {
    message: /Too large resource version: 6, current: 5$/,
  })
  await assert.rejects(async () => awaitRevision(store, call, { resourceVersion: 2 ** 64, requested: '18446744073709551615' }), {
    message: /Too large resource version: 18446744073709551615, current: 5$/,
  })
})
