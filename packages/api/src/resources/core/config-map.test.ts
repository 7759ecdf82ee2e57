// Tests of ConfigMaps: keys, size limit, immutability.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { markSentEmpty } from '../../schema/json/sent-empty.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { configMap } from './config-map.js'
import type { ConfigMap } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'c', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (more: ConfigMap = {}): ConfigMap => frozen({ metadata, ...more })
const mib = 1024 * 1024

const rows: readonly (readonly [object: ConfigMap, ...expected: readonly string[]])[] = [
  [{}],
  [{ data: { 'a.txt': 'line\n', constructor: '' }, binaryData: { blob: 'AAEC/w==' } }],
  [
    { data: { 'a/b': '' }, binaryData: { '..': '' } },
    'data[a/b]: Invalid value: "a/b": a valid config key',
    'binaryData[..]: Invalid value: "..": must not be \'..\'',
  ],
  [{ data: { k: 'v', l: '' }, binaryData: { k: 'AA==' } }, 'data[k]: Invalid value: "k": duplicate of key present in binaryData'],
  [{ data: { k: 'x'.repeat(mib) } }],
  [{ data: { k: 'x'.repeat(mib), l: 'x' } }, '[]: Too long: must have at most 1048576 bytes'],
  [{ data: { k: 'é'.repeat(mib / 2 + 1) } }, '[]: Too long'],
  [{ binaryData: { k: `${'A'.repeat(((mib - 1) / 3) * 4)}AA==` } }],
  [{ data: { l: 'x' }, binaryData: { k: `${'A'.repeat(((mib - 1) / 3) * 4)}AA==` } }, '[]: Too long'],
]

for (const [object, ...expected] of rows) {
  test(`create: ${rowTitle(object, expected)}`, () => {
    expectErrors(validateCreation(configMap, make(object), context), expected)
  })
}

const immutableMessage = 'Forbidden: field is immutable when `immutable` is set'
const old: ConfigMap = { data: { k: 'v' }, binaryData: { b: 'AA==' }, immutable: true }
const changes: readonly (readonly [old: ConfigMap, next: ConfigMap, ...expected: readonly string[]])[] = [
  [{ data: { k: 'v' } }, { data: { k: 'w' }, immutable: true }],
  [old, { ...old }],
  [old, { data: { k: 'w' } }, `immutable: ${immutableMessage}`, `data: ${immutableMessage}`, `binaryData: ${immutableMessage}`],
  [old, { ...old, data: { 'a b': '' } }, `data: ${immutableMessage}`, 'data[a b]: Invalid value: "a b"'],
]

const sentEmpty = (...names: readonly string[]): ConfigMap => {
  const object: ConfigMap = { immutable: true }
  for (const name of names) markSentEmpty(object, name)
  return object
}
test('an empty binaryData differs from an absent one, an empty data does not', () => {
  const errorsOf = (next: ConfigMap) => validateChange(configMap, { next: make(next), old: make({ immutable: true }) }, context)
  expectErrors(errorsOf(sentEmpty('data')), [])
  expectErrors(errorsOf(sentEmpty('data', 'binaryData')), [`binaryData: ${immutableMessage}`])
})

for (const [old, next, ...expected] of changes) {
  test(`update: ${rowTitle(old, expected)}`, () => {
    expectErrors(validateChange(configMap, { next: make(next), old: make(old) }, context), expected)
  })
}

test('an invalid label and key on update are reported four times and once, as in kube-apiserver', () => {
  const next = make({ metadata: { ...metadata, labels: { k: 'not a label!' } }, data: { 'not a key!': '' } })
  const fields = validateChange(configMap, { next, old: make() }, context).map(({ field }) => field)
  assert.deepEqual(fields, [...new Array(4).fill('metadata.labels'), 'data[not a key!]'])
})

test('printer columns count all keys', () => {
  assert.deepEqual(configMap.table?.cells(make({ data: { a: '', b: '' }, binaryData: { c: '' } }), context), ['c', 3, '60m'])
})
