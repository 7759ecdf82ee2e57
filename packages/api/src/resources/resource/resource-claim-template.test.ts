// Tests of ResourceClaimTemplates: defaults, validation, immutable spec.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { resourceClaimTemplate } from './resource-claims.js'
import type { ResourceClaimTemplate, ResourceClaimTemplateSpec } from './v1alpha1.schema.js'

const context = testContext()
const metadata = { name: 't', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const inner = { resourceClassName: 'gpu', allocationMode: 'Immediate' }
const make = (spec: ResourceClaimTemplateSpec): ResourceClaimTemplate => frozen({ metadata, spec })

test('allocationMode defaults to WaitForFirstConsumer', () => {
  const sent = make({ metadata: { labels: { a: 'b' } }, spec: { resourceClassName: 'gpu' } })
  const mode = { resourceClassName: 'gpu', allocationMode: 'WaitForFirstConsumer' }
  assert.deepEqual(resourceClaimTemplate.defaults?.(sent, context), { metadata, spec: { metadata: { labels: { a: 'b' } }, spec: mode } })
  const complete = make({ spec: inner })
  assert.equal(resourceClaimTemplate.defaults?.(complete, context), complete)
})

const rows: readonly (readonly [spec: ResourceClaimTemplateSpec, ...expected: readonly string[]])[] = [
  [{ metadata: { labels: { a: 'b' } }, spec: inner }],
  [{ metadata: { name: 'x' }, spec: inner }, 'spec.metadata.name: Forbidden: cannot be set'],
  [{}, 'spec.spec.resourceClassName: Invalid value: ""', 'spec.spec.allocationMode: Unsupported value: ""'],
]

for (const [spec, ...expected] of rows) {
  test(`a template: ${rowTitle(spec, expected)}`, () => {
    expectErrors(validateCreation(resourceClaimTemplate, make(spec), context), expected)
  })
}

test('the spec is immutable', () => {
  const next = make({ spec: { ...inner, resourceClassName: 'other' } })
  const errors = lines(validateChange(resourceClaimTemplate, { next, old: make({ spec: inner }) }, context))
  assert.deepEqual(errors, [
    'spec: Invalid value: {"metadata":{},"spec":{"resourceClassName":"other","allocationMode":"Immediate"}}: field is immutable',
  ])
})

test('empty metadata equals absent metadata', () => {
  const change = { next: make({ spec: inner }), old: make({ metadata: {}, spec: inner }) }
  assert.deepEqual(validateChange(resourceClaimTemplate, change, context), [])
})

test('printer columns', () => {
  assert.deepEqual(resourceClaimTemplate.table?.cells(make({ spec: inner }), context), ['t', 'gpu', 'Immediate', '60m'])
})
