// Streaming list parser: same result as JSON.parse for all chunk sizes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProtocolError } from '../errors.js'
import { ListReader } from './list-reader.js'

const parseInChunks = (text: string, length: number, batchBytes?: number): unknown => {
  const reader = new ListReader(batchBytes)
  const bytes = new TextEncoder().encode(text)
  for (let offset = 0; offset < bytes.length; offset += length) reader.append(bytes.subarray(offset, offset + length))
  return reader.end()
}

const item = (name: string, fields: object = {}): object => ({
  metadata: { name, annotations: { a: 'b]"},{\\', '"items":[': '\\"' } },
  items: [1, [2, {}]],
  ...fields,
})

const lists: readonly object[] = [
  { kind: 'AList', apiVersion: 'v1', metadata: { resourceVersion: '7', items: ['no'] }, items: [] },
  { kind: 'AList', metadata: {}, items: [item('a')] },
  { items: [item('a'), item('b', { text: 'ä€😀\n' }), item('c')], kind: 'AList', metadata: { continue: 'x' } },
  { items: null, metadata: {} },
  // Nested lists whose items begin like those of the outer list.
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

test('parses lists in chunks of any size, compact and indented', () => {
  for (const list of lists) {
    for (const text of [JSON.stringify(list), JSON.stringify(list, null, 2)]) {
      const expected = { ...list, items: (list as { items?: unknown[] | null }).items ?? [] }
      const lengths = text.length < 2000 ? Array.from({ length: 60 }, (_, i) => i + 1) : [1000, 4096, 65_536, 10_000_000]
      for (const length of lengths) for (const batch of [1, 200, undefined]) assert.deepEqual(parseInChunks(text, length, batch), expected)
    }
  }
})

test('rejects invalid JSON and values that are not lists', () => {
  for (const text of ['', '[', 'null', '{"items":[{]}', '{"items":[{}', '{"items":[{"a":1 "b"}]}'])
    assert.throws(() => parseInChunks(text, 3), /list/, text)
  // Repeated `items` field, after items of the first were parsed.
  assert.throws(() => parseInChunks('{"items":[{"a":1},{"a":2}],"items":5}', 3, 1), ProtocolError)
})

test('parses items before the list is complete, with and without apiVersion', () => {
  for (const type of [{}, { apiVersion: 'example.com/v1', kind: 'Ware' }]) {
    const owners = [{ apiVersion: 'example.com/v1' }, { apiVersion: 'example.com/v1' }]
    const items = Array.from({ length: 200 }, (_, i) => ({ ...type, metadata: { name: `object-${i}`, owners } }))
    const bytes = new TextEncoder().encode(JSON.stringify({ metadata: {}, items }))
    const reader = new ListReader(1000)
    for (let offset = 0; offset < bytes.length; offset += 100) reader.append(bytes.subarray(offset, offset + 100))
    const { buffer } = reader as unknown as { readonly buffer: { readonly length: number } }
    assert.ok(buffer.length < 2000, `${buffer.length} of ${bytes.length} bytes are kept`)
    assert.deepEqual(reader.end().items, items)
  }
})
