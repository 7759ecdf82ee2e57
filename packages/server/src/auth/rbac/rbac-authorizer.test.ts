// RBAC authorizer: rules, bindings, reasons, and changes that take effect at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import type { Decision } from '../authorize.js'
import { type RbacFixture, rbacFixture, user } from './rbac.fixture.js'
import { matchesPath, RoleRules, ruleQuery } from './role-rules.js'

const decide = async ({ authorizer }: RbacFixture, subject: User, request: string): Promise<Decision> => {
  const [method = '', path = ''] = request.split(' ')
  return authorizer.authorize({ user: subject, info: parseRequest(method, path) })
}

const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }
const ns = '/api/v1/namespaces/space'

const rules: readonly { readonly rule: object; readonly request: string; readonly allowed: boolean }[] = [
  { rule: pods, request: `GET ${ns}/pods/p`, allowed: true },
  { rule: pods, request: `GET ${ns}/pods`, allowed: true },
  { rule: pods, request: `GET ${ns}/pods?watch=1`, allowed: false },
  { rule: pods, request: `GET ${ns}/pods/p/log`, allowed: false },
  { rule: pods, request: `GET ${ns}/secrets/p`, allowed: false },
  { rule: pods, request: `GET /apis/apps/v1/namespaces/space/pods/p`, allowed: false },
  { rule: { ...pods, verbs: ['*'] }, request: `DELETE ${ns}/pods`, allowed: true },
  { rule: { ...pods, apiGroups: ['*'] }, request: `GET /apis/apps/v1/namespaces/space/pods/p`, allowed: true },
  { rule: { ...pods, resources: ['*'] }, request: `GET ${ns}/pods/p/log`, allowed: true },
  { rule: { ...pods, resources: ['pods/log'] }, request: `GET ${ns}/pods/p/log`, allowed: true },
  { rule: { ...pods, resources: ['pods/log'] }, request: `GET ${ns}/pods/p`, allowed: false },
  { rule: { ...pods, resources: ['*/log'] }, request: `GET ${ns}/pods/p/log`, allowed: true },
  { rule: { ...pods, resources: ['*/log'] }, request: `GET ${ns}/pods/p/status`, allowed: false },
  { rule: { ...pods, resourceNames: ['p'] }, request: `GET ${ns}/pods/p`, allowed: true },
  { rule: { ...pods, resourceNames: ['p'] }, request: `GET ${ns}/pods/q`, allowed: false },
  { rule: { ...pods, resourceNames: ['p'] }, request: `GET ${ns}/pods`, allowed: false },
  { rule: { ...pods, resourceNames: ['p'] }, request: `GET ${ns}/pods?fieldSelector=metadata.name%3Dp`, allowed: true },
  { rule: { ...pods, resourceNames: ['p'] }, request: `GET ${ns}/pods?fieldSelector=metadata.name!%3Dp`, allowed: false },
  { rule: { verbs: ['get'], nonResourceURLs: ['/livez', '/logs/*'] }, request: 'GET /livez', allowed: true },
  { rule: { verbs: ['get'], nonResourceURLs: ['/livez', '/logs/*'] }, request: 'GET /livez/ping', allowed: false },
  { rule: { verbs: ['get'], nonResourceURLs: ['/livez', '/logs/*'] }, request: 'GET /logs/a/b', allowed: true },
  { rule: { verbs: ['get'], nonResourceURLs: ['*'] }, request: 'GET /metrics', allowed: true },
  { rule: { verbs: ['get'], nonResourceURLs: ['*'] }, request: 'POST /metrics', allowed: false },
  { rule: { verbs: ['get'], nonResourceURLs: ['*'] }, request: `GET ${ns}/pods/p`, allowed: false },
  {
    rule: { verbs: Array.from({ length: 50 }, (_, i) => `v${i}`).concat('get'), apiGroups: [''], resources: ['pods'] },
    request: `GET ${ns}/pods/p`,
    allowed: true,
  },
]

for (const { rule, request, allowed } of rules) {
  test(`${JSON.stringify(rule).slice(0, 100)} ${allowed ? 'allows' : 'does not allow'} ${request}`, () => {
    const [method = '', path = ''] = request.split(' ')
    assert.equal(new RoleRules([rule as never]).allows(ruleQuery(parseRequest(method, path))), allowed)
  })
}

test('trailing stars of a non-resource path match any suffix', () => {
  assert.equal(matchesPath('/a**', '/ab'), true)
  assert.equal(matchesPath('/a*b', '/axb'), false)
  assert.equal(matchesPath('***', '/x'), true)
})

