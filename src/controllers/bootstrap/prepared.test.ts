// Prepared objects are those that a start without them makes, to the byte; and they are taken only where that is so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog } from '../../api/catalog.js'
import { defaultFeatureGates } from '../../api/feature-gates.js'
import { identityNames } from '../../api/identity.js'
import { silentLogger } from '../../base/logger.js'
import { everything } from '../../objects/selection.js'
import { definitions } from '../../resources/index.js'
import type { Engine } from '../../verbs/engine.js'
import { clusterRoleAggregation } from '../cluster-role-aggregation.js'
import { defaultAccounts } from '../default-accounts.js'
import { type Stage, stageOf } from '../engine.fixture.js'
import { FakeTimers } from '../kit/timers.fixture.js'
import { constantObjects } from './constants.js'
import { namespacesOf } from './own-objects.js'
import { createMissing, placeAll } from './place.js'
import { prepare } from './prepare.js'
import { conditionsOf, nameOf, namesInOrder, type Prepared, placePrepared, type ReadyObjects, readPrepared } from './prepared.js'

const timeOfBuild = Date.parse('2001-02-03T04:05:06Z')
const timeOfStart = Date.parse('2034-11-12T13:14:15Z')

async function freshStage(name: (typeof identityNames)[number], now: number, gates = defaultFeatureGates): Promise<Stage> {
  const stage = await stageOf(name, { now: () => now })
  let uids = 0
  const newUid = (): string => `${now}`.padEnd(24, '-') + String(++uids).padStart(12, '0')
  return { ...stage, engine: { ...stage.engine, gates, newUid } }
}

const placeLive = async ({ engine, catalog, catalogs }: Stage): Promise<void> => {
  await createMissing(engine, catalog, namespacesOf(engine.identity))
  await placeAll(engine, catalog, constantObjects(catalog, engine.gates, engine.clock.now()))
  const parts = { engine, catalogs, logger: silentLogger, timers: new FakeTimers() }
  const running = [defaultAccounts(parts), clusterRoleAggregation(parts)]
  await parts.timers.advance(60_000)
  await Promise.all(running.map((loop) => loop.close()))
}

async function placeIfGood(engine: Engine, catalog: Catalog, prepared: Prepared): Promise<boolean> {
  const ready = readPrepared(engine, catalog, prepared)
  return ready !== undefined && (await placePrepared(engine, ready))
}

/** But for uids. */
const contentsOf = (engine: Engine, catalog: Catalog): readonly string[] =>
  catalog
    .collections()
    .flatMap((resource) => [...engine.store.list({ resource, namespace: '', selection: everything, limit: 0 }).objects()])
    .map(({ key, entry }) => `${key} ${entry.value.toString('latin1').replace(uid, '<uid>')}`)

const uid = /(?<="uid":")\d{10,13}-+0\d{11}(?=")/

/** Those that a server runs, and that none of these objects concern. */
const loops = ['serviceaccount', 'clusterrole-aggregation', 'csrcleaner']

for (const name of identityNames) {
  test(`they are what is made without them, at another time and with other uids, as ${name}`, async () => {
    const build = await freshStage(name, timeOfBuild)
    const prepared = { bytes: await prepare(build.engine, build.catalog, loops), loops }
    const [quick, live] = [await freshStage(name, timeOfStart), await freshStage(name, timeOfStart)]
    assert.equal(await placeIfGood(quick.engine, quick.catalog, prepared), true)
    await placeLive(live)
    const expected = contentsOf(live.engine, live.catalog)
    assert.ok(expected.length > 150)
    assert.deepEqual(contentsOf(quick.engine, quick.catalog), expected)
    const all = expected.join('\n')
    assert.doesNotMatch(all, /2001-02-03/)
    assert.equal(all.match(/"manager":"clusterrole-aggregation-controller"/g)?.length, 3)
    assert.match(all, /serviceaccounts\/default\/default /)
    const uids = [...all.matchAll(/"uid":"<uid>"/g)]
    assert.equal(uids.length, expected.length)
  })
}

