// Tests of Secrets: defaults, required keys by type, immutability.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { decodeText, encodeText } from './base64-text.js'
import { secret } from './secret.js'
import type { Secret } from './v1.schema.js'

const context = testContext()
const metadata = { name: 's', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (more: Secret = {}): Secret => frozen({ metadata, ...more })

test('text is encoded as base64 of UTF-8 and decoded', () => {
  for (const text of ['', 'from stringData ü', '😀', 'x'.repeat(100_000)]) {
    assert.equal(encodeText(text), Buffer.from(text).toString('base64'))
    assert.equal(decodeText(encodeText(text)), text)
  }
})

const defaulted: readonly (readonly [title: string, sent: Secret, kept: Secret])[] = [
  ['an empty Secret', {}, { type: 'Opaque' }],
  ['a Secret with a type', { type: 'x.io/t' }, { type: 'x.io/t' }],
  ['stringData', { stringData: { a: 'b', __proto__x: '' } }, { type: 'Opaque', data: { a: 'Yg==', __proto__x: '' } }],
  [
    'stringData over data',
    { data: { k: 'ZA==', keep: 'eA==' }, stringData: { k: 'w' } },
    { type: 'Opaque', data: { k: 'dw==', keep: 'eA==' } },
  ],
]

for (const [title, sent, kept] of defaulted) {
  test(`defaults for ${title}`, () => assert.deepEqual(secret.defaults?.(make(sent), context), { metadata, ...kept }))
}

test('a complete object is returned unchanged', () => {
  const complete = make({ type: 'Opaque', data: { a: 'Yg==' } })
  assert.equal(secret.defaults?.(complete, context), complete)
})

const json = (value: unknown): string => encodeText(JSON.stringify(value))
const account = 'metadata.annotations[cluster.io/service-account.name]'
const types: readonly (readonly [secret: Secret, ...expected: readonly string[]])[] = [
  [{ type: 'Opaque' }],
  [{ type: 'x.io/t' }],
  [{ type: 'kubernetes.io/tls' }],
  [{ type: 'cluster.io/tls' }, 'data[tls.crt]: Required value', 'data[tls.key]: Required value'],
  [{ type: 'cluster.io/tls', data: { 'tls.crt': 'AA==', 'tls.key': '' } }],
  [{ type: 'cluster.io/basic-auth' }, 'data[username]: Required value', 'data[password]: Required value'],
  [{ type: 'cluster.io/basic-auth', data: { password: '' } }],
  [{ type: 'cluster.io/ssh-auth', data: { 'ssh-privatekey': '' } }, 'data[ssh-privatekey]: Required value'],
  [{ type: 'cluster.io/ssh-auth', data: { 'ssh-privatekey': 'AA==' } }],
  [{ type: 'cluster.io/service-account-token' }, `${account}: Required value`],
  [{ metadata: { ...metadata, annotations: { 'cluster.io/service-account.name': 'robot' } }, type: 'cluster.io/service-account-token' }],
  [{ type: 'cluster.io/dockercfg', data: { other: '' } }, 'data[.dockercfg]: Required value'],
  [{ type: 'cluster.io/dockercfg', data: { '.dockercfg': json({}) } }],
  [{ type: 'cluster.io/dockerconfigjson' }, 'data[.dockerconfigjson]: Required value'],
  [{ type: 'cluster.io/dockerconfigjson', data: { '.dockerconfigjson': json({ auths: {} }) } }],
  [
    { type: 'cluster.io/dockerconfigjson', data: { '.dockerconfigjson': encodeText('{oops') } },
    'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'o\' looking for beginning of object key string',
  ],
  [
    { type: 'cluster.io/dockerconfigjson', data: { '.dockerconfigjson': '' } },
    'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input',
  ],
  [
    { type: 'cluster.io/dockerconfigjson', data: { '.dockerconfigjson': json([1]) } },
    'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": must be a JSON object',
  ],
  [{ data: { '..': '' } }, 'data[..]: Invalid value: "..": must not be \'..\''],
  [{ data: { k: 'A'.repeat(4 * 349_526) } }, 'data: Too long: must have at most 1048576 bytes'],
]

for (const [givenSecret, ...expected] of types) {
  test(`create: ${rowTitle(givenSecret, expected)}`, () =>
    assert.deepEqual(lines(validateCreation(secret, make(givenSecret), context)), expected))
}

test('secret types have the domain of the identity', () => {
  const errors = validateCreation(secret, make({ type: 'kubernetes.io/tls' }), testContext('kubernetes'))
  assert.equal(errors.length, 2)
})

const immutableMessage = 'Forbidden: field is immutable when `immutable` is set'
const old: Secret = { type: 'Opaque', data: { k: 'dw==' }, immutable: true }
const changes: readonly (readonly [old: Secret, next: Secret, ...expected: readonly string[]])[] = [
  [{ type: 'Opaque' }, { type: 'Opaque', data: { k: 'dw==' }, immutable: true }],
  [{ type: 'Opaque' }, { type: 'x.io/t' }, 'type: Invalid value: "x.io/t": field is immutable'],
  [old, { ...old }],
  [old, { ...old, data: { k: 'eg==' } }, `data: ${immutableMessage}`],
  [old, { type: 'Opaque', data: { k: 'dw==' } }, `immutable: ${immutableMessage}`],
  [
    { type: 'Opaque' },
    { type: 'cluster.io/ssh-auth' },
    'type: Invalid value: "cluster.io/ssh-auth": field is immutable',
    'data[ssh-privatekey]: Required value',
  ],
]

for (const [old, next, ...expected] of changes) {
  test(`update: ${rowTitle(old, expected)}`, () => {
    assert.deepEqual(lines(validateChange(secret, { next: make(next), old: make(old) }, context)), expected)
  })
}

test('printer columns and the type field selector', () => {
  const object = make({ type: 'x.io/t', data: { a: '', b: '' } })
  assert.deepEqual(secret.table?.cells(object, context), ['s', 'x.io/t', 2, '60m'])
  assert.equal(secret.selectableFields?.['type']?.(object), 'x.io/t')
})
