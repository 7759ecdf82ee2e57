// Tests of ReplicaSets: validation, which repeats errors on update, selector, status, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { selector, template, testMetadata, writerOf } from '../core/workload/workload.fixture.js'
import { expectErrors } from '../expect-errors.fixture.js'
import { replicaSet } from './replica-set.js'
import type { ReplicaSet, ReplicaSetSpec } from './v1.schema.js'

const { complete, create, update, part, context, createErrors, updateErrors, statusErrors, cells } = writerOf<ReplicaSet>(replicaSet)
const make = (more: ReplicaSetSpec = {}): ReplicaSet => ({ spec: { selector, template: template(), ...more } })

test('replicas default to 1', () => {
  assert.equal(complete(make()).spec?.replicas, 1)
  assert.equal(complete(make({ replicas: 0 })).spec?.replicas, 0)
})

test('errors are reported once on create and twice on update', () => {
  const next = make({ replicas: -1, minReadySeconds: -1 })
  const expected = ['spec.replicas: Invalid value: -1', 'spec.minReadySeconds: Invalid value: -1']
  expectErrors(createErrors(next), expected)
  expectErrors(updateErrors(next, create(make())), [...expected, ...expected])
})

test('the selector is immutable', () => {
  expectErrors(updateErrors(make({ selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }), create(make())), [
    'spec.selector: Invalid value',
  ])
})

test('only the spec increases the generation', () => {
  const old = create(make())
  assert.equal(update({ ...make(), metadata: { ...old.metadata, annotations: { a: 'b' } } }, old).metadata?.generation, 1)
  assert.equal(update({ ...make({ replicas: 2 }), metadata: old.metadata ?? {} }, old).metadata?.generation, 2)
})

test('status counts are validated', () => {
  const status = { replicas: 1, fullyLabeledReplicas: 2, readyReplicas: -1, availableReplicas: 0 }
  expectErrors(statusErrors({ ...make(), status }, create(make())), [
    'status.readyReplicas: Invalid value: -1',
    'status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 0: cannot be greater than readyReplicas',
  ])
})

test('Scale has the selector', () => {
  assert.deepEqual(part('scale').view?.read(create(make({ replicas: 0 }))), {
    metadata: testMetadata,
    spec: { replicas: 0 },
    status: { replicas: 0, selector: 'app=a' },
  })
  const next = part('scale').prepareUpdate({ ...make({ replicas: -1 }) }, create(make()), context)
  expectErrors(part('scale').validateUpdate?.(complete(next), create(make()), context) ?? [], ['spec.replicas: Invalid value: -1'])
})

test('printer columns', () => {
  const object = { ...make({ replicas: 3 }), status: { replicas: 2, readyReplicas: 1 } }
  assert.deepEqual(cells(object), ['a', 3, 2, 1, '90s', 'c', 'i', 'app=a'])
})
