// Tests of continue tokens: round trip, rejected tokens, expired tokens with a replacement.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api-error.js'
import { identityOf } from '../identity.js'
import { type ContinueToken, continueExpired, decodeContinueToken, encodeContinueToken, listExpired } from './continue-token.js'

const identity = identityOf('cluster')

const tokens: readonly { readonly name: string; readonly token: ContinueToken }[] = [
  { name: 'exact resourceVersion', token: { resourceVersion: 12, startKey: 'shop/cart\0', remaining: 3, countedIn: 'configmaps/' } },
  { name: 'current state without resourceVersion', token: { resourceVersion: undefined, startKey: 'a' } },
  { name: 'start key with non-ASCII characters', token: { resourceVersion: 1, startKey: 'größe/名' } },
  { name: 'remaining count of zero', token: { resourceVersion: 1, startKey: 'z', remaining: 0, countedIn: 'configmaps/' } },
]
for (const { name, token } of tokens)
  test(`continue token round trip: ${name}`, () => {
    const text = encodeContinueToken(token, identity)
    assert.match(text, /^[A-Za-z0-9_-]+$/)
    assert.deepEqual(decodeContinueToken(text, identity), token)
  })

const encode = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const rejections = [
  { text: '!!', problem: 'illegal base64 data at input byte 0' },
  { text: 'ab!', problem: 'illegal base64 data at input byte 2' },
  { text: 'abcde', problem: 'illegal base64 data at input byte 4' },
  { text: 'e30', problem: 'server does not recognize this encoded version ' },
  { text: encode({ v: [{ toString: '0' }] }), problem: 'server does not recognize this encoded version ' },
  { text: encode('nonsense'), problem: 'it does not contain a JSON object' },
  { text: encode('null'), problem: 'it does not contain a JSON object' },
  { text: encode({ v: 'v9' }), problem: 'server does not recognize this encoded version v9' },
  {
    text: encode({ v: 'meta.cluster.io/v1', start: 'a' }),
    problem: 'incorrect encoded start resourceVersion (version meta.cluster.io/v1)',
  },
  {
    text: encode({ v: 'meta.cluster.io/v1', rv: 0, start: 'a' }),
    problem: 'incorrect encoded start resourceVersion (version meta.cluster.io/v1)',
  },
  { text: encode({ v: 'meta.cluster.io/v1', rv: 5 }), problem: 'encoded start key empty (version meta.cluster.io/v1)' },
  { text: encode({ v: 'meta.cluster.io/v1', rv: 5, start: '../secrets/x' }), problem: '../secrets/x' },
  { text: encode({ v: 'meta.cluster.io/v1', rv: 5, start: '/a' }), problem: '/a' },
  { text: encode({ v: 'meta.cluster.io/v1', rv: 5, start: 'a//b' }), problem: 'a//b' },
]
for (const { text, problem } of rejections)
  test(`continue token rejected: ${problem}`, () => {
    assert.throws(
      () => decodeContinueToken(text, identity),
      (thrown) => {
        assert.ok(thrown instanceof ApiError)
        assert.equal(thrown.message, `invalid continue token: continue key is not valid: ${problem}`)
        assert.equal(thrown.status.code, 400)
        return true
      },
    )
  })

test('continueExpired returns 410 with a token for the current state', () => {
  const { status } = continueExpired({ resourceVersion: undefined, startKey: 'n/c' }, identity)
  assert.equal(status.code, 410)
  assert.equal(status.reason, 'Expired')
  assert.match(
    status.message,
    /^The provided continue parameter is too old to display a consistent list result\. .* may show up in the list\.$/,
  )
  assert.deepEqual(decodeContinueToken(status.metadata?.continue ?? '', identity), { resourceVersion: undefined, startKey: 'n/c' })
  assert.equal(listExpired().message, 'The resourceVersion for the provided list is too old.')
})

test('a token of the other identity is rejected', () => {
  const text = encodeContinueToken({ resourceVersion: 1, startKey: 'a' }, identityOf('kubernetes'))
  assert.equal(JSON.parse(Buffer.from(text, 'base64url').toString()).v, 'meta.k8s.io/v1')
  assert.throws(() => decodeContinueToken(text, identity), /does not recognize this encoded version/)
})
