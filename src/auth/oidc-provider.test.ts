// The keys of an issuer: as many as count, read without holding the event loop.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import { OidcProvider } from './oidc-provider.js'

test('keys of long curves, of which each takes a millisecond, are read in several turns of the event loop', async () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp521r1' })
  const jwk = publicKey.export({ format: 'jwk' })
  const issuer = 'https://issuer.test'
  const documents: { readonly [url: string]: object } = {
    [`${issuer}/.well-known/openid-configuration`]: { issuer, jwks_uri: `${issuer}/keys` },
    [`${issuer}/keys`]: { keys: Array.from({ length: 100 }, (_, i) => ({ ...jwk, kid: `k${i}` })) },
  }
  const provider = new OidcProvider({
    issuer,
    get: async (url) => JSON.stringify(documents[url]),
    algorithms: ['ES512'],
    clock: systemClock,
    logger: { warn: (fields: object) => assert.fail(JSON.stringify(fields)) } as unknown as Logger,
  })
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const keys = await provider.keysFor('')
  isDone = true
  assert.equal(keys?.length, 64)
  assert.deepEqual(keys[63]?.algorithms, ['ES512'])
  assert.ok(turns >= 4, `${turns} turns`)
})
