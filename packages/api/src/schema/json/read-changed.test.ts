// readChanged skips parts that a patched value shares with the previous version; its result must equal that of readValue.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from '../node.js'
import { readValue, SchemaReadError } from './read.js'
import { readChanged } from './read-changed.js'
import { hasSentEmpty } from './sent-empty.js'

type Plain = { readonly [name: string]: unknown }

const item = s.struct('Item', { name: s.jsonField(s.string), count: s.jsonField(s.int32), limits: s.jsonField(s.map(s.quantity)) })
const thing: s.StructNode = s.struct(
  'Thing',
  {
    data: s.jsonField(s.map(s.string)),
    bytes: s.jsonField(s.map(s.bytes)),
    amount: s.jsonField(s.quantity),
    at: s.jsonField(s.time, { pointer: true }),
    on: s.jsonField(s.boolean),
    items: s.jsonField(s.list(item)),
    always: s.jsonField(s.list(s.string), { always: true }),
    free: s.jsonField(s.any('json')),
    inner: s.jsonField(item, { pointer: true }),
    open: s.jsonField({ ...item, rest: s.string }),
  },
  { typeMeta: true },
)

const start: Plain = {
  data: { a: '1', b: '2' },
  bytes: { a: 'YQ==' },
  amount: '1500m',
  at: '2030-01-01T00:00:00Z',
  on: true,
  items: [{ name: 'x', count: 1, limits: { cpu: '1' } }, { name: 'y' }],
  always: ['a'],
  free: { any: [1, { thing: null }] },
  inner: { name: 'i', limits: { cpu: '2' } },
  open: { name: 'o', more: 'm' },
}

const outcome = (read: () => ReturnType<typeof readValue>) => {
  try {
    const { value, report } = read()
    return { value, unknown: report.unknown, isSentEmpty: hasSentEmpty(value) }
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) return thrown.message
    throw thrown
  }
}

const before = readValue(thing, start).value as Plain

/** Asserts that both readers agree, and returns the outcome. */
function check(value: unknown): ReturnType<typeof outcome> {
  const expected = outcome(() => readValue(thing, value))
  const text = JSON.stringify(value)
  assert.deepEqual(
    outcome(() => readChanged(thing, before, value)),
    expected,
    text,
  )
  assert.equal(JSON.stringify(value), text, 'the input is unchanged')
  return expected
}

const changes: { readonly [name: string]: Plain } = {
  string: { data: { ...(before['data'] as Plain), a: 'other' } },
  'non-canonical quantity': { amount: '2000m' },
  'quantity in a list item': { items: [{ ...(before['items'] as Plain[])[0], limits: { cpu: 2 } }, (before['items'] as Plain[])[1]] },
  time: { at: '2031-01-01T00:00:00+01:00' },
  'zero values': { on: false, amount: '0', at: '0001-01-01T00:00:00Z' },
  'empty string in an item': { items: [{ name: '', count: 0 }] },
  'empty lists and maps': { data: {}, items: [], always: [] },
  null: { data: null, amount: null, items: [null], inner: null },
  'null in a map': { data: { a: null, b: '2' }, bytes: { a: null } },
  'unknown fields': { more: 1, inner: { name: 'i', more: { x: 1 } } },
  '__proto__ and constructor as keys': { data: { ['__proto__']: 'x', constructor: 'y' } },
  'unstructured JSON': { free: null },
  'member of a struct with rest': { open: { name: 'o', more: 'n', most: '' } },
  'additional item': { items: [...(before['items'] as Plain[]), { name: 'z', limits: { cpu: 3 } }] },
  'number for a string': { data: { a: 5 } },
  'invalid base64': { bytes: { a: '!' } },
  'object for a list': { items: {} },
  'kind and apiVersion': { kind: 'Thing', apiVersion: '' },
  'number for kind': { kind: 5 },
}

for (const [name, change] of Object.entries(changes))
  test(`readChanged equals readValue: ${name}`, () => void check({ ...before, ...change }))

test('unchanged parts are shared, and a canonical input is returned itself', () => {
  const value = { ...before, data: { ...(before['data'] as Plain), a: 'other' } }
  const { value: read } = readChanged(thing, before, value)
  assert.equal(read, value)
  assert.equal((read as Plain)['items'], before['items'])
})

test('removed members stay removed', () => {
  const { data: _, ...rest } = before
  assert.deepEqual(check(rest), { value: rest, unknown: [], isSentEmpty: false })
})

test('readChanged equals readValue for random changes', () => {
  let state = 5
  const random = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >>> 8) / 0x7fffff
  }
  const values: readonly unknown[] = [
    null,
    '',
    'x',
    '1500m',
    0,
    7,
    true,
    false,
    [],
    {},
    ['a', null],
    { a: 'b' },
    { cpu: '1' },
    '2030-01-01T00:00:00Z',
  ]
  const vary = (value: unknown): unknown => {
    if (random() < 0.07) return values[Math.floor(random() * values.length)]
    if (Array.isArray(value)) return random() < 0.6 ? value : value.map(vary)
    if (typeof value !== 'object' || value === null || random() < 0.4) return value
    const members = Object.entries(value).filter(() => random() < 0.97)
    return Object.fromEntries([...members.map(([name, member]) => [name, vary(member)]), ...(random() < 0.05 ? [['more', 'x']] : [])])
  }
  for (let i = 0; i < 3000; i++) {
    const value = vary(before)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) check(value)
  }
})
