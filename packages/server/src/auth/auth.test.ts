// Decisions and rules of several authorizers combined, and the Status of forbidden requests.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import { anonymous, type User } from '@cluster-apiserver/api/api/user.js'
import { type Authorizer, allowMasters, alwaysAllow, alwaysDeny, authorizeWith, forbiddenError, noOpinion, rulesWith } from './authorize.js'

const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })

const decisions: readonly { name: string; user: User; authorizers: readonly Authorizer[]; allowed: boolean; reason?: string }[] = [
  { name: 'system:masters is allowed everything', user: user('root', 'system:masters'), authorizers: [allowMasters], allowed: true },
  {
    name: 'other users are not allowed by system:masters',
    user: user('ann', 'system:authenticated'),
    authorizers: [allowMasters],
    allowed: false,
  },
  {
    name: 'anonymous is not allowed health checks',
    user: anonymous,
    authorizers: [allowMasters, alwaysDeny],
    allowed: false,
    reason: 'Everything is forbidden.',
  },
  {
    name: 'system:masters is allowed before other authorizers',
    user: user('root', 'system:masters'),
    authorizers: [allowMasters, alwaysDeny],
    allowed: true,
  },
  {
    name: 'AlwaysDeny has no opinion, a later authorizer may allow',
    user: user('ann'),
    authorizers: [alwaysDeny, alwaysAllow],
    allowed: true,
  },
]

for (const row of decisions) {
  test(`authorize: ${row.name}`, async () => {
    const decision = await authorizeWith(row.authorizers, { user: row.user, info: parseRequest('GET', '/livez') })
    assert.equal(decision.verdict === 'allow', row.allowed)
    assert.equal(decision.reason, row.reason ?? '')
  })
}

const undecided = (reason: string): Authorizer => ({ name: reason, authorize: async () => ({ verdict: 'no-opinion', reason }) })

test('without an opinion, the decision has the reasons of all authorizers', async () => {
  const request = { user: user('bob'), info: parseRequest('GET', '/metrics') }
  const decision = await authorizeWith([undecided('one'), undecided(''), undecided('two'), undecided('three')], request)
  assert.deepEqual(decision, { verdict: 'no-opinion', reason: 'one\ntwo\nthree' })
  assert.match(forbiddenError(request, decision).message, /cannot get path "\/metrics": one\ntwo\nthree$/)
  assert.equal(await authorizeWith([allowMasters], request), noOpinion)
})

test('the error of one authorizer is reported with the reasons of the others, and dropped when one allows', async () => {
  const request = { user: user('bob'), info: parseRequest('GET', '/metrics') }
  const failing = (error: string): Authorizer => ({ name: 'f', authorize: async () => ({ verdict: 'no-opinion', reason: '', error }) })
  assert.deepEqual(await authorizeWith([failing('a'), undecided('why'), failing('b')], request), {
    verdict: 'no-opinion',
    reason: 'why',
    error: '[a, b]',
  })
  assert.deepEqual(await authorizeWith([failing('a'), alwaysAllow], request), { verdict: 'allow', reason: '' })
})

test('rules of a user are joined from all authorizers; an authorizer without rule resolution is named', async () => {
  const allRules = await rulesWith([allowMasters, alwaysAllow], user('root', 'system:masters'), 'n')
  assert.deepEqual(allRules.resourceRules, [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }])
  assert.deepEqual([allRules.problem, allRules.isIncomplete], ['', false])
  const incompleteRules = await rulesWith([allowMasters, alwaysDeny, undecided('Webhook')], user('bob'), 'n')
  assert.deepEqual([incompleteRules.resourceRules, incompleteRules.nonResourceRules], [[], []])
  assert.deepEqual(
    [incompleteRules.problem, incompleteRules.isIncomplete],
    ['webhook authorizer does not support user rule resolution', true],
  )
})

const refusals: readonly { method?: string; path: string; message: string }[] = [
  {
    path: '/api/v1/namespaces',
    message: 'namespaces is forbidden: User "bob" cannot list resource "namespaces" in API group "" at the cluster scope',
  },
  {
    path: '/api/v1/namespaces/a',
    message: 'namespaces "a" is forbidden: User "bob" cannot get resource "namespaces" in API group "" in the namespace "a"',
  },
  {
    path: '/apis/apps/v1/namespaces/a/deployments/d/scale',
    method: 'PUT',
    message:
      'deployments.apps "d" is forbidden: User "bob" cannot update resource "deployments/scale" in API group "apps" in the namespace "a"',
  },
  {
    path: '/api/v1/pods?watch=1',
    message: 'pods is forbidden: User "bob" cannot watch resource "pods" in API group "" at the cluster scope',
  },
  { path: '/metrics', message: 'forbidden: User "bob" cannot get path "/metrics"' },
]

for (const row of refusals) {
  test(`the 403 message for ${row.path}`, () => {
    const { status } = forbiddenError({ user: user('bob'), info: parseRequest(row.method ?? 'GET', row.path) }, noOpinion)
    assert.equal(status.message, row.message)
    assert.equal(status.code, 403)
    assert.equal(status.reason, 'Forbidden')
  })
}
