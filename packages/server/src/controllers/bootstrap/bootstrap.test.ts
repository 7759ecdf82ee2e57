// Bootstrap objects, which bypass validation, are valid; changed ones are reconciled.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IdentityName, identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { withMetadata } from '@cluster-apiserver/api/api/object.js'
import { validateCreation } from '@cluster-apiserver/api/api/validation/validate-write.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { trackCreate } from '../../verbs/managed-fields.js'
import { toStored, withDefaults } from '../../verbs/version-conversion.js'
import { authenticationConfigMap } from '../aggregation/extension-apiserver-authentication.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { internalCall } from '../framework/internal-call.js'
import { apiServiceDefaults } from './api-services.js'
import { apiServerEndpoints, apiServerLease, clusterInfo } from './apiserver-objects.js'
import { priorityClasses } from './data/priority-classes.js'
import { ensureObjects } from './ensure-objects.js'
import { flowControlDefaults } from './flow-control.js'
import { covers, rbacDefaults, reconcileBinding, reconcileRole } from './rbac-defaults.js'

const addresses = { serviceAddress: '10.0.0.1', addresses: ['192.0.2.1'], securePort: 6443 }

for (const name of identityNames) {
  test(`every object is valid, as ${name}`, async () => {
    const { engine, catalog } = await createTestEngine(name, systemClock)
    const { identity } = engine
    const all = [
      ...priorityClasses,
      ...rbacDefaults(identity, () => true),
      ...flowControlDefaults(identity, 0),
      ...apiServiceDefaults(catalog),
      ...apiServerEndpoints(identity, addresses),
      authenticationConfigMap(identity, { 'client-ca-file': 'PEM' }, 0),
      clusterInfo(identity, { server: 'https://192.0.2.1:6443', caPem: 'PEM' }),
      apiServerLease(identity, { hostname: 'here', holder: 'me', leaseSeconds: 3600, now: 0 }),
    ]
    for (const bootstrap of all) {
      const resource = catalog.find(identity.group(bootstrap.group), bootstrap.version, bootstrap.resource)
      assert.ok(resource, bootstrap.resource)
      const call = internalCall(engine, { resource, namespace: bootstrap.namespace ?? '', name: bootstrap.object.metadata?.name ?? '' })
      const stamped = withMetadata(toStored(call, withDefaults(call, bootstrap.object)), {
        uid: 'u',
        creationTimestamp: '2024-01-01T00:00:00Z',
      })
      const prepared = resource.definition.prepareCreate?.(stamped, call) ?? stamped
      assert.deepEqual(
        validateCreation(resource.definition, prepared, call),
        [],
        `${bootstrap.resource} ${bootstrap.object.metadata?.name}`,
      )
    }
  })
}

test('managedFields computed once per shape are those of each object', async () => {
  const { engine, catalog } = await createTestEngine('cluster', { now: () => 0 })
  const all = [...rbacDefaults(engine.identity, () => true), ...apiServiceDefaults(catalog)]
  await ensureObjects(engine, catalog, all)
  for (const { group, version, resource: plural, namespace = '', object } of all) {
    const resource = catalog.find(engine.identity.group(group), version, plural)
    assert.ok(resource)
    const name = object.metadata?.name ?? ''
    const call = internalCall(engine, { resource, namespace, name })
    const expected = trackCreate(call, withDefaults(call, object)).metadata?.managedFields
    assert.deepEqual(engine.store.read({ resource, namespace, name })?.decode(resource).metadata?.managedFields, expected, name)
  }
})

