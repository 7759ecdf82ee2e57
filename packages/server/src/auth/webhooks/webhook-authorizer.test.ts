// Webhook authorizer: SubjectAccessReviews sent, decisions, cache times, retries and failures.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import type { EndpointResponse } from '../../net/outbound/json-endpoint.js'
import type { Decision } from '../authorize.js'
import { type WebhookAuthorizerOptions, webhookAuthorizer } from './webhook-authorizer.js'

const user = (name: string, fields: Partial<User> = {}): User => ({ name, uid: '', groups: ['system:authenticated'], extra: {}, ...fields })

const fixtureOf = (
  reply: (document: object, call: number) => object | number | Error,
  version: WebhookAuthorizerOptions['version'] = 'v1',
) => {
  const sent: { spec: object; apiVersion: string }[] = []
  const backoffs: number[] = []
  const clock = { ms: 0, now: () => clock.ms }
  const authorizer = webhookAuthorizer({
    identity: identityOf('cluster'),
    version,
    acceptedTtlMs: 300,
    refusedTtlMs: 30,
    clock,
    post: async (document): Promise<EndpointResponse> => {
      sent.push(document as (typeof sent)[number])
      const response = reply(document as object, sent.length)
      if (response instanceof Error) throw response
      if (typeof response === 'number') return { status: response, body: Buffer.from('{}'), retryAfter: undefined }
      return { status: 200, body: Buffer.from(JSON.stringify({ ...(document as object), ...response })), retryAfter: undefined }
    },
    sleep: async (ms) => backoffs.push(ms),
  })
  const decide = async (request: string, subject = user('ann')): Promise<Decision> => {
    const [method = '', path = ''] = request.split(' ')
    return authorizer.authorize({ user: subject, info: parseRequest(method, path) })
  }
  return { authorizer, sent, backoffs, clock, decide }
}

const pods = 'GET /api/v1/namespaces/n/pods'

const invalidResponseError = 'the authorization webhook failed: the response is not a SubjectAccessReview of authorization.cluster.io/v1'

const replies: readonly { readonly status: unknown; readonly decision: Decision }[] = [
  { status: { allowed: true, reason: 'fine' }, decision: { verdict: 'allow', reason: 'fine' } },
  { status: { allowed: false, denied: true, reason: 'not today' }, decision: { verdict: 'deny', reason: 'not today' } },
  { status: { allowed: false }, decision: { verdict: 'no-opinion', reason: '' } },
  ...[
    { allowed: 'true' },
    { allowed: true, denied: 'true' },
    { allowed: true, denied: 1 },
    { allowed: true, reason: {} },
    'allowed',
    [true],
  ].map((status) => ({ status, decision: { verdict: 'no-opinion', reason: '', error: invalidResponseError } as const })),
  {
    status: { allowed: true, denied: true, reason: 'both' },
    decision: { verdict: 'deny', reason: 'both', error: 'webhook subject access review returned both allow and deny response' },
  },
]

for (const { status, decision } of replies) {
  test(`${JSON.stringify(status)} means ${decision.verdict}`, async () => {
    assert.deepEqual(await fixtureOf(() => ({ status })).decide(pods), decision)
  })
}

test('a SubjectAccessReview has user and attributes in the fields of its version, without empty ones', async () => {
  const fixture = fixtureOf(() => ({ status: {} }))
  await fixture.decide(
    'PATCH /apis/apps/v1/namespaces/n/deployments/d/status',
    user('zoe', { uid: 'u', groups: ['devs'], extra: { s: ['a', 'b'] } }),
  )
  await fixture.decide('GET /metrics', user('zoe', { groups: [] }))
  assert.deepEqual(
    fixture.sent.map(({ spec }) => spec),
    [
      {
        resourceAttributes: {
          namespace: 'n',
          verb: 'patch',
          group: 'apps',
          version: 'v1',
          resource: 'deployments',
          subresource: 'status',
          name: 'd',
        },
        user: 'zoe',
        groups: ['devs'],
        extra: { s: ['a', 'b'] },
        uid: 'u',
      },
      { nonResourceAttributes: { path: '/metrics', verb: 'get' }, user: 'zoe' },
    ],
  )
  assert.equal(fixture.sent[0]?.apiVersion, 'authorization.cluster.io/v1')
  const v1beta1 = fixtureOf(() => ({ status: {} }), 'v1beta1')
  await v1beta1.decide(pods)
  assert.deepEqual((v1beta1.sent[0] as { spec: { group?: unknown } }).spec.group, ['system:authenticated'])
  assert.equal(v1beta1.sent[0]?.apiVersion, 'authorization.cluster.io/v1beta1')
})

test('allowed decisions are cached longer than others, each for its own request', async () => {
  const fixture = fixtureOf((document) => ({ status: { allowed: JSON.stringify(document).includes('"ann"') } }))
  assert.equal((await fixture.decide(pods)).verdict, 'allow')
  assert.equal((await fixture.decide(pods, user('bob'))).verdict, 'no-opinion')
  await fixture.decide(pods)
  await fixture.decide(pods, user('bob'))
  assert.equal(fixture.sent.length, 2)
  await fixture.decide(`${pods}/p`)
  assert.equal(fixture.sent.length, 3)
  fixture.clock.ms = 31
  await fixture.decide(pods)
  assert.equal(fixture.sent.length, 3)
  await fixture.decide(pods, user('bob'))
  assert.equal(fixture.sent.length, 4)
  fixture.clock.ms = 301
  await fixture.decide(pods)
  assert.equal(fixture.sent.length, 5)
})

