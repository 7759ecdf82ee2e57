// Keys, sizes and the seal of config maps.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { configMap } from './config-map.js'
import type { ConfigMap } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'c', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (more: ConfigMap = {}): ConfigMap => frozen({ metadata, ...more })
const mib = 1024 * 1024

const rows: readonly { readonly title: string; readonly object: ConfigMap; readonly found: readonly string[] }[] = [
  { title: 'nothing', object: {}, found: [] },
  { title: 'texts and bytes', object: { data: { 'a.txt': 'line\n', constructor: '' }, binaryData: { blob: 'AAEC/w==' } }, found: [] },
  {
    title: 'bad keys',
    object: { data: { 'a/b': '' }, binaryData: { '..': '' } },
    found: ['data[a/b]: Invalid value: "a/b": a valid config key', 'binaryData[..]: Invalid value: "..": must not be \'..\''],
  },
  {
    title: 'a key in both',
    object: { data: { k: 'v', l: '' }, binaryData: { k: 'AA==' } },
    found: ['data[k]: Invalid value: "k": duplicate of key present in binaryData'],
  },
  { title: 'text at the limit', object: { data: { k: 'x'.repeat(mib) } }, found: [] },
  {
    title: 'text over the limit',
    object: { data: { k: 'x'.repeat(mib), l: 'x' } },
    found: ['[]: Too long: must have at most 1048576 bytes'],
  },
  { title: 'text over the limit in bytes', object: { data: { k: 'é'.repeat(mib / 2 + 1) } }, found: ['[]: Too long'] },
  { title: 'bytes at the limit', object: { binaryData: { k: `${'A'.repeat(((mib - 1) / 3) * 4)}AA==` } }, found: [] },
  {
    title: 'texts and bytes over the limit together',
    object: { data: { l: 'x' }, binaryData: { k: `${'A'.repeat(((mib - 1) / 3) * 4)}AA==` } },
    found: ['[]: Too long'],
  },
]

for (const { title, object, found } of rows) {
  test(`create with ${title}`, () => {
    const errors = lines(validateCreation(configMap, make(object), context))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, found[i]?.length)),
      found,
    )
  })
}

const sealed = 'Forbidden: field is immutable when `immutable` is set'
const old: ConfigMap = { data: { k: 'v' }, binaryData: { b: 'AA==' }, immutable: true }
const changes: readonly { readonly title: string; readonly old: ConfigMap; readonly next: ConfigMap; readonly found: readonly string[] }[] =
  [
    { title: 'data while open', old: { data: { k: 'v' } }, next: { data: { k: 'w' }, immutable: true }, found: [] },
    { title: 'nothing while sealed', old, next: { ...old }, found: [] },
    {
      title: 'everything while sealed',
      old,
      next: { data: { k: 'w' } },
      found: [`immutable: ${sealed}`, `data: ${sealed}`, `binaryData: ${sealed}`],
    },
    {
      title: 'to what is invalid while sealed',
      old,
      next: { ...old, data: { 'a b': '' } },
      found: [`data: ${sealed}`, 'data[a b]: Invalid value: "a b"'],
    },
  ]

for (const row of changes) {
  test(`change ${row.title}`, () => {
    const errors = lines(validateChange(configMap, { next: make(row.next), old: make(row.old) }, context))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, row.found[i]?.length)),
      row.found,
    )
  })
}

test('a bad label and a bad key on update are reported as clients know it: the label four times, then the key', () => {
  const next = make({ metadata: { ...metadata, labels: { k: 'not a label!' } }, data: { 'not a key!': '' } })
  const fields = validateChange(configMap, { next, old: make() }, context).map(({ field }) => field)
  assert.deepEqual(fields, [...new Array(4).fill('metadata.labels'), 'data[not a key!]'])
})

test('a row of the table counts all keys', () => {
  assert.deepEqual(configMap.table?.cells(make({ data: { a: '', b: '' }, binaryData: { c: '' } }), context), ['c', 3, '60m'])
})
