// Work that grows with the input, and members with names of methods, without a browser.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findConflicts } from '../src/change/object-changes.js'
import { KindSchema } from '../src/editor/kind-schema.js'
import { lineOfField, readFieldPath, scanYaml } from '../src/editor/scan-yaml.js'
import { yamlLines } from '../src/object/yaml-lines.js'
import { currentDraft, keepDraft } from '../src/policies/draft.js'
import { Session } from '../src/session/session.js'
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

describe('hostile YAML', () => {
  test('comments, blocks and empty lines after a deep list take linear memory and time', () => {
    const list = '- '.repeat(60_000)
    for (const line of ['#\n', '\n', `${' '.repeat(60)}\n`]) {
      const lines = scanYaml(`${list}\n${line.repeat(180_000 / line.length)}`)
      assert.equal(lines[0]?.path.length, 60_000)
    }
    const block = scanYaml(`${'- '.repeat(300)}|\n${`${' '.repeat(602)}#\n`.repeat(400)}`)
    assert.equal(block[400]?.path.length, 300)
  })

  test('an object that is nested deeply is shown up to a limit', () => {
    for (const inner of [Array.from({ length: 300_000 }, () => 1), 'a\n'.repeat(300_000)]) {
      let value: unknown = inner
      for (let depth = 0; depth < 900; depth++) value = { a: value }
      const lines = yamlLines({ spec: value } as never)
      assert.match(lines.at(-1)?.value ?? '', /the rest is not shown/)
      assert.ok(lines.reduce((sum, { indent, path }) => sum + indent + path.length, 0) < 34 << 20)
    }
    assert.equal(yamlLines({ lines: 'a\n'.repeat(30_000) }).length, 30_001)
  })

  test('a long path in an error of the server is cut', () => {
    assert.equal(readFieldPath(`data${'['.repeat(500_000)}`)[0], 'data')
    assert.equal(lineOfField(scanYaml('a:\n'.repeat(1000)), readFieldPath('a.'.repeat(500_000))), 0)
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

test('the policies page begins with the draft of the same user only', () => {
  const sessionOf = (user: string): Session => Object.create(Session.prototype, { user: { value: user } }) as Session
  keepDraft(sessionOf('one'), { object: 'secret' })
  assert.equal(currentDraft(sessionOf('one')).object, 'secret', 'after the token expired')
  for (const user of ['other', '']) assert.equal(currentDraft(sessionOf(user)).object, '')
  const nameless = sessionOf('')
  keepDraft(nameless, { policies: 'secret' })
  assert.deepEqual([currentDraft(nameless).policies, currentDraft(nameless).object], ['secret', ''])
  assert.equal(currentDraft(sessionOf('')).policies, '')
})

test('a schema does not have the fields that every JavaScript object inherits', async () => {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'string' }, mode: { type: 'object', enum: [{ toString: 1, valueOf: 1 }] } },
    'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Thing' }],
    'x-cluster-group-version-kind': [{ group: '', version: 'v1', kind: 'Thing' }],
  }
  const session = { client: { json: async () => ({ components: { schemas: { Thing: schema } } }) } } as unknown as Session
  const kind = { group: '', version: 'v1', kind: 'Thing' } as Parameters<typeof KindSchema.load>[1]
  const loaded = await KindSchema.load(session, kind, new AbortController().signal)
  assert.equal(loaded?.explain(['spec'])?.type, 'string')
  assert.deepEqual(loaded?.enumAt(['mode']), ['{"toString":1,"valueOf":1}'])
  assert.deepEqual(loaded?.explain(['mode'])?.facts, [['one of', '{"toString":1,"valueOf":1}']])
  for (const name of ['constructor', '__proto__', 'toString']) assert.equal(loaded?.explain([name]), undefined)
})
