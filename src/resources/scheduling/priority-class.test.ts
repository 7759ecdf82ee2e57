// Priority classes: names and numbers of the system, numbers that stay, and rows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFound } from '../core/pod-spec/pod-spec.fixture.js'
import { writerOf } from '../core/workload.fixture.js'
import { priorityClass } from './priority-class.js'
import type { PriorityClass } from './v1.schema.js'

const { kind, complete, create, createErrors, updateErrors, cells } = writerOf<PriorityClass>(priorityClass)
const metadata = (name: string) => ({ name, uid: 'u', resourceVersion: '1' })
const make = (name: string, more: PriorityClass = {}): PriorityClass => ({ metadata: metadata(name), ...more })
const reserved = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "

const rows: readonly { readonly title: string; readonly object: PriorityClass; readonly found: readonly string[] }[] = [
  { title: 'the usual', object: make('a', { value: 5 }), found: [] },
  { title: 'a number below zero', object: make('a', { value: -5 }), found: [] },
  {
    title: 'a number too high',
    object: make('a', { value: 1_000_000_001, preemptionPolicy: 'Sometimes' }),
    found: [
      'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
      'preemptionPolicy: Unsupported value: "Sometimes": supported values: "PreemptLowerPriority", "Never"',
    ],
  },
  { title: 'an unknown name of the system', object: make('system-x'), found: [`${reserved}system-x is not a known system priority class`] },
  {
    title: 'another number of the system',
    object: make('system-node-critical', { value: 1 }),
    found: [`${reserved}value of system-node-critical PriorityClass must be 2000001000`],
  },
  {
    title: 'a name of the system for all',
    object: make('system-cluster-critical', { value: 2_000_000_000, globalDefault: true }),
    found: [`${reserved}globalDefault of system-cluster-critical PriorityClass must be false`],
  },
  { title: 'a class of the system', object: make('system-node-critical', { value: 2_000_001_000 }), found: [] },
]
for (const { title, object, found } of rows) test(`create with ${title}`, () => assertFound(createErrors(object), found))

test('preemption unless said otherwise, and the first generation for good', () => {
  assert.equal(complete(make('a')).preemptionPolicy, 'PreemptLowerPriority')
  assert.equal(create(make('a')).metadata?.generation, 1)
})

test('number and policy stay', () => {
  const old = create(make('a', { value: 5 }))
  assertFound(updateErrors(make('a', { value: 5, description: 'd', globalDefault: true }), old), [])
  assertFound(updateErrors(make('a', { value: 6, preemptionPolicy: 'Never' }), old), [
    'value: Forbidden: may not be changed in an update.',
    'preemptionPolicy: Invalid value: "Never": field is immutable',
  ])
})

test('classes of the system are not deleted', () => {
  assert.equal(kind.deleteProblem?.(make('system-node-critical')), 'this is a system priority class and cannot be deleted')
  assert.equal(kind.deleteProblem?.(make('a')), undefined)
})

test('the row', () => assert.deepEqual(cells(make('a', { value: 5, globalDefault: true })), ['a', 5, true, '<unknown>']))
