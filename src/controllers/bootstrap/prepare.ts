// Makes the constant objects of a fresh server for the build to keep (prepared.ts), as a start without them makes them.

import { setImmediate } from 'node:timers/promises'
import type { Catalog } from '../../api/catalog.js'
import { CatalogSource } from '../../api/catalog-source.js'
import { silentLogger } from '../../base/logger.js'
import { partsOf } from '../../objects/keys.js'
import { everything } from '../../objects/selection.js'
import { timeOf } from '../../schema/scalars.js'
import type { Engine } from '../../verbs/engine.js'
import { clusterRoleAggregation } from '../cluster-role-aggregation.js'
import { defaultAccounts } from '../default-accounts.js'
import { constantObjects } from './constants.js'
import { namespacesOf } from './own-objects.js'
import { createMissing, placeAll } from './place.js'
import { type Contents, conditionsOf, type PreparedObject } from './prepared.js'

/** Loops that have work at every first start, and need nothing but these objects for it. */
const loopsByName = { serviceaccount: defaultAccounts, 'clusterrole-aggregation': clusterRoleAggregation }

/** A loop that is idle for so many turns has nothing to do. */
const idleTurns = 5

/** With an engine on an empty store; what is the time of its clock in the objects will be the time of a start. `loops`: the names of those that run. */
export async function prepare(engine: Engine, catalog: Catalog, loops: readonly string[]): Promise<Buffer> {
  const now = engine.clock.now()
  await createMissing(engine, catalog, namespacesOf(engine.identity))
  await placeAll(engine, catalog, constantObjects(catalog, engine.gates, now))
  await runLoops(engine, catalog, loops)
  const kinds = catalog.collections().filter((resource) => engine.store.count(resource, '') > 0)
  const stored = kinds
    .flatMap((resource, kind) => {
      const { objects } = engine.store.list({ resource, namespace: '', selection: everything, limit: 0 })
      return [...objects()].map((object) => ({ resource, kind, object }))
    })
    .toSorted((a, b) => a.object.revision - b.object.revision)
  let end = 0
  const objects = stored.map(({ resource, kind, object }): PreparedObject => {
    const { value } = object.entry
    const start = end
    end += value.length
    const [uidAt = 0, ...others] = placesOf(value, object.decode(resource).metadata?.uid ?? '')
    if (others.length > 0) throw new Error(`${object.key} says its uid twice`)
    const timesAt = placesOf(value, timeOf(now)).map((place) => start + place)
    return { kind, ...partsOf(resource, object.key), range: [start, end], uidAt: start + uidAt, timesAt }
  })
  const contents: Contents = {
    conditions: conditionsOf(catalog, engine.gates, loops),
    kinds: kinds.map(({ group, version, name }) => ({ group, version, resource: name })),
    objects,
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(contents)}\n`), ...stored.map(({ object }) => object.entry.value)])
}

async function runLoops(engine: Engine, catalog: Catalog, names: readonly string[]): Promise<void> {
  const parts = { engine, catalogs: new CatalogSource(catalog), logger: silentLogger }
  const running = Object.entries(loopsByName).flatMap(([name, start]) => (names.includes(name) ? [start(parts)] : []))
  for (let turns = 0; turns < idleTurns; turns++) {
    if (running.some(({ isIdle }) => !isIdle)) turns = 0
    await setImmediate()
  }
  await Promise.all(running.map((loop) => loop.close()))
}

function placesOf(bytes: Buffer, text: string): readonly number[] {
  const places: number[] = []
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at)
  return places
}
