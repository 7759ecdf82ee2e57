// Reading and writing of the unions in JSONSchemaProps, of quantities and of fields that are always written.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from '../node.js'
import { printPath } from '../path.js'
import { readValue, SchemaReadError } from './read.js'
import { writeValue } from './write.js'

const self = s.lazy(() => props)
const props: s.StructNode = s.struct('Props', {
  type: s.field(1, s.string),
  items: s.field(2, s.any('schemaOrArray', self), { pointer: true }),
  more: s.field(3, s.any('schemaOrBool', self), { pointer: true }),
  needs: s.field(4, s.map(s.any('schemaOrStrings', self))),
})

const rows: readonly { readonly name: string; readonly sent: unknown; readonly written: string; readonly unknown?: readonly string[] }[] = [
  { name: 'schema', sent: { items: { type: 'a', items: {} } }, written: '{"items":{"type":"a","items":{}}}' },
  { name: 'array of schemas', sent: { items: [{ type: 'a' }, null] }, written: '{"items":[{"type":"a"},{}]}' },
  { name: 'false', sent: { more: false }, written: '{"more":false}' },
  { name: 'schema for schemaOrBool', sent: { more: { type: '' } }, written: '{"more":{}}' },
  { name: 'strings', sent: { needs: { a: ['b'], c: { type: 'd' } } }, written: '{"needs":{"a":["b"],"c":{"type":"d"}}}' },
  {
    name: 'unknown fields are dropped, and reported only outside unions',
    sent: { x: 1, items: { y: 2 } },
    written: '{"items":{}}',
    unknown: ['x'],
  },
]

for (const { name, sent, written, unknown = [] } of rows) {
  test(`unions: ${name}`, () => {
    const { value, report } = readValue(props, sent)
    assert.equal(writeValue(props, value), written)
    assert.deepEqual(report.unknown.map(printPath), unknown)
  })
}

for (const sent of [{ items: 1 }, { more: [] }, { needs: { a: [1] } }]) {
  test(`unions: ${JSON.stringify(sent)} is rejected`, () => assert.throws(() => readValue(props, sent), SchemaReadError))
}

const sized = s.struct('Sized', {
  size: s.field(1, s.quantity),
  limits: s.field(2, s.map(s.quantity)),
  wait: s.field(3, s.duration),
  port: s.field(4, s.intOrString),
  when: s.field(5, s.time),
  data: s.field(6, s.any('raw')),
  maybe: s.field(7, s.quantity, { pointer: true }),
})

test('quantities become canonical', () => {
  const { value } = readValue(sized, { size: 1.5, limits: { a: '1024Mi', b: 2, c: ' 1 ' } })
  assert.deepEqual(value, { size: '1500m', limits: { a: '1Gi', b: '2', c: '1' } })
})

test('the zero time of Go is dropped', () => {
  assert.deepEqual(readValue(sized, { when: '0001-01-01T00:00:00Z' }).value, {})
  assert.deepEqual(readValue(sized, { when: '0001-01-01T00:00:01Z' }).value, { when: '0001-01-01T00:00:01Z' })
})

test('an invalid quantity is rejected with its path', () => {
  assert.throws(
    () => readValue(sized, { limits: { a: 'much' } }),
    (thrown) => thrown instanceof SchemaReadError && thrown.path === 'limits.a' && /quantities must match/.test(thrown.message),
  )
})

test('types that are structs in Go are always written', () => {
  assert.equal(writeValue(sized, {}), '{"size":"0","wait":"0s","port":0,"when":null,"data":null}')
})
