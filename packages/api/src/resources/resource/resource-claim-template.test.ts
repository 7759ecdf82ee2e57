// Templates of claims: what they default to, what may stand in them, and that they stay.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { resourceClaimTemplate } from './resource-claim-template.js'
import type { ResourceClaimTemplate, ResourceClaimTemplateSpec } from './v1alpha1.schema.js'

const context = testContext()
const metadata = { name: 't', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const inner = { resourceClassName: 'gpu', allocationMode: 'Immediate' }
const make = (spec: ResourceClaimTemplateSpec): ResourceClaimTemplate => frozen({ metadata, spec })

test('the claims of a template wait for their consumer unless said otherwise', () => {
  const sent = make({ metadata: { labels: { a: 'b' } }, spec: { resourceClassName: 'gpu' } })
  const mode = { resourceClassName: 'gpu', allocationMode: 'WaitForFirstConsumer' }
  assert.deepEqual(resourceClaimTemplate.defaults?.(sent, context), { metadata, spec: { metadata: { labels: { a: 'b' } }, spec: mode } })
  const complete = make({ spec: inner })
  assert.equal(resourceClaimTemplate.defaults?.(complete, context), complete)
})

const rows: readonly { readonly title: string; readonly spec: ResourceClaimTemplateSpec; readonly found: readonly string[] }[] = [
  { title: 'labels', spec: { metadata: { labels: { a: 'b' } }, spec: inner }, found: [] },
  { title: 'a name', spec: { metadata: { name: 'x' }, spec: inner }, found: ['spec.metadata.name: Forbidden: cannot be set'] },
  {
    title: 'nothing',
    spec: {},
    found: ['spec.spec.resourceClassName: Invalid value: ""', 'spec.spec.allocationMode: Unsupported value: ""'],
  },
]

for (const { title, spec, found } of rows) {
  test(`a template with ${title}`, () => {
    const errors = lines(validateCreation(resourceClaimTemplate, make(spec), context))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, found[i]?.length)),
      found,
    )
  })
}

test('a template does not change', () => {
  const next = make({ spec: { ...inner, resourceClassName: 'other' } })
  const errors = lines(validateChange(resourceClaimTemplate, { next, old: make({ spec: inner }) }, context))
  assert.deepEqual(errors, [
    'spec: Invalid value: {"metadata":{},"spec":{"resourceClassName":"other","allocationMode":"Immediate"}}: field is immutable',
  ])
})

test('empty metadata is no change from none', () => {
  const change = { next: make({ spec: inner }), old: make({ metadata: {}, spec: inner }) }
  assert.deepEqual(validateChange(resourceClaimTemplate, change, context), [])
})

test('a row of the table', () => {
  assert.deepEqual(resourceClaimTemplate.table?.cells(make({ spec: inner }), context), ['t', 'gpu', 'Immediate', '60m'])
})
