// Bearer tokens: who is asked, what is remembered, and for how long.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { User } from '../api/user.js'
import { authenticateWith, type Found, problemText, tokenCredentials } from './authenticate.js'
import { bearerTokens, inBoth, type TokenAuthenticator, TokenDigests } from './bearer-tokens.js'
import { TokenList } from './token-list.js'

const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })
const digests = new TokenDigests()
const audiences = ['here']
const clock = { now: () => 1000 }
const asking = (...authenticators: readonly TokenAuthenticator[]) => [bearerTokens({ authenticators, audiences, clock, digests })]
const known = new TokenList(new Map([['secret', user('ann', 'devs')]]), { digests, audiences }).authenticate

const nameOf = (found: Found | Promise<Found>): string | undefined => (found instanceof Promise ? 'later' : found?.user?.name)

test('a token is its user, who is authenticated; an unknown one is refused, and none is no credential', () => {
  const found = authenticateWith(asking(known), tokenCredentials('secret')) as Found
  assert.deepEqual(found?.user, user('ann', 'devs', 'system:authenticated'))
  assert.deepEqual(authenticateWith(asking(known), tokenCredentials('other')), { problems: ['invalid bearer token'] })
  assert.equal(authenticateWith(asking(known), tokenCredentials('')), undefined)
})

test('a token is not looked up by its text, of which a guess could learn a part from the time it takes', (t) => {
  const authenticators = asking(known)
  const get = t.mock.method(Map.prototype, 'get')
  assert.equal(nameOf(authenticateWith(authenticators, tokenCredentials('secret'))), 'ann')
  assert.equal(nameOf(authenticateWith(authenticators, tokenCredentials('secreT'))), undefined)
  const asked = get.mock.calls.map((call) => call.arguments[0])
  get.mock.restore()
  assert.ok(asked.length >= 2)
  assert.deepEqual(
    asked.filter((key) => typeof key === 'string' && key.includes('secre')),
    [],
  )
})

test('over one connection each token is told from the one before it, however alike they are', () => {
  const connection = {}
  const authenticators = asking(known)
  const ask = (token: string) => nameOf(authenticateWith(authenticators, { ...tokenCredentials(token), connection }))
  for (const [token, name] of [
    ['secret', 'ann'],
    ['secret', 'ann'],
    ['secreT', undefined],
    ['secret ', undefined],
    ['secre', undefined],
    ['secret', 'ann'],
  ] as const)
    assert.equal(ask(token), name, token)
  assert.equal(digests.of('secret', connection), digests.of('secret'))
  assert.notEqual(digests.of('secreT', connection), digests.of('secret'))
  for (const length of [63, 64, 65, 900, 4096, 5000]) {
    const long = 'x'.repeat(length)
    const other = `${long.slice(0, -1)}y`
    for (let times = 0; times < 2; times++) assert.equal(digests.of(long, connection), digests.of(long), String(length))
    assert.equal(digests.of(other, connection), digests.of(other), String(length))
    assert.equal(digests.of(long, connection), digests.of(long), String(length))
  }
})

test('the first authenticator that knows a credential decides, waiting or not', async () => {
  const slow = async () => undefined
  const found = authenticateWith([slow, () => ({ user: user('second') }), () => ({ user: user('third') })], tokenCredentials('x'))
  assert.equal((await found)?.user?.name, 'second')
})

test('a credential that somebody refused may be another one’s; where it is nobody’s, all reasons are told once', async () => {
  const refused = () => ({ problems: ['one'] })
  const late = async () => ({ problems: ['two', 'one'] })
  const found = await authenticateWith([refused, late], tokenCredentials('x'))
  assert.ok(found !== undefined && found.user === undefined)
  assert.equal(problemText(found), '[one, two]')
  assert.equal((await authenticateWith([late, () => ({ user: user('ann') })], tokenCredentials('x')))?.user?.name, 'ann')
})

test('what was found out is asked for once, and again when it does not hold any more', async () => {
  let asked = 0
  let isGood = true
  const slow: TokenAuthenticator = async () => {
    asked++
    return isGood ? { user: user('ann'), holds: () => isGood } : { problems: ['gone'] }
  }
  const authenticators = asking(slow)
  const ask = () => authenticateWith(authenticators, tokenCredentials('t'))
  await Promise.all([ask(), ask()])
  assert.equal(asked, 1)
  assert.equal(nameOf(ask()), 'ann')
  isGood = false
  assert.deepEqual(await ask(), { problems: ['invalid bearer token', 'gone'] })
  assert.equal(asked, 2)
  await ask()
  assert.equal(asked, 3) // refusals are not remembered
})

test('tokens without audiences are meant for this server, and for nobody else', () => {
  const reviewed = (...wanted: readonly string[]) => authenticateWith(asking(known), tokenCredentials('secret', wanted)) as Found
  assert.deepEqual(reviewed('elsewhere'), { problems: ['invalid bearer token'] })
  const found = reviewed('elsewhere', 'here')
  assert.deepEqual(found?.user !== undefined && found.audiences, ['here'])
})

