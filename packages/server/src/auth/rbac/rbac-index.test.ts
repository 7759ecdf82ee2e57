// The RBAC index: truncated rules reviews, missing roles, the cache of rules, and changes during a decision or the initial scan.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { PolicyRule } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import type { Decision, UserRules } from '../authorize.js'
import { type BoundRole, BoundRoles } from './bound-role.js'
import { alwaysSpentBudget, catalog, identity, type RbacFixture, rbacFixture, user } from './rbac.fixture.js'
import { rbacAuthorizer } from './rbac-authorizer.js'
import { RbacIndex } from './rbac-index.js'
import { RoleRules } from './role-rules.js'

const pods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const ns = '/api/v1/namespaces/space'
const rulesWithNames = (count: number): PolicyRule[] => Array.from({ length: count }, (_, i) => ({ ...pods, resourceNames: [`n${i}`] }))
const repeat = async (count: number, act: (i: number) => Promise<void>): Promise<void> => {
  for (let i = 0; i < count; i++) await act(i)
}
const decide = async ({ authorizer }: RbacFixture, subject: User, path: string): Promise<Decision> =>
  authorizer.authorize({ user: subject, info: parseRequest('GET', path) })
const rulesOf = async ({ authorizer }: RbacFixture, subject: User): Promise<UserRules> => {
  const rules = await authorizer.rulesFor?.(subject, 'space')
  assert.ok(rules !== undefined)
  return rules
}

test('rules are listed once per binding, even if a binding names the user twice', async () => {
  const fixture = await rbacFixture()
  await fixture.role('one', [pods, { ...pods, resources: ['secrets'] }], 'space')
  await repeat(50, (i) => fixture.bind(`b${i}`, 'Role one', 'Group:devs User:ann', 'space'))
  assert.equal((await rulesOf(fixture, user('ann', 'devs', 'devs'))).resourceRules.length, 100)
})

test('a rules review is truncated after the maximum number of rules and says so', async () => {
  const fixture = await rbacFixture()
  await fixture.role('small', [pods], 'space')
  await fixture.role('big', rulesWithNames(28_000), 'space')
  await fixture.bind('a', 'Role small', 'Group:devs', 'space')
  await repeat(100, (i) => fixture.bind(`b${i}`, 'Role big', 'Group:devs', 'space'))
  await fixture.bind('c', 'Role gone', 'User:ann', 'space')
  const { resourceRules, isIncomplete, problem = '' } = await rulesOf(fixture, user('ann', 'devs'))
  assert.equal(resourceRules.length, 10_000)
  assert.equal(isIncomplete, true)
  assert.match(problem, /"gone" not found, more than 10000 rules or 1 MiB of rules; the rest is omitted\]$/)
})

test('a rules review is truncated after 1 MiB', async () => {
  const fixture = await rbacFixture()
  const long = { ...pods, resourceNames: Array.from({ length: 300 }, (_, i) => `${'x'.repeat(1000)}${i}`) }
  await fixture.role('long', [long, long, long, long, long], 'space')
  await fixture.bind('b', 'Role long', 'Group:devs', 'space')
  const { resourceRules, isIncomplete } = await rulesOf(fixture, user('ann', 'devs'))
  assert.equal(resourceRules.length, 3)
  assert.equal(isIncomplete, true)
})

test('many missing roles: the first are named, the rest counted', async () => {
  const fixture = await rbacFixture()
  await repeat(500, (i) => fixture.bind(`b${i}`, `Role ${'m'.repeat(240)}${i}`, 'Group:devs', 'space'))
  const { reason } = await decide(fixture, user('ann', 'devs'), `${ns}/pods/p`)
  assert.match(reason, /^RBAC: \[role\.rbac\.authorization\.k8s\.io "m+0" not found, .* not found, and 492 more\]$/)
  assert.ok(reason.length < 4096)
  assert.equal((await rulesOf(fixture, user('ann', 'devs'))).problem, reason.slice('RBAC: '.length))
})

test('the cache of rules is bounded, and evicted rules are read again', () => {
  const bound = new BoundRoles(1000)
  const roles = Array.from({ length: 100 }, (_, i) => bound.acquire({ kind: 'Role', name: `r${i}`, namespace: 'space' }))
  const rules = new RoleRules(rulesWithNames(25))
  assert.equal(rules.weight, 125)
  for (const role of roles) bound.cache(role, rules)
  assert.deepEqual(
    roles.map((role, i) => (role.isLoaded ? i : -1)).filter((i) => i >= 0),
    [92, 93, 94, 95, 96, 97, 98, 99],
  )
  for (const role of roles.slice(92)) bound.release(role)
  for (const role of roles.slice(0, 8)) bound.cache(role, rules)
  assert.equal(roles.filter(({ isLoaded }) => isLoaded).length, 8)
  const large = new RoleRules(rulesWithNames(9000))
  bound.cache(roles[9] as BoundRole, large)
  assert.deepEqual([roles[9]?.rules, roles.filter(({ isLoaded }) => isLoaded).length], [large, 1])
})

