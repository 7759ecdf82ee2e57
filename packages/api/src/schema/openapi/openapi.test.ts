// OpenAPI v2 and v3 of every node type, and keywords next to references.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from '../node.js'
import { defineAll, type JsonSchema, type OpenApiVersion, openDefinitions, type Publication } from './openapi.js'

const struct = s.structsOf('api.test.v1')

const publication = (version: OpenApiVersion, overrides: Partial<Publication> = {}): Publication => ({
  version,
  nameOf: (home, name) => `org.${home}.${name}`,
  describe: () => undefined,
  kindsOf: () => [],
  ...overrides,
})

/** Schema of a node under `used`, and the definitions that it refers to. */
function published(node: s.SchemaNode, version: OpenApiVersion, overrides?: Partial<Publication>): { readonly [name: string]: JsonSchema } {
  const definitions = openDefinitions(publication(version, overrides))
  const used = definitions.schemaOf(node)
  return { used, ...Object.fromEntries(defineAll(definitions)) }
}

const ref2 = (name: string): JsonSchema => ({ $ref: `#/definitions/org.${name}` })
const ref3 = (name: string): JsonSchema => ({ $ref: `#/components/schemas/org.${name}` })
const timeName = 'apimachinery.pkg.apis.meta.v1.Time'
const dateTime = { type: 'string', format: 'date-time' }

interface Row {
  readonly name: string
  readonly node: s.SchemaNode
  readonly used: JsonSchema
  readonly used3?: JsonSchema
}

const inlinedTypes: readonly Row[] = [
  { name: 'string', node: s.string, used: { type: 'string' } },
  { name: 'boolean', node: s.boolean, used: { type: 'boolean' } },
  { name: 'int32', node: s.int32, used: { type: 'integer', format: 'int32' } },
  { name: 'int64', node: s.int64, used: { type: 'integer', format: 'int64' } },
  { name: 'number', node: s.number, used: { type: 'number', format: 'double' } },
  { name: 'bytes', node: s.bytes, used: { type: 'string', format: 'byte' } },
  {
    name: 'list of strings: items have a default in v3',
    node: s.list(s.string),
    used: { type: 'array', items: { type: 'string' } },
    used3: { type: 'array', items: { type: 'string', default: '' } },
  },
  {
    name: 'list of integers',
    node: s.list(s.int64),
    used: { type: 'array', items: { type: 'integer', format: 'int64' } },
    used3: { type: 'array', items: { type: 'integer', format: 'int64', default: 0 } },
  },
  { name: 'list of bytes: no default', node: s.list(s.bytes), used: { type: 'array', items: { type: 'string', format: 'byte' } } },
  {
    name: 'map of lists',
    node: s.map(s.list(s.string), { mapType: 'atomic' }),
    used: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } }, 'x-kubernetes-map-type': 'atomic' },
    used3: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string', default: '' } },
      'x-kubernetes-map-type': 'atomic',
    },
  },
  {
    name: 'list type, keys and patch strategy',
    node: s.list(s.bytes, { listType: 'map', keys: ['a', 'b'], patchStrategy: 'merge', patchMergeKey: 'a' }),
    used: {
      type: 'array',
      items: { type: 'string', format: 'byte' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a', 'b'],
      'x-kubernetes-patch-merge-key': 'a',
      'x-kubernetes-patch-strategy': 'merge',
    },
  },
  {
    name: 'a struct without a package is inlined',
    node: s.struct('Inner', { a: s.field(1, s.string) }),
    used: { type: 'object', properties: { a: { type: 'string' } } },
  },
]

for (const { name, node, used, used3 = used } of inlinedTypes) {
  test(`${name}, in OpenAPI v2`, () => assert.deepEqual(published(node, 2), { used }))
  test(`${name}, in OpenAPI v3`, () => assert.deepEqual(published(node, 3), { used: used3 }))
}

test('named types are referenced and defined once', () => {
  const point = struct('Point', { x: s.field(1, s.int32), at: s.field(2, s.time) })
  assert.deepEqual(published(s.list(point), 2), {
    used: { type: 'array', items: ref2('api.test.v1.Point') },
    'org.api.test.v1.Point': { type: 'object', properties: { x: { type: 'integer', format: 'int32' }, at: ref2(timeName) } },
    [`org.${timeName}`]: dateTime,
  })
})

test('OpenAPI v3 wraps a reference with other keywords in allOf', () => {
  const described: Partial<Publication> = { describe: (_type, field) => (field === undefined ? undefined : `About ${field}.`) }
  const node = struct('Holder', { at: s.field(1, s.time, { default: {} }), again: s.field(2, s.time) })
  assert.deepEqual(published(node, 3, described)['org.api.test.v1.Holder'], {
    type: 'object',
    properties: {
      at: { description: 'About at.', default: {}, allOf: [ref3(timeName)] },
      again: { description: 'About again.', allOf: [ref3(timeName)] },
    },
  })
  assert.deepEqual(published(node, 2, described)['org.api.test.v1.Holder'], {
    type: 'object',
    properties: { at: { ...ref2(timeName), description: 'About at.' }, again: { ...ref2(timeName), description: 'About again.' } },
  })
  assert.deepEqual(published(node, 3)['org.api.test.v1.Holder'], {
    type: 'object',
    properties: { at: { default: {}, allOf: [ref3(timeName)] }, again: ref3(timeName) },
  })
})