test('a token of a request is not taken for one that was reviewed for others', () => {
  const aware: TokenAuthenticator = ({ text, audiences: wanted }) =>
    text === 'secret' && wanted.includes('vault') ? { user: user('ann'), audiences: ['vault'] } : undefined
  const authenticators = asking(aware)
  assert.equal(nameOf(authenticateWith(authenticators, tokenCredentials('secret', ['vault']))), 'ann')
  assert.equal(nameOf(authenticateWith(authenticators, tokenCredentials('secret'))), undefined)
  assert.equal(nameOf(authenticateWith(authenticators, tokenCredentials('[["vault"],"secret"]'))), undefined)
})

test('so many wait for what others say, and no more; who needs nobody is not among them', async () => {
  const answers: (() => void)[] = []
  let asked = 0
  const remote: TokenAuthenticator = (token) => {
    if (token.text === 'signed') return { user: user('bob') }
    token.beforeAsking?.()
    asked++
    return new Promise((resolve) => answers.push(() => resolve(undefined)))
  }
  const authenticators = asking(known, remote)
  const ask = (token: string) => authenticateWith(authenticators, tokenCredentials(token))
  // Of the same token and of others.
  const waiting = Array.from({ length: 2000 }, (_, i) => ask(`t${i % 1000}`))
  assert.equal(asked, 1000)
  assert.throws(() => ask('one more'), /too many requests wait/)
  assert.throws(() => ask('t1'), /too many requests wait/)
  assert.equal(asked, 1000)
  assert.equal(nameOf(ask('secret')), 'ann')
  assert.equal(nameOf(ask('signed')), 'bob')
  for (const answer of answers) answer()
  await Promise.all(waiting)
  assert.equal(nameOf(ask('one more')), 'later')
})

test('long tokens count as several of those that wait', async () => {
  const answers: (() => void)[] = []
  const remote: TokenAuthenticator = (token) => {
    token.beforeAsking?.()
    return new Promise((resolve) => answers.push(() => resolve(undefined)))
  }
  const authenticators = asking(remote)
  const ask = (token: string) => authenticateWith(authenticators, tokenCredentials(token))
  const long = (i: number): string => `${i}`.padEnd(60_000, 'x')
  const waiting = Array.from({ length: 250 }, (_, i) => ask(long(i)))
  assert.throws(() => ask('one more'), /too many requests wait/)
  for (const answer of answers) answer()
  await Promise.all(waiting)
  const again = Array.from({ length: 250 }, (_, i) => ask(long(i)))
  for (const answer of answers) answer()
  await Promise.all(again)
})

test('of findings that name thousands of groups or audiences few are kept', () => {
  const asked: string[] = []
  const many = Array.from({ length: 2000 }, (_, i) => `a${i}`)
  const authenticators = asking((token) => {
    asked.push(token.text)
    return token.text.startsWith('large') ? { user: user('ann'), audiences: many } : { user: user('bob', 'devs') }
  })
  const ask = (token: string) => nameOf(authenticateWith(authenticators, tokenCredentials(token)))
  for (let i = 0; i < 1000; i++) for (const kind of ['large', 'small']) ask(`${kind}${i}`)
  assert.equal(asked.length, 2000)
  ask('large999')
  for (let i = 0; i < 1000; i++) ask(`small${i}`)
  assert.equal(asked.length, 2000)
  ask('large0')
  assert.equal(asked.length, 2001)
})

test('of findings with long texts few are kept, and none with very long ones', () => {
  const asked: string[] = []
  const lengths: { readonly [kind: string]: number } = { short: 100, long: 10_000, endless: 100_000 }
  const authenticators = asking(({ text }) => {
    asked.push(text)
    return { user: user('ann'), audiences: ['x'.repeat(lengths[text.split(' ')[0] as string] as number)] }
  })
  const ask = (token: string) => nameOf(authenticateWith(authenticators, tokenCredentials(token)))
  for (let i = 0; i < 300; i++) for (const kind in lengths) ask(`${kind} ${i}`)
  asked.length = 0
  for (let i = 299; i >= 0; i--) ask(`short ${i}`)
  ask('long 299')
  assert.deepEqual(asked, [])
  for (const token of ['long 0', 'endless 299', 'endless 299']) ask(token)
  assert.deepEqual(asked, ['long 0', 'endless 299', 'endless 299'])
})

test('long lists of audiences are held against each other in no time', () => {
  const texts = Array.from({ length: 50_000 }, (_, i) => `audience-${i}`)
  const begun = process.cpuUsage()
  assert.equal(inBoth(texts, texts.toReversed()).length, 50_000)
  assert.deepEqual(inBoth(['b', 'x', 'a', 'b'], ['a', 'b']), ['b', 'a', 'b'])
  // Each against each took ten seconds.
  assert.ok(process.cpuUsage(begun).user < 2_000_000)
})
