// How long a read waits for a version, and what is said of one that does not come.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectStore } from '../objects/object-store.js'
import { awaitRevision } from './read-at.js'

const store = { revision: 5, reach: () => Promise.resolve(false) } as unknown as ObjectStore

test('a version that is there is not waited for', () => assert.equal(awaitRevision(store, { resourceVersion: 5 }), undefined))

test('a version that does not come is named as it was asked for', async () => {
  await assert.rejects(async () => awaitRevision(store, { resourceVersion: 6 }), { message: /Too large resource version: 6, current: 5$/ })
  await assert.rejects(async () => awaitRevision(store, { resourceVersion: 2 ** 64, asked: '18446744073709551615' }), {
    message: /Too large resource version: 18446744073709551615, current: 5$/,
  })
})
