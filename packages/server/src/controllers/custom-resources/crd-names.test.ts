// Accepted names of CRDs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import { acceptNames } from './crd-names.js'

const names = { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' }
const crdOf = (spec: CustomResourceDefinitionNames, acceptedNames?: CustomResourceDefinitionNames): CustomResourceDefinition => ({
  spec: { group: 'shop.example', names: spec },
  ...(acceptedNames === undefined ? {} : { status: { acceptedNames } }),
})

test('accepted names are kept without reading other CRDs', () => {
  const others = (): never => assert.fail('other CRDs were read')
  assert.deepEqual(acceptNames(crdOf(names, names), others).names, names)
  const more = { ...names, shortNames: ['bx'], categories: ['all'] }
  assert.deepEqual(acceptNames(crdOf(more, more), others).names, more)
  assert.deepEqual(acceptNames(crdOf({ ...names, categories: [] }, more), others).names, names)
})

test('names of other CRDs conflict', () => {
  const rows: readonly (readonly [CustomResourceDefinitionNames, string])[] = [
    [{ plural: 'boxes' }, 'PluralConflict'],
    [{ shortNames: ['box'] }, 'SingularConflict'],
    [{ kind: 'Box' }, 'KindConflict'],
    [{ kind: 'BoxList' }, 'ListKindConflict'],
    [{ plural: 'crates' }, 'NoConflicts'],
  ]
  for (const [other, reason] of rows) assert.equal(acceptNames(crdOf(names), () => [other, undefined]).namesAccepted.reason, reason)
})