test('a cached decision is not used if one field of user or request differs', async () => {
  const allowed = user('ann', { uid: 'u', groups: ['a', 'b'], extra: { k: ['v', 'w'] } })
  const path = '/api/v1/namespaces/n/pods/p/log'
  const fixture = fixtureOf((_document, call) => ({ status: { allowed: call === 1 } }))
  assert.equal((await fixture.decide(`GET ${path}`, allowed)).verdict, 'allow')
  const others: readonly User[] = [
    { ...allowed, name: 'ann ' },
    { ...allowed, name: 'ann","groups":["a","b"]' },
    { ...allowed, name: 'a\u0301nn' },
    { ...allowed, name: '\u00e1nn' },
    { ...allowed, name: 'ann\ud800' },
    { ...allowed, name: 'ann\ufffd' },
    { ...allowed, uid: '' },
    { ...allowed, groups: ['a,b'] },
    { ...allowed, groups: ['a","b'] },
    { ...allowed, groups: ['b', 'a'] },
    { ...allowed, groups: ['a', 'b', ''] },
    { ...allowed, groups: [] },
    { ...allowed, extra: {} },
    { ...allowed, extra: { k: ['v,w'] } },
    { ...allowed, extra: { k: ['v'], '': ['w'] } },
    { ...allowed, extra: { k: ['v', 'w'], l: [] } },
  ]
  for (const other of others) assert.equal((await fixture.decide(`GET ${path}`, other)).verdict, 'no-opinion', JSON.stringify(other))
  const requests = [
    `DELETE ${path}`,
    'GET /api/v1/namespaces/n/pods/p',
    'GET /api/v1/namespaces/n/pods/log',
    'GET /api/v1/namespaces/n/pods/q/log',
    'GET /api/v1/namespaces/m/pods/p/log',
    'GET /api/v1/namespaces/n/services/p/log',
    'GET /api/v2/namespaces/n/pods/p/log',
    'GET /apis/g/v1/namespaces/n/pods/p/log',
    'GET /apis/n/v1/pods/p/log',
    'GET /api/v1/pods',
    'GET /pods',
  ]
  for (const request of requests) assert.equal((await fixture.decide(request, allowed)).verdict, 'no-opinion', request)
  assert.equal(fixture.sent.length, 1 + others.length + requests.length)
  assert.equal((await fixture.decide(`GET ${path}`, allowed)).verdict, 'allow')
})

test('an unreachable webhook has no opinion, reports why, and is called again next time', async () => {
  const refused = fixtureOf(() => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
  const decision = await refused.decide(pods)
  assert.equal(decision.verdict, 'no-opinion')
  assert.match(decision.error ?? '', /webhook failed: connect ECONNREFUSED/)
  await refused.decide(pods)
  assert.equal(refused.sent.length, 2)
  for (const reply of [403, { kind: 'Status' }, { apiVersion: 'authorization.cluster.io/v2' }]) {
    const fixture = fixtureOf(() => reply)
    const { verdict, error } = await fixture.decide(pods)
    assert.deepEqual([verdict, error !== undefined, fixture.sent.length], ['no-opinion', true, 1])
  }
})

test('temporary failures are retried with growing backoff, a limited number of times', async () => {
  const temporary = fixtureOf((_, call) => (call < 3 ? 500 : { status: { allowed: true } }))
  assert.equal((await temporary.decide(pods)).verdict, 'allow')
  assert.deepEqual(temporary.backoffs, [500, 750])
  const reset = fixtureOf(() => Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
  assert.match((await reset.decide(pods)).error ?? '', /reset/)
  assert.equal(reset.sent.length, 5)
})

test('requests that wait for the webhook are limited', async () => {
  let respond: (status: object) => void = () => undefined
  const response = new Promise<object>((resolve) => {
    respond = resolve
  })
  const authorizer = webhookAuthorizer({
    identity: identityOf('cluster'),
    version: 'v1',
    acceptedTtlMs: 0,
    refusedTtlMs: 0,
    clock: { now: () => 1 },
    post: async (document) => ({
      status: 200,
      body: Buffer.from(JSON.stringify({ ...(document as object), status: await response })),
      retryAfter: undefined,
    }),
    sleep: async () => undefined,
  })
  const authorize = async (path: string) => authorizer.authorize({ user: user('ann'), info: parseRequest('GET', path) })
  const waiting = Array.from({ length: 4000 }, (_, i) => authorize(`/api/v1/namespaces/n/pods/p${i % 3000}`))
  await assert.rejects(authorize('/api/v1/namespaces/n/pods/another'), /too many requests wait to be authorized/)
  await assert.rejects(authorize('/api/v1/namespaces/n/pods/p1'), /too many requests wait to be authorized/)
  respond({ allowed: true })
  for (const decision of await Promise.all(waiting)) assert.equal(decision.verdict, 'allow')
  assert.equal((await authorize('/api/v1/namespaces/n/pods/another')).verdict, 'allow')
})
