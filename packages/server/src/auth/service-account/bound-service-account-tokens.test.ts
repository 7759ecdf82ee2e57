// Service account tokens: audit annotations, caching of referenced objects, expiry.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import type { AuthenticatedToken } from '../tokens/bearer-tokens.js'
import { signClaims, verifyingKey } from '../tokens/jwt.js'
import { serviceAccountTokens } from './bound-service-account-tokens.js'
import type { TokenObjects } from './legacy-service-account-tokens.js'
import { boundClaims } from './service-account-claims.js'

const identity = identityOf('kubernetes')
const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
const account = { namespace: 'n', serviceaccount: { name: 'a', uid: 'u' } }
const issuer = 'https://i'
const issuedMs = 1_000_000_000_000

function setUp() {
  const referenced = { revision: 1, uid: 'u', deletionTimestamp: undefined as string | undefined, decoded: 0 }
  const objects: TokenObjects = {
    find: () => ({ revision: referenced.revision }) as StoredObject,
    decode: () => {
      referenced.decoded++
      return {
        metadata: {
          uid: referenced.uid,
          ...(referenced.deletionTimestamp === undefined ? {} : { deletionTimestamp: referenced.deletionTimestamp }),
        },
      }
    },
  }
  const counters = { legacy: 0, stale: 0, valid: 0 }
  const authenticate = serviceAccountTokens({
    identity,
    issuers: [issuer],
    keys: [verifyingKey(key)],
    audiences: ['x'],
    lookup: true,
    objects,
    counters,
  })
  const find = async (text: string): Promise<AuthenticatedToken> => {
    const found = await authenticate({ text, digest: 'd', audiences: ['x'], now: issuedMs })
    assert.ok(found?.user !== undefined, JSON.stringify(found))
    return found
  }
  return { referenced, counters, find }
}

const annotationsOf = (found: AuthenticatedToken, now: number): readonly string[] => {
  const annotations: string[] = []
  found.onRequest?.((name, value) => annotations.push(`${name}: ${value}`), now)
  return annotations
}

test('every request with a stale token, or one without audience, gets an audit annotation', async () => {
  const { find, counters } = setUp()
  const spec = { issuer, account, now: issuedMs, seconds: 86_400 }
  const found = await find(await signClaims(boundClaims(identity, { ...spec, audiences: ['x'], warnAfterSeconds: 100 }), key))
  assert.deepEqual(annotationsOf(found, issuedMs + 50_000), [])
  assert.deepEqual(annotationsOf(found, issuedMs + 110_000), [
    'authentication.k8s.io/stale-token: subject: system:serviceaccount:n:a, seconds after warning threshold: 10',
  ])
  assert.deepEqual(counters, { legacy: 0, stale: 1, valid: 1 })
  const withoutAudience = await find(await signClaims(boundClaims(identity, { ...spec, audiences: [] }), key))
  assert.deepEqual(annotationsOf(withoutAudience, issuedMs), ['authentication.k8s.io/legacy-token: system:serviceaccount:n:a'])
  assert.equal(counters.legacy, 1)
})

test('an unchanged object is decoded once; a terminating one is valid until the tolerated clock skew has passed', async () => {
  const { find, referenced } = setUp()
  const found = await find(
    await signClaims(boundClaims(identity, { issuer, account, now: issuedMs, seconds: 3600, audiences: ['x'] }), key),
  )
  for (let i = 0; i < 10; i++) assert.equal(found.isValid?.(issuedMs), true)
  assert.equal(referenced.decoded, 1)
  referenced.revision = 2
  assert.equal(found.isValid?.(issuedMs), true)
  assert.equal(referenced.decoded, 2)
  referenced.revision = 3
  referenced.deletionTimestamp = new Date(issuedMs).toISOString()
  assert.equal(found.isValid?.(issuedMs + 59_000), true)
  assert.equal(found.isValid?.(issuedMs + 61_000), false)
  referenced.revision = 4
  referenced.deletionTimestamp = undefined
  referenced.uid = 'another'
  assert.equal(found.isValid?.(issuedMs), false)
})

test('a token expires one minute after exp', async () => {
  const { find } = setUp()
  const found = await find(await signClaims(boundClaims(identity, { issuer, account, now: issuedMs, seconds: 600, audiences: ['x'] }), key))
  assert.equal(found.isValid?.(issuedMs + 659_000), true)
  assert.equal(found.isValid?.(issuedMs + 661_000), false)
})
