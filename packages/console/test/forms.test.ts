// Forms made of schemas, without a browser: fields, values by path, typed texts.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { valueAt, withKey, withoutValue, withValue } from '../src/create/edit-value.js'
import { formField, formFields, readTyped } from '../src/create/form-fields.js'
import { KindSchema } from '../src/editor/kind-schema.js'
import type { Session } from '../src/session/session.js'

const gadget = {
  type: 'object',
  required: ['spec'],
  'x-cluster-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Gadget' }],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { allOf: [{ $ref: '#/components/schemas/Meta' }] },
    status: { type: 'object', properties: {} },
    extra: { type: 'object' },
    spec: {
      type: 'object',
      required: ['size', 'color'],
      properties: {
        note: { type: 'string', default: 'none', description: 'A remark.' },
        size: { type: 'integer', default: 3 },
        color: { type: 'string', enum: ['red', 'green'] },
        port: { 'x-kubernetes-int-or-string': true },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        parts: {
          type: 'array',
          items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, big: { type: 'boolean' } } },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
}
const meta = {
  type: 'object',
  properties: { name: { type: 'string' }, labels: { type: 'object', additionalProperties: { type: 'string' } }, uid: { type: 'string' } },
}

describe('a form made of a schema', () => {
  let schema: KindSchema
  before(async () => {
    const session = { client: { json: async () => ({ components: { schemas: { Gadget: gadget, Meta: meta } } }) } } as unknown as Session
    const kind = { group: 'example.com', version: 'v1', kind: 'Gadget' } as Parameters<typeof KindSchema.load>[1]
    const loaded = await KindSchema.load(session, kind, new AbortController().signal)
    assert.ok(loaded !== undefined)
    schema = loaded
  })

  const names = (path: readonly (string | number)[]): readonly string[] =>
    formFields(schema, path).map(({ name, isRequired }) => (isRequired ? `${name}!` : name))

  test('has required fields first, and no fields that the server sets', () => {
    assert.deepEqual(names([]), ['metadata!', 'spec!', 'extra'])
    assert.deepEqual(names(['metadata']), ['name!', 'labels'])
    assert.deepEqual(names(['spec']), ['color!', 'size!', 'free', 'labels', 'note', 'parts', 'port'])
    assert.deepEqual(names(['spec', 'parts', 0]), ['name!', 'big'])
  })

  test('has a control, default, choices and description for each field', () => {
    const controls = Object.fromEntries(formFields(schema, ['spec']).map(({ name, control }) => [name, control]))
    assert.deepEqual(controls, {
      color: 'choice',
      size: 'number',
      free: 'other',
      labels: 'map',
      note: 'text',
      parts: 'list',
      port: 'number or text',
    })
    assert.equal(formField(schema, ['spec', 'parts', 0])?.control, 'object')
    assert.equal(formField(schema, ['spec', 'parts', 0, 'big'])?.control, 'boolean')
    assert.equal(formField(schema, ['spec', 'labels', 'a'])?.control, 'text')
    const note = formField(schema, ['spec', 'note'])
    assert.deepEqual([note?.fallback, note?.description], ['none', 'A remark.'])
    assert.deepEqual(
      [formField(schema, ['spec', 'size'])?.fallback, formField(schema, ['spec', 'color'])?.choices],
      ['3', ['red', 'green']],
    )
    assert.equal(formField(schema, ['spec', 'constructor']), undefined)
  })

  test('reads typed texts by the type of the field', () => {
    assert.deepEqual(
      [
        readTyped('number', '12'),
        readTyped('number', '-1.5'),
        readTyped('number', '1e'),
        readTyped('number or text', '80'),
        readTyped('number or text', '80%'),
        readTyped('text', '80'),
        readTyped('boolean', 'false'),
        readTyped('text', ''),
      ],
      [12, -1.5, '1e', 80, '80%', '80', false, undefined],
    )
  })
})

test('values change by path, and the order of the fields stays', () => {
  const value = { a: { b: [1, { c: 2 }] }, d: 3 }
  assert.deepEqual(withValue(value, ['a', 'b', 1, 'c'], 5), { a: { b: [1, { c: 5 }] }, d: 3 })
  assert.deepEqual(withValue({}, ['x', 'y', 0], 'z'), { x: { y: ['z'] } })
  assert.deepEqual(Object.keys(withValue(value, ['a'], 1) as object), ['a', 'd'])
  assert.deepEqual(value, { a: { b: [1, { c: 2 }] }, d: 3 }, 'the value is not modified')
  assert.deepEqual(withoutValue(value, ['a', 'b', 0]), { a: { b: [{ c: 2 }] }, d: 3 })
  assert.deepEqual(withoutValue(value, ['a', 'b']), { a: {}, d: 3 })
  assert.equal(withoutValue(value, ['none', 'b']), value)
  assert.deepEqual(Object.keys(withKey({ m: { a: 1, b: 2 } }, ['m'], 'a', 'z') as object), ['m'])
  assert.deepEqual(Object.entries(valueAt(withKey({ m: { a: 1, b: 2 } }, ['m'], 'a', 'z'), ['m']) as object), [
    ['z', 1],
    ['b', 2],
  ])
  assert.deepEqual(withKey({ m: { a: 1, b: 2 } }, ['m'], 'a', 'b'), { m: { a: 1, b: 2 } }, 'another entry is not overwritten')
  assert.equal(valueAt({}, ['constructor']), undefined)
  assert.equal(JSON.stringify(withValue({}, ['__proto__'], 1)), '{"__proto__":1}')
})
