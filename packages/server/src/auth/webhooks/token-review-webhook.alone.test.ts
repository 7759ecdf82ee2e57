// Webhook token authentication: TokenReviews sent, results, cache times, retries and limits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { PresentedToken, TokenResult } from '../tokens/bearer-tokens.js'
import { type WebhookTokenOptions, webhookTokens } from './token-review-webhook.js'

interface SentReview {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: { readonly token: string; readonly audiences: readonly string[] }
}

type Reply = (sent: SentReview) => { readonly status?: number; readonly body?: unknown; readonly retryAfter?: number } | Error

const presented = (now = 1000, audiences: readonly string[] = ['here']): PresentedToken => ({ text: 't', digest: 'd', audiences, now })

function fixture(reply: Reply, options: Partial<WebhookTokenOptions> = {}) {
  const sent: SentReview[] = []
  const backoffs: number[] = []
  const authenticate = webhookTokens({
    identity: identityOf('kubernetes'),
    version: 'v1',
    acceptedTtlMs: 1000,
    refusedTtlMs: 1000,
    audiences: ['here'],
    post: async (document) => {
      sent.push(document as SentReview)
      const response = reply(document as SentReview)
      if (response instanceof Error) throw response
      const { kind, apiVersion } = document as SentReview
      const body = Buffer.from(
        typeof response.body === 'string' ? response.body : JSON.stringify({ kind, apiVersion, status: response.body }),
      )
      return { status: response.status ?? 200, body, retryAfter: response.retryAfter }
    },
    sleep: async (ms) => backoffs.push(ms),
    ...options,
  })
  return { sent, backoffs, authenticate: async (token = presented()): Promise<TokenResult> => authenticate(token) }
}

const zoe = { authenticated: true, user: { username: 'zoe', uid: 'u', groups: ['devs'], extra: { scopes: ['a'] } } }

test('an authenticated token is cached for its time', async () => {
  const { authenticate } = fixture(() => ({ body: zoe }))
  const found = await authenticate()
  assert.deepEqual(found?.user, { name: 'zoe', uid: 'u', groups: ['devs', 'system:authenticated'], extra: { scopes: ['a'] } })
  assert.ok(found?.user !== undefined)
  assert.deepEqual(found.audiences, ['here'])
  assert.equal(found.isValid?.(1999), true)
  assert.equal(found.isValid?.(2000), false)
})

const invalidStatuses: { readonly [title: string]: object } = {
  'no user': { user: undefined },
  'an empty user name': { user: { username: '', groups: ['staff'] } },
  'a user name that is a number': { user: { username: 1 } },
  'groups that are a string': { user: { username: 'zoe', groups: 'system:masters' } },
  'a group that is a number': { user: { username: 'zoe', groups: ['devs', 1] } },
  'extra values that are a string': { user: { username: 'zoe', extra: { scopes: 'a' } } },
  'authenticated as a string': { authenticated: 'true' },
  'audiences that are a string': { audiences: 'here' },
}

for (const [title, invalid] of Object.entries(invalidStatuses)) {
  test(`a response with ${title} authenticates no user and is not cached`, async () => {
    const { authenticate, sent } = fixture(() => ({ body: { ...zoe, ...invalid } }))
    for (const _ of ['once', 'again']) assert.equal((await authenticate())?.user, undefined)
    assert.equal(sent.length, 2)
  })
}

test('a member named __proto__ in a response changes no other object', async () => {
  const body = `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":true,"__proto__":{"error":"x"},
    "user":{"username":"zoe","__proto__":{"uid":"root"},"extra":{"__proto__":["a"]}}}}`
  const user = (await fixture(() => ({ body })).authenticate())?.user
  assert.deepEqual([user?.name, user?.uid, Object.keys(user?.extra ?? {})], ['zoe', '', ['__proto__']])
  assert.equal(Object.getPrototypeOf(user?.extra), Object.prototype)
})

test('a response that is nested a hundred thousand levels deep is rejected', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const body = `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{"x":${deep}},"status":{"authenticated":true}}`
  assert.equal((await fixture(() => ({ body })).authenticate())?.user, undefined)
})

