// The schemas of a large definition are parsed before the kind is made of them, and not again for what leaves them as they are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { systemClock } from '../../base/clock.js'
import { atOnce } from '../../base/pieces.js'
import { StoredObject } from '../../objects/stored-object.js'
import { stageOf } from '../engine.fixture.js'
import { definitionsResource } from './custom-kinds.js'
import { leanDefinition } from './lean-definition.js'
import { parseAhead, wholeDefinition, withSpecOf } from './whole-definition.js'

const properties = (type: object) => Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`field-${i}`, type]))

async function setUp(type: object) {
  const { engine, catalogs } = await stageOf('cluster', systemClock)
  const resource = definitionsResource(catalogs) as Resource
  const definition = {
    metadata: { name: 'a.example.com', uid: 'u', generation: 2, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      group: 'example.com',
      names: { plural: 'a', kind: 'A' },
      scope: 'Namespaced',
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: properties(type) } } },
      ],
    },
    // As of one that was just made: a list of the status is null.
    status: { acceptedNames: { plural: '', kind: '' } },
  }
  const value = engine.store.encode(resource, definition as unknown as ApiObject)
  const stored = new StoredObject({ key: 'a', revision: 7, value })
  return { store: engine.store, resource, stored, expected: new StoredObject(stored.entry).decode(resource) }
}

for (const [what, type, isAhead] of [
  ['plain schemas', { type: 'string' }, true],
  ['a schema with a null', { type: 'object', default: { a: null } }, false],
  ['a schema with a long number', { type: 'integer', default: 9007199254740993n }, false],
] as const)
  test(`a definition with ${what}`, async (t) => {
    const { store, resource, stored, expected } = await setUp(type)
    const lean = leanDefinition(store, stored, resource)
    atOnce(parseAhead(store, stored, resource))
    const parse = t.mock.method(JSON, 'parse')
    assert.deepEqual(wholeDefinition(store, stored, { resource, lean }), expected)
    assert.equal(parse.mock.callCount() === 0, isAhead)
    // It was used, and is parsed anew.
    assert.deepEqual(wholeDefinition(store, stored, { resource, lean }), expected)
    assert.ok(parse.mock.callCount() > 0)
  })

test('the spec of another version is the same as long as its generation says so', () => {
  const of = (metadata: object) => ({ metadata: { uid: 'u', generation: 2, ...metadata } })
  const known = { ...of({}), spec: { group: 'known' } }
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  for (const same of [{}, { labels: {} }, { generation: 3, deletionTimestamp }])
    assert.deepEqual(withSpecOf(of(same) as never, known as never), { ...of(same), spec: known.spec })
  for (const other of [{ generation: 3 }, { uid: 'v' }, { generation: 2, deletionTimestamp }, { generation: 4, deletionTimestamp }])
    assert.equal(withSpecOf(of(other) as never, known as never), undefined)
  assert.equal(withSpecOf(of({}) as never, undefined), undefined)
})
