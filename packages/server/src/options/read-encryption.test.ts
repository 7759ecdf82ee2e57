// Reading EncryptionConfiguration.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { parseEncryptionConfig, unknownEncrypted } from './read-encryption.js'

const identity = identityOf('cluster')
const secret = Buffer.alloc(32, 7).toString('base64')
const configOf = (resources: unknown, head: object = { apiVersion: 'apiserver.config.cluster.io/v1', kind: 'EncryptionConfiguration' }) =>
  JSON.stringify({ ...head, resources })
const aes = { aesgcm: { keys: [{ name: 'one', secret }] } }
const rule = (providers: unknown, resources: unknown = ['secrets']) => configOf([{ resources, providers }])

test('the first rule of a resource counts, with its keys in order', () => {
  const twoKeys = {
    aescbc: {
      keys: [
        { name: 'a', secret },
        { name: 'b', secret },
      ],
    },
  }
  const rules = parseEncryptionConfig(
    configOf([
      { resources: ['secrets', 'widgets.example.com'], providers: [twoKeys, { identity: {} }] },
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

test('the kind EncryptionConfig of version v1 is accepted', () => {
  const head = { apiVersion: 'v1', kind: 'EncryptionConfig' }
  assert.equal(parseEncryptionConfig(configOf([{ resources: ['secrets'], providers: [aes] }], head), identity).size, 1)
})

test('unknown resources of known groups are reported', () => {
  const rules = parseEncryptionConfig(
    rule([aes], ['secret', 'secrets', 'deployments.apps', 'deployment.apps', 'things.example.com']),
    identity,
  )
  assert.deepEqual(unknownEncrypted(rules, identity), ['secret', 'deployment.apps'])
})

for (const { text, message } of [
  {
    text: configOf([], { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' }),
    message: /not an EncryptionConfiguration of apiserver\.config\.cluster\.io\/v1/,
  },
  { text: configOf([]), message: /^resources: must be a list with at least one element/ },
  { text: rule([]), message: /^resources\[0\]\.providers: must be a list/ },
  { text: rule([aes], []), message: /^resources\[0\]\.resources: must be a list/ },
  { text: rule([aes], ['']), message: /^resources\[0\]\.resources\[0\]: must be a resource such as/ },
  { text: rule([aes], ['*.apps']), message: /"\*\.apps" is a pattern/ },
  { text: rule([aes], ['apps/deployments']), message: /must have the format "resource\.group"/ },
  { text: rule([{}]), message: /^resources\[0\]\.providers\[0\]: names exactly one of/ },
  { text: rule([{ ...aes, identity: {} }]), message: /names exactly one of/ },
  { text: rule([{ rot13: {} }]), message: /unknown provider "rot13"/ },
  { text: rule([{ secretbox: { keys: [] } }]), message: /secretbox: is not supported/ },
  { text: rule([{ kms: { name: 'x' } }]), message: /kms: key management services are not supported/ },
  {
    text: rule([{ aesgcm: { keys: [{ name: 'a', secret: 'short' }] } }]),
    message: /^resources\[0\]\.providers\[0\]\.aesgcm\.keys\[0\]\.secret: must be the base64/,
  },
  { text: rule([{ aesgcm: { keys: [{ name: 'a:b', secret }] } }]), message: /keys\[0\]\.name: must be a text without a colon/ },
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
    message: /keys\[1\]\.name: "a" is the name of another key/,
  },
  { text: rule([{ aesgcm: { keys: [{ name: 'a', secret }], key: 1 } }]), message: /aesgcm\.key: there is no such field/ },
  { text: '[]', message: /the file: must be a mapping/ },
])
  test(`rejected: ${message.source}`, () => {
    assert.throws(() => parseEncryptionConfig(text, identity), { message })
  })
