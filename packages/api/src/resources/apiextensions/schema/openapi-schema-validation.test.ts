// Tests of CRD schema validation: structural schema, keywords, list types.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines } from '../../../api/rule-context.fixture.js'
import { readValue } from '../../../schema/json/read.js'
import { rowTitle } from '../../expect-errors.fixture.js'
import { jsonSchemaProps } from '../v1.schema.js'
import type { JsonSchema } from './json-schema.js'
import { validateOpenApiSchema } from './openapi-schema-validation.js'

type Row = readonly [schema: JsonSchema, ...expected: readonly string[]]

const errorsOf = (schema: JsonSchema): readonly string[] => lines(validateOpenApiSchema(frozen(schema), 's', { hasStatus: false }))
const text: JsonSchema = { type: 'string' }
const object = (properties: JsonSchema['properties'] = {}, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more })
const mapType = 'must be object if x-kubernetes-map-type is specified'

/** Schemas of the property `p` of the root, with expected errors. */
const propertyRows: readonly Row[] = [
  [text],
  [{ 'x-kubernetes-preserve-unknown-fields': true }],
  [{ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, text] }],
  [{ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: [{ type: 'integer' }, text] }, { pattern: 'x' }] }],
  [{}, '.type: Required value: must not be empty for specified object fields'],
  [{ type: 'int32' }, '.type: Unsupported value: "int32": supported values: "array", "boolean", "integer", "number", "object", "string"'],
  [{ type: 'array', items: { minLength: 1 } }, '.items.type: Required value: must not be empty for specified array items'],
  [{ type: 'array' }, '.items: Required value: must be specified'],
  [{ type: 'array', items: [text] }, '.items: Forbidden: items must be a schema object and not an array'],
  [
    { ...text, anyOf: [{ ...text, nullable: true, title: 't' }] },
    '.anyOf[0].nullable: Forbidden: must be false to be structural',
    '.anyOf[0].title: Forbidden: must be empty to be structural',
    '.anyOf[0].type: Forbidden: must be empty to be structural',
  ],
  [
    { ...text, anyOf: [{ nullable: false, title: '', 'x-kubernetes-list-map-keys': [] }], not: { additionalProperties: false } },
    '.not.additionalProperties: Forbidden: must be undefined to be structural',
  ],
  [
    {
      'x-kubernetes-int-or-string': true,
      anyOf: [
        { type: 'integer', nullable: false },
        { ...text, example: 'a' },
      ],
    },
  ],
  [
    object({}, { not: { properties: { metadata: {} } } }),
    '.not.properties[metadata]: Forbidden: must not be specified in a nested context',
  ],
  [
    object({}, { oneOf: [{ items: { 'x-kubernetes-list-type': 'set', 'x-kubernetes-map-type': 'atomic' } }] }),
    '.oneOf[0].items.x-kubernetes-list-type: Forbidden: must be undefined to be structural',
    '.oneOf[0].items.x-kubernetes-map-type: Forbidden: must be undefined to be structural',
    `.oneOf[0].items.type: Required value: ${mapType}`,
    '.oneOf[0].items.type: Required value: must be array if x-kubernetes-list-type is specified',
  ],
  [
    { ...text, pattern: '(' },
    '.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
  ],
  [
    object({ a: text }, { additionalProperties: text }),
    '.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
  ],
  [
    { ...text, id: 'x', definitions: { a: text }, $ref: '#' },
    '.id: Forbidden: id is not supported',
    '.definitions: Forbidden: definitions is not supported',
    '.$ref: Forbidden: $ref is not supported',
  ],
  [
    object({}, { 'x-kubernetes-preserve-unknown-fields': false }),
    '.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
  ],
  [object({}, { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true })],
  [
    object({ kind: { type: 'integer' }, metadata: text }, { 'x-kubernetes-embedded-resource': true }),
    '.properties[kind].type: Invalid value: "integer": must be string',
    '.properties[metadata].type: Invalid value: "string": must be object',
  ],
  [
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    '.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
  ],
  [
    { ...text, 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    '.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
  ],
  [{ type: 'array', items: text, 'x-kubernetes-list-type': 'set' }],
  [
    { type: 'array', items: object(), 'x-kubernetes-list-type': 'set' },
    '.items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set',
  ],
  [
    { type: 'array', items: object({}, { 'x-kubernetes-map-type': 'granular' }), 'x-kubernetes-list-type': 'set' },
    '.items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set',
  ],
  [
    object(
      {
        a: { type: 'array', items: text, uniqueItems: true, 'x-kubernetes-validations': [{ rule: 'nope' }] },
        b: object({ c: { ...text, 'x-kubernetes-validations': [{ rule: '1' }] } }, { 'x-kubernetes-validations': [{ rule: '2' }] }),
      },
      { 'x-kubernetes-validations': [{ rule: '3' }] },
    ),
    '.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    '.properties[b].properties[c].x-kubernetes-validations[0].rule: Invalid value: {"rule":"1"}: cel expression must evaluate to a bool',
    '.properties[b].x-kubernetes-validations[0].rule: Invalid value: {"rule":"2"}: cel expression must evaluate to a bool',
  ],
  [
    { type: 'array', items: { ...text, nullable: true }, 'x-kubernetes-list-type': 'set' },
    '.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set',
  ],
  [
    {
      type: 'array',
      items: object({ k: text, d: { ...text, default: 'x' } }, { required: ['k'] }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'd'],
    },
  ],
  [
    { type: 'array', items: text, 'x-kubernetes-list-map-keys': ['k'] },
    '.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
  ],
  [
    { type: 'array', items: text, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    '.items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
  ],
  [
    {
      type: 'array',
      items: object({ k: { ...text, nullable: true } }, { required: ['k'] }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    '.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
  ],
  [
    { ...text, 'x-kubernetes-map-type': 'loose' },
    `.type: Invalid value: "string": ${mapType}`,
    '.x-kubernetes-map-type: Unsupported value: "loose": supported values: "atomic", "granular"',
  ],
  [
    { ...text, 'x-kubernetes-validations': [{}, { rule: 'a\nb' }, { rule: 'a', message: ' ' }, { rule: 'a', message: 'x\ny' }] },
    ...[
      '[0].rule: Required value: rule is not specified',
      '[1].message: Required value: message must be specified if rule contains line breaks',
      '[2].message: Invalid value: " ": message must be non-empty if specified',
      '[3].message: Invalid value: "x\\ny": message must not contain line breaks',
    ].map((line) => `.x-kubernetes-validations${line}`),
  ],
]

for (const [schema, ...expected] of propertyRows) {
  test(`a property: ${rowTitle(schema, expected)}`, () =>
    assert.deepEqual(
      errorsOf(object({ p: schema })),
      expected.map((line) => `s.properties[p]${line}`),
    ))
}

const roots: readonly Row[] = [
  [{}, 's.type: Required value: must not be empty at the root'],
  [text, 's.type: Invalid value: "string": must be object at the root'],
  [{ type: 'object', additionalProperties: text }, 's.additionalProperties: Forbidden: must not be used at the root'],
  [object({ metadata: object({ name: { ...text, pattern: '^a' } }) })],
  [
    object({ metadata: object({ labels: object() }) }),
    's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
  ],
  [
    object({ metadata: object({ name: { ...text, default: 'x' } }) }),
    's.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata',
  ],
  [
    object({ a: text }, { anyOf: [{ properties: { b: { minLength: 1 } } }] }),
    's.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]',
  ],
  [object({ a: { ...text, $schema: 'x' } }), 's: Invalid value: "": OpenAPIV3Schema \'schema\' is not supported'],
]

for (const [schema, ...expected] of roots)
  test(`a root schema: ${rowTitle(schema, expected)}`, () => assert.deepEqual(errorsOf(schema), expected))

const withStatus = (schema: JsonSchema): readonly string[] => lines(validateOpenApiSchema(frozen(schema), 's', { hasStatus: true }))

test('with a status subresource, keywords with zero values are allowed at the root', () => {
  assert.deepEqual(withStatus({ type: 'object', nullable: false, 'x-kubernetes-embedded-resource': false }), [])
  assert.match(
    withStatus({ type: 'object', minProperties: 1 }).join(),
    /^s: Invalid value: .*: only \[Description Type Format .* XValidations\] fields/,
  )
})

test('`nullable: false` in metadata is allowed', () =>
  assert.deepEqual(errorsOf(object({ metadata: object({ name: text }, { nullable: false, enum: [] }) })), []))

test('empty keywords at the root count as set if there is a status subresource', () => {
  const read = (keyword: string, value: unknown): JsonSchema =>
    readValue(jsonSchemaProps, { type: 'object', [keyword]: value }).value as JsonSchema
  const errorsAt = (keyword: string, value: unknown, hasStatus = true): number =>
    validateOpenApiSchema(read(keyword, value), 's', { hasStatus }).length
  for (const keyword of ['enum', 'anyOf', 'allOf', 'oneOf', 'x-kubernetes-list-map-keys']) {
    assert.equal(errorsAt(keyword, []), 1, keyword)
    assert.equal(errorsAt(keyword, [], false), 0, keyword)
  }
  assert.equal(errorsAt('definitions', {}), 1)
  for (const [keyword, value] of [
    ['required', []],
    ['properties', {}],
    ['nullable', false],
  ] as const)
    assert.equal(errorsAt(keyword, value), 0, keyword)
})