test('labels and annotations are those of each identity', () => {
  const namesIn = (name: IdentityName): readonly string[] => {
    const identity = identityOf(name)
    const objects = [
      ...rbacDefaults(identity, () => true),
      ...flowControlDefaults(identity, 0),
      ...apiServerEndpoints(identity, addresses),
      apiServerLease(identity, { hostname: 'here', holder: 'me', leaseSeconds: 3600, now: 0 }),
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

test('roles and rules of a feature gate need the gate', () => {
  const identity = identityOf('cluster')
  const objectsWith = (gates: readonly string[]): string => JSON.stringify(rbacDefaults(identity, (gate) => gates.includes(gate)))
  assert.doesNotMatch(objectsWith([]), /resource-claim|resource\.cluster\.io|selfsubjectreviews/)
  const rolesAndBindings = objectsWith(['DynamicResourceAllocation']).match(/"name":"system:controller:resource-claim-controller"/g)
  assert.equal(rolesAndBindings?.length, 3, 'role, binding and roleRef')
  assert.match(objectsWith(['DynamicResourceAllocation']), /podschedulings/)
  assert.match(objectsWith(['APISelfSubjectReview']), /selfsubjectreviews/)
})

const rule = (verbs: string, apiGroups: string, resources: string, more: object = {}) => ({
  verbs: verbs.split(' '),
  apiGroups: apiGroups.split(' '),
  resources: resources.split(' '),
  ...more,
})

for (const { title, granted, required, isCovered } of [
  { title: 'the same rule', granted: [rule('get', 'a', 'b')], required: rule('get', 'a', 'b'), isCovered: true },
  { title: 'another verb', granted: [rule('get', 'a', 'b')], required: rule('get list', 'a', 'b'), isCovered: false },
  {
    title: 'two rules together',
    granted: [rule('get', 'a', 'b'), rule('list', 'a', 'b')],
    required: rule('get list', 'a', 'b'),
    isCovered: true,
  },
  { title: 'wildcards', granted: [rule('*', '*', '*')], required: rule('get', 'a', 'b/c', { resourceNames: ['n'] }), isCovered: true },
  {
    title: 'a subresource of every resource',
    granted: [rule('get', 'a', '*/scale')],
    required: rule('get', 'a', 'b/scale'),
    isCovered: true,
  },
  { title: 'another subresource', granted: [rule('get', 'a', '*/scale')], required: rule('get', 'a', 'b'), isCovered: false },
  {
    title: 'a rule for some resourceNames',
    granted: [rule('get', 'a', 'b', { resourceNames: ['n'] })],
    required: rule('get', 'a', 'b'),
    isCovered: false,
  },
  {
    title: 'names in separate rules',
    granted: ['m', 'n'].map((name) => rule('get', 'a', 'b', { resourceNames: [name] })),
    required: rule('get', 'a', 'b', { resourceNames: ['n', 'm'] }),
    isCovered: true,
  },
  {
    title: 'a path prefix',
    granted: [{ verbs: ['get'], nonResourceURLs: ['/api/*'] }],
    required: { verbs: ['get'], nonResourceURLs: ['/api/v1'] },
    isCovered: true,
  },
  {
    title: 'another path',
    granted: [{ verbs: ['get'], nonResourceURLs: ['/api/*'] }],
    required: { verbs: ['get'], nonResourceURLs: ['/x'] },
    isCovered: false,
  },
  { title: 'no rules', granted: [], required: rule('get', 'a', 'b'), isCovered: false },
])
  test(`a required rule is ${isCovered ? '' : 'not '}covered: ${title}`, () => assert.equal(covers(granted, required), isCovered))

test('a role keeps its rules and gets missing ones', () => {
  const bootstrap = { metadata: { labels: { a: '1' }, annotations: { b: '1' } }, rules: [rule('get', 'a', 'b')] }
  assert.equal(reconcileRole(bootstrap, bootstrap), bootstrap)
  const changed = reconcileRole({ metadata: { labels: { a: '2', c: '3' } }, rules: [rule('list', 'a', 'b')] }, bootstrap)
  assert.deepEqual(changed.metadata, { labels: { a: '2', c: '3' }, annotations: { b: '1' } })
  assert.deepEqual(changed.rules, [rule('list', 'a', 'b'), rule('get', 'a', 'b')])
})

test('a binding gets missing subjects, unless it has another roleRef', () => {
  const [one, two] = ['one', 'two'].map((name) => ({ kind: 'User', name }))
  const bootstrap = { metadata: {}, roleRef: { apiGroup: 'g', kind: 'Role', name: 'r' }, subjects: [one ?? {}] }
  const other = { ...bootstrap, subjects: [two ?? {}] }
  assert.deepEqual(reconcileBinding(other, bootstrap).subjects, [two, one])
  const otherRole = { ...other, roleRef: { ...bootstrap.roleRef, name: 'else' } }
  assert.equal(reconcileBinding(otherRole, bootstrap), otherRole)
})
