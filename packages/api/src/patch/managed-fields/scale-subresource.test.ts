// Ownership of the replicas seen through the scale subresource.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ManagedFieldsEntry } from './managed-entries.js'
import { parentEntries, type ScaleFields, scaleEntries } from './scale-fields.js'

const scale: ScaleFields = {
  scaleVersion: 'autoscaling/v1',
  apiVersion: 'apps/v1',
  replicasPath: (apiVersion) => (apiVersion === 'apps/v1' ? 'spec.replicas' : undefined),
}
const entry = (manager: string, operation: string, fieldsV1: object, apiVersion = 'apps/v1'): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion,
  time: '2030-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
})
const replicas = { 'f:spec': { 'f:replicas': {} } }
const more = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } }
const rest = { 'f:spec': { 'f:paused': {} } }

test('only owners of the replicas are seen', () => {
  const parent = [entry('a', 'Apply', more), entry('b', 'Update', rest), entry('c', 'Update', replicas, 'apps/v9')]
  assert.deepEqual(scaleEntries(scale, parent), [entry('a', 'Apply', replicas, 'autoscaling/v1')])
  assert.equal(scaleEntries(scale, undefined), undefined)
})

test('who loses the replicas there loses them here, and who gets them gets them', () => {
  const parent = [entry('a', 'Apply', more), entry('b', 'Update', replicas)]
  const written = [entry('a', 'Apply', replicas, 'autoscaling/v1'), entry('c', 'Update', replicas, 'autoscaling/v1')]
  assert.deepEqual(parentEntries(scale, { parent, scale: written }), [entry('a', 'Apply', more), entry('c', 'Update', replicas)])
  const taken = [entry('c', 'Update', replicas, 'autoscaling/v1')]
  assert.deepEqual(parentEntries(scale, { parent, scale: taken }), [entry('a', 'Apply', rest), entry('c', 'Update', replicas)])
})
