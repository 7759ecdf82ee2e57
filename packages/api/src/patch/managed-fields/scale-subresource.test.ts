// Ownership of replicas through the scale subresource.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ManagedFieldsEntry } from './managed-fields-entries.js'
import { parentEntries, type ScaleFields, scaleEntries } from './scale-subresource.js'

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
const replicasAndPaused = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } }
const paused = { 'f:spec': { 'f:paused': {} } }

test('a Scale has entries of owners of the replicas only', () => {
  const parent = [entry('a', 'Apply', replicasAndPaused), entry('b', 'Update', paused), entry('c', 'Update', replicas, 'apps/v9')]
  assert.deepEqual(scaleEntries(scale, parent), [entry('a', 'Apply', replicas, 'autoscaling/v1')])
  assert.equal(scaleEntries(scale, undefined), undefined)
})

test('changes of owners in the Scale carry over to the parent', () => {
  const parent = [entry('a', 'Apply', replicasAndPaused), entry('b', 'Update', replicas)]
  const scaleWithBoth = [entry('a', 'Apply', replicas, 'autoscaling/v1'), entry('c', 'Update', replicas, 'autoscaling/v1')]
  assert.deepEqual(parentEntries(scale, { parent, scale: scaleWithBoth }), [
    entry('a', 'Apply', replicasAndPaused),
    entry('c', 'Update', replicas),
  ])
  const scaleWithNewOwner = [entry('c', 'Update', replicas, 'autoscaling/v1')]
  assert.deepEqual(parentEntries(scale, { parent, scale: scaleWithNewOwner }), [
    entry('a', 'Apply', paused),
    entry('c', 'Update', replicas),
  ])
})
