// Tokens that a service is asked about: what is sent, what the answers mean, and what is remembered.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { identityOf } from '../api/identity.js'
import { whileCounting } from '../base/turn-count.fixture.js'
import type { PresentedToken, TokenResult } from './bearer-tokens.js'
import { type WebhookTokenOptions, webhookTokens } from './webhook-tokens.js'

interface Sent {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: { readonly token: string; readonly audiences: readonly string[] }
}

type Answer = (sent: Sent) => { readonly status?: number; readonly body?: unknown; readonly retryAfter?: number } | Error

const presented = (now = 1000, audiences: readonly string[] = ['here']): PresentedToken => ({ text: 't', digest: 'd', audiences, now })

function stage(answer: Answer, more: Partial<WebhookTokenOptions> = {}) {
  const sent: Sent[] = []
  const pauses: number[] = []
  const authenticate = webhookTokens({
    identity: identityOf('kubernetes'),
    version: 'v1',
    acceptedTtlMs: 1000,
    refusedTtlMs: 1000,
    audiences: ['here'],
    post: async (document) => {
      sent.push(document as Sent)
      const said = answer(document as Sent)
      if (said instanceof Error) throw said
      const { kind, apiVersion } = document as Sent
      const body = Buffer.from(typeof said.body === 'string' ? said.body : JSON.stringify({ kind, apiVersion, status: said.body }))
      return { status: said.status ?? 200, body, retryAfter: said.retryAfter }
    },
    sleep: async (ms) => pauses.push(ms),
    ...more,
  })
  return { sent, pauses, authenticate: async (token = presented()): Promise<TokenResult> => authenticate(token) }
}

const zoe = { authenticated: true, user: { username: 'zoe', uid: 'u', groups: ['devs'], extra: { scopes: ['a'] } } }

test('a yes is the user, for as long as it is said to count', async () => {
  const { authenticate } = stage(() => ({ body: zoe }))
  const found = await authenticate()
  assert.deepEqual(found?.user, { name: 'zoe', uid: 'u', groups: ['devs', 'system:authenticated'], extra: { scopes: ['a'] } })
  assert.ok(found?.user !== undefined)
  assert.deepEqual(found.audiences, ['here'])
  assert.equal(found.holds?.(1999), true)
  assert.equal(found.holds?.(2000), false)
})

const lies: { readonly [title: string]: object } = {
  'no user': { user: undefined },
  'an empty user name': { user: { username: '', groups: ['staff'] } },
  'a user name that is a number': { user: { username: 1 } },
  'groups that are a text': { user: { username: 'zoe', groups: 'system:masters' } },
  'a group that is a number': { user: { username: 'zoe', groups: ['devs', 1] } },
  'extra values that are a text': { user: { username: 'zoe', extra: { scopes: 'a' } } },
  'authenticated as a text': { authenticated: 'true' },
  'audiences that are a text': { audiences: 'here' },
}

for (const [title, lie] of Object.entries(lies)) {
  test(`a response with ${title} authenticates nobody, and is not remembered`, async () => {
    const { authenticate, sent } = stage(() => ({ body: { ...zoe, ...lie } }))
    for (const _ of ['once', 'again']) assert.equal((await authenticate())?.user, undefined)
    assert.equal(sent.length, 2)
  })
}

test('a response is only data: a member named __proto__ changes nothing else', async () => {
  const body = `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":true,"__proto__":{"error":"x"},
    "user":{"username":"zoe","__proto__":{"uid":"root"},"extra":{"__proto__":["a"]}}}}`
  const user = (await stage(() => ({ body })).authenticate())?.user
  assert.deepEqual([user?.name, user?.uid, Object.keys(user?.extra ?? {})], ['zoe', '', ['__proto__']])
  assert.equal(Object.getPrototypeOf(user?.extra), Object.prototype)
})

test('a response that is nested a hundred thousand levels deep is refused', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const body = `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{"x":${deep}},"status":{"authenticated":true}}`
  assert.equal((await stage(() => ({ body })).authenticate())?.user, undefined)
})

