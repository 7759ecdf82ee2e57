// Large objects that are parsed in short steps are what a plain parse makes of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce } from '../base/pieces.js'
import { fieldsInSteps } from './fields-in-steps.js'
import { boxes, storeOfBoxes } from './fixture.js'
import type { StoredKind, StoredObject } from './stored-object.js'

/** An entry whose body is given, as it is stored in a format that says nothing of itself. */
const storedOf = (body: string): StoredObject => {
  const value = Buffer.concat([Buffer.alloc(8), Buffer.from(body)])
  return { entry: { key: 'k', revision: 1, value } } as unknown as StoredObject
}
const parsed = (body: string): unknown => atOnce(fieldsInSteps(storedOf(body), boxes))

test('whatever stands in it, and wherever it is long', () => {
  let state = 7
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const odd = [
    '',
    '"',
    '\\',
    '\\\\"',
    ']}],',
    '{[',
    'ä€😀',
    '\u0000\n',
    '__proto__',
    `${'x'.repeat(70)}\\"`,
    '\\'.repeat(130),
    'long '.repeat(8000),
  ]
  const text = (): string => `${odd[random(odd.length - 1)]}${random(1000)}`
  const value = (depth: number): unknown => {
    const sort = random(depth > 16 ? 4 : 7)
    if (sort === 0) return [true, false, null, 0, -1.5e300][random(5)]
    if (sort === 1) return random(20) === 0 ? odd.at(-1) : text()
    if (sort < 4) return text()
    const length = depth === 1 && random(20) === 0 ? 2000 : random(depth < 2 ? 12 : 3)
    if (sort < 6) return Array.from({ length }, () => value(depth + 1))
    return Object.fromEntries(
      Array.from({ length }, (_, i) => [random(9) === 0 ? (odd[random(odd.length - 1)] as string) : `k${i}`, value(depth + 1)]),
    )
  }
  let long = 0
  for (let round = 0; round < 200; round++) {
    const whole = Object.fromEntries(Array.from({ length: random(6) }, (_, i) => [`f${i}`, value(0)]))
    const body = JSON.stringify(whole, undefined, random(4) === 0 ? 1 : 0).slice(1, -1)
    if (body.length > 16 << 10) long += 1
    assert.deepEqual(parsed(body), whole)
  }
  assert.ok(long > 30, String(long))
})

test('in steps that are short, however deep what is long lies, and at once where it lies too deep', () => {
  const names = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => `name${i}`))
  const stepsOf = (body: string): number => {
    const work = fieldsInSteps(storedOf(body), boxes)
    let steps = 0
    while (!work.next().done) steps += 1
    return steps
  }
  assert.ok(stepsOf(`"a":[{"b":{"c":${names}}}]`) > 12)
  const deep = 30
  const body = `"a":${'['.repeat(deep)}${names}${']'.repeat(deep)}`
  assert.ok(stepsOf(body) < 30)
  assert.deepEqual(parsed(body), JSON.parse(`{${body}}`))
})

test('long managed fields are passed over in steps, whatever stands in them', () => {
  const fieldsV1 = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f:"rules":[ ]}\\${i}`, { 'f:a': {} }]))
  const managed = JSON.stringify([{ manager: 'm', fieldsV1 }])
  const body = `"metadata":{"name":"b","managedFields":${managed},"uid":"u"},"rules":[1]`
  const work = fieldsInSteps(storedOf(body), boxes)
  let steps = 0
  let step = work.next()
  for (; !step.done; step = work.next()) steps += 1
  assert.deepEqual(step.value, { metadata: { name: 'b', uid: 'u' }, rules: [1] })
  assert.ok(steps > 8, String(steps))
})

test('what was written in another version is not parsed', async () => {
  const store = await storeOfBoxes()
  const value = store.encode(boxes, { metadata: { name: 'b', uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z' } })
  const stored = { entry: { key: 'k', revision: 1, value } } as unknown as StoredObject
  assert.deepEqual(Object.keys(atOnce(fieldsInSteps(stored, boxes)) ?? {}), ['metadata'])
  assert.equal(atOnce(fieldsInSteps(stored, { ...boxes, storedApiVersion: 'other/v2' } as StoredKind)), undefined)
})
