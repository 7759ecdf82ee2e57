// What must hold for every kind in the dictionary.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../api/identity.js'
import { frozen, testContext } from '../api/rule-context.fixture.js'
import { definitions } from './index.js'

const identity = identityOf('cluster')

test('no two kinds lie under one path', () => {
  const paths = definitions.flatMap(({ group, resource, versions }) =>
    versions.map((version) => `${identity.group(group)}/${version.name}/${resource}`),
  )
  assert.equal(new Set(paths).size, paths.length)
})

test('kinds whose rules the reference keeps apart from the core take finalizers without a domain', () => {
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
  test(`${kind} is stored in one version`, () =>
    assert.equal(versions.filter(({ stored }) => stored).length, storedAs === undefined ? 1 : 0))

  test(`${kind} has a cell for every column, even of a bare object`, () => {
    if (table === undefined) return
    const cells = table.cells(bare, testContext())
    assert.equal(cells.length, table.columns.length)
    assert.ok(cells.every((cell) => ['string', 'number', 'boolean'].includes(typeof cell)))
    assert.equal(new Set(table.columns.map(({ name }) => name)).size, table.columns.length)
  })

  test(`${kind} gives a text for every field that can be selected`, () => {
    for (const read of Object.values(selectableFields ?? {})) assert.equal(typeof read(bare), 'string')
  })

  test(`${kind} has nothing to add to what it has completed`, () => {
    const complete = defaults?.(bare, testContext()) ?? bare
    assert.equal(defaults?.(complete, testContext()) ?? bare, complete)
  })
}
