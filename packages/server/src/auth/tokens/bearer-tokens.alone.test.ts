// Bearer tokens: order of authenticators, cache, audiences, and the limit of pending remote checks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { type AuthenticationResult, authenticateWith, problemText, tokenCredentials } from '../authenticate.js'
import { bearerTokens, type TokenAuthenticator, TokenDigests } from './bearer-tokens.js'
import { StaticTokens } from './static-tokens.js'

const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })
const digests = new TokenDigests()
const audiences = ['here']
const clock = { now: () => 1000 }
const authenticatorsOf = (...authenticators: readonly TokenAuthenticator[]) => [bearerTokens({ authenticators, audiences, clock, digests })]
const staticTokens = new StaticTokens(new Map([['secret', user('ann', 'devs')]]), { digests, audiences }).authenticate

const nameOf = async (found: Promise<AuthenticationResult>): Promise<string | undefined> => (await found)?.user?.name
const nextIteration = () => new Promise((resolve) => setImmediate(resolve))

test('a known token authenticates its user; an unknown one is rejected; without a token there is no credential', async () => {
  const found = await authenticateWith(authenticatorsOf(staticTokens), tokenCredentials('secret'))
  assert.deepEqual(found?.user, user('ann', 'devs', 'system:authenticated'))
  assert.deepEqual(await authenticateWith(authenticatorsOf(staticTokens), tokenCredentials('other')), {
    problems: ['invalid bearer token'],
  })
  assert.equal(await authenticateWith(authenticatorsOf(staticTokens), tokenCredentials('')), undefined)
})

test('tokens are looked up by hash, so that timing reveals no part of a token', async (t) => {
  const authenticators = authenticatorsOf(staticTokens)
  const get = t.mock.method(Map.prototype, 'get')
  assert.equal(await nameOf(authenticateWith(authenticators, tokenCredentials('secret'))), 'ann')
  assert.equal(await nameOf(authenticateWith(authenticators, tokenCredentials('secreT'))), undefined)
  const checked = get.mock.calls.map((call) => call.arguments[0])
  get.mock.restore()
  assert.ok(checked.length >= 2)
  assert.deepEqual(
    checked.filter((key) => typeof key === 'string' && key.includes('secre')),
    [],
  )
})

test('similar tokens on one connection are distinguished', async () => {
  const connection = {}
  const authenticators = authenticatorsOf(staticTokens)
  const authenticate = (token: string) => nameOf(authenticateWith(authenticators, { ...tokenCredentials(token), connection }))
  for (const [token, name] of [
    ['secret', 'ann'],
    ['secret', 'ann'],
    ['secreT', undefined],
    ['secret ', undefined],
    ['secre', undefined],
    ['secret', 'ann'],
  ] as const)
    assert.equal(await authenticate(token), name, token)
  assert.equal(digests.digestOf('secret', connection), digests.digestOf('secret'))
  assert.notEqual(digests.digestOf('secreT', connection), digests.digestOf('secret'))
  for (const length of [63, 64, 65, 900, 4096, 5000]) {
    const long = 'x'.repeat(length)
    const other = `${long.slice(0, -1)}y`
    for (let times = 0; times < 2; times++) assert.equal(digests.digestOf(long, connection), digests.digestOf(long), String(length))
    assert.equal(digests.digestOf(other, connection), digests.digestOf(other), String(length))
    assert.equal(digests.digestOf(long, connection), digests.digestOf(long), String(length))
  }
})

test('the first authenticator that knows a credential decides', async () => {
  const unknown = async () => undefined
  const found = authenticateWith(
    [unknown, async () => ({ user: user('second') }), async () => ({ user: user('third') })],
    tokenCredentials('x'),
  )
  assert.equal((await found)?.user?.name, 'second')
})

test('a credential rejected by one authenticator may be accepted by the next; otherwise all distinct reasons are reported', async () => {
  const refused = async () => ({ problems: ['one'] })
  const late = async () => ({ problems: ['two', 'one'] })
  const found = await authenticateWith([refused, late], tokenCredentials('x'))
  assert.ok(found !== undefined && found.user === undefined)
  assert.equal(problemText(found), '[one, two]')
  assert.equal((await authenticateWith([late, async () => ({ user: user('ann') })], tokenCredentials('x')))?.user?.name, 'ann')
})

