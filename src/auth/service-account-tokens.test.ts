// What is said of a service account's token in the audit log, and how often its objects are looked at.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { identityOf } from '../api/identity.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { TokenObjects } from './account-tokens.js'
import type { TokenFinding } from './bearer-tokens.js'
import { signClaims, verifyingKey } from './jwt.js'
import { boundClaims } from './service-account-claims.js'
import { serviceAccountTokens } from './service-account-tokens.js'

const identity = identityOf('kubernetes')
const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
const account = { namespace: 'n', serviceaccount: { name: 'a', uid: 'u' } }
const issuer = 'https://i'
const begun = 1_000_000_000_000

function stage() {
  const live = { revision: 1, uid: 'u', deletionTimestamp: undefined as string | undefined, decoded: 0 }
  const objects: TokenObjects = {
    find: () => ({ revision: live.revision }) as StoredObject,
    decode: () => {
      live.decoded++
      return { metadata: { uid: live.uid, ...(live.deletionTimestamp === undefined ? {} : { deletionTimestamp: live.deletionTimestamp }) } }
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
  const find = async (text: string): Promise<TokenFinding> => {
    const found = await authenticate({ text, digest: 'd', audiences: ['x'], now: begun })
    assert.ok(found?.user !== undefined, JSON.stringify(found))
    return found
  }
  return { live, counters, find }
}

const remarksOf = (found: TokenFinding, now: number): readonly string[] => {
  const remarks: string[] = []
  found.remark?.((name, value) => remarks.push(`${name}: ${value}`), now)
  return remarks
}

test('a token that should have been renewed is told of with every request, and one that names no audience, too', async () => {
  const { find, counters } = stage()
  const wish = { issuer, account, now: begun, seconds: 86_400 }
  const found = await find(await signClaims(boundClaims(identity, { ...wish, audiences: ['x'], warnAfterSeconds: 100 }), key))
  assert.deepEqual(remarksOf(found, begun + 50_000), [])
  assert.deepEqual(remarksOf(found, begun + 110_000), [
    'authentication.k8s.io/stale-token: subject: system:serviceaccount:n:a, seconds after warning threshold: 10',
  ])
  assert.deepEqual(counters, { legacy: 0, stale: 1, valid: 1 })
  const nameless = await find(await signClaims(boundClaims(identity, { ...wish, audiences: [] }), key))
  assert.deepEqual(remarksOf(nameless, begun), ['authentication.k8s.io/legacy-token: system:serviceaccount:n:a'])
  assert.equal(counters.legacy, 1)
})

test('an object that did not change is not read again; one that is going is, until its time is over', async () => {
  const { find, live } = stage()
  const found = await find(await signClaims(boundClaims(identity, { issuer, account, now: begun, seconds: 3600, audiences: ['x'] }), key))
  for (let i = 0; i < 10; i++) assert.equal(found.holds?.(begun), true)
  assert.equal(live.decoded, 1)
  live.revision = 2
  assert.equal(found.holds?.(begun), true)
  assert.equal(live.decoded, 2)
  live.revision = 3
  live.deletionTimestamp = new Date(begun).toISOString()
  assert.equal(found.holds?.(begun + 59_000), true)
  assert.equal(found.holds?.(begun + 61_000), false)
  live.revision = 4
  live.deletionTimestamp = undefined
  live.uid = 'another'
  assert.equal(found.holds?.(begun), false)
})

test('a token ends with its time, give or take a minute', async () => {
  const { find } = stage()
  const found = await find(await signClaims(boundClaims(identity, { issuer, account, now: begun, seconds: 600, audiences: ['x'] }), key))
  assert.equal(found.holds?.(begun + 659_000), true)
  assert.equal(found.holds?.(begun + 661_000), false)
})