for (const version of ['v1', 'v1beta1'] as const) {
  test(`what is sent is a review of ${version}, and the answer must be one, too`, async () => {
    const { authenticate, sent } = stage(() => ({ body: zoe }), { version })
    await authenticate(presented(1000, ['vault', 'here']))
    assert.equal(sent[0]?.apiVersion, `authentication.k8s.io/${version}`)
    assert.deepEqual(sent[0]?.spec, { token: 't', audiences: ['vault', 'here'] })
    const other = stage(() => ({ body: JSON.stringify({ kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v2', status: zoe }) }))
    assert.equal((await other.authenticate())?.user, undefined)
  })
}

test('a no is remembered for its time; a reason against the token, and a service that is away, are not', async () => {
  let isGood = false
  const plain = stage(() => ({ body: isGood ? zoe : { authenticated: false } }))
  assert.equal(await plain.authenticate(), undefined)
  isGood = true
  assert.equal(await plain.authenticate(presented(1999)), undefined)
  assert.equal(plain.sent.length, 1)
  assert.equal((await plain.authenticate(presented(2001)))?.user?.name, 'zoe')
  const reasoned = stage(() => ({ body: { authenticated: false, error: 'on a list' } }))
  assert.deepEqual(await reasoned.authenticate(), { problems: ['on a list'] })
  await reasoned.authenticate()
  assert.equal(reasoned.sent.length, 2)
  const away = stage(() => new Error('connect ECONNREFUSED'))
  for (const _ of ['once', 'again']) assert.equal((await away.authenticate())?.user, undefined)
  assert.equal(away.sent.length, 2)
})

test('a token that is meant for others is not known here', async () => {
  const { authenticate } = stage(() => ({ body: { ...zoe, audiences: ['elsewhere'] } }))
  assert.equal(await authenticate(), undefined)
  const found = await authenticate(presented(1000, ['elsewhere', 'x']))
  assert.deepEqual(found?.user !== undefined && found.audiences, ['elsewhere'])
})

test('what may pass is asked again, with pauses that grow, and not forever', async () => {
  let failures = 2
  const passing = stage(() => (failures-- > 0 ? { status: 500, body: '' } : { body: zoe }))
  assert.equal((await passing.authenticate())?.user?.name, 'zoe')
  assert.deepEqual(passing.pauses, [500, 750])
  const lasting = stage(() => ({ status: 500, body: '' }))
  assert.equal((await lasting.authenticate())?.user, undefined)
  assert.equal(lasting.sent.length, 5)
  const final = stage(() => ({ status: 403, body: '' }))
  assert.equal((await final.authenticate())?.user, undefined)
  assert.equal(final.sent.length, 1)
})

test('answers that are none let nobody in', async () => {
  for (const body of [
    '',
    'nonsense',
    'null',
    '[]',
    '{}',
    '{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":"yes"}',
  ]) {
    const { authenticate } = stage(() => ({ body }))
    assert.equal((await authenticate())?.user, undefined, body)
  }
})

test('an answer with more groups than anybody can have does not count', async () => {
  const withGroups = (count: number) => ({ ...zoe, user: { ...zoe.user, groups: Array.from({ length: count }, (_, i) => `group-${i}`) } })
  assert.equal((await stage(() => ({ body: withGroups(10_000) })).authenticate())?.user?.groups.length, 10_001)
  const tooMany = await stage(() => ({ body: withGroups(100_000) })).authenticate()
  assert.equal(tooMany?.user, undefined)
  assert.match(JSON.stringify(tooMany), /its answer is longer than 524288 bytes/)
})

test('what was refused is remembered without the audiences, which may be megabytes', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const inUse = (): number => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const { authenticate, sent } = stage(() => ({ body: { authenticated: false } }))
  const before = inUse()
  for (let i = 0; i < 64; i++) {
    assert.equal(await authenticate(presented(1000, [`${i}${'x'.repeat(1 << 20)}`])), undefined)
    sent.length = 0
  }
  const grown = inUse() - before
  assert.ok(grown < 16 << 20, `${grown} bytes`)
})

test('a user of more groups than are gone through with every request is none', async () => {
  const inGroups = (count: number) => ({
    body: { authenticated: true, user: { username: 'zoe', groups: Array.from({ length: count }, (_, i) => `${i}`) } },
  })
  assert.equal((await stage(() => inGroups(10_000)).authenticate())?.user?.groups.length, 10_001)
  const refused = await stage(() => inGroups(10_001)).authenticate()
  assert.equal(refused?.user, undefined)
  assert.match(String(refused?.problems), /names more than 10000 groups/)
})

test('of long answers that come at the same time a few are read in a turn of the event loop', async () => {
  const groups = Array.from({ length: 9000 }, (_, i) => `${i}`.padEnd(45, 'x'))
  const { authenticate } = stage(() => ({ body: { authenticated: true, user: { username: 'zoe', groups } } }))
  const turns = await whileCounting((count) => Promise.all(Array.from({ length: 30 }, () => authenticate().then(() => count.turn))))
  assert.ok(new Set(turns).size > 3, `in ${new Set(turns).size} turns`)
})
