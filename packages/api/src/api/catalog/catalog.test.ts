// Tests of the Catalog: lookup by path segments, and sharing of unchanged values between catalogs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from '../../schema/node.js'
import { defineResource, type ResourceDefinition } from '../definition/resource-definition.js'
import { identityOf } from '../identity.js'
import { objectMeta } from '../meta.schema.js'
import { Catalog } from './catalog.js'
import type { Resource } from './resource.js'

const schema = s.struct('Thing', { metadata: s.field(1, objectMeta), size: s.field(2, s.int32) }, { typeMeta: true })

const thing = (resource: string, more: Partial<ResourceDefinition> = {}): ResourceDefinition =>
  defineResource({
    group: 'things.example.com',
    kind: 'Thing',
    resource,
    namespaced: true,
    versions: [{ name: 'v1', schema, stored: true }],
    nameProblems: () => [],
    ...more,
  })

const catalogOf = (...definitions: readonly ResourceDefinition[]): Catalog =>
  new Catalog({ identity: identityOf('cluster'), definitions, isServed: ({ version }) => version !== 'v0' })

const find = (catalog: Catalog, resource: string, version = 'v1', group = 'things.example.com'): Resource =>
  catalog.find(group, version, resource) as Resource

const pathsOf = (catalog: Catalog): readonly string[] => catalog.all().map(({ apiVersion, name }) => `${apiVersion}/${name}`)

test('adding, changing and removing a definition keeps all other resources identical', () => {
  const first = catalogOf(thing('ants'), thing('bees'), thing('cows', { group: 'farm.example.com' }))
  const second = first.with({ put: [thing('dogs')] })
  const third = second.with({ put: [thing('bees', { kind: 'Bee' })] })
  const fourth = third.with({ remove: [thing('dogs')] })
  assert.deepEqual(pathsOf(first), ['things.example.com/v1/ants', 'things.example.com/v1/bees', 'farm.example.com/v1/cows'])
  assert.deepEqual(pathsOf(second).slice(0, 3), ['things.example.com/v1/ants', 'things.example.com/v1/bees', 'things.example.com/v1/dogs'])
  assert.deepEqual(
    [first, second, third, fourth].map((catalog) => catalog.find('things.example.com', 'v1', 'dogs') !== undefined),
    [false, true, true, false],
  )
  for (const catalog of [second, third, fourth]) {
    assert.equal(find(catalog, 'ants'), find(first, 'ants'))
    assert.equal(catalog.groups().get('farm.example.com'), first.groups().get('farm.example.com'))
    assert.notEqual(catalog.groups().get('things.example.com'), first.groups().get('things.example.com'))
  }
  assert.equal(find(second, 'bees'), find(first, 'bees'))
  assert.deepEqual([find(second, 'bees').kind, find(third, 'bees').kind], ['Thing', 'Bee'])
  assert.deepEqual(pathsOf(fourth), pathsOf(first))
})

test('a change with identical definitions returns the same catalog', () => {
  const bees = thing('bees')
  const catalog = catalogOf(thing('ants'), bees)
  assert.equal(catalog.with({ put: [bees], remove: [thing('dogs')] }), catalog)
})

test('groups and versions appear and disappear with their resources', () => {
  const before = catalogOf(thing('ants'))
  const versions = ['v1alpha1', 'v2', 'v1', 'foo10', 'v1beta1', 'foo1', 'v0'].map((name) => ({ name, schema, stored: name === 'v2' }))
  const after = before.with({ put: [thing('cows', { group: 'farm.example.com', versions })] })
  assert.deepEqual(
    after.groupVersions().flatMap(({ group, version }) => (group === 'farm.example.com' ? [version] : [])),
    ['v2', 'v1', 'v1beta1', 'v1alpha1', 'foo1', 'foo10'],
  )
  assert.deepEqual([before.hasGroup('farm.example.com'), after.hasGroup('farm.example.com')], [false, true])
  assert.deepEqual([after.hasVersion('farm.example.com', 'v2'), after.hasVersion('farm.example.com', 'v0')], [true, false])
  assert.equal(after.collections().length, 2)
  assert.equal(after.inCollection(after.find('farm.example.com', 'v2', 'cows')?.collection ?? '')?.name, 'cows')
  assert.equal(before.inCollection('farm.example.com/cows'), undefined)
  const fewer = after.with({ put: [thing('cows', { group: 'farm.example.com', versions: versions.slice(0, 2) })] })
  assert.deepEqual([...(fewer.groups().get('farm.example.com')?.versions.keys() ?? [])], ['v2', 'v1alpha1'])
  const removed = fewer.with({ remove: [{ group: 'farm.example.com', resource: 'cows' }] })
  assert.deepEqual([removed.hasGroup('farm.example.com'), removed.hasVersion('farm.example.com', 'v2')], [false, false])
  assert.equal(removed.collections().length, 1)
})

test('resources stored in one collection share versions and indexed fields', () => {
  const storedAs = { group: 'things.example.com', version: 'v1', schema }
  const copy = thing('ants', { group: 'farm.example.com', storedAs, selectableFields: { color: () => 'red' } })
  const before = catalogOf(thing('ants', { selectableFields: { size: () => '1' } }), thing('bees'))
  const after = before.with({ put: [copy] })
  const [original, other] = [find(after, 'ants'), find(after, 'ants', 'v1', 'farm.example.com')]
  assert.deepEqual([...original.versions.keys()], ['things.example.com/v1', 'farm.example.com/v1'])
  assert.equal(other.versions, original.versions)
  assert.deepEqual(Object.keys(original.indexedFields ?? {}), ['size', 'color'])
  assert.deepEqual([...find(before, 'ants').versions.keys()], ['things.example.com/v1'])
  assert.equal(find(after, 'bees'), find(before, 'bees'))
})

test('unserved versions are in `versions`', () => {
  const versions = [
    { name: 'v1', schema, stored: true },
    { name: 'v0', schema },
  ]
  const catalog = catalogOf(thing('ants', { versions }))
  assert.equal(catalog.find('things.example.com', 'v0', 'ants'), undefined)
  assert.deepEqual([...find(catalog, 'ants').versions.keys()], ['things.example.com/v1', 'things.example.com/v0'])
})

test('the served filter excludes versions, except those of custom resources', () => {
  const versions = [
    { name: 'v1', schema, stored: true },
    { name: 'v0', schema },
  ]
  const custom = thing('bees', { versions, custom: { singular: 'bee', listKind: 'BeeList' } })
  assert.deepEqual(pathsOf(catalogOf(thing('ants', { versions }), custom)), [
    'things.example.com/v1/ants',
    'things.example.com/v1/bees',
    'things.example.com/v0/bees',
  ])
})
