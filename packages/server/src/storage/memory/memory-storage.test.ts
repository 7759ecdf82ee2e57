// The memory engine: the storage contract, storages that share data with a snapshot, and initial rows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesOf, randomNumbers, scanOf } from '../contract/random-history.fixture.js'
import { storageContract } from '../contract/storage.contract.js'
import { CompactedError, type Write } from '../storage.js'
import { type MemorySnapshot, type MemoryStorage, openMemoryStorage } from './memory-storage.js'

storageContract('memory', async () => {
  const storage = openMemoryStorage()
  return { storage, close: () => storage.close() }
})

storageContract('memory opened from a snapshot', async () => {
  const parent = openMemoryStorage()
  const storage = openMemoryStorage({ initial: parent.snapshot() })
  return { storage, close: async () => void (await Promise.all([parent.close(), storage.close()])) }
})

const all = { start: '', end: '\u{10ffff}' }
const everything = { ...all, limit: Number.POSITIVE_INFINITY }
/** No key expires during a test. */
const farMs = 9_000_000_000_000

/** A storage that shares data with others, and one with the same history that shares nothing. */
interface Pair {
  readonly shared: MemoryStorage
  readonly reference: MemoryStorage
  readonly log: readonly Step[]
}

type Step = readonly Write[] | number

async function runStep(storage: MemoryStorage, step: Step): Promise<unknown> {
  return typeof step === 'number' ? storage.compact(step) : storage.commit(step)
}

async function replay(log: readonly Step[]): Promise<MemoryStorage> {
  const storage = openMemoryStorage()
  for (const step of log) await runStep(storage, step)
  return storage
}

test('storages that share data with snapshots return what independent copies return', { timeout: 600_000 }, async () => {
  const random = randomNumbers(Number(process.env['STORAGE_HISTORY_SEED'] ?? 1))
  const pick = (below: number): number => Math.floor(random() * below)
  const collections = ['pods/a', 'pods/b', 'nodes'] as const
  const randomWrites = ({ shared }: Pair, count: number): readonly Write[] => {
    const writes = Array.from({ length: count }, (): Write => {
      const key = `${collections[pick(3)]}/${pick(700)}`
      const value = pick(3) === 0 ? undefined : Buffer.from(`${key}.${pick(1000)}`)
      const expect = [undefined, undefined, shared.read(key)?.revision ?? 0, 7][pick(4)]
      return { key, value, expect: count > 3 ? undefined : expect, ...(pick(3) === 0 ? { expiresAtMs: farMs + pick(50) } : {}) }
    })
    return [...new Map(writes.map((write) => [write.key, write])).values()]
  }
  const pairs: Pair[] = [{ shared: openMemoryStorage(), reference: openMemoryStorage(), log: [] }]
  const change = async (index: number, step: Step): Promise<void> => {
    const pair = pairs[index] as Pair
    assert.deepEqual(await runStep(pair.shared, step), await runStep(pair.reference, step))
    pairs[index] = { ...pair, log: [...pair.log, step] }
  }
  const compare = ({ shared, reference }: Pair): void => {
    assert.equal(shared.revision, reference.revision)
    assert.equal(shared.compacted, reference.compacted)
    assert.deepEqual(shared.range(everything), reference.range(everything))
    assert.deepEqual(scanOf(shared, everything), scanOf(reference, everything))
    for (const name of ['pods', 'pods/a', 'nodes'])
      assert.equal(shared.count({ start: `${name}/`, end: `${name}0` }), reference.count({ start: `${name}/`, end: `${name}0` }))
    const at = shared.compacted + pick(shared.revision - shared.compacted + 1)
    assert.deepEqual(shared.range({ ...everything, at }), reference.range({ ...everything, at }))
    assert.deepEqual(changesOf(shared, { ...all, after: at }), changesOf(reference, { ...all, after: at }))
    assert.equal(shared.nextExpiryMs(), reference.nextExpiryMs())
    assert.deepEqual(shared.expired(farMs + 25, 10_000), reference.expired(farMs + 25, 10_000))
  }
  for (let i = 0; i < 3; i++) await change(0, randomWrites(pairs[0] as Pair, 900))
  for (let step = 0; step < 70; step++) {
    const index = pick(pairs.length)
    const { shared, log } = pairs[index] as Pair
    if (pick(6) === 0 && pairs.length < 12) {
      const fork = { shared: openMemoryStorage({ initial: shared.snapshot() }), reference: await replay(log), log }
      pairs.push(fork)
    } else if (pick(12) === 0) await change(index, shared.compacted + pick(shared.revision - shared.compacted + 1))
    else await change(index, randomWrites(pairs[index] as Pair, pick(8) === 0 ? 400 : 1 + pick(3)))
    for (const pair of pick(10) === 0 ? pairs : [pairs[index] as Pair]) compare(pair)
  }
  for (const pair of pairs) compare(pair)
  for (const { shared, reference } of pairs) {
    const snapshot = (pairs[pick(pairs.length)] as Pair).shared.snapshot()
    await restoreTo(shared, snapshot)
    assert.deepEqual(valuesOf(shared), valuesOf(openMemoryStorage({ initial: snapshot })))
    assert.deepEqual([...shared.writesTo(snapshot)], [])
    await reference.close()
  }
  await Promise.all(pairs.map(({ shared }) => shared.close()))
})

