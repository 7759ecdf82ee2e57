// Tests of Tables: column definitions, cells, conditions and row objects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameColumn, textColumn } from '../../api/definition/printer-columns.js'
import { objectMeta } from '../../api/meta.schema.js'
import { testContext } from '../../api/rule-context.fixture.js'
import * as s from '../../schema/node.js'
import { parseIncludeObject, type TableOptions, type TableSource, tableEncodingOf, tableJson, tableJsonOfObject } from './table.js'

const rules = testContext()
const options: TableOptions = { identity: rules.identity, version: 'v1', includeObject: 'Metadata', rules }
const schema = s.struct('Note', { metadata: s.field(1, objectMeta), text: s.field(2, s.string) }, { typeMeta: true })
const withoutColumns: TableSource = { kind: 'Note', apiVersion: 'v1', schema }
const withColumns: TableSource = {
  ...withoutColumns,
  table: {
    columns: [nameColumn, textColumn('Text', 'Text of the object.', 1)],
    cells: (object) => [object.metadata?.name, (object as { text?: string }).text ?? 0],
  },
}
const object = { metadata: { name: 'a', resourceVersion: '3', creationTimestamp: '2024-03-01T11:00:00Z' }, text: '<x>' }

test('a kind without printer columns has Name and Created At', () => {
  const table = JSON.parse(tableJson(tableEncodingOf(withoutColumns, options), { metadata: { resourceVersion: '9' }, objects: [object] }))
  const { description: _name, ...name } = table.columnDefinitions[0]
  const { description: _created, ...created } = table.columnDefinitions[1]
  assert.deepEqual(name, { name: 'Name', type: 'string', format: 'name', priority: 0 })
  assert.deepEqual(created, { name: 'Created At', type: 'date', format: '', priority: 0 })
  assert.deepEqual(table.rows[0].cells, ['a', '2024-03-01T11:00:00Z'])
  assert.deepEqual(table.metadata, { resourceVersion: '9' })
})

test('printer columns of the kind, in order', () => {
  assert.equal(
    tableJsonOfObject(tableEncodingOf(withColumns, options), object),
    '{"kind":"Table","apiVersion":"meta.cluster.io/v1","metadata":{"resourceVersion":"3"},"columnDefinitions":[' +
      `{"name":"Name","type":"string","format":"name","description":"${nameColumn.description}","priority":0},` +
      '{"name":"Text","type":"string","format":"","description":"Text of the object.","priority":1}],' +
      '"rows":[{"cells":["a","\\u003cx\\u003e"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.cluster.io/v1",' +
      '"metadata":{"name":"a","resourceVersion":"3","creationTimestamp":"2024-03-01T11:00:00Z"}}}]}',
  )
})

test('a table without rows has an empty list, or null for kinds without printer columns', () => {
  const content = { metadata: {}, objects: [] }
  assert.deepEqual(JSON.parse(tableJson(tableEncodingOf(withColumns, options), content)).rows, [])
  assert.equal(JSON.parse(tableJson(tableEncodingOf(withoutColumns, options), content)).rows, null)
})

test('later watch events have no column definitions', () => {
  assert.equal(
    JSON.parse(tableJsonOfObject(tableEncodingOf(withColumns, options), object, { withoutColumns: true })).columnDefinitions,
    null,
  )
})

test('a table of meta v1beta1 has that apiVersion, and so have its row objects', () => {
  const table = JSON.parse(tableJsonOfObject(tableEncodingOf(withColumns, { ...options, version: 'v1beta1' }), object))
  assert.equal(table.apiVersion, 'meta.cluster.io/v1beta1')
  assert.equal(table.rows[0].object.apiVersion, 'meta.cluster.io/v1beta1')
})

test('row objects follow includeObject', () => {
  const rowObject = (includeObject: TableOptions['includeObject']) =>
    JSON.parse(tableJsonOfObject(tableEncodingOf(withColumns, { ...options, includeObject }), object)).rows[0].object
  assert.equal(rowObject('None'), null)
  assert.equal(rowObject('Metadata').kind, 'PartialObjectMetadata')
  assert.deepEqual(rowObject('Object'), { kind: 'Note', apiVersion: 'v1', ...object })
})

test('includeObject defaults to Metadata, and unknown values are rejected', () => {
  assert.equal(parseIncludeObject(undefined), 'Metadata')
  assert.equal(parseIncludeObject(''), 'Metadata')
  assert.equal(parseIncludeObject('None'), 'None')
  assert.throws(
    () => parseIncludeObject('all'),
    /Unable to convert to Table as requested: includeObject: Invalid value: "all": must be 'Metadata', 'Object', 'None', or empty/,
  )
})
