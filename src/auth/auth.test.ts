// Who may do what, as far as the door goes today.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '../api/request-info.js'
import { anonymous, type User } from '../api/user.js'
import { type Authorizer, authorizeWith, noOpinion, refusal, rulesWith } from './authorize.js'
import { everybody, masters, publicInformation } from './fixed-authorizers.js'

const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })

const decisions: readonly { name: string; who: User; method?: string; path: string; allowed: boolean }[] = [
  { name: 'masters may do everything', who: user('root', 'system:masters'), method: 'DELETE', path: '/api/v1/namespaces/x', allowed: true },
  { name: 'anybody may read health', who: anonymous, path: '/livez?verbose', allowed: true },
  { name: 'but no single check', who: anonymous, path: '/livez/ping', allowed: false },
  { name: 'anybody may read the version', who: anonymous, path: '/version', allowed: true },
  { name: 'the authenticated may discover', who: user('ann', 'system:authenticated'), path: '/apis/apps/v1', allowed: true },
  { name: 'the anonymous may not', who: anonymous, path: '/apis', allowed: false },
  { name: 'nobody else may read objects', who: user('ann', 'system:authenticated'), path: '/api/v1/namespaces', allowed: false },
]

for (const row of decisions) {
  test(`authorize: ${row.name}`, () => {
    const decision = authorizeWith([masters, publicInformation], { user: row.who, info: parseRequest(row.method ?? 'GET', row.path) })
    assert.ok(!(decision instanceof Promise))
    assert.equal(decision.verdict === 'allow', row.allowed)
  })
}

test('with everybody allowed nobody is asked further', () => {
  const request = { user: anonymous, info: parseRequest('DELETE', '/api/v1/namespaces/x') }
  assert.deepEqual(authorizeWith([everybody], request), { verdict: 'allow', reason: '' })
})

const saying = (reason: string, delayed: boolean): Authorizer => {
  const decision = { verdict: 'no-opinion', reason } as const
  return { name: reason, authorize: () => (delayed ? Promise.resolve(decision) : decision) }
}

test('whoever is refused by silence is told every reason, waiting or not; without one nothing is made', async () => {
  const request = { user: user('bob'), info: parseRequest('GET', '/metrics') }
  const decision = await authorizeWith([saying('one', false), saying('', false), saying('two', true), saying('three', false)], request)
  assert.deepEqual(decision, { verdict: 'no-opinion', reason: 'one\ntwo\nthree' })
  assert.match(refusal(request, decision).message, /cannot get path "\/metrics": one\ntwo\nthree$/)
  assert.equal(authorizeWith([masters, publicInformation], request), noOpinion)
})

test('the rules of a user are those of all authorizers, and a silent one is named', async () => {
  const root = await rulesWith([masters, publicInformation], user('root', 'system:masters'), 'n')
  assert.deepEqual(root.resourceRules, [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }])
  assert.equal(root.problem, '')
  const bob = await rulesWith([masters, publicInformation, saying('webhook', false)], user('bob'), 'n')
  assert.deepEqual(bob.resourceRules, [])
  assert.deepEqual(
    bob.nonResourceRules.map(({ verbs }) => verbs),
    [['get']],
  )
  assert.equal(bob.problem, 'webhook authorizer does not support user rule resolution')
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
  test(`refusal of ${row.path}`, () => {
    const { status } = refusal({ user: user('bob'), info: parseRequest(row.method ?? 'GET', row.path) }, noOpinion)
    assert.equal(status.message, row.message)
    assert.equal(status.code, 403)
    assert.equal(status.reason, 'Forbidden')
  })
}
