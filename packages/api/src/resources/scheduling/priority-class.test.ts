// Tests of PriorityClasses: system classes, immutable fields, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writerOf } from '../core/workload/workload.fixture.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { priorityClass } from './priority-class.js'
import type { PriorityClass } from './v1.schema.js'

const { kind, complete, create, createErrors, updateErrors, cells } = writerOf<PriorityClass>(priorityClass)
const metadata = (name: string) => ({ name, uid: 'u', resourceVersion: '1' })
const make = (name: string, more: PriorityClass = {}): PriorityClass => ({ metadata: metadata(name), ...more })
const reserved = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "

const rows: readonly (readonly [object: PriorityClass, ...expected: readonly string[]])[] = [
  [make('a', { value: 5 })],
  [make('a', { value: -5 })],
  [
    make('a', { value: 1_000_000_001, preemptionPolicy: 'Sometimes' }),
    'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
    'preemptionPolicy: Unsupported value: "Sometimes": supported values: "PreemptLowerPriority", "Never"',
  ],
  [make('system-x'), `${reserved}system-x is not a known system priority class`],
  [make('system-node-critical', { value: 1 }), `${reserved}value of system-node-critical PriorityClass must be 2000001000`],
  [
    make('system-cluster-critical', { value: 2_000_000_000, globalDefault: true }),
    `${reserved}globalDefault of system-cluster-critical PriorityClass must be false`,
  ],
  [make('system-node-critical', { value: 2_000_001_000 })],
]
for (const [object, ...expected] of rows) test(`create: ${rowTitle(object, expected)}`, () => expectErrors(createErrors(object), expected))

test('preemptionPolicy is defaulted, and the generation is 1', () => {
  assert.equal(complete(make('a')).preemptionPolicy, 'PreemptLowerPriority')
  assert.equal(create(make('a')).metadata?.generation, 1)
})

test('value and preemptionPolicy are immutable', () => {
  const old = create(make('a', { value: 5 }))
  expectErrors(updateErrors(make('a', { value: 5, description: 'd', globalDefault: true }), old), [])
  expectErrors(updateErrors(make('a', { value: 6, preemptionPolicy: 'Never' }), old), [
    'value: Forbidden: may not be changed in an update.',
    'preemptionPolicy: Invalid value: "Never": field is immutable',
  ])
})

test('system classes cannot be deleted', () => {
  assert.equal(kind.deleteProblem?.(make('system-node-critical')), 'this is a system priority class and cannot be deleted')
  assert.equal(kind.deleteProblem?.(make('a')), undefined)
})

test('printer columns', () => assert.deepEqual(cells(make('a', { value: 5, globalDefault: true })), ['a', 5, true, '<unknown>']))
