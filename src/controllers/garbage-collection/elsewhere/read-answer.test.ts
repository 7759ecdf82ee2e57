// What is read of answers of other servers, and in how many steps.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce } from '../../../base/pieces.js'
import { readAnswer } from './read-answer.js'

const read = (text: string) => atOnce(readAnswer(Buffer.from(text)))

const metadata = {
  name: 'a',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '7',
  deletionTimestamp: '2026-01-01T00:00:00Z',
  finalizers: ['one', 'two'],
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: 'w', controller: true }],
}
const object = {
  apiVersion: 'x/v1',
  kind: 'Thing',
  metadata: { ...metadata, managedFields: [{ a: 1 }], labels: { items: 'x' } },
  spec: { metadata: 1 },
}

test('lists, objects, events and refusals are read as far as owners are concerned', () => {
  const known = { kind: 'Thing', metadata }
  assert.deepEqual(read(JSON.stringify(object)), known)
  assert.deepEqual(
    read(JSON.stringify({ kind: 'ThingList', metadata: { continue: 'c', resourceVersion: '9' }, items: [object, object] }, null, 2)),
    {
      kind: 'ThingList',
      metadata: { continue: 'c', resourceVersion: '9' },
      items: [known, known],
    },
  )
  assert.deepEqual(read(JSON.stringify({ type: 'ADDED', object })), { type: 'ADDED', object: known })
  const status = { kind: 'Status', reason: 'NotFound', message: 'no "thing"', code: 404 }
  assert.deepEqual(read(JSON.stringify(status)), { kind: 'Status', reason: 'NotFound', message: 'no "thing"' })
})

test('what is something else is none of it', () => {
  for (const text of ['[]', '12', 'null', '404 page not found', '']) assert.equal(read(text), undefined, text)
  for (const text of ['{"kind":"x', '{"kind":}', '{"kind":"a" "b"}', `{"name":"${'x'.repeat(20_000)}"}`, '{"a":'.repeat(20_000)])
    assert.throws(() => read(text), Error, text.slice(0, 40))
  assert.deepEqual(read('{"items":{"a":1},"metadata":[1]}'), { items: undefined, metadata: undefined })
  // However deep they are, no more levels are read than there are.
  assert.deepEqual(read(`${'{"object":'.repeat(1000)}{}${'}'.repeat(1000)}`), { object: { object: {} } })
})

test('long answers are read in many steps, whatever fills them', () => {
  const filled: readonly string[] = [
    `{"items":[${Array(2000).fill(JSON.stringify(object)).join()}]}`,
    `{"items":[${Array(300_000).fill('[]').join()}]}`,
    `{"metadata":{"finalizers":[${Array(300_000).fill('[]').join()}]}}`,
    `{"metadata":{"name":"a","annotations":{${Array.from({ length: 50_000 }, (_, i) => `"${i}":[]`).join()}}}}`,
  ]
  for (const text of filled) {
    let steps = 0
    for (const work = readAnswer(Buffer.from(text)); work.next().done !== true; ) steps++
    assert.ok(steps >= text.length / (64 << 10), `${steps} steps for ${text.length} bytes`)
  }
})
