// Tests of the list of differing fields in errors of immutable specs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from '../../schema/node.js'
import { differingFields } from './differing-fields.js'

const item = s.struct('Item', { name: s.field(1, s.string), value: s.field(2, s.string) })
const spec = s.struct('Spec', {
  node: s.field(1, s.string),
  items: s.field(2, s.list(item)),
  labels: s.field(3, s.map(s.string)),
})

const rows = [
  { title: 'changed string', next: { node: 'a' }, old: { node: 'b' }, fields: 'spec.node' },
  { title: 'added field', next: { node: 'a' }, old: {}, fields: 'spec.node' },
  { title: 'zero values equal absent fields', next: { node: '', labels: { a: 'b' } }, old: {}, fields: 'spec.labels' },
  {
    title: 'changed field of a list item',
    next: { items: [{ name: 'a' }, { name: 'b', value: 'x' }] },
    old: { items: [{ name: 'a' }, { name: 'b', value: 'y' }] },
    fields: 'spec.items[1].value',
  },
  { title: 'lengths of lists', next: { items: [{ name: 'a' }] }, old: { items: [{ name: 'a' }, { name: 'b' }] }, fields: 'spec.items' },
  {
    title: 'several fields',
    next: { node: 'a', labels: { x: '1', y: '2' } },
    old: { labels: { x: '1', y: '3' } },
    fields: 'spec.node, spec.labels.y',
  },
]
for (const { title, next, old, fields } of rows)
  test(`differing fields: ${title}`, () => assert.equal(differingFields(spec, next, old, 'spec'), `these fields differ: ${fields}`))

test('more than 10 differing fields are counted', () => {
  const labels = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`k${i}`, 'v']))
  const old = Object.fromEntries(Object.keys(labels).map((key) => [key, 'w']))
  assert.match(differingFields(spec, { labels }, { labels: old }, 'spec'), /, and 2 more$/)
})