async function restoreTo(storage: MemoryStorage, snapshot: MemorySnapshot): Promise<void> {
  const writes = [...storage.writesTo(snapshot)]
  for (let i = 0; i < writes.length; i += 500) await storage.commit(writes.slice(i, i + 500))
}

const valuesOf = (storage: MemoryStorage): readonly string[] => storage.range(everything).entries.map(({ key, value }) => `${key} ${value}`)

test('writes to a snapshot touch only keys whose values differ', async () => {
  let nowMs = 1000
  const storage = openMemoryStorage({ clock: { now: () => nowMs } })
  const write = (key: string, value: string | undefined, expiresAtMs?: number): Write => ({
    key,
    value: value === undefined ? undefined : Buffer.from(value),
    expect: undefined,
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  })
  await storage.commit([write('a/same', '1'), write('a/rewritten', '1'), write('a/changed', '1'), write('a/deleted', '1', 1_000_500)])
  const snapshot = storage.snapshot()
  await storage.commit([write('a/rewritten', '1'), write('a/changed', '2'), write('a/deleted', undefined), write('a/new', '1')])
  nowMs += 2000
  assert.deepEqual(
    [...storage.writesTo(snapshot)],
    [write('a/changed', '1'), write('a/deleted', '1', 1_002_500), write('a/new', undefined)],
  )
  await storage.close()
})

test('opens with initial rows, without their history', async () => {
  const rows = [
    { key: 'pods/a/2', value: Buffer.from('two'), revision: 40, expiresAtMs: farMs },
    { key: 'pods/a/1', value: Buffer.from('one'), revision: 7 },
  ]
  const storage = openMemoryStorage({ initial: { revision: 50, rows } })
  assert.deepEqual(storage.range(everything).entries, [
    { key: 'pods/a/1', value: Buffer.from('one'), revision: 7 },
    { key: 'pods/a/2', value: Buffer.from('two'), revision: 40 },
  ])
  assert.equal(storage.count({ start: 'pods/', end: 'pods0' }), 2)
  assert.equal(storage.nextExpiryMs(), farMs)
  assert.throws(() => storage.range({ ...everything, at: 49 }), CompactedError)
  assert.deepEqual(await storage.commit([{ key: 'pods/a/1', value: undefined, expect: 7 }]), { ok: true, revision: 51 })
  assert.equal(storage.range({ ...everything, at: 50 }).entries.length, 2)
  await storage.close()
})
