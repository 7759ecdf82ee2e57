// What secrets default to, what their types require, and their seal.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { decodeText, encodeText } from './base64-text.js'
import { secret } from './secret.js'
import type { Secret } from './v1.schema.js'

const context = testContext()
const metadata = { name: 's', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (more: Secret = {}): Secret => frozen({ metadata, ...more })

test('texts become base64 of their bytes and back', () => {
  for (const text of ['', 'from stringData ü', '😀', 'x'.repeat(100_000)]) {
    assert.equal(encodeText(text), Buffer.from(text).toString('base64'))
    assert.equal(decodeText(encodeText(text)), text)
  }
})

const defaulted: readonly { readonly title: string; readonly sent: Secret; readonly kept: Secret }[] = [
  { title: 'nothing', sent: {}, kept: { type: 'Opaque' } },
  { title: 'a type', sent: { type: 'x.io/t' }, kept: { type: 'x.io/t' } },
  { title: 'texts', sent: { stringData: { a: 'b', __proto__x: '' } }, kept: { type: 'Opaque', data: { a: 'Yg==', __proto__x: '' } } },
  {
    title: 'texts over data',
    sent: { data: { k: 'ZA==', keep: 'eA==' }, stringData: { k: 'w' } },
    kept: { type: 'Opaque', data: { k: 'dw==', keep: 'eA==' } },
  },
]

for (const { title, sent, kept } of defaulted) {
  test(`defaults for ${title}`, () => assert.deepEqual(secret.defaults?.(make(sent), context), { metadata, ...kept }))
}

test('what is complete stays the same object', () => {
  const complete = make({ type: 'Opaque', data: { a: 'Yg==' } })
  assert.equal(secret.defaults?.(complete, context), complete)
})

const json = (value: unknown): string => encodeText(JSON.stringify(value))
const account = 'metadata.annotations[cluster.io/service-account.name]'
const types: readonly { readonly title: string; readonly secret: Secret; readonly found: readonly string[] }[] = [
  { title: 'opaque', secret: { type: 'Opaque' }, found: [] },
  { title: 'a type of one’s own', secret: { type: 'x.io/t' }, found: [] },
  { title: 'a type of the other vocabulary', secret: { type: 'kubernetes.io/tls' }, found: [] },
  {
    title: 'tls without content',
    secret: { type: 'cluster.io/tls' },
    found: ['data[tls.crt]: Required value', 'data[tls.key]: Required value'],
  },
  { title: 'tls, not looked into', secret: { type: 'cluster.io/tls', data: { 'tls.crt': 'AA==', 'tls.key': '' } }, found: [] },
  {
    title: 'basic-auth without content',
    secret: { type: 'cluster.io/basic-auth' },
    found: ['data[username]: Required value', 'data[password]: Required value'],
  },
  { title: 'basic-auth with an empty password', secret: { type: 'cluster.io/basic-auth', data: { password: '' } }, found: [] },
  {
    title: 'ssh-auth with an empty key',
    secret: { type: 'cluster.io/ssh-auth', data: { 'ssh-privatekey': '' } },
    found: ['data[ssh-privatekey]: Required value'],
  },
  { title: 'ssh-auth', secret: { type: 'cluster.io/ssh-auth', data: { 'ssh-privatekey': 'AA==' } }, found: [] },
  { title: 'a token without account', secret: { type: 'cluster.io/service-account-token' }, found: [`${account}: Required value`] },
  {
    title: 'a token',
    secret: {
      metadata: { ...metadata, annotations: { 'cluster.io/service-account.name': 'robot' } },
      type: 'cluster.io/service-account-token',
    },
    found: [],
  },
  {
    title: 'dockercfg without content',
    secret: { type: 'cluster.io/dockercfg', data: { other: '' } },
    found: ['data[.dockercfg]: Required value'],
  },
  { title: 'dockercfg', secret: { type: 'cluster.io/dockercfg', data: { '.dockercfg': json({}) } }, found: [] },
  {
    title: 'dockerconfigjson without content',
    secret: { type: 'cluster.io/dockerconfigjson' },
    found: ['data[.dockerconfigjson]: Required value'],
  },
  {
    title: 'dockerconfigjson',
    secret: { type: 'cluster.io/dockerconfigjson', data: { '.dockerconfigjson': json({ auths: {} }) } },
    found: [],
  },
  {
    title: 'dockerconfigjson that is no JSON',
    secret: { type: 'cluster.io/dockerconfigjson', data: { '.dockerconfigjson': encodeText('{oops') } },
    found: [
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'o\' looking for beginning of object key string',
    ],
  },
  {
    title: 'dockerconfigjson that is empty',
    secret: { type: 'cluster.io/dockerconfigjson', data: { '.dockerconfigjson': '' } },
    found: ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
  },
  {
    title: 'dockerconfigjson that is no object',
    secret: { type: 'cluster.io/dockerconfigjson', data: { '.dockerconfigjson': json([1]) } },
    found: ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": must be a JSON object'],
  },
  { title: 'a key that climbs', secret: { data: { '..': '' } }, found: ['data[..]: Invalid value: "..": must not be \'..\''] },
  {
    title: 'too much',
    secret: { data: { k: 'A'.repeat(4 * 349_526) } },
    found: ['data: Too long: must have at most 1048576 bytes'],
  },
]

for (const row of types) {
  test(`create ${row.title}`, () => assert.deepEqual(lines(validateCreation(secret, make(row.secret), context)), row.found))
}

test('the types carry the name of the identity', () => {
  const errors = validateCreation(secret, make({ type: 'kubernetes.io/tls' }), testContext('kubernetes'))
  assert.equal(errors.length, 2)
})

const sealed = 'Forbidden: field is immutable when `immutable` is set'
const old: Secret = { type: 'Opaque', data: { k: 'dw==' }, immutable: true }
const changes: readonly { readonly title: string; readonly old: Secret; readonly next: Secret; readonly found: readonly string[] }[] = [
  { title: 'data while open', old: { type: 'Opaque' }, next: { type: 'Opaque', data: { k: 'dw==' }, immutable: true }, found: [] },
  { title: 'the type', old: { type: 'Opaque' }, next: { type: 'x.io/t' }, found: ['type: Invalid value: "x.io/t": field is immutable'] },
  { title: 'nothing while sealed', old, next: { ...old }, found: [] },
  { title: 'data while sealed', old, next: { ...old, data: { k: 'eg==' } }, found: [`data: ${sealed}`] },
  { title: 'the seal', old, next: { type: 'Opaque', data: { k: 'dw==' } }, found: [`immutable: ${sealed}`] },
  {
    title: 'the type to one that requires keys',
    old: { type: 'Opaque' },
    next: { type: 'cluster.io/ssh-auth' },
    found: ['type: Invalid value: "cluster.io/ssh-auth": field is immutable', 'data[ssh-privatekey]: Required value'],
  },
]

for (const row of changes) {
  test(`change ${row.title}`, () => {
    assert.deepEqual(lines(validateChange(secret, { next: make(row.next), old: make(row.old) }, context)), row.found)
  })
}

test('a row of the table, and the selectable type', () => {
  const object = make({ type: 'x.io/t', data: { a: '', b: '' } })
  assert.deepEqual(secret.table?.cells(object, context), ['s', 'x.io/t', 2, '60m'])
  assert.equal(secret.selectableFields?.['type']?.(object), 'x.io/t')
})
