// Drivers, parameters and nodes of classes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { resourceClass } from './resource-class.js'
import type { ResourceClass } from './v1alpha1.schema.js'

const context = testContext()
const metadata = { name: 'c', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const driverName = 'gpu.example.com'
const make = (more: ResourceClass): ResourceClass => frozen({ metadata, ...more })

const subdomain = 'a lowercase RFC 1123 subdomain must consist of'
const noDriver = ['driverName: Required value', `driverName: Invalid value: "": ${subdomain}`]
const rows: readonly { readonly title: string; readonly object: ResourceClass; readonly found: readonly string[] }[] = [
  { title: 'a driver', object: { driverName }, found: [] },
  { title: 'a driver in upper case', object: { driverName: 'GPU.example.com' }, found: [] },
  { title: 'no driver', object: {}, found: noDriver },
  { title: 'a bad driver', object: { driverName: 'A_b' }, found: [`driverName: Invalid value: "A_b": ${subdomain}`] },
  { title: 'a long driver', object: { driverName: 'd'.repeat(64) }, found: ['driverName: Too long: must have at most 63 bytes'] },
  { title: 'parameters', object: { driverName, parametersRef: { kind: 'K', name: 'n', namespace: 'team' } }, found: [] },
  {
    title: 'incomplete parameters in a bad namespace',
    object: { driverName, parametersRef: { apiGroup: 'x.io', namespace: 'Team_1' } },
    found: [
      'parametersRef.kind: Required value',
      'parametersRef.name: Required value',
      'parametersRef.namespace: Invalid value: "Team_1": a lowercase RFC 1123 label',
    ],
  },
  {
    title: 'no nodes',
    object: { driverName, suitableNodes: {} },
    found: ['suitableNodes.nodeSelectorTerms: Required value: must have at least one node selector term'],
  },
]

for (const { title, object, found } of rows) {
  test(`a class with ${title}`, () => {
    const errors = lines(validateCreation(resourceClass, make(object), context))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, found[i]?.length)),
      found,
    )
  })
}

test('a class belongs to no namespace', () => {
  const errors = validateCreation(resourceClass, make({ metadata: { name: 'c', namespace: 'shop' }, driverName }), context)
  assert.deepEqual(lines(errors), ['metadata.namespace: Forbidden: not allowed on this type'])
})

test('a class may change, and what is wrong is told twice', () => {
  const old = make({ driverName })
  assert.deepEqual(validateChange(resourceClass, { next: make({ driverName: 'other.example.com' }), old }, context), [])
  const errors = lines(validateChange(resourceClass, { next: make({}), old }, context))
  assert.deepEqual(
    errors.map((line, i) => line.slice(0, noDriver[i % 2]?.length)),
    [...noDriver, ...noDriver],
  )
})

test('a row of the table', () => assert.deepEqual(resourceClass.table?.cells(make({ driverName }), context), ['c', driverName, '60m']))
