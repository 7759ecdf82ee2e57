// Volumes and claims stay as long as they are used, and go when nobody uses them any more.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import { silentLogger } from '../../base/logger.js'
import { stageOf } from '../engine.fixture.js'
import { FakeTimers, flushTurns } from '../kit/timers.fixture.js'
import { RawObjects } from '../raw-objects.fixture.js'
import { claimProtection } from './claim-protection.js'
import { volumeProtection } from './volume-protection.js'

const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const claimHeld = ['cluster.io/pvc-protection']
const volumeHeld = ['cluster.io/pv-protection']

async function setUp() {
  const timers = new FakeTimers()
  const stage = await stageOf('cluster', { now: () => 1_767_225_600_000 + timers.now() })
  const of = (name: string): RawObjects => new RawObjects(stage, stage.catalog.find('', 'v1', name) as Resource)
  const parts = { ...stage, logger: silentLogger, timers }
  const loops = [claimProtection(parts), volumeProtection(parts)]
  const close = async (): Promise<void> => {
    for (const loop of loops) await loop.close()
  }
  const wait = async (): Promise<void> => {
    await timers.advance(2000)
    await flushTurns()
  }
  return { claims: of('persistentvolumeclaims'), volumes: of('persistentvolumes'), pods: of('pods'), wait, close }
}

const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeMode: 'Filesystem' }
const volumeSpec = {
  accessModes: ['ReadWriteOnce'],
  capacity: { storage: '1Gi' },
  hostPath: { path: '/x', type: '' },
  persistentVolumeReclaimPolicy: 'Retain',
  volumeMode: 'Filesystem',
}

const usesClaim = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }
const usesOwn = { volumes: [{ name: 'v', ephemeral: {} }] }
const ownedByPod = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'pod-uid', controller: true }]

for (const { title, claim, pod, left } of [
  { title: 'a claim that nobody uses is let go', claim: { finalizers: claimHeld, ...going }, pod: undefined, left: undefined },
  {
    title: 'others that hold it go on to do so',
    claim: { finalizers: ['a.io/b', ...claimHeld], ...going },
    pod: undefined,
    left: ['a.io/b'],
  },
  {
    title: 'one that a pod on a node uses stays',
    claim: { finalizers: claimHeld, ...going },
    pod: { metadata: {}, spec: { nodeName: 'x', ...usesClaim } },
    left: claimHeld,
  },
  {
    title: 'a pod on no node does not use it',
    claim: { finalizers: claimHeld, ...going },
    pod: { metadata: {}, spec: usesClaim },
    left: undefined,
  },
  {
    title: 'a pod with another claim does not use it',
    claim: { finalizers: claimHeld, ...going },
    pod: { metadata: {}, spec: { nodeName: 'x', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'other' } }] } },
    left: undefined,
  },
  { title: 'one that is not deleted is held', claim: {}, pod: undefined, left: claimHeld },
]) {
  test(title, async () => {
    const { claims, pods, wait, close } = await setUp()
    if (pod !== undefined) await pods.put({ ...pod, metadata: { ...pod.metadata, name: 'p' } })
    await claims.put({ metadata: { name: 'c', ...claim }, spec: claimSpec })
    await wait()
    assert.deepEqual(claims.read('c')?.metadata?.finalizers, left)
    await close()
  })
}

test('a claim is let go with the last pod that used it', async () => {
  const { claims, pods, wait, close } = await setUp()
  for (const name of ['p', 'q']) await pods.put({ metadata: { name }, spec: { nodeName: 'x', ...usesClaim } })
  await claims.put({ metadata: { name: 'c', finalizers: claimHeld, ...going }, spec: claimSpec })
  await wait()
  await pods.remove('p')
  await wait()
  assert.deepEqual(claims.read('c')?.metadata?.finalizers, claimHeld)
  await pods.remove('q')
  await wait()
  assert.equal(claims.read('c'), undefined)
  await close()
})

test('a claim that was made for a pod is used by it, and by nobody else who looks like it', async () => {
  const { claims, pods, wait, close } = await setUp()
  await pods.put({ metadata: { name: 'p', uid: 'pod-uid' }, spec: { nodeName: 'x', ...usesOwn } })
  await claims.put({ metadata: { name: 'p-v', finalizers: claimHeld, ...going, ownerReferences: ownedByPod }, spec: claimSpec })
  await wait()
  assert.deepEqual(claims.read('p-v')?.metadata?.finalizers, claimHeld)
  await claims.put({ metadata: { name: 'p-v', finalizers: claimHeld, ...going }, spec: claimSpec })
  await wait()
  assert.equal(claims.read('p-v'), undefined)
  await close()
})

for (const { title, metadata, phase, left } of [
  { title: 'a volume that is bound stays', metadata: { finalizers: volumeHeld, ...going }, phase: 'Bound', left: volumeHeld },
  { title: 'one that was released goes', metadata: { finalizers: volumeHeld, ...going }, phase: 'Released', left: undefined },
  { title: 'one that is not deleted is held', metadata: {}, phase: 'Available', left: volumeHeld },
]) {
  test(title, async () => {
    const { volumes, wait, close } = await setUp()
    await volumes.put({ metadata: { name: 'v', ...metadata }, spec: volumeSpec, status: { phase } })
    await wait()
    assert.deepEqual(volumes.read('v')?.metadata?.finalizers, left)
    await close()
  })
}
