// Reasons for rejecting an ID token, with the messages of kube-apiserver.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { TokenResult } from '../tokens/bearer-tokens.js'
import { signClaims, verifyingKey } from '../tokens/jwt.js'
import type { OidcProvider } from './oidc-provider.js'
import { type OidcRules, oidcTokens, verify } from './oidc-tokens.js'

const encodeSegment = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = (claims: object, header: object = {}): string =>
  `${encodeSegment({ alg: 'RS256', ...header })}.${encodeSegment({ iss: 'i', aud: 'c', ...claims })}.AAAA`
const options = {
  rules: { clientId: 'c', signingAlgorithms: ['RS256'] },
  provider: { keysFor: async () => [], fetchKeysFor: async () => [] },
} as unknown as Parameters<typeof verify>[0]

const refusals: readonly (readonly [title: string, text: string, why: string])[] = [
  ['has no exp', token({}), 'verify token: oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)'],
  ['has another audience', token({ aud: ['x', 'y'] }), 'verify token: oidc: expected audience "c" got ["x" "y"]'],
  [
    'has alg none',
    token({ exp: 5000 }, { alg: 'none' }),
    'verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "none"',
  ],
  ['is signed by another key', token({ exp: 5000 }), 'verify token: failed to verify signature: failed to verify id token signature'],
]
for (const [title, text, message] of refusals)
  test(`an ID token that ${title} is rejected`, () => assert.rejects(verify(options, { text, now: 1_000_000 }), { message }))

test('a token must name the user, whatever the prefix', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const provider = { keysFor: async () => [verifyingKey(privateKey)] } as unknown as OidcProvider
  const text = await signClaims({ iss: 'i', aud: 'c', sub: '', exp: 5000 }, privateKey)
  const authenticate = async (usernamePrefix: string): Promise<TokenResult> => {
    const rules = { issuer: 'i', clientId: 'c', usernameClaim: 'sub', usernamePrefix, requiredClaims: {}, signingAlgorithms: ['ES256'] }
    const tokens = oidcTokens({ rules: rules as unknown as OidcRules, provider, expand: async (claims) => claims, audiences: [] })
    return tokens({ text, digest: '', audiences: [], now: 1_000_000 })
  }
  for (const prefix of ['', 'i#'])
    assert.deepEqual(await authenticate(prefix), { problems: ['oidc: parse username claims "sub": must not be empty'] })
})
