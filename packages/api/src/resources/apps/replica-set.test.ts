// Replica sets: the same rules as deployments, each told twice on a change; and their counts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFound } from '../core/pod-spec/pod-spec.fixture.js'
import { selector, template, testMetadata, writerOf } from '../core/workload.fixture.js'
import { replicaSet } from './replica-set.js'
import type { ReplicaSet, ReplicaSetSpec } from './v1.schema.js'

const { complete, create, update, part, context, createErrors, updateErrors, statusErrors, cells } = writerOf<ReplicaSet>(replicaSet)
const make = (more: ReplicaSetSpec = {}): ReplicaSet => ({ spec: { selector, template: template(), ...more } })

test('one pod unless said otherwise', () => {
  assert.equal(complete(make()).spec?.replicas, 1)
  assert.equal(complete(make({ replicas: 0 })).spec?.replicas, 0)
})

test('wrong numbers are told once when it is new and twice when it changes', () => {
  const next = make({ replicas: -1, minReadySeconds: -1 })
  const found = ['spec.replicas: Invalid value: -1', 'spec.minReadySeconds: Invalid value: -1']
  assertFound(createErrors(next), found)
  assertFound(updateErrors(next, create(make())), [...found, ...found])
})

test('the selector stays', () => {
  assertFound(updateErrors(make({ selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }), create(make())), [
    'spec.selector: Invalid value',
  ])
})

test('only the spec raises the generation', () => {
  const old = create(make())
  assert.equal(update({ ...make(), metadata: { ...old.metadata, annotations: { a: 'b' } } }, old).metadata?.generation, 1)
  assert.equal(update({ ...make({ replicas: 2 }), metadata: old.metadata ?? {} }, old).metadata?.generation, 2)
})

test('a status that counts wrong', () => {
  const status = { replicas: 1, fullyLabeledReplicas: 2, readyReplicas: -1, availableReplicas: 0 }
  assertFound(statusErrors({ ...make(), status }, create(make())), [
    'status.readyReplicas: Invalid value: -1',
    'status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 0: cannot be greater than readyReplicas',
  ])
})

test('the scale names the pods', () => {
  assert.deepEqual(part('scale').view?.read(create(make({ replicas: 0 }))), {
    metadata: testMetadata,
    spec: { replicas: 0 },
    status: { replicas: 0, selector: 'app=a' },
  })
  const next = part('scale').prepareUpdate({ ...make({ replicas: -1 }) }, create(make()), context)
  assertFound(part('scale').validateUpdate?.(complete(next), create(make()), context) ?? [], ['spec.replicas: Invalid value: -1'])
})

test('the row', () => {
  const object = { ...make({ replicas: 3 }), status: { replicas: 2, readyReplicas: 1 } }
  assert.deepEqual(cells(object), ['a', 3, 2, 1, '90s', 'c', 'i', 'app=a'])
})
