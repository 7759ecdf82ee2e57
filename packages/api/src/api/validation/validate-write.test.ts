// The order in which a write is checked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CheckOrder, defineResource, type ResourceDefinition } from '../definition.js'
import { invalid } from '../field-error.js'
import { frozen, lines, testContext } from '../rule-context.fixture.js'
import { dnsSubdomainProblems } from './name-problems.js'
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
    validate: () => [invalid('own', 1)],
    validateUpdate: () => [invalid('change', 1)],
    ...more,
  })
const object = frozen({ metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1' } })
const unlabelled = frozen({ metadata: { ...object.metadata, labels: { k: '-' } } })

const fieldsOf = (errors: readonly { readonly field: string }[]): readonly string[] => errors.map(({ field }) => field)

test('a creation is checked from metadata to the own fields', () => {
  assert.deepEqual(fieldsOf(validateCreation(kind(), unlabelled, context)), ['metadata.labels', 'own'])
})

test('a kind that leaves metadata out has it checked once it is content', () => {
  const checks: CheckOrder = { create: ['own'] }
  const nameless = frozen({ metadata: { ...unlabelled.metadata, name: '..' } })
  assert.deepEqual(fieldsOf(validateCreation(kind({ checks }), nameless, context)), ['own'])
  assert.deepEqual(fieldsOf(validateCreation(kind({ checks, validate: () => [] }), nameless, context)), [
    'metadata.name',
    'metadata.labels',
  ])
})

test('an object without metadata is told what it lacks', () => {
  assert.deepEqual(fieldsOf(validateCreation(kind({ validate: () => [] }), {}, context)), ['metadata.name', 'metadata.namespace'])
})

const orders: readonly { readonly title: string; readonly checks: CheckOrder; readonly clean: string; readonly unclean: string }[] = [
  { title: 'by default', checks: {}, clean: 'change', unclean: 'labels labels labels change' },
  {
    title: 'as config maps have it',
    checks: { update: ['metadataChange', 'ownChange', 'metadata', 'own'] },
    clean: 'change own',
    unclean: 'labels labels labels change labels own',
  },
  { title: 'own fields only', checks: { update: ['own'] }, clean: 'own', unclean: 'labels labels own' },
]

for (const { title, checks, clean, unclean } of orders) {
  test(`the rounds of an update ${title}`, () => {
    const found = (next: typeof object): string =>
      fieldsOf(validateChange(kind({ checks }), { next, old: object }, context))
        .map((field) => field.replace('metadata.', ''))
        .join(' ')
    assert.equal(found(object), clean)
    assert.equal(found(unlabelled), unclean)
  })
}

test('a subresource has its own rule for changes', () => {
  const subresource = { name: 'status', verbs: [], prepareUpdate: () => object, validateUpdate: () => [invalid('status', 1)] }
  assert.deepEqual(fieldsOf(validateChange(kind(), { next: object, old: object, subresource }, context)), ['status'])
})

test('where the common rules are content, rounds of metadata still look at what is the kind’s own', () => {
  const checks: CheckOrder = { update: ['metadata', 'metadataChange'] }
  const next = frozen({ metadata: { ...object.metadata, generateName: 'G', finalizers: ['plain'] } })
  const found = lines(validateChange(kind({ checks }), { next, old: object }, context)).map((line) => line.slice(0, 45))
  assert.deepEqual(found, [
    'metadata.generateName: Invalid value: "G": a ',
    'metadata.finalizers[0]: Invalid value: "plain',
    'metadata.finalizers[0]: Invalid value: "plain',
  ])
})

test('standard finalizers carry the name of the server’s identity', () => {
  const next = frozen({ metadata: { ...object.metadata, finalizers: ['kubernetes'] } })
  const definition = kind({ validate: () => [] })
  assert.equal(validateCreation(definition, next, testContext('kubernetes')).length, 0)
  assert.equal(validateCreation(definition, next, testContext('cluster')).length, 1)
  assert.equal(validateCreation({ ...definition, anyFinalizer: true }, next, testContext('cluster')).length, 0)
})
