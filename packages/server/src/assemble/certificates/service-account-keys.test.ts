// Keys that verify and sign service account tokens.

import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import type { ServiceAccountSettings } from '../../options/settings.js'
import { tokenKeys } from './service-account-keys.js'

const settings: ServiceAccountSettings = {
  issuers: [],
  signingKey: undefined,
  keys: [],
  lookup: true,
  maxTokenMs: 0,
  extendTokens: true,
  jwksUri: undefined,
}
const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string
const elliptic = pemOf(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey)
const edwards = pemOf(generateKeyPairSync('ed25519').privateKey)

test('the TLS key verifies tokens without key flags, if it can sign tokens', () => {
  assert.equal(tokenKeys(settings, { dataDir: undefined, tlsKey: elliptic }).keys.length, 2)
  assert.equal(tokenKeys(settings, { dataDir: undefined, tlsKey: edwards }).keys.length, 1)
  assert.equal(tokenKeys({ ...settings, keys: [elliptic] }, { dataDir: undefined, tlsKey: edwards }).keys.length, 2)
})

test('a key of a flag that cannot sign tokens is an error', () => {
  assert.throws(() => tokenKeys({ ...settings, keys: [edwards] }, { dataDir: undefined, tlsKey: undefined }), /can sign tokens/)
  const both = { ...settings, signingKey: edwards, keys: [elliptic] }
  assert.throws(() => tokenKeys(both, { dataDir: undefined, tlsKey: undefined }), /can sign tokens/)
})
