// Roles that collect: what they select, as it comes, changes and goes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { timedTest } from '../base/timed-test.fixture.js'
import { until } from '../base/until.fixture.js'
import type { ClusterRole } from '../resources/rbac-authorization/v1.schema.js'
import { create } from '../verbs/create.js'
import { remove } from '../verbs/delete.js'
import { update } from '../verbs/update.js'
import { accessObjects } from './bootstrap/access.js'
import { placeAll } from './bootstrap/place.js'
import { clusterRoleAggregation } from './cluster-role-aggregation.js'
import { stageOf } from './engine.fixture.js'
import { FakeTimers, flushTurns } from './kit/timers.fixture.js'
import { ownCall } from './own-call.js'

const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] })

async function setUp() {
  const { engine, catalog, catalogs } = await stageOf('cluster', systemClock)
  const resource = catalog.find('rbac.authorization.cluster.io', 'v1', 'clusterroles') as Resource
  const callOf = (name: string) => ownCall(engine, { resource, name })
  const make = (name: string, more: object, labels?: { readonly [name: string]: string }): Promise<unknown> => {
    const metadata = labels === undefined ? { name } : { name, labels }
    return create(engine, callOf(name), { object: { metadata, ...more } as ApiObject })
  }
  const read = (name: string) => engine.store.read({ resource, namespace: '', name })?.decode(resource) as ClusterRole | undefined
  const change = (name: string, changes: object) => update(engine, callOf(name), { object: { ...read(name), ...changes } as ApiObject })
  const resourcesOf = (name: string) => (read(name)?.rules ?? []).flatMap(({ resources = [] }) => resources)
  const parts = { engine, catalogs, logger: silentLogger, timers: new FakeTimers() }
  return { engine, catalog, make, read, change, callOf, resourcesOf, parts }
}

const collecting = (...labels: readonly string[]) => ({
  aggregationRule: { clusterRoleSelectors: labels.map((label) => ({ matchLabels: { [label]: 'yes' } })) },
})

test('in the order of selectors and names, each rule once, and never its own', async () => {
  const { make, resourcesOf, parts } = await setUp()
  await make('z', { rules: [rule('z'), rule('both')] }, { first: 'yes' })
  await make('a', { rules: [rule('a'), rule('both')] }, { first: 'yes', second: 'yes' })
  await make('m', { rules: [rule('m')] }, { second: 'yes' })
  await make('none', { rules: [rule('none')] })
  await make('all', { ...collecting('second', 'first'), rules: [rule('mine')] }, { first: 'yes' })
  const loop = clusterRoleAggregation(parts)
  await flushTurns()
  assert.deepEqual(resourcesOf('all'), ['a', 'both', 'm', 'z'])
  await loop.close()
})

test('roles come, change, lose their labels and go; who edits a role that collects edits for nothing', async () => {
  const { engine, make, read, change, callOf, resourcesOf, parts } = await setUp()
  const loop = clusterRoleAggregation(parts)
  await make('all', collecting('part'), { mine: 'yes' })
  await make('a', { rules: [rule('a')] }, { part: 'yes' })
  await make('b', { rules: [rule('b')] }, { part: 'yes' })
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
  await loop.close()
})

test('what a fresh server has: view is in edit, edit in admin, and a second look writes nothing', async () => {
  const { engine, catalog, resourcesOf, parts } = await setUp()
  await placeAll(
    engine,
    catalog,
    accessObjects(engine.identity, () => true),
  )
  const loop = clusterRoleAggregation(parts)
  // What one role collected, another one collects then.
  for (let i = 0; i < 10; i++) await flushTurns()
  const [admin, edit, view] = ['admin', 'edit', 'view'].map((name) => new Set(resourcesOf(name)))
  assert.ok(view?.has('configmaps') && !view.has('secrets'))
  assert.ok(edit?.has('secrets') && !edit.has('rolebindings'))
  assert.ok(admin?.has('rolebindings') && admin.has('secrets'))
  await loop.close()
  const { revision } = engine.store
  const again = clusterRoleAggregation(parts)
  await flushTurns()
  assert.equal(engine.store.revision, revision)
  await again.close()
})

test('a label or annotation of that name makes no role collect', async () => {
  const { make, resourcesOf, parts } = await setUp()
  await make('labelled', { rules: [rule('a')] }, { aggregationRule: 'none' })
  await make('annotated', { metadata: { name: 'annotated', annotations: { aggregationRule: 'none' } }, rules: [rule('b')] })
  const loop = clusterRoleAggregation(parts)
  await flushTurns()
  assert.deepEqual([resourcesOf('labelled'), resourcesOf('annotated')], [['a'], ['b']])
  await loop.close()
})

test('one that stops collecting while others are filled keeps the rules that it was given', async () => {
  const { engine, make, read, change, resourcesOf, parts } = await setUp()
  await make('part', { rules: [rule('part')] }, { part: 'yes' })
  for (let i = 0; i < 10; i++) await make(`c${i}`, collecting('part'))
  await make('last', collecting('part'))
  let given: Promise<unknown> | undefined
  const resource = parts.catalogs.current.find('rbac.authorization.cluster.io', 'v1', 'clusterroles') as Resource
  const unwatch = engine.store.watch({
    resource,
    namespace: '',
    matches: undefined,
    deliver: ({ object }) => {
      if (object.key.endsWith('/c0')) given ??= change('last', { ...read('last'), aggregationRule: undefined, rules: [rule('mine')] })
    },
  })
  const loop = clusterRoleAggregation(parts)
  for (let i = 0; i < 5; i++) await flushTurns()
  assert.ok(given !== undefined)
  await given
  assert.deepEqual([resourcesOf('c9'), resourcesOf('last')], [['part'], ['mine']])
  unwatch()
  await loop.close()
})

test('one that selects more than an object has room for keeps no other from collecting', async () => {
  const { make, resourcesOf, parts } = await setUp()
  const large = (name: string) => Array.from({ length: 12 }, (_, i) => ({ ...rule(name), resourceNames: [`${i}`.padEnd(100_000, name)] }))
  for (const name of ['v', 'w']) await make(name, { rules: large(name) }, { large: 'yes' })
  await make('part', { rules: [rule('a')] }, { part: 'yes' })
  await make('first', collecting('large'))
  await make('second', collecting('part'))
  const loop = clusterRoleAggregation(parts)
  await flushTurns()
  assert.deepEqual(resourcesOf('second'), ['a'])
  assert.deepEqual(resourcesOf('first'), [])
  await loop.close()
})

timedTest('large roles and many selectors are read in time slices', async () => {
  const { make, parts, resourcesOf } = await setUp()
  const rules = Array.from({ length: 6000 }, (_, i) => rule(`r${i}`))
  await make('large', { rules }, { part: 'yes' })
  for (let i = 0; i < 50; i++) await make(`small-${i}`, {}, { other: `${i}` })
  await make('many', collecting(...Array.from({ length: 2000 }, (_, i) => `l${i}`), 'part'))
  const { timers: _, ...timeless } = parts
  const loop = clusterRoleAggregation(timeless)
  await until(() => resourcesOf('many').length > 0)
  await loop.close()
  assert.equal(resourcesOf('many').length, rules.length)
})
