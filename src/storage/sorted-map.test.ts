// The sorted map against a plain map that is sorted when asked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareText } from '../base/text-order.js'
import { createSortedMap } from './sorted-map.js'

test('a random story: set, delete, get, ranges', () => {
  const map = createSortedMap<number>()
  const model = new Map<string, number>()
  let state = 1
  const pick = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (let step = 0; step < 20_000; step += 1) {
    const key = `k${pick(5000)}`
    if (pick(3) === 0) {
      map.delete(key)
      model.delete(key)
    } else {
      map.set(key, step)
      model.set(key, step)
    }
    assert.equal(map.get(key), model.get(key))
    assert.equal(map.size, model.size)
    if (step % 1000 !== 0) continue
    const [start, end] = [`k${pick(5000)}`, `k${pick(5000)}`]
    const expected = [...model].filter(([name]) => name >= start && name < end).toSorted(([a], [b]) => compareText(a, b))
    assert.deepEqual(
      [...map.entries({ start, end })].map(({ key: name, value }) => [name, value]),
      expected,
    )
    assert.equal(map.first()?.key, [...model.keys()].toSorted(compareText)[0])
  }
  for (const key of model.keys()) map.delete(key)
  assert.equal(map.size, 0)
  assert.equal(map.first(), undefined)
  assert.deepEqual([...map.entries({ start: '', end: '~' })], [])
})

test('keys that arrive in order, 200,000 of them, take little time', () => {
  const map = createSortedMap<number>()
  const started = performance.now()
  for (let index = 0; index < 200_000; index += 1) map.set(String(index).padStart(8, '0'), index)
  assert.equal([...map.entries({ start: '', end: '~' })].length, 200_000)
  assert.ok(performance.now() - started < 40_000)
})
