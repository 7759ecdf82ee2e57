// Pods and claims of a StatefulSet: ordinals, identity, volumes; owners of claims by retention policy.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { StatefulSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { PersistentVolumeClaim, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { followsPolicy, isStaleClaim, withPolicy } from './claim-retention.js'
import { claimsOf, hasIdentity, hasStorage, ordinalOf, statefulPod, withIdentity, withStorage } from './stateful-pods.js'

const identity = identityOf('kubernetes')
const podNamed = (name: string): Pod => ({ metadata: { name, uid: 'pod' } })

for (const [name, expected] of [
  ['db-0', 0],
  ['db-12', 12],
  ['db-2147483647', 2147483647],
  ['db-2147483648', undefined],
  ['db-99999999999', undefined],
  ['db-', undefined],
  ['db-x', undefined],
  ['db-1-2', undefined],
  ['dbx-1', undefined],
  ['db', undefined],
] as const)
  test(`ordinal of ${name}`, () => assert.equal(ordinalOf(podNamed(name), 'db'), expected))

const set: StatefulSet = {
  metadata: { name: 'db', namespace: 'n', uid: 'set' },
  spec: {
    serviceName: 'svc',
    selector: { matchLabels: { app: 'db' } },
    volumeClaimTemplates: [{ metadata: { name: 'data', labels: { app: 'x', part: 'store' } } }, { metadata: { name: 'log' } }],
  },
}
const template = {
  metadata: { labels: { app: 'db' } },
  spec: {
    hostname: 'other',
    containers: [],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
    ],
  },
}
const owner = { owner: set, resource: { apiVersion: 'apps/v1', kind: 'StatefulSet' } } as unknown as Parameters<typeof statefulPod>[1]
const pod = statefulPod(identity, owner, { template, ordinal: 1, revision: 'db-abc' })

test('a pod has its name, revision, host name, subdomain and claims', () => {
  assert.equal(pod.metadata?.name, 'db-1')
  assert.deepEqual(pod.metadata?.labels, {
    app: 'db',
    'controller-revision-hash': 'db-abc',
    'statefulset.kubernetes.io/pod-name': 'db-1',
  })
  assert.deepEqual([pod.spec?.hostname, pod.spec?.subdomain], ['db-1', 'svc'])
  assert.deepEqual(pod.spec?.volumes, [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-db-1' } },
    { name: 'log', persistentVolumeClaim: { claimName: 'log-db-1' } },
    { name: 'tmp', emptyDir: {} },
  ])
  assert.ok(hasIdentity(identity, pod) && hasStorage(set, pod, 1))
})

test('a claim has labels of its template and of the selector', () => {
  const { metadata } = claimsOf(set, 1).get('data') ?? {}
  assert.deepEqual([metadata?.name, metadata?.namespace, metadata?.labels], ['data-db-1', 'n', { app: 'db', part: 'store' }])
})

test('identity and storage of an adopted pod are repaired', () => {
  const adopted = podNamed('db-1')
  assert.ok(!hasIdentity(identity, adopted) && !hasStorage(set, adopted, 1))
  const repaired = withStorage(set, withIdentity(identity, adopted), 1)
  assert.ok(hasIdentity(identity, repaired) && hasStorage(set, repaired, 1))
})

for (const [whenDeleted, whenScaled, isScaledDown, expected] of [
  ['Retain', 'Retain', false, []],
  ['Retain', 'Retain', true, []],
  ['Delete', 'Retain', false, ['set']],
  ['Delete', 'Retain', true, ['set']],
  ['Retain', 'Delete', false, []],
  ['Retain', 'Delete', true, ['pod']],
  ['Delete', 'Delete', false, ['set']],
  ['Delete', 'Delete', true, ['pod']],
] as const)
  test(`owners of a claim: ${whenDeleted} with the set, ${whenScaled} with the pod${isScaledDown ? ', scaled down' : ''}`, () => {
    const policy = { whenDeleted, whenScaled }
    const owners = { set: { ...set, spec: { ...set.spec, persistentVolumeClaimRetentionPolicy: policy } }, pod, isScaledDown }
    const named = { ...owners, pod: podNamed('db-1') }
    for (const before of [[], ['set'], ['pod'], ['set', 'pod']]) {
      const references = ['other', ...before].map((uid) => ({ apiVersion: 'v1', kind: 'Any', name: 'any', uid }))
      const claim: PersistentVolumeClaim = { metadata: { name: 'data-db-1', ownerReferences: references } }
      const after = withPolicy(claim, named)
      assert.deepEqual(
        after.metadata?.ownerReferences?.map(({ uid }) => uid),
        ['other', ...expected],
      )
      assert.ok(followsPolicy(after, named))
      assert.equal(followsPolicy(claim, named), before.join() === expected.join())
    }
  })

test('a claim of a deleted pod with the same name is stale if claims are deleted with pods', () => {
  const policy = (whenScaled: string) => ({ ...set, spec: { ...set.spec, persistentVolumeClaimRetentionPolicy: { whenScaled } } })
  const claim = { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'db-1', uid: 'old' }] } }
  assert.equal(isStaleClaim(policy('Delete'), claim, 'db-1'), true)
  assert.equal(isStaleClaim(policy('Delete'), claim, 'db-2'), false)
  assert.equal(isStaleClaim(policy('Retain'), claim, 'db-1'), false)
})
