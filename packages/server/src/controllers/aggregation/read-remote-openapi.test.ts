// What is kept of somebody else's document, and what is not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SpecParts } from '../../api/remote-openapi.js'
import { atOnce } from '../../base/pieces.js'
import { readSpec, specLimits } from './read-spec.js'

const of = { name: 'v1.g.example', group: 'g.example', version: 'v1' }
const read = (document: unknown) => atOnce(readSpec(of, Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))))
const partOf = (parts: SpecParts, name: string): unknown => JSON.parse(Buffer.from(parts.get(name) ?? []).toString())
const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
const answering = (schema: object) => ({ get: { responses: { 200: { description: 'OK', schema } } } })

test('the paths of the version, and what they need, and whatever that needs', () => {
  const { paths, definitions } = read({
    swagger: '2.0',
    paths: {
      '/apis/g.example/v1/': answering(ref('List')),
      '/apis/g.example/v1/things': answering(ref('A')),
      '/apis/g.example/v10/things': answering(ref('Other')),
      '/apis/g.example/v1beta1/things': answering(ref('Other')),
      '/version': answering(ref('Other')),
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

test('parameters that the document keeps for all are put where they are meant', () => {
  const path = '/apis/g.example/v1/things'
  const item = { get: { parameters: [{ $ref: '#/parameters/p' }, { $ref: '#/parameters/none' }, { $ref: 'file:///etc/passwd' }] } }
  const { paths } = read({ paths: { [path]: item }, parameters: { p: { name: 'limit', in: 'query', type: 'integer' } } })
  assert.deepEqual(partOf(paths, path), { get: { parameters: [{ name: 'limit', in: 'query', type: 'integer' }] } })
})

test('nothing is kept that such a document does not have', () => {
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
  const strange = {
    type: ['string', 'null'],
    oneOf: [{}],
    properties: { a: 5, b: { $ref: 'http://elsewhere/' }, c: { additionalProperties: true } },
    required: ['a', 1],
    maximum: '7',
    'x-mark': 1,
  }
  const { paths, definitions } = read({ paths: { [path]: item }, definitions: { A: strange } })
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

test('what says too much, nests too deeply or is no document is refused', () => {
  const path = '/apis/g.example/v1/things'
  const long = { description: 'x'.repeat(specLimits.partBytes + 1) }
  assert.throws(() => read({ paths: { [path]: answering(ref('A')) }, definitions: { A: long } }), /says too much/)
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${path}${i}`, { 'x-a': 'y'.repeat(300_000) }]))
  assert.throws(() => read({ paths: many }), /says too much/)
  assert.throws(() => read(`{"paths":{"${path}":${'{"a":'.repeat(200)}1${'}'.repeat(201)}}`), /nests more than/)
  assert.throws(() => read('<html>'), /cut short/)
  assert.throws(() => read(`{"paths":{"${path}":{nonsense}}}`), SyntaxError)
  assert.throws(() => read({ paths: { [path]: 5 } }), /is no object/)
})