test('a result is cached until it is no longer valid', async () => {
  let checked = 0
  let isTokenValid = true
  const remote: TokenAuthenticator = async () => {
    checked++
    return isTokenValid ? { user: user('ann'), isValid: () => isTokenValid } : { problems: ['gone'] }
  }
  const authenticators = authenticatorsOf(remote)
  const authenticate = () => authenticateWith(authenticators, tokenCredentials('t'))
  await Promise.all([authenticate(), authenticate()])
  assert.equal(checked, 1)
  assert.equal(await nameOf(authenticate()), 'ann')
  isTokenValid = false
  assert.deepEqual(await authenticate(), { problems: ['invalid bearer token', 'gone'] })
  assert.equal(checked, 2)
  await authenticate()
  assert.equal(checked, 3) // rejections are not cached
})

test('tokens without audiences are valid for this server only', async () => {
  const reviewed = (...wanted: readonly string[]) => authenticateWith(authenticatorsOf(staticTokens), tokenCredentials('secret', wanted))
  assert.deepEqual(await reviewed('other'), { problems: ['invalid bearer token'] })
  const found = await reviewed('other', 'here')
  assert.deepEqual(found?.user !== undefined && found.audiences, ['here'])
})

test('a cached token of a request is not used for a TokenReview with other audiences', async () => {
  const forVault: TokenAuthenticator = async ({ text, audiences: wanted }) =>
    text === 'secret' && wanted.includes('vault') ? { user: user('ann'), audiences: ['vault'] } : undefined
  const authenticators = authenticatorsOf(forVault)
  assert.equal(await nameOf(authenticateWith(authenticators, tokenCredentials('secret', ['vault']))), 'ann')
  assert.equal(await nameOf(authenticateWith(authenticators, tokenCredentials('secret'))), undefined)
  assert.equal(await nameOf(authenticateWith(authenticators, tokenCredentials('[["vault"],"secret"]'))), undefined)
})

test('pending remote checks are limited; tokens checked locally are not affected', async () => {
  const replies: (() => void)[] = []
  let checked = 0
  const remote: TokenAuthenticator = async (token) => {
    if (token.text === 'signed') return { user: user('bob') }
    token.beforeRemoteCheck?.()
    checked++
    return new Promise((resolve) => replies.push(() => resolve(undefined)))
  }
  const authenticators = authenticatorsOf(staticTokens, remote)
  const authenticate = (token: string) => authenticateWith(authenticators, tokenCredentials(token))
  const waiting = Array.from({ length: 2000 }, (_, i) => authenticate(`t${i % 1000}`))
  await nextIteration()
  assert.equal(checked, 1000)
  await assert.rejects(authenticate('one more'), /too many requests wait/)
  await assert.rejects(authenticate('t1'), /too many requests wait/)
  assert.equal(checked, 1000)
  assert.equal(await nameOf(authenticate('secret')), 'ann')
  assert.equal(await nameOf(authenticate('signed')), 'bob')
  for (const reply of replies) reply()
  await Promise.all(waiting)
  const late = authenticate('one more')
  await nextIteration()
  replies.at(-1)?.()
  assert.equal((await late)?.user, undefined)
  assert.equal(checked, 1001)
})

test('a long token takes several slots of pending remote checks', async () => {
  const replies: (() => void)[] = []
  const remote: TokenAuthenticator = async (token) => {
    token.beforeRemoteCheck?.()
    return new Promise((resolve) => replies.push(() => resolve(undefined)))
  }
  const authenticators = authenticatorsOf(remote)
  const authenticate = (token: string) => authenticateWith(authenticators, tokenCredentials(token))
  const long = (i: number): string => `${i}`.padEnd(60_000, 'x')
  const waiting = Array.from({ length: 250 }, (_, i) => authenticate(long(i)))
  await nextIteration()
  await assert.rejects(authenticate('one more'), /too many requests wait/)
  for (const reply of replies) reply()
  await Promise.all(waiting)
  const again = Array.from({ length: 250 }, (_, i) => authenticate(long(i)))
  await nextIteration()
  for (const reply of replies) reply()
  await Promise.all(again)
})

test('few large results are cached, and very large ones not at all', async () => {
  const checked: string[] = []
  const lengths: { readonly [kind: string]: number } = { short: 100, long: 10_000, endless: 100_000 }
  const authenticators = authenticatorsOf(async ({ text }) => {
    checked.push(text)
    return { user: user('ann'), audiences: ['x'.repeat(lengths[text.split(' ')[0] as string] as number)] }
  })
  const authenticate = (token: string) => nameOf(authenticateWith(authenticators, tokenCredentials(token)))
  for (let i = 0; i < 300; i++) for (const kind in lengths) await authenticate(`${kind} ${i}`)
  checked.length = 0
  for (let i = 299; i >= 0; i--) await authenticate(`short ${i}`)
  await authenticate('long 299')
  assert.deepEqual(checked, [])
  for (const token of ['long 0', 'endless 299', 'endless 299']) await authenticate(token)
  assert.deepEqual(checked, ['long 0', 'endless 299', 'endless 299'])
})
