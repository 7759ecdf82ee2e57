// Names of custom kinds: which are taken, and that what was accepted is not accepted anew.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../../resources/apiextensions/v1.schema.js'
import { acceptNames } from './accepted-names.js'

const names = { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' }
const definitionOf = (spec: CustomResourceDefinitionNames, acceptedNames?: CustomResourceDefinitionNames): CustomResourceDefinition => ({
  spec: { group: 'shop.example', names: spec },
  ...(acceptedNames === undefined ? {} : { status: { acceptedNames } }),
})

test('what has all of its names is left as it is, and nobody else is looked at', () => {
  const others = (): never => assert.fail('the others were asked for')
  assert.deepEqual(acceptNames(definitionOf(names, names), others).names, names)
  const more = { ...names, shortNames: ['bx'], categories: ['all'] }
  assert.deepEqual(acceptNames(definitionOf(more, more), others).names, more)
  assert.deepEqual(acceptNames(definitionOf({ ...names, categories: [] }, more), others).names, names)
})

test('names of others are taken', () => {
  const rows: readonly (readonly [CustomResourceDefinitionNames, string])[] = [
    [{ plural: 'boxes' }, 'PluralConflict'],
    [{ shortNames: ['box'] }, 'SingularConflict'],
    [{ kind: 'Box' }, 'KindConflict'],
    [{ kind: 'BoxList' }, 'ListKindConflict'],
    [{ plural: 'crates' }, 'NoConflicts'],
  ]
  for (const [other, reason] of rows) assert.equal(acceptNames(definitionOf(names), () => [other, undefined]).namesAccepted.reason, reason)
})
