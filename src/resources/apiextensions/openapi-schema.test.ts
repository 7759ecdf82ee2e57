// What the schema of a custom kind may say: structure, keywords, lists that merge.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines } from '../../api/rule-context.fixture.js'
import type { JsonSchema } from './json-schema.js'
import { validateOpenApiSchema } from './openapi-schema.js'

interface Row {
  readonly title: string
  readonly schema: JsonSchema
  readonly found: readonly string[]
}

const errorsOf = (schema: JsonSchema): readonly string[] => lines(validateOpenApiSchema(frozen(schema), 's', { hasStatus: false }))
const text: JsonSchema = { type: 'string' }
const object = (properties: JsonSchema['properties'] = {}, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more })
const mapType = 'must be object if x-kubernetes-map-type is specified'

/** Each schema stands as the property `p` of the root. */
const properties: readonly Row[] = [
  { title: 'a text', schema: text, found: [] },
  { title: 'any JSON', schema: { 'x-kubernetes-preserve-unknown-fields': true }, found: [] },
  { title: 'a number or a text', schema: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, text] }, found: [] },
  {
    title: 'a number or a text with more',
    schema: { 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: [{ type: 'integer' }, text] }, { pattern: 'x' }] },
    found: [],
  },
  { title: 'no type', schema: {}, found: ['.type: Required value: must not be empty for specified object fields'] },
  {
    title: 'an unknown type',
    schema: { type: 'int32' },
    found: ['.type: Unsupported value: "int32": supported values: "array", "boolean", "integer", "number", "object", "string"'],
  },
  {
    title: 'items without type',
    schema: { type: 'array', items: { minLength: 1 } },
    found: ['.items.type: Required value: must not be empty for specified array items'],
  },
  { title: 'a list of anything', schema: { type: 'array' }, found: ['.items: Required value: must be specified'] },
  {
    title: 'items one by one',
    schema: { type: 'array', items: [text] },
    found: ['.items: Forbidden: items must be a schema object and not an array'],
  },
  {
    title: 'a type in a choice',
    schema: { ...text, anyOf: [{ ...text, nullable: true, title: 't' }] },
    found: [
      '.anyOf[0].nullable: Forbidden: must be false to be structural',
      '.anyOf[0].title: Forbidden: must be empty to be structural',
      '.anyOf[0].type: Forbidden: must be empty to be structural',
    ],
  },
  {
    title: 'keywords in a choice that say nothing, and those that do',
    schema: {
      ...text,
      anyOf: [{ nullable: false, title: '', 'x-kubernetes-list-map-keys': [] }],
      not: { additionalProperties: false },
    },
    found: ['.not.additionalProperties: Forbidden: must be undefined to be structural'],
  },
  {
    title: 'a number or a text with an example',
    schema: {
      'x-kubernetes-int-or-string': true,
      anyOf: [
        { type: 'integer', nullable: false },
        { ...text, example: 'a' },
      ],
    },
    found: [],
  },
  {
    title: 'metadata in a choice',
    schema: object({}, { not: { properties: { metadata: {} } } }),
    found: ['.not.properties[metadata]: Forbidden: must not be specified in a nested context'],
  },
  {
    title: 'a list type in a choice',
    schema: object({}, { oneOf: [{ items: { 'x-kubernetes-list-type': 'set', 'x-kubernetes-map-type': 'atomic' } }] }),
    found: [
      '.oneOf[0].items.x-kubernetes-list-type: Forbidden: must be undefined to be structural',
      '.oneOf[0].items.x-kubernetes-map-type: Forbidden: must be undefined to be structural',
      `.oneOf[0].items.type: Required value: ${mapType}`,
      '.oneOf[0].items.type: Required value: must be array if x-kubernetes-list-type is specified',
    ],
  },
  {
    title: 'a pattern that is none',
    schema: { ...text, pattern: '(' },
    found: ['.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`'],
  },
  {
    title: 'members by name and any members',
    schema: object({ a: text }, { additionalProperties: text }),
    found: ['.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'],
  },
  {
    title: 'keywords that are not supported',
    schema: { ...text, id: 'x', definitions: { a: text }, $ref: '#' },
    found: [
      '.id: Forbidden: id is not supported',
      '.definitions: Forbidden: definitions is not supported',
      '.$ref: Forbidden: $ref is not supported',
    ],
  },
  {
    title: 'unknown members not kept, expressly',
    schema: object({}, { 'x-kubernetes-preserve-unknown-fields': false }),
    found: ['.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
  },
  {
    title: 'an object of the API',
    schema: object({}, { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }),
    found: [],
  },
  {
    title: 'an object of the API with wrong members',
    schema: object({ kind: { type: 'integer' }, metadata: text }, { 'x-kubernetes-embedded-resource': true }),
    found: [
      '.properties[kind].type: Invalid value: "integer": must be string',
      '.properties[metadata].type: Invalid value: "string": must be object',
    ],
  },
  {
    title: 'an object of the API without members',
    schema: { type: 'object', 'x-kubernetes-embedded-resource': true },
    found: [
      '.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ],
  },
  {
    title: 'a text that is an object of the API',
    schema: { ...text, 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    found: ['.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true'],
  },
  { title: 'a set of texts', schema: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' }, found: [] },
  {
    title: 'a set of open objects',
    schema: { type: 'array', items: object(), 'x-kubernetes-list-type': 'set' },
    found: ['.items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set'],
  },
  {
    title: 'a set of objects that merge',
    schema: { type: 'array', items: object({}, { 'x-kubernetes-map-type': 'granular' }), 'x-kubernetes-list-type': 'set' },
    found: ['.items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set'],
  },
  {
    title: 'expressions beside something wrong, of which those above it are not looked at, and the innermost come first',
    schema: object(
      {
        a: { type: 'array', items: text, uniqueItems: true, 'x-kubernetes-validations': [{ rule: 'nope' }] },
        b: object({ c: { ...text, 'x-kubernetes-validations': [{ rule: '1' }] } }, { 'x-kubernetes-validations': [{ rule: '2' }] }),
      },
      { 'x-kubernetes-validations': [{ rule: '3' }] },
    ),
    found: [
      '.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      '.properties[b].properties[c].x-kubernetes-validations[0].rule: Invalid value: {"rule":"1"}: cel expression must evaluate to a bool',
      '.properties[b].x-kubernetes-validations[0].rule: Invalid value: {"rule":"2"}: cel expression must evaluate to a bool',
    ],
  },
  {
    title: 'a set of what may be null',
    schema: { type: 'array', items: { ...text, nullable: true }, 'x-kubernetes-list-type': 'set' },
    found: ['.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set'],
  },
  {
    title: 'a map',
    schema: {
      type: 'array',
      items: object({ k: text, d: { ...text, default: 'x' } }, { required: ['k'] }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'd'],
    },
    found: [],
  },
  {
    title: 'keys without map',
    schema: { type: 'array', items: text, 'x-kubernetes-list-map-keys': ['k'] },
    found: ['.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty'],
  },
  {
    title: 'a map of texts',
    schema: { type: 'array', items: text, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    found: ['.items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map'],
  },
  {
    title: 'a key that may be null',
    schema: {
      type: 'array',
      items: object({ k: { ...text, nullable: true } }, { required: ['k'] }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    found: ['.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable'],
  },
  {
    title: 'a text that is a map',
    schema: { ...text, 'x-kubernetes-map-type': 'loose' },
    found: [
      `.type: Invalid value: "string": ${mapType}`,
      '.x-kubernetes-map-type: Unsupported value: "loose": supported values: "atomic", "granular"',
    ],
  },
  {
    title: 'expressions without words',
    schema: { ...text, 'x-kubernetes-validations': [{}, { rule: 'a\nb' }, { rule: 'a', message: ' ' }, { rule: 'a', message: 'x\ny' }] },
    found: [
      '[0].rule: Required value: rule is not specified',
      '[1].message: Required value: message must be specified if rule contains line breaks',
      '[2].message: Invalid value: " ": message must be non-empty if specified',
      '[3].message: Invalid value: "x\\ny": message must not contain line breaks',
    ].map((line) => `.x-kubernetes-validations${line}`),
  },
]

for (const { title, schema, found } of properties) {
  test(`a property that is ${title}`, () =>
    assert.deepEqual(
      errorsOf(object({ p: schema })),
      found.map((line) => `s.properties[p]${line}`),
    ))
}

const roots: readonly Row[] = [
  { title: 'no type', schema: {}, found: ['s.type: Required value: must not be empty at the root'] },
  { title: 'a text', schema: text, found: ['s.type: Invalid value: "string": must be object at the root'] },
  {
    title: 'any members',
    schema: { type: 'object', additionalProperties: text },
    found: ['s.additionalProperties: Forbidden: must not be used at the root'],
  },
  { title: 'a narrow name', schema: object({ metadata: object({ name: { ...text, pattern: '^a' } }) }), found: [] },
  {
    title: 'labels',
    schema: object({ metadata: object({ labels: object() }) }),
    found: [
      's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  },
  {
    title: 'a default in metadata',
    schema: object({ metadata: object({ name: { ...text, default: 'x' } }) }),
    found: ['s.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata'],
  },
  {
    title: 'a choice about what is not there',
    schema: object({ a: text }, { anyOf: [{ properties: { b: { minLength: 1 } } }] }),
    found: ['s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]'],
  },
  {
    title: 'a keyword of which no structure can be made',
    schema: object({ a: { ...text, $schema: 'x' } }),
    found: ['s: Invalid value: "": OpenAPIV3Schema \'schema\' is not supported'],
  },
]

for (const { title, schema, found } of roots) test(`a root with ${title}`, () => assert.deepEqual(errorsOf(schema), found))

const withStatus = (schema: JsonSchema): readonly string[] => lines(validateOpenApiSchema(frozen(schema), 's', { hasStatus: true }))

test('at a root beside a status, keywords that say nothing are no keywords', () => {
  assert.deepEqual(withStatus({ type: 'object', nullable: false, 'x-kubernetes-embedded-resource': false }), [])
  assert.match(
    withStatus({ type: 'object', minProperties: 1 }).join(),
    /^s: Invalid value: .*: only \[Description Type Format .* XValidations\] fields/,
  )
})

test('metadata that may not be null is narrow all the same', () =>
  assert.deepEqual(errorsOf(object({ metadata: object({ name: text }, { nullable: false, enum: [] }) })), []))
