// Bootstrap objects go to the store unasked, so these tests ask: is each of them valid, and what is done to those that were changed?

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IdentityName, identityNames, identityOf } from '../../api/identity.js'
import { withMetadata } from '../../api/object.js'
import { validateCreation } from '../../api/validation/validate-write.js'
import { systemClock } from '../../base/clock.js'
import { trackCreate } from '../../verbs/managed-fields.js'
import { toStored, withDefaults } from '../../verbs/versions.js'
import { stageOf } from '../engine.fixture.js'
import { ownCall } from '../own-call.js'
import { accessObjects, reconcileBinding, reconcileRole } from './access.js'
import { apiServices } from './api-services.js'
import { covers } from './covered-rules.js'
import { flowObjects } from './flow-control.js'
import { ownEndpoints, ownLease, priorityClasses } from './own-objects.js'
import { placeAll } from './place.js'
import { trustMap } from './trust-map.js'

const addresses = { serviceAddress: '10.0.0.1', addresses: ['192.0.2.1'], securePort: 6443 }

for (const name of identityNames) {
  test(`every object is valid, as ${name}`, async () => {
    const { engine, catalog } = await stageOf(name, systemClock)
    const { identity } = engine
    const all = [
      ...priorityClasses,
      ...accessObjects(identity, () => true),
      ...flowObjects(identity, 0),
      ...apiServices(catalog),
      ...ownEndpoints(identity, addresses),
      trustMap(identity, { 'client-ca-file': 'PEM' }, 0),
      ownLease(identity, { hostname: 'here', holder: 'me', leaseSeconds: 3600, now: 0 }),
    ]
    for (const wanted of all) {
      const resource = catalog.find(identity.group(wanted.group), wanted.version, wanted.resource)
      assert.ok(resource, wanted.resource)
      const call = ownCall(engine, { resource, namespace: wanted.namespace ?? '', name: wanted.object.metadata?.name ?? '' })
      const stamped = withMetadata(toStored(call, withDefaults(call, wanted.object)), {
        uid: 'u',
        creationTimestamp: '2024-01-01T00:00:00Z',
      })
      const prepared = resource.definition.prepareCreate?.(stamped, call) ?? stamped
      assert.deepEqual(validateCreation(resource.definition, prepared, call), [], `${wanted.resource} ${wanted.object.metadata?.name}`)
    }
  })
}

test('owners that are worked out once for a shape are those of every object of it', async () => {
  const { engine, catalog } = await stageOf('cluster', { now: () => 0 })
  const all = [...accessObjects(engine.identity, () => true), ...apiServices(catalog)]
  await placeAll(engine, catalog, all)
  for (const { group, version, resource: plural, namespace = '', object } of all) {
    const resource = catalog.find(engine.identity.group(group), version, plural)
    assert.ok(resource)
    const name = object.metadata?.name ?? ''
    const call = ownCall(engine, { resource, namespace, name })
    const expected = trackCreate(call, withDefaults(call, object)).metadata?.managedFields
    assert.deepEqual(engine.store.read({ resource, namespace, name })?.decode(resource).metadata?.managedFields, expected, name)
  }
})

test('names are spelled as each vocabulary has them', () => {
  const namesIn = (name: IdentityName): readonly string[] => {
    const identity = identityOf(name)
    const objects = [
      ...accessObjects(identity, () => true),
      ...flowObjects(identity, 0),
      ...ownEndpoints(identity, addresses),
      ownLease(identity, { hostname: 'here', holder: 'me', leaseSeconds: 3600, now: 0 }),
    ]
    const used = objects.flatMap(({ object: { metadata } }) => Object.keys({ ...metadata?.labels, ...metadata?.annotations }))
    return [...new Set(used)].sort()
  }
  assert.deepEqual(namesIn('kubernetes'), [
    'apf.kubernetes.io/autoupdate-spec',
    'endpointslice.kubernetes.io/skip-mirror',
    'k8s.io/component',
    'kubernetes.io/bootstrapping',
    'kubernetes.io/hostname',
    'kubernetes.io/service-name',
    'rbac.authorization.k8s.io/aggregate-to-admin',
    'rbac.authorization.k8s.io/aggregate-to-edit',
    'rbac.authorization.k8s.io/aggregate-to-view',
    'rbac.authorization.kubernetes.io/autoupdate',
  ])
  const translated = namesIn('kubernetes').map((name) => name.replace(/k8s\.io|kubernetes\.io/, 'cluster.io'))
  assert.deepEqual(namesIn('cluster'), translated.sort())
})

