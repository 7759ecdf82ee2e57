// Tests of the order of checks on create and update.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CheckOrder, defineResource, type ResourceDefinition } from '../definition/resource-definition.js'
import { invalid } from '../field-error.js'
import { frozen, lines, testContext } from '../rule-context.fixture.js'
import { dnsSubdomainProblems } from './checks.js'
import { validateChange, validateCreation } from './validate-write.js'

const context = testContext()
const kind = (more: Partial<ResourceDefinition> = {}): ResourceDefinition =>
  defineResource({
    group: '',
    kind: 'Thing',
    resource: 'things',
    namespaced: true,
    versions: [],
    nameProblems: dnsSubdomainProblems,
    validate: () => [invalid('validate', 1)],
    validateUpdate: () => [invalid('validateUpdate', 1)],
    ...more,
  })
const object = frozen({ metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1' } })
const withBadLabel = frozen({ metadata: { ...object.metadata, labels: { k: '-' } } })

const fieldsOf = (errors: readonly { readonly field: string }[]): readonly string[] => errors.map(({ field }) => field)

test('create checks metadata before the fields of the kind', () => {
  assert.deepEqual(fieldsOf(validateCreation(kind(), withBadLabel, context)), ['metadata.labels', 'validate'])
})

test('a kind without the `metadata` check gets the common rules if it reports no error', () => {
  const checks: CheckOrder = { create: ['validate'] }
  const nameless = frozen({ metadata: { ...withBadLabel.metadata, name: '..' } })
  assert.deepEqual(fieldsOf(validateCreation(kind({ checks }), nameless, context)), ['validate'])
  assert.deepEqual(fieldsOf(validateCreation(kind({ checks, validate: () => [] }), nameless, context)), [
    'metadata.name',
    'metadata.labels',
  ])
})

test('an object without metadata gets the errors of missing fields', () => {
  assert.deepEqual(fieldsOf(validateCreation(kind({ validate: () => [] }), {}, context)), ['metadata.name', 'metadata.namespace'])
})

const orders: readonly {
  readonly title: string
  readonly checks: CheckOrder
  readonly withoutErrors: string
  readonly withLabelError: string
}[] = [
  { title: 'in default order', checks: {}, withoutErrors: 'validateUpdate', withLabelError: 'labels labels labels validateUpdate' },
  {
    title: 'with transition checks first',
    checks: { update: ['metadataChange', 'validateUpdate', 'metadata', 'validate'] },
    withoutErrors: 'validateUpdate validate',
    withLabelError: 'labels labels labels validateUpdate labels validate',
  },
  {
    title: 'with the checks of the kind only',
    checks: { update: ['validate'] },
    withoutErrors: 'validate',
    withLabelError: 'labels labels validate',
  },
]

for (const { title, checks, withoutErrors, withLabelError } of orders) {
  test(`checks of an update ${title}`, () => {
    const fieldsFor = (next: typeof object): string =>
      fieldsOf(validateChange(kind({ checks }), { next, old: object }, context))
        .map((field) => field.replace('metadata.', ''))
        .join(' ')
    assert.equal(fieldsFor(object), withoutErrors)
    assert.equal(fieldsFor(withBadLabel), withLabelError)
  })
}

test('a subresource uses its own validateUpdate', () => {
  const subresource = { name: 'status', verbs: [], prepareUpdate: () => object, validateUpdate: () => [invalid('status', 1)] }
  assert.deepEqual(fieldsOf(validateChange(kind(), { next: object, old: object, subresource }, context)), ['status'])
})

test('kind-specific metadata rules run even if the common rules pass', () => {
  const checks: CheckOrder = { update: ['metadata', 'metadataChange'] }
  const next = frozen({ metadata: { ...object.metadata, generateName: 'G', finalizers: ['plain'] } })
  const errors = lines(validateChange(kind({ checks }), { next, old: object }, context)).map((line) => line.slice(0, 45))
  assert.deepEqual(errors, [
    'metadata.generateName: Invalid value: "G": a ',
    'metadata.finalizers[0]: Invalid value: "plain',
    'metadata.finalizers[0]: Invalid value: "plain',
  ])
})

test('standard finalizers use the names of the identity', () => {
  const next = frozen({ metadata: { ...object.metadata, finalizers: ['kubernetes'] } })
  const definition = kind({ validate: () => [] })
  assert.equal(validateCreation(definition, next, testContext('kubernetes')).length, 0)
  assert.equal(validateCreation(definition, next, testContext('cluster')).length, 1)
  assert.equal(validateCreation({ ...definition, anyFinalizer: true }, next, testContext('cluster')).length, 0)
})
