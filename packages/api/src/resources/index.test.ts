// Tests of every built-in kind: path, stored version, printer columns, selectable fields, repeated defaulting, absent fields in JSON.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../api/identity.js'
import { frozen, testContext } from '../api/rule-context.fixture.js'
import { withAbsentFields } from '../schema/json/absent-fields.js'
import { writeValue } from '../schema/json/write.js'
import { resolve, type SchemaNode } from '../schema/node.js'
import { definitions } from './index.js'

const identity = identityOf('cluster')

test('no two kinds have the same path', () => {
  const paths = definitions.flatMap(({ group, resource, versions }) =>
    versions.map((version) => `${identity.group(group)}/${version.name}/${resource}`),
  )
  assert.equal(new Set(paths).size, paths.length)
})

test('only these built-in kinds accept finalizers without a domain', () => {
  const kinds = definitions.filter(({ anyFinalizer }) => anyFinalizer).map(({ kind }) => kind)
  assert.deepEqual(kinds.sort(), [
    'APIService',
    'CustomResourceDefinition',
    'Lease',
    'MutatingWebhookConfiguration',
    'RuntimeClass',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ])
})

const bare = frozen({ metadata: { name: 'a' } })

for (const definition of definitions) {
  const { kind, versions, storedAs, table, selectableFields, defaults } = definition
  test(`${kind} has one stored version, or none if it has storedAs`, () =>
    assert.equal(versions.filter(({ stored }) => stored).length, storedAs === undefined ? 1 : 0))

  test(`${kind} has a cell for every column, even of an empty object`, () => {
    if (table === undefined) return
    const cells = table.cells(bare, testContext())
    assert.equal(cells.length, table.columns.length)
    assert.ok(cells.every((cell) => ['string', 'number', 'boolean'].includes(typeof cell)))
    assert.equal(new Set(table.columns.map(({ name }) => name)).size, table.columns.length)
  })

  test(`${kind} returns a string for every selectable field`, () => {
    for (const read of Object.values(selectableFields ?? {})) assert.equal(typeof read(bare), 'string')
  })

  test(`defaulting ${kind} a second time changes nothing`, () => {
    const complete = defaults?.(bare, testContext()) ?? bare
    assert.equal(defaults?.(complete, testContext()) ?? bare, complete)
  })

  test(`JSON of ${kind} shows the fields that withAbsentFields adds`, () => {
    for (const { schema } of versions) {
      const sparse = sparseValue(schema, new Set())
      assert.deepEqual(withAbsentFields(schema, sparse), JSON.parse(writeValue(schema, sparse)))
    }
  })
}

/** A value with all structs and one item in each list and map of structs; no scalars, other lists and maps, or recursive fields. */
function sparseValue(schema: SchemaNode, outer: ReadonlySet<SchemaNode>): unknown {
  const node = resolve(schema)
  const seen = new Set([...outer, node])
  if (node.type === 'list') return isStruct(node.item) ? [sparseValue(node.item, seen)] : undefined
  if (node.type === 'map') return isStruct(node.value) ? { k: sparseValue(node.value, seen) } : undefined
  if (node.type !== 'struct') return undefined
  const fields = Object.entries(node.fields).filter(([, field]) => !seen.has(resolve(field.node)))
  return Object.fromEntries(
    fields.flatMap(([name, field]) => {
      const value = sparseValue(field.node, seen)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

const isStruct = (node: SchemaNode): boolean => resolve(node).type === 'struct'
