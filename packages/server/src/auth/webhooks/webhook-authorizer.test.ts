// What a service is asked, what its answers mean, how long they count, and what happens while it is away.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../api/identity.js'
import { parseRequest } from '../api/request-info.js'
import type { User } from '../api/user.js'
import type { EndpointAnswer } from '../net/json-endpoint.js'
import type { Decision } from './authorize.js'
import { type WebhookAccess, webhookAuthorizer } from './webhook-authorizer.js'

const user = (name: string, more: Partial<User> = {}): User => ({ name, uid: '', groups: ['system:authenticated'], extra: {}, ...more })

const stageOf = (reply: (document: object, call: number) => object | number | Error, version: WebhookAccess['version'] = 'v1') => {
  const sent: { spec: object; apiVersion: string }[] = []
  const pauses: number[] = []
  const clock = { ms: 0, now: () => clock.ms }
  const authorizer = webhookAuthorizer({
    identity: identityOf('cluster'),
    version,
    acceptedTtlMs: 300,
    refusedTtlMs: 30,
    clock,
    post: async (document): Promise<EndpointAnswer> => {
      sent.push(document as (typeof sent)[number])
      const said = reply(document as object, sent.length)
      if (said instanceof Error) throw said
      if (typeof said === 'number') return { status: said, body: Buffer.from('{}'), retryAfter: undefined }
      return { status: 200, body: Buffer.from(JSON.stringify({ ...(document as object), ...said })), retryAfter: undefined }
    },
    sleep: async (ms) => pauses.push(ms),
  })
  const decide = async (request: string, who = user('ann')): Promise<Decision> => {
    const [method = '', path = ''] = request.split(' ')
    return authorizer.authorize({ user: who, info: parseRequest(method, path) })
  }
  return { authorizer, sent, pauses, clock, decide }
}

const pods = 'GET /api/v1/namespaces/n/pods'

const unreadable = 'the authorization webhook could not be asked: its answer is no SubjectAccessReview of authorization.cluster.io/v1'

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
  ].map((status) => ({ status, decision: { verdict: 'no-opinion', reason: '', error: unreadable } as const })),
  {
    status: { allowed: true, denied: true, reason: 'both' },
    decision: { verdict: 'deny', reason: 'both', error: 'webhook subject access review returned both allow and deny response' },
  },
]

for (const { status, decision } of replies) {
  test(`${JSON.stringify(status)} means ${decision.verdict}`, async () => {
    assert.deepEqual(await stageOf(() => ({ status })).decide(pods), decision)
  })
}

