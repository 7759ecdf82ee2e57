// Which volume a claim gets, why it cannot have the one it names, and which volumes can be deleted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { deletionProblem } from './sync-volume.js'
import { findVolume, mismatchOf } from './volume-match.js'

const identity = identityOf('cluster')
const claimRef = { namespace: 'n', name: 'data' }

const volume = (name: string, storage: string, spec: object = {}, phase = 'Available', metadata: object = {}): PersistentVolume =>
  ({
    metadata: { name, ...metadata },
    spec: { capacity: { storage }, accessModes: ['ReadWriteOnce'], storageClassName: 'fast', ...spec },
    status: { phase },
  }) as unknown as PersistentVolume
const claim = (spec: object = {}): PersistentVolumeClaim =>
  ({
    metadata: { namespace: 'n', name: 'data', uid: 'u' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '2Gi' } }, ...spec },
  }) as unknown as PersistentVolumeClaim

const rows: readonly [string, PersistentVolumeClaim, readonly PersistentVolume[], string | undefined, boolean?][] = [
  ['the smallest that fits', claim(), [volume('big', '50Gi'), volume('mid', '5Gi'), volume('small', '1Gi')], 'mid'],
  ['none is large enough', claim(), [volume('small', '1Gi')], undefined],
  ['only Available ones', claim(), [volume('a', '5Gi', {}, 'Released'), volume('b', '5Gi', {}, 'Pending')], undefined],
  ['another class', claim(), [volume('a', '5Gi', { storageClassName: 'slow' })], undefined],
  ['no class', claim({ storageClassName: '' }), [volume('a', '5Gi', { storageClassName: undefined })], 'a'],
  ['another volume mode', claim({ volumeMode: 'Block' }), [volume('a', '5Gi')], undefined],
  ['access modes', claim({ accessModes: ['ReadWriteMany'] }), [volume('a', '5Gi')], undefined],
  [
    'the fewest access modes before the size',
    claim(),
    [volume('many', '2Gi', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] }), volume('one', '9Gi')],
    'one',
  ],
  [
    'the selector',
    claim({ selector: { matchLabels: { disk: 'ssd' } } }),
    [volume('hdd', '2Gi'), volume('ssd', '3Gi', {}, 'Available', { labels: { disk: 'ssd' } })],
    'ssd',
  ],
  ['a reserved one before smaller ones', claim(), [volume('free', '2Gi'), volume('mine', '9Gi', { claimRef })], 'mine'],
  ['a reserved one of any class and phase', claim(), [volume('mine', '9Gi', { claimRef, storageClassName: 'slow' }, 'Pending')], 'mine'],
  ['reserved for an older claim of the name', claim(), [volume('a', '9Gi', { claimRef: { ...claimRef, uid: 'old' } })], undefined],
  ['reserved for another claim', claim(), [volume('a', '9Gi', { claimRef: { namespace: 'n', name: 'other' } })], undefined],
  ['terminating', claim(), [volume('a', '5Gi', {}, 'Available', { deletionTimestamp: '2026-01-01T00:00:00Z' })], undefined],
  ['the scheduler chooses', claim(), [volume('a', '5Gi')], undefined, true],
  ['the scheduler has chosen', claim(), [volume('a', '5Gi', { claimRef })], 'a', true],
]
for (const [name, wanting, volumes, found, isDelayed = false] of rows)
  test(`volume of a claim: ${name}`, () => assert.equal(findVolume(wanting, volumes, { identity, isDelayed })?.metadata?.name, found))

for (const [found, expected] of [
  [volume('a', '2Gi'), undefined],
  [volume('a', '2Gi', {}, 'Available', { deletionTimestamp: '2026-01-01T00:00:00Z' }), 'the volume is marked for deletion "a"'],
  [volume('a', '1Gi'), 'requested PV is too small'],
  [volume('a', '2Gi', { storageClassName: 'slow' }), 'storageClassName does not match'],
  [volume('a', '2Gi', { volumeMode: 'Block' }), 'incompatible volumeMode'],
  [volume('a', '2Gi', { accessModes: ['ReadOnlyMany'] }), 'incompatible accessMode'],
] as const)
  test(`a named volume: ${expected ?? 'fits'}`, () => assert.equal(mismatchOf(identity, found, claim()), expected))

for (const [spec, expected] of [
  [{ hostPath: { path: '/tmp/x' } }, undefined],
  [{ hostPath: { path: '/data' } }, 'host_path deleter only supports /tmp/.+ but received provided /data'],
  [{ nfs: { server: 's', path: '/' } }, 'error getting deleter volume plugin for volume "v": no deletable volume plugin matched'],
  [{ fc: {} }, 'error getting deleter volume plugin for volume "v": no volume plugin matched'],
] as const)
  test(`deletion of a volume of ${Object.keys(spec)[0]}`, () => assert.equal(deletionProblem(volume('v', '1Gi', spec)), expected))
