// Tests of the cost estimate that decides whether a CRD is validated in a worker thread.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCostlyCrd } from '../custom-resource-definition.js'
import type { JsonSchema } from '../schema/json-schema.js'

function isCostly(spec: JsonSchema): boolean {
  const openAPIV3Schema = { type: 'object', properties: { spec } } as object
  return isCostlyCrd({ versions: [{ name: 'v1', schema: { openAPIV3Schema } }] })
}

const fields = (count: number, schema: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, schema])),
})

test('ordinary patterns and CEL rules are not costly', () => {
  assert.equal(isCostly(fields(20, { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' })), false)
  assert.equal(isCostly(fields(20, { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0 || self < -10' }] })), false)
})

test('schemas with very many properties, levels or enum values are costly', () => {
  const nested = (levels: number): JsonSchema =>
    levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } }
  const choices = (count: number): JsonSchema => ({ type: 'integer', anyOf: Array.from({ length: count }, (_, i) => ({ minimum: i })) })
  const values = (count: number): JsonSchema => ({ type: 'string', enum: Array.from({ length: count }, (_, i) => `v${i}`) })
  assert.deepEqual([nested(50), choices(300), values(1000), fields(500, { type: 'string' })].map(isCostly), [false, false, false, false])
  assert.deepEqual([nested(400), choices(3000), values(10_000), fields(3000, { type: 'string' })].map(isCostly), [true, true, true, true])
})

test('patterns that compile to many instructions are costly, also in CEL rules', () => {
  assert.equal(isCostly(fields(1, { type: 'string', pattern: 'a{1000}b{1000}'.repeat(10) })), true)
  assert.equal(isCostly({ type: 'array', items: fields(20, { type: 'string', pattern: 'a{1000}' }) }), true)
  assert.equal(
    isCostly(fields(1, { type: 'string', 'x-kubernetes-validations': [{ rule: `self.matches('${'a{1000}'.repeat(9)}')` }] })),
    true,
  )
})
