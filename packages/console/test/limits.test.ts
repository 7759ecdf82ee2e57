// Work that grows with the input, and members with names of methods, without a browser.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KindSchema } from '../src/change/kind-schema.js'
import { findConflicts } from '../src/change/object-changes.js'
import type { Session } from '../src/session/session.js'
import type { Row, RowChange } from '../src/table/live-table.js'
import { compareCells, RowOrder } from '../src/table/row-order.js'
import { cellText } from '../src/ui/format.js'

const row = (name: string, cell: unknown): Row => ({
  key: name,
  name,
  namespace: '',
  uid: name,
  cells: [name, cell],
  createdMs: 0,
  isTerminating: false,
  changedMs: undefined,
})

describe('many rows', () => {
  test('many changes at once give the same order as single changes', async () => {
    const [batch, single] = [new RowOrder(), new RowOrder()]
    for (const order of [batch, single]) {
      order.add(Array.from({ length: 2000 }, (_, i) => row(`row-${i}`, i % 7)))
      await order.arrange({ by: 1, isDescending: true }, 'row')
    }
    const changes = Array.from({ length: 3000 }, (_, i): RowChange => {
      const name = `row-${(i * 7919) % 2500}`
      return i % 5 === 0 ? { type: 'delete', key: name } : { type: 'put', row: row(name, i % 11 === 0 ? '3/5' : i % 13) }
    })
    batch.apply(changes)
    for (const change of changes) single.apply([change])
    assert.deepEqual(
      batch.rows.map(({ key }) => key),
      single.rows.map(({ key }) => key),
    )
    assert.equal(batch.total, single.total)
  })

  test('a change of each of 50,000 rows compares rows a few times each', () => {
    let reads = 0
    const counted = (i: number): Row => Object.defineProperty({ ...row('', i) }, 'name', { get: () => `${reads++ && ''}row-${i}` })
    const keyed = (i: number): Row => Object.assign(counted(i), { key: `row-${i}` })
    const order = new RowOrder()
    order.add(Array.from({ length: 50_000 }, (_, i) => row(`row-${i}`, i)))
    order.apply(Array.from({ length: 50_000 }, (_, i): RowChange => ({ type: 'put', row: keyed(i) })))
    assert.equal(order.rows.length, 50_000)
    assert.ok(reads < 50_000 * 60, `${reads} reads`)
  })

  test('numbers and texts in cells are in one order', () => {
    assert.deepEqual(['b', '10', '1a', '2', null].sort(compareCells), ['2', '10', null, '1a', 'b'])
  })

  test('members with names of methods are shown, not called', () => {
    const cell = JSON.parse('{"toString":"x","__proto__":{"a":1}}') as unknown
    assert.equal(cellText(cell), '{"toString":"x","__proto__":{"a":1}}')
    const order = new RowOrder()
    order.add([row('a', cell)])
    order.apply([{ type: 'put', row: row('b', cell) }])
    assert.equal(order.total, 2)
  })
})

describe('conflicts', () => {
  const owner = { manager: 'other', operation: 'Apply', subresource: '', since: '', apiVersion: 'v1' }

  test('of 10,000 fields with 10,000 others are found at once', () => {
    const labels = (value: string): object => Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, value]))
    const owners = new Map(Array.from({ length: 10_000 }, (_, i) => [JSON.stringify(['metadata', 'labels', `label-${i}`]), [owner]]))
    const found = findConflicts({ metadata: { labels: labels('a') } }, { metadata: { labels: labels('b') } }, owners)
    assert.equal(found.length, 10_000)
    assert.deepEqual(found[7]?.reasons, ['changed meanwhile to "b"', 'owned by other · Apply'])
  })

  test('a field around and fields inside of the changed one conflict, neighbors do not', () => {
    const find = (theirs: object): number => findConflicts({ spec: { ports: [1] } }, theirs as never, new Map()).length
    assert.deepEqual([{ spec: null }, { spec: { ports: { a: 1 } } }, { spec: { port: 1 } }, { specs: null }].map(find), [1, 1, 0, 0])
  })

  test('another value of the other writer is another conflict, which the user has to decide again', () => {
    const keyOf = (replicas: number): string | undefined =>
      findConflicts({ spec: { replicas: 5 } }, { spec: { replicas } }, new Map())[0]?.key
    assert.equal(keyOf(4), keyOf(4))
    assert.notEqual(keyOf(4), keyOf(10))
  })
})

test('a schema does not have the fields that every JavaScript object inherits', async () => {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'string' } },
    'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Thing' }],
    'x-cluster-group-version-kind': [{ group: '', version: 'v1', kind: 'Thing' }],
  }
  const session = { client: { json: async () => ({ components: { schemas: { Thing: schema } } }) } } as unknown as Session
  const kind = { group: '', version: 'v1', kind: 'Thing' } as Parameters<typeof KindSchema.load>[1]
  const loaded = await KindSchema.load(session, kind, new AbortController().signal)
  assert.equal(loaded?.explain(['spec'])?.type, 'string')
  for (const name of ['constructor', '__proto__', 'toString']) assert.equal(loaded?.explain([name]), undefined)
})