test('bindings of users, groups and service accounts allow in their namespace or everywhere, with a reason', async () => {
  const fixture = await rbacFixture()
  await fixture.role('reader', [pods])
  await fixture.role('local', [pods], 'space')
  await fixture.bind('everywhere', 'ClusterRole reader', 'Group:readers')
  await fixture.bind('here', 'Role local', 'User:ann ServiceAccount:robot ServiceAccount:other/robot', 'space')
  await fixture.bind('lent', 'ClusterRole reader', 'User:eve Group:guests', 'space')
  const get = `GET ${ns}/pods/p`
  const inOtherNamespace = 'GET /api/v1/namespaces/other/pods/p'
  assert.deepEqual(await decide(fixture, user('zoe', 'readers'), get), {
    verdict: 'allow',
    reason: 'RBAC: allowed by ClusterRoleBinding "everywhere" of ClusterRole "reader" to Group "readers"',
  })
  assert.equal((await decide(fixture, user('zoe', 'readers'), inOtherNamespace)).verdict, 'allow')
  assert.equal((await decide(fixture, user('zoe', 'readers'), 'GET /api/v1/pods')).verdict, 'allow')
  assert.equal((await decide(fixture, user('ann'), get)).reason, 'RBAC: allowed by RoleBinding "here/space" of Role "local" to User "ann"')
  assert.equal((await decide(fixture, user('ann'), inOtherNamespace)).verdict, 'no-opinion')
  assert.equal((await decide(fixture, user('ann'), 'GET /api/v1/pods')).verdict, 'no-opinion')
  const robotReason = 'RBAC: allowed by RoleBinding "here/space" of Role "local" to ServiceAccount "robot'
  assert.equal((await decide(fixture, user('system:serviceaccount:space:robot'), get)).reason, `${robotReason}/space"`)
  assert.equal((await decide(fixture, user('system:serviceaccount:other:robot'), get)).reason, `${robotReason}/other"`)
  assert.equal((await decide(fixture, user('robot'), get)).verdict, 'no-opinion')
  assert.match((await decide(fixture, user('x', 'guests'), get)).reason, /"lent\/space" of ClusterRole "reader" to Group "guests"$/)
  assert.match((await decide(fixture, user('eve', 'guests'), get)).reason, /to User "eve"$/)
  assert.equal((await decide(fixture, user('guests'), get)).verdict, 'no-opinion')
})

test('a binding with very many subjects names the matching subject in the reason', async () => {
  const fixture = await rbacFixture()
  await fixture.role('reader', [pods])
  const many = Array.from({ length: 200 }, (_, i) => `User:u${i}`).join(' ')
  await fixture.bind('many', 'ClusterRole reader', `${many} Group:devs ServiceAccount:space/robot`)
  const get = `GET ${ns}/pods/p`
  assert.match((await decide(fixture, user('u150'), get)).reason, /to User "u150"$/)
  assert.match((await decide(fixture, user('x', 'devs'), get)).reason, /to Group "devs"$/)
  assert.match((await decide(fixture, user('system:serviceaccount:space:robot'), get)).reason, /to ServiceAccount "robot\/space"$/)
})

test('a forbidden request lists missing roles', async () => {
  const fixture = await rbacFixture()
  await fixture.bind('a', 'ClusterRole gone', 'User:ann')
  const firstReason = 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found'
  assert.deepEqual(await decide(fixture, user('ann'), `GET ${ns}/pods/p`), { verdict: 'no-opinion', reason: firstReason })
  await fixture.bind('b', 'Role lost', 'User:ann', 'space')
  const bothReasons = 'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "lost" not found]'
  assert.equal((await decide(fixture, user('ann'), `GET ${ns}/pods/p`)).reason, bothReasons)
  const rules = await fixture.authorizer.rulesFor?.(user('ann'), 'space')
  assert.equal(rules?.problem, bothReasons.slice('RBAC: '.length))
})

test('created bindings and roles take effect at once, deleted ones no longer do', async () => {
  const fixture = await rbacFixture()
  const get = `GET ${ns}/pods/p`
  const isAllowed = async (): Promise<boolean> => (await decide(fixture, user('ann', 'devs'), get)).verdict === 'allow'
  assert.equal(await isAllowed(), false)
  await fixture.bind('b', 'Role r', 'User:ann', 'space')
  assert.equal(await isAllowed(), false)
  await fixture.role('r', [pods], 'space')
  assert.equal(await isAllowed(), true)
  await fixture.role('r', [], 'space')
  assert.equal(await isAllowed(), false)
  await fixture.role('r', [pods], 'space')
  assert.equal(await isAllowed(), true)
  await fixture.bind('b', 'Role r', 'Group:ops', 'space')
  assert.equal(await isAllowed(), false)
  await fixture.bind('b', 'Role r', 'Group:devs', 'space')
  assert.equal(await isAllowed(), true)
  await fixture.remove('rolebindings', 'b', 'space')
  assert.equal(await isAllowed(), false)
  await fixture.bind('b', 'ClusterRole r', 'Group:devs', 'space')
  await fixture.role('r', [pods])
  assert.equal(await isAllowed(), true)
  await fixture.remove('clusterroles', 'r')
  assert.equal(await isAllowed(), false)
})

test('an index opened over existing objects decides the same', async () => {
  const fixture = await rbacFixture()
  await fixture.role('reader', [pods])
  await fixture.bind('everywhere', 'ClusterRole reader', 'Group:readers')
  const { RbacIndex } = await import('./rbac-index.js')
  const { rbacAuthorizer } = await import('./rbac-authorizer.js')
  const { catalog, identity } = await import('./rbac.fixture.js')
  const reopened = { ...fixture, authorizer: rbacAuthorizer(new RbacIndex(fixture.store, catalog), identity) }
  assert.equal((await decide(reopened, user('zoe', 'readers'), `GET ${ns}/pods/p`)).verdict, 'allow')
})

test('rules of a user are those of all bindings that apply in the namespace', async () => {
  const fixture = await rbacFixture()
  await fixture.role('reader', [pods, { verbs: ['get'], nonResourceURLs: ['/x'] }])
  await fixture.role('local', [{ ...pods, resourceNames: ['p'] }], 'space')
  await fixture.bind('a', 'ClusterRole reader', 'Group:devs')
  await fixture.bind('b', 'Role local', 'User:ann', 'space')
  const found = await fixture.authorizer.rulesFor?.(user('ann', 'devs'), 'space')
  assert.deepEqual(found?.resourceRules, [
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'], resourceNames: ['p'] },
  ])
  assert.deepEqual(found?.nonResourceRules, [{ verbs: ['get'], nonResourceURLs: ['/x'] }])
  assert.equal(found?.isIncomplete, undefined)
  assert.equal((await fixture.authorizer.rulesFor?.(user('ann', 'devs'), 'other'))?.resourceRules.length, 1)
})