test('it is told who asks for what, in words of its version, and nothing that is empty', async () => {
  const stage = stageOf(() => ({ status: {} }))
  await stage.decide(
    'PATCH /apis/apps/v1/namespaces/n/deployments/d/status',
    user('zoe', { uid: 'u', groups: ['devs'], extra: { s: ['a', 'b'] } }),
  )
  await stage.decide('GET /metrics', user('zoe', { groups: [] }))
  assert.deepEqual(
    stage.sent.map(({ spec }) => spec),
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
  assert.equal(stage.sent[0]?.apiVersion, 'authorization.cluster.io/v1')
  const old = stageOf(() => ({ status: {} }), 'v1beta1')
  await old.decide(pods)
  assert.deepEqual((old.sent[0] as { spec: { group?: unknown } }).spec.group, ['system:authenticated'])
  assert.equal(old.sent[0]?.apiVersion, 'authorization.cluster.io/v1beta1')
})

test('a yes counts for longer than a no, and each for what was asked alone', async () => {
  const stage = stageOf((document) => ({ status: { allowed: JSON.stringify(document).includes('"ann"') } }))
  assert.equal((await stage.decide(pods)).verdict, 'allow')
  assert.equal((await stage.decide(pods, user('bob'))).verdict, 'no-opinion')
  await stage.decide(pods)
  await stage.decide(pods, user('bob'))
  assert.equal(stage.sent.length, 2)
  await stage.decide(`${pods}/p`)
  assert.equal(stage.sent.length, 3)
  stage.clock.ms = 31
  await stage.decide(pods)
  assert.equal(stage.sent.length, 3)
  await stage.decide(pods, user('bob'))
  assert.equal(stage.sent.length, 4)
  stage.clock.ms = 301
  await stage.decide(pods)
  assert.equal(stage.sent.length, 5)
})

test('a yes counts for nobody whose user or request differs in one field, however the fields are put together', async () => {
  const allowed = user('ann', { uid: 'u', groups: ['a', 'b'], extra: { k: ['v', 'w'] } })
  const path = '/api/v1/namespaces/n/pods/p/log'
  const stage = stageOf((_document, call) => ({ status: { allowed: call === 1 } }))
  assert.equal((await stage.decide(`GET ${path}`, allowed)).verdict, 'allow')
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
  for (const other of others) assert.equal((await stage.decide(`GET ${path}`, other)).verdict, 'no-opinion', JSON.stringify(other))
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
  for (const request of requests) assert.equal((await stage.decide(request, allowed)).verdict, 'no-opinion', request)
  assert.equal(stage.sent.length, 1 + others.length + requests.length)
  assert.equal((await stage.decide(`GET ${path}`, allowed)).verdict, 'allow')
})

test('what is very long is not kept, and those who ask the same at once wait for one answer', async () => {
  const stage = stageOf(() => ({ status: { allowed: true } }))
  await Promise.all([stage.decide(pods), stage.decide(pods), stage.decide(pods)])
  assert.equal(stage.sent.length, 1)
  const long = `GET /${'x'.repeat(10_000)}`
  await stage.decide(long)
  await stage.decide(long)
  assert.equal(stage.sent.length, 3)
})

test('who cannot be asked allows nobody, says why, and is asked again next time', async () => {
  const refused = stageOf(() => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
  const decision = await refused.decide(pods)
  assert.equal(decision.verdict, 'no-opinion')
  assert.match(decision.error ?? '', /could not be asked: connect ECONNREFUSED/)
  await refused.decide(pods)
  assert.equal(refused.sent.length, 2)
  for (const reply of [403, { kind: 'Status' }, { apiVersion: 'authorization.cluster.io/v2' }]) {
    const stage = stageOf(() => reply)
    const { verdict, error } = await stage.decide(pods)
    assert.deepEqual([verdict, error !== undefined, stage.sent.length], ['no-opinion', true, 1])
  }
})

test('what may pass is tried again, with pauses that grow, though not forever', async () => {
  const passing = stageOf((_, call) => (call < 3 ? 500 : { status: { allowed: true } }))
  assert.equal((await passing.decide(pods)).verdict, 'allow')
  assert.deepEqual(passing.pauses, [500, 750])
  const reset = stageOf(() => Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
  assert.match((await reset.decide(pods)).error ?? '', /reset/)
  assert.equal(reset.sent.length, 5)
})

test('so many wait for an answer, and no more', async () => {
  let answer: (status: object) => void = () => undefined
  const said = new Promise<object>((resolve) => {
    answer = resolve
  })
  const authorizer = webhookAuthorizer({
    identity: identityOf('cluster'),
    version: 'v1',
    acceptedTtlMs: 0,
    refusedTtlMs: 0,
    clock: { now: () => 1 },
    post: async (document) => ({
      status: 200,
      body: Buffer.from(JSON.stringify({ ...(document as object), status: await said })),
      retryAfter: undefined,
    }),
    sleep: async () => undefined,
  })
  const ask = (path: string) => authorizer.authorize({ user: user('ann'), info: parseRequest('GET', path) })
  // Some for the same.
  const waiting = Array.from({ length: 4000 }, (_, i) => ask(`/api/v1/namespaces/n/pods/p${i % 3000}`))
  assert.throws(() => ask('/api/v1/namespaces/n/pods/another'), /too many requests wait to be authorized/)
  assert.throws(() => ask('/api/v1/namespaces/n/pods/p1'), /too many requests wait to be authorized/)
  answer({ allowed: true })
  for (const decision of await Promise.all(waiting)) assert.equal(decision.verdict, 'allow')
  assert.equal((await ask('/api/v1/namespaces/n/pods/another')).verdict, 'allow')
})
