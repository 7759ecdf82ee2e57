// Why an ID token is refused, in the words of the reference.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { TokenResult } from './bearer-tokens.js'
import { signClaims, verifyingKey } from './jwt.js'
import { type OidcRules, oidcTokens, verify } from './oidc.js'
import type { OidcProvider } from './oidc-provider.js'

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = (claims: object, header: object = {}): string =>
  `${part({ alg: 'RS256', ...header })}.${part({ iss: 'i', aud: 'c', ...claims })}.AAAA`
const options = {
  rules: { clientId: 'c', signingAlgorithms: ['RS256'] },
  provider: { keysFor: async () => [], fetchKeysFor: async () => [] },
} as unknown as Parameters<typeof verify>[0]

const refusals: readonly (readonly [title: string, text: string, why: string])[] = [
  ['has no end', token({}), 'verify token: oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)'],
  ['is for others', token({ aud: ['x', 'y'] }), 'verify token: oidc: expected audience "c" got ["x" "y"]'],
  [
    'nobody signed',
    token({ exp: 5000 }, { alg: 'none' }),
    'verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "none"',
  ],
  ['somebody else signed', token({ exp: 5000 }), 'verify token: failed to verify signature: failed to verify id token signature'],
]
for (const [title, text, message] of refusals)
  test(`an ID token that ${title}`, () => assert.rejects(verify(options, { text, now: 1_000_000 }), { message }))

test('a user name may not be empty; a prefix makes it one that is not', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const provider = { keysFor: async () => [verifyingKey(privateKey)] } as unknown as OidcProvider
  const text = await signClaims({ iss: 'i', aud: 'c', sub: '', exp: 5000 }, privateKey)
  const authenticate = async (usernamePrefix: string): Promise<TokenResult> => {
    const rules = { issuer: 'i', clientId: 'c', usernameClaim: 'sub', usernamePrefix, requiredClaims: {}, signingAlgorithms: ['ES256'] }
    const tokens = oidcTokens({ rules: rules as unknown as OidcRules, provider, expand: (claims) => claims, audiences: [] })
    return tokens({ text, digest: '', audiences: [], now: 1_000_000 })
  }
  assert.deepEqual(await authenticate(''), { problems: ['oidc: parse username claims "sub": it is empty'] })
  assert.equal((await authenticate('i#'))?.user?.name, 'i#')
})

test('of many ID tokens that waited for the keys of their issuer a few are looked at in each turn of the event loop', async () => {
  const fetched = new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))
  const waiting = { ...options, provider: { keysFor: () => fetched } } as unknown as Parameters<typeof verify>[0]
  let [now, most, count] = [0, 0, 0]
  const looked = async (): Promise<void> => {
    await assert.rejects(verify(waiting, { text: token({}), now: 1_000_000 }), { message: 'authenticator not initialized' })
    count += 1
    most = Math.max(most, ++now)
  }
  const all = Promise.all(Array.from({ length: 100 }, looked))
  while (count < 100) {
    now = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
  await all
  assert.ok(most <= 8, `${most} in one turn`)
})