test('a struct publishes its fields and extensions', () => {
  const node = struct(
    'Thing',
    {
      metadata: s.field(1, s.string),
      name: s.field(2, s.string, { required: true, default: '' }),
      mode: s.field(3, s.string, { enum: ['A', 'B'] }),
      part: s.field(5, s.map(s.string), { patchStrategy: 'retainKeys', mapType: 'granular' }),
      raw: s.field(6, s.bytes, { required: true, listType: 'atomic', patchMergeKey: 'x' }),
    },
    { typeMeta: true, mapType: 'atomic', unions: [{ discriminator: 'mode', values: { part: 'A' } }] },
  )
  const kind = { group: 'test', version: 'v1', kind: 'Thing' }
  assert.deepEqual(published(node, 2, { kindsOf: (candidate) => (candidate === node ? [kind] : []) })['org.api.test.v1.Thing'], {
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'string' },
      name: { type: 'string' },
      mode: { type: 'string', enum: ['A', 'B'] },
      part: {
        type: 'object',
        additionalProperties: { type: 'string' },
        'x-kubernetes-map-type': 'granular',
        'x-kubernetes-patch-strategy': 'retainKeys',
      },
      raw: { type: 'string', format: 'byte', 'x-kubernetes-list-type': 'atomic', 'x-kubernetes-patch-merge-key': 'x' },
    },
    required: ['name', 'raw'],
    'x-kubernetes-map-type': 'atomic',
    'x-kubernetes-unions': [{ discriminator: 'mode', 'fields-to-discriminateBy': { part: 'A' } }],
    'x-kubernetes-group-version-kind': [kind],
  })
})

test('recursive types refer to themselves', () => {
  const tree: s.StructNode = struct('Tree', { branches: s.field(1, s.list(s.lazy(() => tree))) })
  assert.deepEqual(published(tree, 3), {
    used: ref3('api.test.v1.Tree'),
    'org.api.test.v1.Tree': {
      type: 'object',
      properties: { branches: { type: 'array', items: { default: {}, allOf: [ref3('api.test.v1.Tree')] } } },
    },
  })
})

test('embedded structs are inlined', () => {
  const inner = struct('Inner', { a: s.field(1, s.string, { required: true }) })
  const outer = struct('Outer', { ...s.embed(1, inner), b: s.field(2, s.string) })
  assert.deepEqual(published(outer, 2), {
    used: ref2('api.test.v1.Outer'),
    'org.api.test.v1.Outer': { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] },
  })
})

test('Quantity and IntOrString have oneOf in v3 and one type in v2', () => {
  const quantity = 'org.apimachinery.pkg.api.resource.Quantity'
  assert.deepEqual(published(s.quantity, 2)[quantity], { type: 'string' })
  assert.deepEqual(published(s.quantity, 3)[quantity], { oneOf: [{ type: 'string' }, { type: 'number' }] })
  const port = 'org.apimachinery.pkg.util.intstr.IntOrString'
  assert.deepEqual(published(s.intOrString, 2)[port], { type: 'string', format: 'int-or-string' })
  assert.deepEqual(published(s.intOrString, 3)[port], { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] })
})

test('JSON has no type, RawExtension is an object', () => {
  assert.deepEqual(published(s.any('json'), 2)['org.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON'], {})
  assert.deepEqual(published(s.any('raw'), 3)['org.apimachinery.pkg.runtime.RawExtension'], { type: 'object' })
})

test('preserve-unknown-fields and additionalProperties', () => {
  const open = s.struct('Open', { a: s.field(1, s.string) }, { rest: s.any('json') })
  assert.deepEqual(published(open, 3)['used'], {
    type: 'object',
    properties: { a: { type: 'string' } },
    'x-kubernetes-preserve-unknown-fields': true,
  })
  const typed = s.struct('Typed', {}, { rest: s.int32 })
  assert.deepEqual(published(typed, 3)['used'], { type: 'object', additionalProperties: { type: 'integer', format: 'int32' } })
})

test('customSchemaFor replaces the derived schema', () => {
  const node = struct('Custom', { a: s.field(1, s.string) })
  const customSchema: JsonSchema = { type: 'object', maxProperties: 3 }
  const customSchemaFor: Publication['customSchemaFor'] = (candidate) => (candidate === node ? customSchema : undefined)
  assert.deepEqual(published(node, 3, { customSchemaFor })['org.api.test.v1.Custom'], customSchema)
})
