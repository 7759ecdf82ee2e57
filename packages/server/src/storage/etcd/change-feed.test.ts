// Revisions of etcd events: commits, deletions and expired leases.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { translateEvents } from './change-feed.js'
import { createEtcdKeys } from './etcd-keys.js'
import type { WatchEvent } from './grpc/etcd-messages.js'
import { createNumbering } from './revision-numbering.js'
import { valuePrefix } from './stored-value.js'

const keys = createEtcdKeys('/registry')

const event = (modRevision: number, key: string, value?: Buffer): WatchEvent => ({
  modRevision,
  key: Buffer.from(key),
  value: value ?? Buffer.alloc(0),
  isDelete: value === undefined,
})
const put = (step: number, key: string, index: number): WatchEvent =>
  event(step, keys.dataKey(key), Buffer.concat([valuePrefix(index, undefined), Buffer.from(`value of ${key}`)]))
const remove = (step: number, key: string): WatchEvent => event(step, keys.dataKey(key))
const replica = '0d8ac65e-3a1f-4c55-9b2f-6b1f2d3c4e5f'
const head = (step: number, deletions = ''): WatchEvent => event(step, keys.head, Buffer.from(replica + deletions))

test('commits of a transaction are numbered by index, deletions by the head, expired keys in order', () => {
  const foreign: string[] = []
  const events = [
    head(5),
    put(5, 'a', 0),
    put(5, 'b', 3),
    head(6, '[["a",1],["c",2]]'),
    put(6, 'b', 0),
    remove(6, 'a'),
    put(6, 'd', 2),
    remove(6, 'c'),
    remove(7, 'e/1'),
    remove(7, 'e/2'),
    event(8, keys.dataKey('strange'), Buffer.from('not ours')),
    event(9, keys.formerOwner, Buffer.from('replica')),
    event(10, '/registry.next/a', Buffer.from('of a prefix that begins like ours')),
  ]
  const writes = translateEvents(events, {
    keys,
    numbering: createNumbering(1000),
    onForeign: (key) => foreign.push(key),
  })
  assert.deepEqual(
    writes.map(({ key, revision, value }) => `${revision - 1000} ${key} ${value ?? ''}`.trim()),
    [
      `${5 * 256} a value of a`,
      `${5 * 256 + 3} b value of b`,
      `${6 * 256} b value of b`,
      `${6 * 256 + 1} a`,
      `${6 * 256 + 2} d value of d`,
      `${6 * 256 + 2} c`,
      `${7 * 256} e/1`,
      `${7 * 256 + 1} e/2`,
      `${8 * 256} strange`,
    ],
  )
  assert.deepEqual(foreign, ['strange'])
})

test('etcd revisions and storage revisions map to each other', () => {
  const numbering = createNumbering(1000)
  for (const step of [1, 2, 77]) {
    for (const index of [0, 1, 255]) assert.equal(numbering.stepOf(numbering.revisionOf(step, index)), step)
    assert.equal(numbering.revisionOf(step, 9999), numbering.endOf(step))
    assert.equal(numbering.wholeStepsUpTo(numbering.endOf(step)), step)
    assert.equal(numbering.wholeStepsUpTo(numbering.endOf(step) - 1), step - 1)
  }
  assert.ok(numbering.stepOf(1000) <= 0 && numbering.stepOf(3) < 1, 'revisions from before this store belong to no step')
})