test('where they are not good, nothing of them is placed', async () => {
  const build = await freshStage('cluster', timeOfBuild)
  const prepared = { bytes: await prepare(build.engine, build.catalog, loops), loops }
  const isPlaced = async ({ engine, catalog }: Stage, loopsNow = loops): Promise<boolean> => {
    const before = contentsOf(engine, catalog)
    const isDone = await placeIfGood(engine, catalog, { ...prepared, loops: loopsNow })
    if (!isDone) assert.deepEqual(contentsOf(engine, catalog), before)
    return isDone
  }
  const stage = await freshStage('cluster', timeOfStart)
  assert.equal(await isPlaced(await freshStage('kubernetes', timeOfStart)), false, 'another vocabulary')
  const more = await freshStage('cluster', timeOfStart, (gate) => gate === 'DynamicResourceAllocation' || defaultFeatureGates(gate))
  assert.equal(await isPlaced(more), false, 'another gate')
  const served = new Catalog({ identity: stage.engine.identity, definitions, isServed: ({ version }) => version !== 'v1beta2' })
  assert.equal(await isPlaced({ ...stage, catalog: served }), false, 'fewer versions')
  const used = await freshStage('cluster', timeOfStart)
  const resource = used.catalog.find(used.engine.identity.group({ stem: 'rbac.authorization' }), 'v1', 'clusterroles')
  assert.ok(resource)
  const { engine } = used
  const role = { metadata: { name: 'mine', uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z' } }
  await engine.store.put({ resource, namespace: '', name: 'mine' }, engine.store.encode(resource, role), { expect: 0 })
  assert.equal(await isPlaced(used), false, 'a store that is used')
  assert.equal(await isPlaced(stage, ['serviceaccount', 'csrcleaner']), false, 'a loop less')
  assert.equal(await isPlaced(stage), true, 'and otherwise they are')
})

test('who finds that another server was quicker is told so', async () => {
  const build = await freshStage('cluster', timeOfBuild)
  const prepared = { bytes: await prepare(build.engine, build.catalog, loops), loops }
  const { engine, catalog } = await freshStage('cluster', timeOfStart)
  const both = await Promise.all([placeIfGood(engine, catalog, prepared), placeIfGood(engine, catalog, prepared)])
  assert.deepEqual(both, [true, false])
})

test('those that are as they were prepared are in order, and nothing else is', async () => {
  const build = await freshStage('cluster', timeOfBuild)
  const bytes = await prepare(build.engine, build.catalog, loops)
  const { engine, catalog } = await freshStage('cluster', timeOfStart)
  const ready = readPrepared(engine, catalog, { bytes, loops }) as ReadyObjects
  assert.equal(namesInOrder(engine, ready).size, 0)
  await placePrepared(engine, ready)
  const names = namesInOrder(engine, ready)
  assert.equal(names.size, ready.objects.length)
  const all = constantObjects(catalog, engine.gates, timeOfStart + 5000)
  for (const { resource, namespace = '', object } of all) assert.ok(names.has(nameOf(resource, namespace, object.metadata?.name ?? '')))
  const { revision } = engine.store
  await placeAll(engine, catalog, all)
  assert.equal(engine.store.revision, revision, 'nothing is to be done about them')

  const changed: string[] = []
  for (const [place, { resource, namespace, name, range, uidAt, timesAt }] of ready.objects.entries()) {
    const stored = engine.store.read({ resource, namespace, name })
    assert.ok(stored)
    const value = Buffer.from(stored.entry.value)
    // One byte somewhere: at the beginning, at the end, or beside what may be different.
    const spots = [0, value.length - 1, uidAt - range[0] - 1, uidAt - range[0] + 36, ...timesAt.map((at) => at - range[0] + 20)]
    const spot = spots[place % spots.length] as number
    value[spot] = (value[spot] as number) ^ 1
    await engine.store.put({ resource, namespace, name }, value, { expect: stored.revision })
    changed.push(nameOf(resource.name, namespace, name))
    const left = namesInOrder(engine, ready)
    assert.equal(left.size, ready.objects.length - changed.length)
    assert.ok(!left.has(changed.at(-1) ?? ''))
  }
})

test('custom kinds make no difference to them', async () => {
  const { engine, catalog } = await freshStage('cluster', timeOfBuild)
  const [first] = definitions
  assert.ok(first)
  const custom = { ...first, group: 'example.com', custom: {} } as unknown as typeof first
  assert.equal(conditionsOf(catalog.with({ put: [custom] }), engine.gates, loops), conditionsOf(catalog, engine.gates, loops))
})
