// Tests of numbers with a point or an exponent: rejected for integer fields, kept as written in quantities.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { any, field, int32, int64, intOrString, list, map, number, quantity, struct } from '../../schema/node.js'
import { decodeJsonObject } from '../decode-object.js'

const expected = {
  kind: 'Box',
  apiVersion: 'v1',
  schema: struct(
    'Box',
    {
      small: field(1, int32),
      large: field(2, int64),
      either: field(3, intOrString),
      share: field(4, number),
      amounts: field(5, map(quantity)),
      items: field(6, list(struct('Item', { port: field(1, int32) }))),
      raw: field(7, any('json')),
    },
    { typeMeta: true },
  ),
}
const decode = (text: string) => decodeJsonObject(new TextEncoder().encode(text), expected)

for (const [text, problem] of [
  ['{"small":80.0}', 'small: cannot read number as int32'],
  ['{"small":8e1}', 'small: cannot read number as int32'],
  ['{"large":1E2}', 'large: cannot read number as int64'],
  ['{"either":80.0}', 'either: cannot read number as int32'],
  ['{"items":[{"port":1},{"port":0.0}]}', 'items[1].port: cannot read number as int32'],
] as const) {
  test(`decimals: ${text} is rejected`, () => {
    assert.throws(() => decode(text), { message: `Box in version "v1" cannot be handled as a Box: json: ${problem}` })
  })
}

for (const [text, object] of [
  ['{"share":2.0,"small":2}', { share: 2, small: 2 }],
  ['{"amounts":{"cpu":1.0,"memory":1e3}}', { amounts: { cpu: '1', memory: '1e3' } }],
  ['{"raw":{"small":[80.0,1e2]}}', { raw: { small: [80, 100] } }],
  ['{"either":"80.0"}', { either: '80.0' }],
] as const) {
  test(`decimals: ${text} is accepted`, () => {
    assert.deepEqual(decode(text), { object, problems: [] })
  })
}

test('decimals: unknown fields stay unknown, custom resources accept them', () => {
  assert.deepEqual(decode('{"odd":{"small":1.0}}').problems, ['unknown field "odd"'])
  const custom = { ...expected, definition: { custom: {} } }
  const text = '{"kind":"Box","apiVersion":"v1","small":80.0}'
  assert.deepEqual(decodeJsonObject(new TextEncoder().encode(text), custom).object, { small: 80 })
})
