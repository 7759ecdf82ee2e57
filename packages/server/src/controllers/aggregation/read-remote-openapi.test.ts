// Reading OpenAPI documents of extension API servers: kept parts, dropped parts, limits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SpecParts } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import { readSpec, specLimits } from './read-remote-openapi.js'

const version = { name: 'v1.g.example', group: 'g.example', version: 'v1' }
const read = (document: unknown) => readSpec(version, Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)))
const partOf = (parts: SpecParts, name: string): unknown => JSON.parse(Buffer.from(parts.get(name) ?? []).toString())
const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
const respondingWith = (schema: object) => ({ get: { responses: { 200: { description: 'OK', schema } } } })

test('keeps the paths of the version and all definitions they refer to', () => {
  const { paths, definitions } = read({
    swagger: '2.0',
    paths: {
      '/apis/g.example/v1/': respondingWith(ref('List')),
      '/apis/g.example/v1/things': respondingWith(ref('A')),
      '/apis/g.example/v10/things': respondingWith(ref('Other')),
      '/apis/g.example/v1beta1/things': respondingWith(ref('Other')),
      '/version': respondingWith(ref('Other')),
    },
    definitions: {
      A: { properties: { b: ref('B'), missing: ref('Missing') } },
      B: { items: ref('A') },
      List: { type: 'object' },
      Other: {},
    },
  })
  assert.deepEqual([...paths.keys()], ['/apis/g.example/v1/', '/apis/g.example/v1/things'])
  assert.deepEqual([...definitions.keys()].sort(), ['A', 'B', 'List', 'Missing'])
  assert.deepEqual(partOf(definitions, 'Missing'), { type: 'object' })
})

test('shared parameters are inlined', () => {
  const path = '/apis/g.example/v1/things'
  const item = { get: { parameters: [{ $ref: '#/parameters/p' }, { $ref: '#/parameters/none' }, { $ref: 'file:///etc/passwd' }] } }
  const { paths } = read({ paths: { [path]: item }, parameters: { p: { name: 'limit', in: 'query', type: 'integer' } } })
  assert.deepEqual(partOf(paths, path), { get: { parameters: [{ name: 'limit', in: 'query', type: 'integer' }] } })
})

test('fields of unknown name or type are dropped', () => {
  const path = '/apis/g.example/v1/things'
  const item = {
    get: {
      description: 7,
      operationId: 'x',
      evil: true,
      parameters: 'none',
      responses: { 200: 'no', 201: { schema: ref('A'), headers: {} } },
    },
    trace: {},
    'x-own': { any: ['thing'] },
  }
  const withUnknownFields = {
    type: ['string', 'null'],
    oneOf: [{}],
    properties: { a: 5, b: { $ref: 'http://other/' }, c: { additionalProperties: true } },
    required: ['a', 1],
    maximum: '7',
    'x-mark': 1,
  }
  const { paths, definitions } = read({ paths: { [path]: item }, definitions: { A: withUnknownFields } })
  assert.deepEqual(partOf(paths, path), {
    get: { operationId: 'x', responses: { 201: { schema: ref('A') } } },
    'x-own': { any: ['thing'] },
  })
  assert.deepEqual(partOf(definitions, 'A'), {
    type: 'string',
    properties: { b: {}, c: { additionalProperties: true } },
    required: ['a'],
    'x-mark': 1,
  })
})

test('documents that are too large, nested too deeply or malformed are rejected', () => {
  const path = '/apis/g.example/v1/things'
  const long = { description: 'x'.repeat(specLimits.partBytes + 1) }
  assert.throws(() => read({ paths: { [path]: respondingWith(ref('A')) }, definitions: { A: long } }), /has more than/)
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${path}${i}`, { 'x-a': 'y'.repeat(300_000) }]))
  assert.throws(() => read({ paths: many }), /has more than/)
  assert.throws(() => read(`{"paths":{"${path}":${'{"a":'.repeat(200)}1${'}'.repeat(201)}}`), /nests more than/)
  assert.throws(() => read('<html>'), /truncated/)
  assert.throws(() => read(`{"paths":{"${path}":{nonsense}}}`), SyntaxError)
  assert.throws(() => read({ paths: { [path]: 5 } }), /is not an object/)
})
