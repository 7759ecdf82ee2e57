// Tests of ResourceClasses.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { resourceClass } from './resource-claims.js'
import type { ResourceClass } from './v1alpha1.schema.js'

const context = testContext()
const metadata = { name: 'c', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const driverName = 'gpu.example.com'
const make = (more: ResourceClass): ResourceClass => frozen({ metadata, ...more })

const subdomain = 'a lowercase RFC 1123 subdomain must consist of'
const noDriver = ['driverName: Required value', `driverName: Invalid value: "": ${subdomain}`]
const rows: readonly (readonly [object: ResourceClass, ...expected: readonly string[]])[] = [
  [{ driverName }],
  [{ driverName: 'GPU.example.com' }],
  [{}, ...noDriver],
  [{ driverName: 'A_b' }, `driverName: Invalid value: "A_b": ${subdomain}`],
  [{ driverName: 'd'.repeat(64) }, 'driverName: Too long: must have at most 63 bytes'],
  [{ driverName, parametersRef: { kind: 'K', name: 'n', namespace: 'team' } }],
  [
    { driverName, parametersRef: { apiGroup: 'x.io', namespace: 'Team_1' } },
    'parametersRef.kind: Required value',
    'parametersRef.name: Required value',
    'parametersRef.namespace: Invalid value: "Team_1": a lowercase RFC 1123 label',
  ],
  [{ driverName, suitableNodes: {} }, 'suitableNodes.nodeSelectorTerms: Required value: must have at least one node selector term'],
]

for (const [object, ...expected] of rows) {
  test(`a class: ${rowTitle(object, expected)}`, () => {
    expectErrors(validateCreation(resourceClass, make(object), context), expected)
  })
}

test('a ResourceClass is cluster-scoped', () => {
  const errors = validateCreation(resourceClass, make({ metadata: { name: 'c', namespace: 'shop' }, driverName }), context)
  assert.deepEqual(lines(errors), ['metadata.namespace: Forbidden: not allowed on this type'])
})

test('all fields may change, and errors are repeated', () => {
  const old = make({ driverName })
  assert.deepEqual(validateChange(resourceClass, { next: make({ driverName: 'other.example.com' }), old }, context), [])
  const errors = lines(validateChange(resourceClass, { next: make({}), old }, context))
  assert.deepEqual(
    errors.map((line, i) => line.slice(0, noDriver[i % 2]?.length)),
    [...noDriver, ...noDriver],
  )
})

test('printer columns', () => assert.deepEqual(resourceClass.table?.cells(make({ driverName }), context), ['c', driverName, '60m']))
