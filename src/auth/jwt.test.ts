// Keys of tokens: what follows from one is worked out once.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { verifyingKey } from './jwt.js'

test('the public half of a key that signs is worked out once, and not for each token', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const known = verifyingKey(privateKey)
  assert.equal(verifyingKey(privateKey), known)
  assert.equal(known.key.type, 'public')
  assert.equal(verifyingKey(publicKey).id, known.id)
})
