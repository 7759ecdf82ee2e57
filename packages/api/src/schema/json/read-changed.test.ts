// That reading what changed gives what reading everything gives.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from './node.js'
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

/** Both ways, and what they say. */
function check(value: unknown): ReturnType<typeof outcome> {
  const all = outcome(() => readValue(thing, value))
  const text = JSON.stringify(value)
  assert.deepEqual(
    outcome(() => readChanged(thing, before, value)),
    all,
    text,
  )
  assert.equal(JSON.stringify(value), text, 'what it was handed is as it was')
  return all
}

const changes: { readonly [name: string]: Plain } = {
  'a text': { data: { ...(before['data'] as Plain), a: 'other' } },
  'a quantity in another spelling': { amount: '2000m' },
  'a quantity in an item': { items: [{ ...(before['items'] as Plain[])[0], limits: { cpu: 2 } }, (before['items'] as Plain[])[1]] },
  'a time': { at: '2031-01-01T00:00:00+01:00' },
  'zero values': { on: false, amount: '0', at: '0001-01-01T00:00:00Z' },
  'no text': { items: [{ name: '', count: 0 }] },
  'lists and maps without anything': { data: {}, items: [], always: [] },
  nothing: { data: null, amount: null, items: [null], inner: null },
  'nothing in a map': { data: { a: null, b: '2' }, bytes: { a: null } },
  'members that are not known': { more: 1, inner: { name: 'i', more: { x: 1 } } },
  'a name of every object': { data: { ['__proto__']: 'x', constructor: 'y' } },
  'free JSON': { free: null },
  'a member of an open struct': { open: { name: 'o', more: 'n', most: '' } },
  'more items': { items: [...(before['items'] as Plain[]), { name: 'z', limits: { cpu: 3 } }] },
  'a text that is none': { data: { a: 5 } },
  'bytes that are none': { bytes: { a: '!' } },
  'a list that is none': { items: {} },
  'a type': { kind: 'Thing', apiVersion: '' },
  'a type that is no text': { kind: 5 },
}

for (const [name, change] of Object.entries(changes)) test(`read what changed: ${name}`, () => void check({ ...before, ...change }))

test('what did not change is shared, and what has to be read for nothing is the value itself', () => {
  const value = { ...before, data: { ...(before['data'] as Plain), a: 'other' } }
  const { value: read } = readChanged(thing, before, value)
  assert.equal(read, value)
  assert.equal((read as Plain)['items'], before['items'])
})

test('members that are gone are gone', () => {
  const { data: _, ...rest } = before
  assert.deepEqual(check(rest), { value: rest, unknown: [], isSentEmpty: false })
})

test('random changes', () => {
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
