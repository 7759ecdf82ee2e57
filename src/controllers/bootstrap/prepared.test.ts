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
import { placePrepared } from './prepared.js'

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
    assert.equal(await placePrepared(quick.engine, quick.catalog, prepared), true)
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
    const isDone = await placePrepared(engine, catalog, { ...prepared, loops: loopsNow })
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
  const both = await Promise.all([placePrepared(engine, catalog, prepared), placePrepared(engine, catalog, prepared)])
  assert.deepEqual(both, [true, false])
})
