// What definitions say they are, and what the table has for it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceDefinition } from '../../api/definition.js'
import { definitions } from '../../resources/index.js'
import { actions, computed, connections, reviews } from './special.js'

const all: readonly ResourceDefinition[] = definitions
const subresources = all.flatMap((definition) => definition.subresources ?? [])
const namesOf = (names: readonly (string | undefined)[]): readonly string[] => [...new Set(names.flatMap((name) => name ?? []))].sort()

test('every function of the table has a definition that names it, and the other way round', () => {
  assert.deepEqual(namesOf(all.map(({ review }) => review)), Object.keys(reviews).sort())
  assert.deepEqual(namesOf(all.map((definition) => definition.computed)), Object.keys(computed).sort())
  assert.deepEqual(namesOf(subresources.map(({ action }) => action)), Object.keys(actions).sort())
  assert.deepEqual(namesOf(subresources.map(({ connection }) => connection)), Object.keys(connections).sort())
})

test('what is not kept cannot be written, watched or deleted', () => {
  for (const { kind, review, computed: found, postsTo, verbs } of all) {
    if (review !== undefined || postsTo !== undefined) assert.deepEqual(verbs, ['create'], kind)
    else if (found !== undefined) assert.deepEqual(verbs, ['get', 'list'], kind)
    else assert.ok(verbs?.includes('watch') ?? true, kind)
  }
})

test('a body of another kind is that of an action or of a connection', () => {
  for (const { name, body, action, connection } of subresources)
    assert.equal(body !== undefined, (action === undefined) !== (connection === undefined), name)
})