test('what belongs to a feature is there with it only', () => {
  const identity = identityOf('cluster')
  const objectsWith = (gates: readonly string[]): string => JSON.stringify(accessObjects(identity, (gate) => gates.includes(gate)))
  assert.doesNotMatch(objectsWith([]), /resource-claim|resource\.cluster\.io|selfsubjectreviews/)
  const rolesAndBindings = objectsWith(['DynamicResourceAllocation']).match(/"name":"system:controller:resource-claim-controller"/g)
  assert.equal(rolesAndBindings?.length, 3, 'the role, who has it, and that it is this role')
  assert.match(objectsWith(['DynamicResourceAllocation']), /podschedulings/)
  assert.match(objectsWith(['APISelfSubjectReview']), /selfsubjectreviews/)
})

const rule = (verbs: string, apiGroups: string, resources: string, more: object = {}) => ({
  verbs: verbs.split(' '),
  apiGroups: apiGroups.split(' '),
  resources: resources.split(' '),
  ...more,
})

for (const { title, own, asked, is } of [
  { title: 'the same', own: [rule('get', 'a', 'b')], asked: rule('get', 'a', 'b'), is: true },
  { title: 'another verb', own: [rule('get', 'a', 'b')], asked: rule('get list', 'a', 'b'), is: false },
  { title: 'two together', own: [rule('get', 'a', 'b'), rule('list', 'a', 'b')], asked: rule('get list', 'a', 'b'), is: true },
  { title: 'everything', own: [rule('*', '*', '*')], asked: rule('get', 'a', 'b/c', { resourceNames: ['n'] }), is: true },
  { title: 'a part of every resource', own: [rule('get', 'a', '*/scale')], asked: rule('get', 'a', 'b/scale'), is: true },
  { title: 'another part', own: [rule('get', 'a', '*/scale')], asked: rule('get', 'a', 'b'), is: false },
  { title: 'some names', own: [rule('get', 'a', 'b', { resourceNames: ['n'] })], asked: rule('get', 'a', 'b'), is: false },
  {
    title: 'names apart',
    own: ['m', 'n'].map((name) => rule('get', 'a', 'b', { resourceNames: [name] })),
    asked: rule('get', 'a', 'b', { resourceNames: ['n', 'm'] }),
    is: true,
  },
  {
    title: 'paths',
    own: [{ verbs: ['get'], nonResourceURLs: ['/api/*'] }],
    asked: { verbs: ['get'], nonResourceURLs: ['/api/v1'] },
    is: true,
  },
  {
    title: 'other paths',
    own: [{ verbs: ['get'], nonResourceURLs: ['/api/*'] }],
    asked: { verbs: ['get'], nonResourceURLs: ['/x'] },
    is: false,
  },
  { title: 'nothing', own: [], asked: rule('get', 'a', 'b'), is: false },
])
  test(`rules that cover another: ${title}`, () => assert.equal(covers(own, asked), is))

test('a role keeps what it has and gets what it lacks', () => {
  const wanted = { metadata: { labels: { a: '1' }, annotations: { b: '1' } }, rules: [rule('get', 'a', 'b')] }
  assert.equal(reconcileRole(wanted, wanted), wanted)
  const changed = reconcileRole({ metadata: { labels: { a: '2', c: '3' } }, rules: [rule('list', 'a', 'b')] }, wanted)
  assert.deepEqual(changed.metadata, { labels: { a: '2', c: '3' }, annotations: { b: '1' } })
  assert.deepEqual(changed.rules, [rule('list', 'a', 'b'), rule('get', 'a', 'b')])
})

test('a binding gets the subjects that it lacks, unless it is for another role', () => {
  const [one, two] = ['one', 'two'].map((name) => ({ kind: 'User', name }))
  const wanted = { metadata: {}, roleRef: { apiGroup: 'g', kind: 'Role', name: 'r' }, subjects: [one ?? {}] }
  const other = { ...wanted, subjects: [two ?? {}] }
  assert.deepEqual(reconcileBinding(other, wanted).subjects, [two, one])
  const elsewhere = { ...other, roleRef: { ...wanted.roleRef, name: 'else' } }
  assert.equal(reconcileBinding(elsewhere, wanted), elsewhere)
})