for (const version of ['v1', 'v1beta1'] as const) {
  test(`the webhook gets a TokenReview of ${version} and must return one`, async () => {
    const { authenticate, sent } = fixture(() => ({ body: zoe }), { version })
    await authenticate(presented(1000, ['vault', 'here']))
    assert.equal(sent[0]?.apiVersion, `authentication.k8s.io/${version}`)
    assert.deepEqual(sent[0]?.spec, { token: 't', audiences: ['vault', 'here'] })
    const other = fixture(() => ({ body: JSON.stringify({ kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v2', status: zoe }) }))
    assert.equal((await other.authenticate())?.user, undefined)
  })
}

test('bytes of a token beyond ASCII are sent as UTF-8', async () => {
  const { authenticate, sent } = fixture(() => ({ body: { authenticated: true, user: { username: 'u' } } }))
  await authenticate({ ...presented(), text: Buffer.from('crêpe').toString('latin1') })
  assert.equal(sent[0]?.spec.token, 'crêpe')
})

test('a rejected token is cached for its time; an error in the response or of the webhook is not', async () => {
  let isAccepted = false
  const withoutError = fixture(() => ({ body: isAccepted ? zoe : { authenticated: false } }))
  assert.equal(await withoutError.authenticate(), undefined)
  isAccepted = true
  assert.equal(await withoutError.authenticate(presented(1999)), undefined)
  assert.equal(withoutError.sent.length, 1)
  assert.equal((await withoutError.authenticate(presented(2001)))?.user?.name, 'zoe')
  const withError = fixture(() => ({ body: { authenticated: false, error: 'on a list' } }))
  assert.deepEqual(await withError.authenticate(), { problems: ['on a list'] })
  await withError.authenticate()
  assert.equal(withError.sent.length, 2)
  const unreachable = fixture(() => new Error('connect ECONNREFUSED'))
  for (const _ of ['once', 'again']) assert.equal((await unreachable.authenticate())?.user, undefined)
  assert.equal(unreachable.sent.length, 2)
})

test('a token for other audiences is not authenticated', async () => {
  const { authenticate } = fixture(() => ({ body: { ...zoe, audiences: ['other'] } }))
  assert.equal(await authenticate(), undefined)
  const found = await authenticate(presented(1000, ['other', 'x']))
  assert.deepEqual(found?.user !== undefined && found.audiences, ['other'])
})

test('temporary failures are retried with growing backoff, a limited number of times', async () => {
  let failures = 2
  const temporary = fixture(() => (failures-- > 0 ? { status: 500, body: '' } : { body: zoe }))
  assert.equal((await temporary.authenticate())?.user?.name, 'zoe')
  assert.deepEqual(temporary.backoffs, [500, 750])
  const permanent = fixture(() => ({ status: 500, body: '' }))
  assert.equal((await permanent.authenticate())?.user, undefined)
  assert.equal(permanent.sent.length, 5)
  const forbidden = fixture(() => ({ status: 403, body: '' }))
  assert.equal((await forbidden.authenticate())?.user, undefined)
  assert.equal(forbidden.sent.length, 1)
})

test('a response over the size limit is rejected', async () => {
  const withGroups = (count: number) => ({ ...zoe, user: { ...zoe.user, groups: Array.from({ length: count }, (_, i) => `group-${i}`) } })
  assert.equal((await fixture(() => ({ body: withGroups(10_000) })).authenticate())?.user?.groups.length, 10_001)
  const tooMany = await fixture(() => ({ body: withGroups(100_000) })).authenticate()
  assert.equal(tooMany?.user, undefined)
  assert.match(JSON.stringify(tooMany), /the response is longer than 524288 bytes/)
})

test('a user with too many groups or extra values is rejected', async () => {
  const inGroups = (count: number) => ({
    body: { authenticated: true, user: { username: 'zoe', groups: Array.from({ length: count }, (_, i) => `${i}`) } },
  })
  assert.equal((await fixture(() => inGroups(10_000)).authenticate())?.user?.groups.length, 10_001)
  const refused = await fixture(() => inGroups(10_001)).authenticate()
  assert.equal(refused?.user, undefined)
  assert.match(String(refused?.problems), /names more than 10000 groups/)
})