test('bindings that change during a decision: new ones count, deleted ones allow nothing', async () => {
  const fixture = await rbacFixture(alwaysSpentBudget())
  await repeat(3, (i) => fixture.role(`r${i}`, i === 1 ? [pods] : [], 'space'))
  await repeat(2, (i) => fixture.bind(`b${i}`, `Role r${i}`, 'Group:devs', 'space'))
  await fixture.index.open()
  const verdictDuring = async (change: () => Promise<void>): Promise<string> => {
    // The decision yields after each role that it reads.
    await fixture.role('r0', [], 'space')
    const decision = decide(fixture, user('ann', 'devs'), `${ns}/pods/p`)
    await change()
    return (await decision).verdict
  }
  assert.equal(await verdictDuring(() => fixture.bind('b1', 'Role r1', 'Group:devs Group:ops', 'space')), 'allow')
  assert.equal(await verdictDuring(() => fixture.remove('rolebindings', 'b1', 'space')), 'no-opinion')
})

test('writes during the initial scan count, and nothing is decided before it ends', async () => {
  const fixture = await rbacFixture(alwaysSpentBudget())
  await fixture.role('r', [pods], 'space')
  await repeat(5, (i) => fixture.bind(`b${i}`, 'Role r', `User:u${i}`, 'space'))
  const opening = fixture.index.open()
  assert.ok(!fixture.index.isOpen)
  const verdict = async (name: string): Promise<string> => (await decide(fixture, user(name), `${ns}/pods/p`)).verdict
  assert.throws(() => fixture.index.grantedRoles(user('u0'), 'space').next(), /before its bindings are read/)
  const changes = [
    fixture.bind('b4', 'Role r', 'User:late', 'space'),
    fixture.remove('rolebindings', 'b3', 'space'),
    fixture.remove('rolebindings', 'b0', 'space'),
    fixture.bind('new', 'Role r', 'User:new', 'space'),
  ]
  const early = verdict('u2')
  await Promise.all([opening, ...changes])
  assert.equal(await early, 'allow')
  const names = ['late', 'new', 'u1', 'u4', 'u3', 'u0']
  assert.deepEqual(await Promise.all(names.map(verdict)), ['allow', 'allow', 'allow', 'no-opinion', 'no-opinion', 'no-opinion'])
})

test('after a failed scan the next request reads all bindings again', async () => {
  const fixture = await rbacFixture()
  await fixture.role('r', [pods], 'space')
  await fixture.bind('b', 'Role r', 'User:mallory', 'space')
  const verdict = async (name: string): Promise<string> => (await decide(fixture, user(name), `${ns}/pods/p`)).verdict
  const { readInSteps } = fixture.store
  fixture.store.readInSteps = function* (query) {
    yield* readInSteps.call(fixture.store, query)
    throw new Error('the disk is gone')
  }
  await assert.rejects(verdict('ann'), /the disk is gone/)
  fixture.store.readInSteps = readInSteps
  await fixture.bind('b', 'Role r', 'User:ann', 'space')
  assert.deepEqual([await verdict('ann'), await verdict('mallory'), fixture.index.isOpen], ['allow', 'no-opinion', true])
})

test('a binding that cannot be decoded grants nothing and is logged', async () => {
  const { store, role, bind } = await rbacFixture()
  await role('r', [pods], 'space')
  const logged: string[] = []
  const index = new RbacIndex(store, catalog, { ...silentLogger, error: (_fields, message) => void logged.push(message) })
  const authorizer = rbacAuthorizer(index, identity)
  const verdict = async (name: string) =>
    (await authorizer.authorize({ user: user(name), info: parseRequest('GET', `${ns}/pods/p`) })).verdict
  await bind('b', 'Role r', 'User:ann', 'space')
  assert.equal(await verdict('ann'), 'allow')
  const address = { resource: catalog.find('rbac.authorization.k8s.io', 'v1', 'rolebindings') as Resource, namespace: 'space', name: 'b' }
  const metadata = { name: 'b', namespace: 'space', uid: 'b', creationTimestamp: '2020-01-01T00:00:00Z' }
  const subjects = [{ kind: 'User', name: 'bob' }]
  const value = store.encode(address.resource, { metadata, roleRef: { kind: 'Role', name: 'r' }, subjects } as ApiObject)
  value.fill('x', value.length - 20)
  await store.put(address, value, { expect: store.read(address)?.revision ?? 0 })
  assert.deepEqual([await verdict('ann'), await verdict('bob')], ['no-opinion', 'no-opinion'])
  assert.deepEqual(logged, ['cannot decode a role binding; it grants nothing until it is fixed'])
})
