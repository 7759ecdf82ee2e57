// Who may do what, as far as the door goes today.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '../api/request-info.js'
import { anonymous, type User } from '../api/user.js'
import { type Authorizer, authorizeWith, noOpinion, refusal, rulesWith } from './authorize.js'
import { everybody, masters, nobody } from './fixed-authorizers.js'

const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })

const decisions: readonly { name: string; who: User; authorizers: readonly Authorizer[]; allowed: boolean; reason?: string }[] = [
  { name: 'masters may do everything', who: user('root', 'system:masters'), authorizers: [masters], allowed: true },
  { name: 'others nothing', who: user('ann', 'system:authenticated'), authorizers: [masters], allowed: false },
  { name: 'not even health', who: anonymous, authorizers: [masters, nobody], allowed: false, reason: 'Everything is forbidden.' },
  { name: 'masters may whoever else is asked', who: user('root', 'system:masters'), authorizers: [masters, nobody], allowed: true },
  { name: 'nobody is silent, and others may allow', who: user('ann'), authorizers: [nobody, everybody], allowed: true },
]

for (const row of decisions) {
  test(`authorize: ${row.name}`, () => {
    const decision = authorizeWith(row.authorizers, { user: row.who, info: parseRequest('GET', '/livez') })
    assert.ok(!(decision instanceof Promise))
    assert.equal(decision.verdict === 'allow', row.allowed)
    assert.equal(decision.reason, row.reason ?? '')
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
  assert.equal(authorizeWith([masters], request), noOpinion)
})

test('what went wrong with one is kept beside the reasons of others, and is forgotten when one allows', async () => {
  const request = { user: user('bob'), info: parseRequest('GET', '/metrics') }
  const failing = (error: string): Authorizer => ({ name: 'f', authorize: () => ({ verdict: 'no-opinion', reason: '', error }) })
  assert.deepEqual(await authorizeWith([failing('a'), saying('why', true), failing('b')], request), {
    verdict: 'no-opinion',
    reason: 'why',
    error: '[a, b]',
  })
  assert.deepEqual(await authorizeWith([failing('a'), everybody], request), { verdict: 'allow', reason: '' })
})

test('the rules of a user are those of all authorizers, and a silent one is named', async () => {
  const all = await rulesWith([masters, everybody], user('root', 'system:masters'), 'n')
  assert.deepEqual(all.resourceRules, [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }])
  assert.deepEqual([all.problem, all.isIncomplete], ['', false])
  const some = await rulesWith([masters, nobody, saying('Webhook', false)], user('bob'), 'n')
  assert.deepEqual([some.resourceRules, some.nonResourceRules], [[], []])
  assert.deepEqual([some.problem, some.isIncomplete], ['webhook authorizer does not support user rule resolution', true])
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
