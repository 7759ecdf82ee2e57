// Aggregated ClusterRoles.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { ClusterRole } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import { create } from '../verbs/create.js'
import { remove } from '../verbs/delete.js'
import { update } from '../verbs/update.js'
import { clusterRoleAggregation } from './cluster-role-aggregation.js'
import { createTestEngine } from './framework/engine.fixture.js'
import { internalCall } from './framework/internal-call.js'
import { FakeTimers, flushTurns } from './framework/timers.fixture.js'

const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] })

async function setUp() {
  const { engine, catalog, catalogs } = await createTestEngine('cluster', systemClock)
  const resource = catalog.find('rbac.authorization.cluster.io', 'v1', 'clusterroles') as Resource
  const callOf = (name: string) => internalCall(engine, { resource, name })
  const createRole = (name: string, more: object, labels?: { readonly [name: string]: string }): Promise<unknown> => {
    const metadata = labels === undefined ? { name } : { name, labels }
    return create(engine, callOf(name), { object: { metadata, ...more } as ApiObject })
  }
  const read = (name: string) => engine.store.read({ resource, namespace: '', name })?.decode(resource) as ClusterRole | undefined
  const change = (name: string, changes: object) => update(engine, callOf(name), { object: { ...read(name), ...changes } as ApiObject })
  const resourcesOf = (name: string) => (read(name)?.rules ?? []).flatMap(({ resources = [] }) => resources)
  const parts = { engine, catalogs, logger: silentLogger, timers: new FakeTimers() }
  return { engine, catalog, createRole, read, change, callOf, resourcesOf, parts }
}

const aggregating = (...labels: readonly string[]) => ({
  aggregationRule: { clusterRoleSelectors: labels.map((label) => ({ matchLabels: { [label]: 'yes' } })) },
})

test('rules are ordered by selector and name, each once, without the role itself', async () => {
  const { createRole, resourcesOf, parts } = await setUp()
  await createRole('z', { rules: [rule('z'), rule('both')] }, { first: 'yes' })
  await createRole('a', { rules: [rule('a'), rule('both')] }, { first: 'yes', second: 'yes' })
  await createRole('m', { rules: [rule('m')] }, { second: 'yes' })
  await createRole('none', { rules: [rule('none')] })
  await createRole('all', { ...aggregating('second', 'first'), rules: [rule('mine')] }, { first: 'yes' })
  const controller = clusterRoleAggregation(parts)
  await flushTurns()
  assert.deepEqual(resourcesOf('all'), ['a', 'both', 'm', 'z'])
  await controller.close()
})

test('follows added, changed, unlabelled and deleted roles, and overwrites edits of the aggregated role', async () => {
  const { engine, createRole, read, change, callOf, resourcesOf, parts } = await setUp()
  const controller = clusterRoleAggregation(parts)
  await createRole('all', aggregating('part'), { mine: 'yes' })
  await createRole('a', { rules: [rule('a')] }, { part: 'yes' })
  await createRole('b', { rules: [rule('b')] }, { part: 'yes' })
  await flushTurns()
  assert.deepEqual(resourcesOf('all'), ['a', 'b'])
  await change('a', { rules: [rule('other')] })
  await flushTurns()
  assert.deepEqual(resourcesOf('all'), ['other', 'b'])
  await change('a', { metadata: { ...read('a')?.metadata, labels: undefined } })
  await flushTurns()
  assert.deepEqual(resourcesOf('all'), ['b'])
  await change('all', { rules: [rule('forged')] })
  await flushTurns()
  assert.deepEqual(resourcesOf('all'), ['b'])
  assert.deepEqual(read('all')?.metadata?.labels, { mine: 'yes' })
  await remove(engine, callOf('b'))
  await flushTurns()
  assert.deepEqual(resourcesOf('all'), [])
  await controller.close()
})

test('without a match, rules of other managers stay and those of the controller are removed', async () => {
  const { engine, createRole, read, callOf, resourcesOf, parts } = await setUp()
  const managers = () => (read('all')?.metadata?.managedFields ?? []).map(({ manager }) => manager)
  await createRole('all', { ...aggregating('part'), rules: [rule('mine')] })
  const first = managers()
  const controller = clusterRoleAggregation(parts)
  await flushTurns()
  assert.deepEqual([resourcesOf('all'), managers()], [['mine'], first])
  await createRole('part', { rules: [rule('part')] }, { part: 'yes' })
  await flushTurns()
  assert.deepEqual(resourcesOf('all'), ['part'])
  await remove(engine, callOf('part'))
  await flushTurns()
  assert.deepEqual([resourcesOf('all'), managers()], [[], first])
  await controller.close()
})

test('a label or annotation named aggregationRule does not aggregate', async () => {
  const { createRole, resourcesOf, parts } = await setUp()
  await createRole('labelled', { rules: [rule('a')] }, { aggregationRule: 'none' })
  await createRole('annotated', { metadata: { name: 'annotated', annotations: { aggregationRule: 'none' } }, rules: [rule('b')] })
  const controller = clusterRoleAggregation(parts)
  await flushTurns()
  assert.deepEqual([resourcesOf('labelled'), resourcesOf('annotated')], [['a'], ['b']])
  await controller.close()
})

test('a role that loses its aggregationRule meanwhile keeps its new rules', async () => {
  const { engine, createRole, read, change, resourcesOf, parts } = await setUp()
  await createRole('part', { rules: [rule('part')] }, { part: 'yes' })
  for (let i = 0; i < 10; i++) await createRole(`c${i}`, aggregating('part'))
  await createRole('last', aggregating('part'))
  let changing: Promise<unknown> | undefined
  const resource = parts.catalogs.current.find('rbac.authorization.cluster.io', 'v1', 'clusterroles') as Resource
  const unwatch = engine.store.watch({
    resource,
    namespace: '',
    matches: undefined,
    deliver: ({ object }) => {
      if (object.key.endsWith('/c0')) changing ??= change('last', { ...read('last'), aggregationRule: undefined, rules: [rule('mine')] })
    },
  })
  const controller = clusterRoleAggregation(parts)
  for (let i = 0; i < 5; i++) await flushTurns()
  assert.ok(changing !== undefined)
  await changing
  assert.deepEqual([resourcesOf('c9'), resourcesOf('last')], [['part'], ['mine']])
  unwatch()
  await controller.close()
})

test('a role whose rules exceed the object size does not block others', async () => {
  const { createRole, resourcesOf, parts } = await setUp()
  const large = (name: string) => Array.from({ length: 12 }, (_, i) => ({ ...rule(name), resourceNames: [`${i}`.padEnd(100_000, name)] }))
  for (const name of ['v', 'w']) await createRole(name, { rules: large(name) }, { large: 'yes' })
  await createRole('part', { rules: [rule('a')] }, { part: 'yes' })
  await createRole('first', aggregating('large'))
  await createRole('second', aggregating('part'))
  const controller = clusterRoleAggregation(parts)
  await flushTurns()
  assert.deepEqual(resourcesOf('second'), ['a'])
  assert.deepEqual(resourcesOf('first'), [])
  await controller.close()
})
