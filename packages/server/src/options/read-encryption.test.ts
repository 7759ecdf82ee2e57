// The encryption configuration: what is accepted, and the sentence for each thing that is not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import { parseEncryptionConfig, unknownEncrypted } from './read-encryption.js'

const identity = identityOf('cluster')
const secret = Buffer.alloc(32, 7).toString('base64')
const configOf = (resources: unknown, head: object = { apiVersion: 'apiserver.config.cluster.io/v1', kind: 'EncryptionConfiguration' }) =>
  JSON.stringify({ ...head, resources })
const aes = { aesgcm: { keys: [{ name: 'one', secret }] } }
const rule = (providers: unknown, resources: unknown = ['secrets']) => configOf([{ resources, providers }])

test('rules by resource, the first one for each, keys in order', () => {
  const two = {
    aescbc: {
      keys: [
        { name: 'a', secret },
        { name: 'b', secret },
      ],
    },
  }
  const rules = parseEncryptionConfig(
    configOf([
      { resources: ['secrets', 'widgets.example.com'], providers: [two, { identity: {} }] },
      { resources: ['secrets', 'configmaps'], providers: [aes] },
    ]),
    identity,
  )
  assert.deepEqual(
    [...rules].map(([name, providers]) => [name, providers.map((provider) => provider?.prefix.toString())]),
    [
      ['secrets', ['enc:aescbc:v1:a:', 'enc:aescbc:v1:b:', undefined]],
      ['widgets.example.com', ['enc:aescbc:v1:a:', 'enc:aescbc:v1:b:', undefined]],
      ['configmaps', ['enc:aesgcm:v1:one:']],
    ],
  )
})

test('the old name of the kind', () => {
  const head = { apiVersion: 'v1', kind: 'EncryptionConfig' }
  assert.equal(parseEncryptionConfig(configOf([{ resources: ['secrets'], providers: [aes] }], head), identity).size, 1)
})

test('names that are probably mistyped are told, those of other groups are not', () => {
  const rules = parseEncryptionConfig(
    rule([aes], ['secret', 'secrets', 'deployments.apps', 'deployment.apps', 'things.example.com']),
    identity,
  )
  assert.deepEqual(unknownEncrypted(rules, identity), ['secret', 'deployment.apps'])
})

for (const { text, says } of [
  {
    text: configOf([], { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' }),
    says: /not an EncryptionConfiguration of apiserver\.config\.cluster\.io\/v1/,
  },
  { text: configOf([]), says: /^resources: must be a list with at least one element/ },
  { text: rule([]), says: /^resources\[0\]\.providers: must be a list/ },
  { text: rule([aes], []), says: /^resources\[0\]\.resources: must be a list/ },
  { text: rule([aes], ['']), says: /^resources\[0\]\.resources\[0\]: a resource is named like/ },
  { text: rule([aes], ['*.apps']), says: /"\*\.apps" is a pattern/ },
  { text: rule([aes], ['apps/deployments']), says: /is not written "resource\.group"/ },
  { text: rule([{}]), says: /^resources\[0\]\.providers\[0\]: names exactly one of/ },
  { text: rule([{ ...aes, identity: {} }]), says: /names exactly one of/ },
  { text: rule([{ rot13: {} }]), says: /there is no provider "rot13"/ },
  { text: rule([{ secretbox: { keys: [] } }]), says: /secretbox: is not supported/ },
  { text: rule([{ kms: { name: 'x' } }]), says: /kms: key management services are not supported/ },
  {
    text: rule([{ aesgcm: { keys: [{ name: 'a', secret: 'short' }] } }]),
    says: /^resources\[0\]\.providers\[0\]\.aesgcm\.keys\[0\]\.secret: must be the base64/,
  },
  { text: rule([{ aesgcm: { keys: [{ name: 'a:b', secret }] } }]), says: /keys\[0\]\.name: must be a text without a colon/ },
  {
    text: rule([
      {
        aesgcm: {
          keys: [
            { name: 'a', secret },
            { name: 'a', secret },
          ],
        },
      },
    ]),
    says: /keys\[1\]\.name: "a" is the name of another key/,
  },
  { text: rule([{ aesgcm: { keys: [{ name: 'a', secret }], key: 1 } }]), says: /aesgcm\.key: there is no such field/ },
  { text: '[]', says: /the file: must be a mapping/ },
])
  test(`refused: ${says.source}`, () => {
    assert.throws(() => parseEncryptionConfig(text, identity), { message: says })
  })
