// Tables: columns, cells, rows and the objects behind them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectMeta } from '../api/meta.schema.js'
import { testContext } from '../api/rule-context.fixture.js'
import { nameColumn, textColumn } from '../api/table-columns.js'
import * as s from '../schema/node.js'
import { parseIncludeObject, type TableSource, type TableWish, tableFormOf, tableJson, tableJsonOfObject } from './table.js'

const rules = testContext()
const wish: TableWish = { identity: rules.identity, version: 'v1', includeObject: 'Metadata', rules }
const schema = s.struct('Note', { metadata: s.field(1, objectMeta), text: s.field(2, s.string) }, { typeMeta: true })
const plain: TableSource = { kind: 'Note', apiVersion: 'v1', schema }
const own: TableSource = {
  ...plain,
  table: {
    columns: [nameColumn, textColumn('Text', 'What it says.', 1)],
    cells: (object) => [object.metadata?.name, (object as { text?: string }).text ?? 0],
  },
}
const object = { metadata: { name: 'a', resourceVersion: '3', creationTimestamp: '2024-03-01T11:00:00Z' }, text: '<x>' }

test('a kind without columns of its own', () => {
  const table = JSON.parse(tableJson(tableFormOf(plain, wish), { metadata: { resourceVersion: '9' }, objects: [object] }))
  const { description: _name, ...name } = table.columnDefinitions[0]
  const { description: _created, ...created } = table.columnDefinitions[1]
  assert.deepEqual(name, { name: 'Name', type: 'string', format: 'name', priority: 0 })
  assert.deepEqual(created, { name: 'Created At', type: 'date', format: '', priority: 0 })
  assert.deepEqual(table.rows[0].cells, ['a', '2024-03-01T11:00:00Z'])
  assert.deepEqual(table.metadata, { resourceVersion: '9' })
})

test('its own columns, in the order of the text', () => {
  assert.equal(
    tableJsonOfObject(tableFormOf(own, wish), object),
    '{"kind":"Table","apiVersion":"meta.cluster.io/v1","metadata":{"resourceVersion":"3"},"columnDefinitions":[' +
      `{"name":"Name","type":"string","format":"name","description":"${nameColumn.description}","priority":0},` +
      '{"name":"Text","type":"string","format":"","description":"What it says.","priority":1}],' +
      '"rows":[{"cells":["a","\\u003cx\\u003e"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.cluster.io/v1",' +
      '"metadata":{"name":"a","resourceVersion":"3","creationTimestamp":"2024-03-01T11:00:00Z"}}}]}',
  )
})

test('without rows', () => {
  const content = { metadata: {}, objects: [] }
  assert.deepEqual(JSON.parse(tableJson(tableFormOf(own, wish), content)).rows, [])
  assert.equal(JSON.parse(tableJson(tableFormOf(plain, wish), content)).rows, null)
})

test('the later events of a watch have no columns', () => {
  assert.equal(JSON.parse(tableJsonOfObject(tableFormOf(own, wish), object, { withoutColumns: true })).columnDefinitions, null)
})

test('the older version', () => {
  const table = JSON.parse(tableJsonOfObject(tableFormOf(own, { ...wish, version: 'v1beta1' }), object))
  assert.equal(table.apiVersion, 'meta.cluster.io/v1beta1')
  assert.equal(table.rows[0].object.apiVersion, 'meta.cluster.io/v1beta1')
})

test('as much of the object as was asked for', () => {
  const rowObject = (includeObject: TableWish['includeObject']) =>
    JSON.parse(tableJsonOfObject(tableFormOf(own, { ...wish, includeObject }), object)).rows[0].object
  assert.equal(rowObject('None'), null)
  assert.equal(rowObject('Metadata').kind, 'PartialObjectMetadata')
  assert.deepEqual(rowObject('Object'), { kind: 'Note', apiVersion: 'v1', ...object })
})

test('includeObject', () => {
  assert.equal(parseIncludeObject(undefined), 'Metadata')
  assert.equal(parseIncludeObject(''), 'Metadata')
  assert.equal(parseIncludeObject('None'), 'None')
  assert.throws(
    () => parseIncludeObject('all'),
    /Unable to convert to Table as requested: includeObject: Invalid value: "all": must be 'Metadata', 'Object', 'None', or empty/,
  )
})
