// Tokens between pages: what goes in comes out, what nobody made is refused, and an expired one comes with another.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api-error.js'
import { identityOf } from '../identity.js'
import { type ContinueToken, continueExpired, decodeContinueToken, encodeContinueToken, listExpired } from './continue-token.js'

const identity = identityOf('cluster')

const tokens: readonly { readonly name: string; readonly token: ContinueToken }[] = [
  { name: 'a page of a state', token: { resourceVersion: 12, startKey: 'shop/cart\0', remaining: 3, countedIn: 'configmaps/' } },
  { name: 'of the present', token: { resourceVersion: undefined, startKey: 'a' } },
  { name: 'with other letters', token: { resourceVersion: 1, startKey: 'größe/名' } },
  { name: 'nothing left', token: { resourceVersion: 1, startKey: 'z', remaining: 0, countedIn: 'configmaps/' } },
]
for (const { name, token } of tokens)
  test(`token: ${name}`, () => {
    const text = encodeContinueToken(token, identity)
    assert.match(text, /^[A-Za-z0-9_-]+$/)
    assert.deepEqual(decodeContinueToken(text, identity), token)
  })

const encode = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const refusals = [
  { text: '!!', why: 'illegal base64 data at input byte 0' },
  { text: 'ab!', why: 'illegal base64 data at input byte 2' },
  { text: 'abcde', why: 'illegal base64 data at input byte 4' },
  { text: 'e30', why: 'server does not recognize this encoded version ' },
  { text: encode({ v: [{ toString: '0' }] }), why: 'server does not recognize this encoded version ' },
  { text: encode('nonsense'), why: 'it does not contain a JSON object' },
  { text: encode('null'), why: 'it does not contain a JSON object' },
  { text: encode({ v: 'v9' }), why: 'server does not recognize this encoded version v9' },
  { text: encode({ v: 'meta.cluster.io/v1', start: 'a' }), why: 'incorrect encoded start resourceVersion (version meta.cluster.io/v1)' },
  {
    text: encode({ v: 'meta.cluster.io/v1', rv: 0, start: 'a' }),
    why: 'incorrect encoded start resourceVersion (version meta.cluster.io/v1)',
  },
  { text: encode({ v: 'meta.cluster.io/v1', rv: 5 }), why: 'encoded start key empty (version meta.cluster.io/v1)' },
  { text: encode({ v: 'meta.cluster.io/v1', rv: 5, start: '../secrets/x' }), why: '../secrets/x' },
  { text: encode({ v: 'meta.cluster.io/v1', rv: 5, start: '/a' }), why: '/a' },
  { text: encode({ v: 'meta.cluster.io/v1', rv: 5, start: 'a//b' }), why: 'a//b' },
]
for (const { text, why } of refusals)
  test(`token refused: ${why}`, () => {
    assert.throws(
      () => decodeContinueToken(text, identity),
      (thrown) => {
        assert.ok(thrown instanceof ApiError)
        assert.equal(thrown.message, `invalid continue token: continue key is not valid: ${why}`)
        assert.equal(thrown.status.code, 400)
        return true
      },
    )
  })

test('an expired token comes with one that goes on in the present', () => {
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

test('a token names the version of the vocabulary, and the other one does not know it', () => {
  const text = encodeContinueToken({ resourceVersion: 1, startKey: 'a' }, identityOf('kubernetes'))
  assert.equal(JSON.parse(Buffer.from(text, 'base64url').toString()).v, 'meta.k8s.io/v1')
  assert.throws(() => decodeContinueToken(text, identity), /does not recognize this encoded version/)
})
