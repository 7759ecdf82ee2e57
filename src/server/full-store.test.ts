// A store that takes no writes, as on a full disk: loops try again less and less often, end when they shall, and do all of it once there is room.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unavailable } from '../api/api-error.js'
import { everything } from '../objects/selection.js'
import { type LoopsStage, loops, loopsStage } from './loops-stage.fixture.js'

const minuteMs = 60_000
const fullMinutes = 8

/** Every object as it is in the end: times, uids and versions depend on when it was made. */
function contents({ engine: { store }, catalog }: LoopsStage): readonly string[] {
  const found: string[] = []
  for (const resource of catalog.collections()) {
    for (const stored of store.list({ resource, namespace: '', selection: everything, limit: 0 }).objects()) {
      const { metadata, ...rest } = stored.decode(resource)
      const { name = '', labels, finalizers, ownerReferences, deletionTimestamp } = metadata ?? {}
      // Events are named after the moment in which they happened, and counted by how often loops have looked.
      const isEvent = resource.kind === 'Event'
      const told = {
        labels,
        finalizers,
        ownerReferences,
        isGoing: deletionTimestamp !== undefined,
        ...rest,
        ...(isEvent ? { count: 0 } : {}),
      }
      const text = JSON.stringify(told, (key, value: unknown) => (/time(?:stamp)?$/i.test(key) ? '' : value))
      found.push(`${resource.collection} ${isEvent ? name.replace(/\.[^.]*$/, '') : name} ${text.replace(/"uid-\d+"/g, '""')}`)
    }
  }
  return found.sort()
}

const startAll = ({ parts }: LoopsStage) => Object.values(loops).map((start) => start(parts))
const closeAll = (running: ReturnType<typeof startAll>) => Promise.all(running.map((loop) => loop.close()))

/** From now on no write succeeds, until what it gives is called; `tries` counts them by what they are about. */
function fill({ engine: { store } }: LoopsStage, tries: Map<string, number>): () => void {
  const { put, remove } = store
  const refuse = (about: string): Promise<never> => {
    tries.set(about, (tries.get(about) ?? 0) + 1)
    return Promise.reject(unavailable('the store cannot write now: the data folder has no room for the write'))
  }
  store.put = ({ resource, namespace, name }) => refuse(`${resource.collection}/${namespace}/${name.replace(/\.[0-9a-f]{16}$/, '')}`)
  store.remove = ({ key }) => refuse(key)
  return () => Object.assign(store, { put, remove })
}

test('a store that was full for a while holds in the end what one holds that never was', async () => {
  const control = await loopsStage()
  const running = startAll(control)
  await control.timers.advance(4 * minuteMs)
  await closeAll(running)
  const full = await loopsStage()
  const tries = new Map<string, number>()
  const empty = fill(full, tries)
  const before = contents(full)
  const refused = startAll(full)
  await full.timers.advance(fullMinutes * minuteMs)
  assert.deepEqual(contents(full), before)
  assert.ok(tries.size >= 10, `${tries.size} things were to be written`)
  // Five seconds between two tries are the least that a loop comes to in the end, a quarter less by chance.
  const most = fullMinutes * 16 + 20
  for (const [about, count] of tries) assert.ok(count <= most, `${about}: ${count} tries in ${fullMinutes} minutes`)
  empty()
  // As long as the longest pause between two tries.
  await full.timers.advance(20 * minuteMs)
  await closeAll(refused)
  assert.deepEqual(contents(full), contents(control))
  assert.equal(full.timers.size, 0)
})

test('loops on a full store end at once', async () => {
  const full = await loopsStage()
  const tries = new Map<string, number>()
  fill(full, tries)
  const running = startAll(full)
  await full.timers.advance(10_000)
  await closeAll(running)
  const count = [...tries.values()].reduce((sum, each) => sum + each, 0)
  await full.timers.advance(minuteMs)
  assert.equal(
    [...tries.values()].reduce((sum, each) => sum + each, 0),
    count,
    'nothing is tried any more',
  )
  assert.equal(full.timers.size, 0)
})
