// PV and PVC protection.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { createTestEngine } from './framework/engine.fixture.js'
import { RawObjects } from './framework/raw-objects.fixture.js'
import { FakeTimers, flushTurns } from './framework/timers.fixture.js'
import { claimProtection, volumeProtection } from './volume-protection.js'

const terminating = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const claimFinalizers = ['cluster.io/pvc-protection']
const volumeFinalizers = ['cluster.io/pv-protection']

async function setUp() {
  const timers = new FakeTimers()
  const testEngine = await createTestEngine('cluster', { now: () => 1_767_225_600_000 + timers.now() })
  const rawObjects = (name: string): RawObjects => new RawObjects(testEngine, testEngine.catalog.find('', 'v1', name) as Resource)
  const parts = { ...testEngine, logger: silentLogger, timers }
  const controllers = [claimProtection(parts), volumeProtection(parts)]
  const close = async (): Promise<void> => {
    for (const controller of controllers) await controller.close()
  }
  const wait = async (): Promise<void> => {
    await timers.advance(2000)
    await flushTurns()
  }
  return { claims: rawObjects('persistentvolumeclaims'), volumes: rawObjects('persistentvolumes'), pods: rawObjects('pods'), wait, close }
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
const usesEphemeral = { volumes: [{ name: 'v', ephemeral: {} }] }
const ownedByPod = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'pod-uid', controller: true }]

for (const { title, claim, pod, expectedFinalizers } of [
  {
    title: 'an unused terminating claim is deleted',
    claim: { finalizers: claimFinalizers, ...terminating },
    pod: undefined,
    expectedFinalizers: undefined,
  },
  {
    title: 'other finalizers stay',
    claim: { finalizers: ['a.io/b', ...claimFinalizers], ...terminating },
    pod: undefined,
    expectedFinalizers: ['a.io/b'],
  },
  {
    title: 'a claim used by a scheduled pod stays',
    claim: { finalizers: claimFinalizers, ...terminating },
    pod: { metadata: {}, spec: { nodeName: 'x', ...usesClaim } },
    expectedFinalizers: claimFinalizers,
  },
  {
    title: 'an unscheduled pod does not use the claim',
    claim: { finalizers: claimFinalizers, ...terminating },
    pod: { metadata: {}, spec: usesClaim },
    expectedFinalizers: undefined,
  },
  {
    title: 'a pod with another claim does not use it',
    claim: { finalizers: claimFinalizers, ...terminating },
    pod: { metadata: {}, spec: { nodeName: 'x', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'other' } }] } },
    expectedFinalizers: undefined,
  },
  { title: 'a claim gets the finalizer', claim: {}, pod: undefined, expectedFinalizers: claimFinalizers },
]) {
  test(title, async () => {
    const { claims, pods, wait, close } = await setUp()
    if (pod !== undefined) await pods.put({ ...pod, metadata: { ...pod.metadata, name: 'p' } })
    await claims.put({ metadata: { name: 'c', ...claim }, spec: claimSpec })
    await wait()
    assert.deepEqual(claims.read('c')?.metadata?.finalizers, expectedFinalizers)
    await close()
  })
}

test('a claim is deleted after the last pod that used it', async () => {
  const { claims, pods, wait, close } = await setUp()
  for (const name of ['p', 'q']) await pods.put({ metadata: { name }, spec: { nodeName: 'x', ...usesClaim } })
  await claims.put({ metadata: { name: 'c', finalizers: claimFinalizers, ...terminating }, spec: claimSpec })
  await wait()
  await pods.remove('p')
  await wait()
  assert.deepEqual(claims.read('c')?.metadata?.finalizers, claimFinalizers)
  await pods.remove('q')
  await wait()
  assert.equal(claims.read('c'), undefined)
  await close()
})

test('an ephemeral claim is used by its owner pod only', async () => {
  const { claims, pods, wait, close } = await setUp()
  await pods.put({ metadata: { name: 'p', uid: 'pod-uid' }, spec: { nodeName: 'x', ...usesEphemeral } })
  await claims.put({ metadata: { name: 'p-v', finalizers: claimFinalizers, ...terminating, ownerReferences: ownedByPod }, spec: claimSpec })
  await wait()
  assert.deepEqual(claims.read('p-v')?.metadata?.finalizers, claimFinalizers)
  await claims.put({ metadata: { name: 'p-v', finalizers: claimFinalizers, ...terminating }, spec: claimSpec })
  await wait()
  assert.equal(claims.read('p-v'), undefined)
  await close()
})

for (const { title, metadata, phase, expectedFinalizers } of [
  {
    title: 'a bound volume stays',
    metadata: { finalizers: volumeFinalizers, ...terminating },
    phase: 'Bound',
    expectedFinalizers: volumeFinalizers,
  },
  {
    title: 'a released volume is deleted',
    metadata: { finalizers: volumeFinalizers, ...terminating },
    phase: 'Released',
    expectedFinalizers: undefined,
  },
  { title: 'a volume gets the finalizer', metadata: {}, phase: 'Available', expectedFinalizers: volumeFinalizers },
]) {
  test(title, async () => {
    const { volumes, wait, close } = await setUp()
    await volumes.put({ metadata: { name: 'v', ...metadata }, spec: volumeSpec, status: { phase } })
    await wait()
    assert.deepEqual(volumes.read('v')?.metadata?.finalizers, expectedFinalizers)
    await close()
  })
}
