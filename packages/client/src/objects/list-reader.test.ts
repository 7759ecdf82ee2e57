// Lists read item by item are what the parser makes of the whole text, wherever the text is cut.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProtocolError } from './errors.js'
import { ListReader } from './list-reader.js'

const read = (text: string, length: number, batchLength?: number): unknown => {
  const reader = new ListReader(batchLength)
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += length) reader.take(bytes.subarray(at, at + length))
  return reader.end()
}

const item = (name: string, more: object = {}): object => ({
  metadata: { name, annotations: { a: 'b]"},{\\', '"items":[': '\\"' } },
  items: [1, [2, {}]],
  ...more,
})

const lists: readonly object[] = [
  { kind: 'AList', apiVersion: 'v1', metadata: { resourceVersion: '7', items: ['no'] }, items: [] },
  { kind: 'AList', metadata: {}, items: [item('a')] },
  { items: [item('a'), item('b', { text: 'ä€😀\n' }), item('c')], kind: 'AList', metadata: { continue: 'x' } },
  { items: null, metadata: {} },
  // Lists in items, whose items begin like those of the list.
  { kind: 'AList', metadata: {}, items: [item('a'), item('b', { list: [item('c'), item('d'), item('e')] }), item('f')] },
  { kind: 'AList', metadata: { nested: { items: [item('x'), item('y')] } }, items: [item('a'), item('b')], other: [item('c'), item('d')] },
  { kind: 'ÄList', metadata: {}, items: [item('a'), item('b')] },
  { metadata: { resourceVersion: '1' }, items: ['a', 'b', { metadata: {} }, 7, null, [], [{ metadata: {} }, { metadata: {} }]] },
  {
    metadata: {},
    items: ['a', 'b', 'c'].map((name) => ({
      apiVersion: 'example.com/v1',
      kind: 'Ware',
      metadata: { name, owners: [{ apiVersion: 'v1' }] },
    })),
  },
  { metadata: { resourceVersion: '1' } },
  {
    kind: 'items',
    items: Array.from({ length: 600 }, (_, i) => item(`object-${i}`, { data: { text: 'x'.repeat(i % 300) } })),
    metadata: { remainingItemCount: 3 },
  },
]

test('wherever it is cut, and however it is written', () => {
  for (const list of lists) {
    for (const text of [JSON.stringify(list), JSON.stringify(list, null, 2)]) {
      const wanted = { ...list, items: (list as { items?: unknown[] | null }).items ?? [] }
      const lengths = text.length < 2000 ? Array.from({ length: 60 }, (_, i) => i + 1) : [1000, 4096, 65_536, 10_000_000]
      for (const length of lengths) for (const batch of [1, 200, undefined]) assert.deepEqual(read(text, length, batch), wanted)
    }
  }
})

test('what is no list is refused', () => {
  for (const text of ['', '[', 'null', '{"items":[{]}', '{"items":[{}', '{"items":[{"a":1 "b"}]}'])
    assert.throws(() => read(text, 3), /list/, text)
  // Said twice, the second time after the first was taken for what it is.
  assert.throws(() => read('{"items":[{"a":1},{"a":2}],"items":5}', 3, 1), ProtocolError)
})

test('items are handed on as they come, also those that say what they are', () => {
  for (const type of [{}, { apiVersion: 'example.com/v1', kind: 'Ware' }]) {
    const owners = [{ apiVersion: 'example.com/v1' }, { apiVersion: 'example.com/v1' }]
    const items = Array.from({ length: 200 }, (_, i) => ({ ...type, metadata: { name: `object-${i}`, owners } }))
    const bytes = new TextEncoder().encode(JSON.stringify({ metadata: {}, items }))
    const reader = new ListReader(1000)
    for (let at = 0; at < bytes.length; at += 100) reader.take(bytes.subarray(at, at + 100))
    const { read } = reader as unknown as { readonly read: { readonly length: number } }
    assert.ok(read.length < 2000, `${read.length} of ${bytes.length} bytes are kept`)
    assert.deepEqual(reader.end().items, items)
  }
})

test('one very long item takes no longer than its length', () => {
  const text = JSON.stringify({ items: [{ data: 'x'.repeat(4 * 1024 * 1024) }] })
  const began = process.cpuUsage()
  read(text, 16_384)
  const { user } = process.cpuUsage(began)
  assert.ok(user < 5_000_000, `${user / 1000} ms`)
})
