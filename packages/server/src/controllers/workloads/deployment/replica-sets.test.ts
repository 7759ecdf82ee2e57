// ReplicaSets of a Deployment: which is the new one, revisions, copied annotations, history.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { Deployment, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import { lastRevision, maxRevision, splitReplicaSets, withAnnotationsOf, withNewAnnotations } from './replica-sets.js'

const identity = identityOf('kubernetes')
const key = (name: string): string => `deployment.kubernetes.io/${name}`

type Annotations = { readonly [name: string]: string }

const templateOf = (image: string, labels: Annotations = {}) => ({
  metadata: { labels: { app: 'web', ...labels } },
  spec: { containers: [{ name: 'c', image }] },
})

const deploymentOf = (image: string, annotations: Annotations = {}): Deployment =>
  ({ metadata: { name: 'web', annotations }, spec: { template: templateOf(image) } }) as unknown as Deployment

const replicaSetOf = (name: string, image: string, annotations: Annotations = {}, createdHour = 0): ReplicaSet =>
  ({
    metadata: { name, annotations, creationTimestamp: `2026-01-01T0${createdHour}:00:00Z` },
    spec: { template: templateOf(image, { 'pod-template-hash': name }) },
  }) as unknown as ReplicaSet

test('the new ReplicaSet is the oldest with the same template, whatever its hash', () => {
  const sets = [replicaSetOf('a', '1', {}, 0), replicaSetOf('b', '2', {}, 2), replicaSetOf('c', '2', {}, 1)]
  const { current, old } = splitReplicaSets(deploymentOf('2'), sets)
  assert.equal(current, sets[2])
  assert.deepEqual(old, [sets[0], sets[1]])
  assert.equal(splitReplicaSets(deploymentOf('3'), sets).current, undefined)
})

test('revisions that are no numbers count as 0', () => {
  const sets = ['3', 'x', '7', undefined].map((revision, i) =>
    replicaSetOf(`r${i}`, '1', revision === undefined ? {} : { [key('revision')]: revision }),
  )
  assert.equal(maxRevision(identity, sets), 7)
  assert.equal(lastRevision(identity, sets), 3)
  assert.equal(lastRevision(identity, sets.slice(0, 1)), 0)
})

const long = Array.from({ length: 500 }, (_, i) => String(i + 100)).join(',')

const rows: readonly (readonly [title: string, own: Annotations, before: Annotations, revision: number, after: Annotations])[] = [
  ['the first revision has no history', {}, {}, 1, { [key('revision')]: '1' }],
  ['annotations are copied', { cause: 'x' }, { [key('revision')]: '1' }, 1, { [key('revision')]: '1', cause: 'x' }],
  [
    'annotations of the Deployment alone are not copied',
    { [key('revision')]: '9', 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'deprecated.deployment.rollback.to': '1' },
    { [key('revision')]: '1' },
    1,
    { [key('revision')]: '1' },
  ],
  ['a rollback notes the earlier revision', {}, { [key('revision')]: '1' }, 3, { [key('revision')]: '3', [key('revision-history')]: '1' }],
  [
    'a second rollback, too',
    {},
    { [key('revision')]: '3', [key('revision-history')]: '1' },
    5,
    { [key('revision')]: '5', [key('revision-history')]: '1,3' },
  ],
  ['a higher revision stays', {}, { [key('revision')]: '8' }, 5, { [key('revision')]: '8' }],
  ['a revision that is no number stays', {}, { [key('revision')]: 'x' }, 5, { [key('revision')]: 'x' }],
  [
    'a long history loses its oldest revisions',
    {},
    { [key('revision')]: '600', [key('revision-history')]: long },
    601,
    { [key('revision')]: '601', [key('revision-history')]: `${long.slice(4)},600` },
  ],
]

for (const [title, own, before, revision, after] of rows) {
  test(`annotations of the new ReplicaSet: ${title}`, () => {
    const annotated = withNewAnnotations(identity, deploymentOf('1', own), replicaSetOf('r', '1', before), revision)
    assert.deepEqual(annotated.metadata?.annotations, after)
    assert.equal(withNewAnnotations(identity, deploymentOf('1', own), annotated, revision), annotated, 'a second time changes nothing')
  })
}

test('a rollback restores the annotations of the ReplicaSet and keeps those of the Deployment alone', () => {
  const deployment = deploymentOf('2', { cause: 'second', added: 'y', [key('revision')]: '2' })
  const target = replicaSetOf('r', '1', { cause: 'first', [key('revision')]: '1', [key('desired-replicas')]: '3' })
  assert.deepEqual(withAnnotationsOf(identity, deployment, target).metadata?.annotations, { cause: 'first', [key('revision')]: '2' })
})
