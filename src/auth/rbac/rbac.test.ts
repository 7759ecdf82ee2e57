// What rules and bindings allow, in whose words that is told, and that changes count at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '../../api/request-info.js'
import type { User } from '../../api/user.js'
import type { Decision } from '../authorize.js'
import { type Stage, stageOf, user } from './rbac.fixture.js'
import { askedFor, RoleRules } from './role-rules.js'
import { matchesPath } from './rule-words.js'

/** At once, or in time slices on a busy machine. */
const decide = async ({ authorizer }: Stage, who: User, request: string): Promise<Decision> => {
  const [method = '', path = ''] = request.split(' ')
  return authorizer.authorize({ user: who, info: parseRequest(method, path) })
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
    assert.equal(new RoleRules([rule as never]).allows(askedFor(parseRequest(method, path))), allowed)
  })
}

test('stars at the end of a path stand for whatever follows', () => {
  assert.equal(matchesPath('/a**', '/ab'), true)
  assert.equal(matchesPath('/a*b', '/axb'), false)
  assert.equal(matchesPath('***', '/x'), true)
})

test('bindings count for users, groups and accounts, in their namespace or everywhere, and say so', async () => {
  const stage = await stageOf()
  await stage.role('reader', [pods])
  await stage.role('local', [pods], 'space')
  await stage.bind('everywhere', 'ClusterRole reader', 'Group:readers')
  await stage.bind('here', 'Role local', 'User:ann ServiceAccount:robot ServiceAccount:other/robot', 'space')
  await stage.bind('lent', 'ClusterRole reader', 'User:eve Group:guests', 'space')
  const get = `GET ${ns}/pods/p`
  const elsewhere = 'GET /api/v1/namespaces/other/pods/p'
  assert.deepEqual(await decide(stage, user('zoe', 'readers'), get), {
    verdict: 'allow',
    reason: 'RBAC: allowed by ClusterRoleBinding "everywhere" of ClusterRole "reader" to Group "readers"',
  })
  assert.equal((await decide(stage, user('zoe', 'readers'), elsewhere)).verdict, 'allow')
  assert.equal((await decide(stage, user('zoe', 'readers'), 'GET /api/v1/pods')).verdict, 'allow')
  assert.equal((await decide(stage, user('ann'), get)).reason, 'RBAC: allowed by RoleBinding "here/space" of Role "local" to User "ann"')
  assert.equal((await decide(stage, user('ann'), elsewhere)).verdict, 'no-opinion')
  assert.equal((await decide(stage, user('ann'), 'GET /api/v1/pods')).verdict, 'no-opinion')
  const robot = 'RBAC: allowed by RoleBinding "here/space" of Role "local" to ServiceAccount "robot'
  assert.equal((await decide(stage, user('system:serviceaccount:space:robot'), get)).reason, `${robot}/space"`)
  assert.equal((await decide(stage, user('system:serviceaccount:other:robot'), get)).reason, `${robot}/other"`)
  assert.equal((await decide(stage, user('robot'), get)).verdict, 'no-opinion')
  assert.match((await decide(stage, user('x', 'guests'), get)).reason, /"lent\/space" of ClusterRole "reader" to Group "guests"$/)
  assert.match((await decide(stage, user('eve', 'guests'), get)).reason, /to User "eve"$/)
  assert.equal((await decide(stage, user('guests'), get)).verdict, 'no-opinion')
})

test('a binding of very many subjects says by which of them it counts', async () => {
  const stage = await stageOf()
  await stage.role('reader', [pods])
  const many = Array.from({ length: 200 }, (_, i) => `User:u${i}`).join(' ')
  await stage.bind('many', 'ClusterRole reader', `${many} Group:devs ServiceAccount:space/robot`)
  const get = `GET ${ns}/pods/p`
  assert.match((await decide(stage, user('u150'), get)).reason, /to User "u150"$/)
  assert.match((await decide(stage, user('x', 'devs'), get)).reason, /to Group "devs"$/)
  assert.match((await decide(stage, user('system:serviceaccount:space:robot'), get)).reason, /to ServiceAccount "robot\/space"$/)
})

test('whoever is refused is told which roles are missing', async () => {
  const stage = await stageOf()
  await stage.bind('a', 'ClusterRole gone', 'User:ann')
  const one = 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found'
  assert.deepEqual(await decide(stage, user('ann'), `GET ${ns}/pods/p`), { verdict: 'no-opinion', reason: one })
  await stage.bind('b', 'Role lost', 'User:ann', 'space')
  const two = 'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "lost" not found]'
  assert.equal((await decide(stage, user('ann'), `GET ${ns}/pods/p`)).reason, two)
  const rules = await stage.authorizer.rulesFor?.(user('ann'), 'space')
  assert.equal(rules?.problem, two.slice('RBAC: '.length))
})

test('what is written counts at once, and what is deleted no more', async () => {
  const stage = await stageOf()
  const get = `GET ${ns}/pods/p`
  const may = async (): Promise<boolean> => (await decide(stage, user('ann', 'devs'), get)).verdict === 'allow'
  assert.equal(await may(), false)
  await stage.bind('b', 'Role r', 'User:ann', 'space')
  assert.equal(await may(), false)
  await stage.role('r', [pods], 'space')
  assert.equal(await may(), true)
  await stage.role('r', [], 'space')
  assert.equal(await may(), false)
  await stage.role('r', [pods], 'space')
  assert.equal(await may(), true)
  await stage.bind('b', 'Role r', 'Group:ops', 'space')
  assert.equal(await may(), false)
  await stage.bind('b', 'Role r', 'Group:devs', 'space')
  assert.equal(await may(), true)
  await stage.remove('rolebindings', 'b', 'space')
  assert.equal(await may(), false)
  await stage.bind('b', 'ClusterRole r', 'Group:devs', 'space')
  await stage.role('r', [pods])
  assert.equal(await may(), true)
  await stage.remove('clusterroles', 'r')
  assert.equal(await may(), false)
})

test('an index over what was stored before is the same', async () => {
  const stage = await stageOf()
  await stage.role('reader', [pods])
  await stage.bind('everywhere', 'ClusterRole reader', 'Group:readers')
  const { RbacIndex } = await import('./rbac-index.js')
  const { rbacAuthorizer } = await import('./rbac-authorizer.js')
  const { catalog, identity } = await import('./rbac.fixture.js')
  const later = { ...stage, authorizer: rbacAuthorizer(new RbacIndex(stage.store, catalog), identity) }
  assert.equal((await decide(later, user('zoe', 'readers'), `GET ${ns}/pods/p`)).verdict, 'allow')
})

test('the rules of a user are those of all bindings that count in the namespace', async () => {
  const stage = await stageOf()
  await stage.role('reader', [pods, { verbs: ['get'], nonResourceURLs: ['/x'] }])
  await stage.role('local', [{ ...pods, resourceNames: ['p'] }], 'space')
  await stage.bind('a', 'ClusterRole reader', 'Group:devs')
  await stage.bind('b', 'Role local', 'User:ann', 'space')
  const found = await stage.authorizer.rulesFor?.(user('ann', 'devs'), 'space')
  assert.deepEqual(found?.resourceRules, [
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'], resourceNames: ['p'] },
  ])
  assert.deepEqual(found?.nonResourceRules, [{ verbs: ['get'], nonResourceURLs: ['/x'] }])
  assert.equal(found?.isIncomplete, undefined)
  assert.equal((await stage.authorizer.rulesFor?.(user('ann', 'devs'), 'other'))?.resourceRules.length, 1)
})
