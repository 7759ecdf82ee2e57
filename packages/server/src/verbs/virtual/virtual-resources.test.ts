// Virtual resources, which are not stored: definitions and their functions match.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceDefinition } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { metricsDefinitions } from '@cluster-apiserver/api/resources/metrics/resource-metrics.js'
import { actions, computed, connections, reviews } from './virtual-resources.js'

const all: readonly ResourceDefinition[] = [...definitions, ...metricsDefinitions]
const subresources = all.flatMap((definition) => definition.subresources ?? [])
const namesOf = (names: readonly (string | undefined)[]): readonly string[] => [...new Set(names.flatMap((name) => name ?? []))].sort()

test('every function has a definition that names it, and vice versa', () => {
  assert.deepEqual(namesOf(all.map(({ review }) => review)), Object.keys(reviews).sort())
  assert.deepEqual(namesOf(all.map((definition) => definition.computed)), Object.keys(computed).sort())
  assert.deepEqual(namesOf(subresources.map(({ action }) => action)), Object.keys(actions).sort())
  assert.deepEqual(namesOf(subresources.map(({ connection }) => connection)), Object.keys(connections).sort())
})

test('virtual resources cannot be updated, watched or deleted', () => {
  for (const { kind, review, computed: found, postsTo, verbs } of all) {
    if (review !== undefined || postsTo !== undefined) assert.deepEqual(verbs, ['create'], kind)
    else if (found !== undefined) assert.deepEqual(verbs, ['get', 'list'], kind)
    else assert.ok(verbs?.includes('watch') ?? true, kind)
  }
})

test('subresources with a body of another kind are actions or connections', () => {
  for (const { name, body, action, connection } of subresources)
    assert.equal(body !== undefined, (action === undefined) !== (connection === undefined), name)
})
