// Requests at once: how many are answered, who waits and for how long, and who is never refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from './exchange.js'
import { Inflight } from './inflight.js'
import { OverloadedError } from './pressure.js'

interface Asked extends Exchange {
  /** The client goes away. */
  go(): void
}

function ask(verb: string, ...groups: string[]): Asked {
  const leaving: (() => void)[] = []
  return {
    info: { verb, path: '/api/v1/pods', isResource: true },
    user: { name: 'x', uid: '', groups, extra: {} },
    isLimited: false,
    counted: undefined,
    releaseBody: () => undefined,
    onLeave: (call: () => void) => leaving.push(call),
    go: () => leaving.forEach((call) => void call()),
  } as unknown as Asked
}

const inflightOf = (limits: Partial<ConstructorParameters<typeof Inflight>[0]> = {}): Inflight =>
  new Inflight({ maxReadOnly: 2, maxMutating: 1, pressure: { isFull: false }, ...limits })

test('one more than allowed waits until somebody leaves', async () => {
  const inflight = inflightOf()
  const first = ask('create')
  assert.equal(inflight.filter(first), false)
  assert.equal(inflight.filter(ask('list')), false, 'readers have places of their own')
  const second = ask('create')
  const waiting = inflight.filter(second)
  assert.ok(waiting instanceof Promise)
  assert.deepEqual([inflight.mutating, inflight.waiting], [1, 1])
  inflight.leave(first)
  assert.deepEqual([inflight.mutating, inflight.waiting], [1, 0], 'the place is handed on at once')
  assert.equal(await waiting, false)
  inflight.leave(second)
  inflight.leave(second)
  assert.equal(inflight.mutating, 0)
})

test('those who wait are served in their order, and nobody overtakes them', async () => {
  const inflight = inflightOf()
  const asked = [ask('create'), ask('create'), ask('create')]
  const order: number[] = []
  const answers = asked.map((exchange, i) => Promise.resolve(inflight.filter(exchange)).then(() => order.push(i)))
  for (const exchange of asked) {
    await new Promise(setImmediate)
    inflight.leave(exchange)
  }
  await Promise.all(answers)
  assert.deepEqual(order, [0, 1, 2])
})

test('too many who wait, or too long: refused', async () => {
  const inflight = inflightOf({ maxWaiting: 1, maxWaitMs: 20 })
  inflight.filter(ask('create'))
  const waiting = inflight.filter(ask('create'))
  assert.throws(() => inflight.filter(ask('create')), OverloadedError)
  const alive = setTimeout(() => undefined, 1000)
  await assert.rejects(Promise.resolve(waiting), OverloadedError)
  clearTimeout(alive)
  assert.deepEqual([inflight.mutating, inflight.waiting], [1, 0])
})

test('whoever goes away does not wait any more', async () => {
  const inflight = inflightOf()
  inflight.filter(ask('create'))
  const second = ask('create')
  const waiting = Promise.resolve(inflight.filter(second))
  second.go()
  await assert.rejects(waiting)
  assert.equal(inflight.waiting, 0)
})

test('administrators neither wait nor take the places of others', () => {
  const inflight = inflightOf()
  const many = Array.from({ length: 1000 }, () => ask('create', 'system:masters'))
  for (const exchange of many) assert.equal(inflight.filter(exchange), false)
  assert.equal(inflight.mutating, 1000)
  assert.equal(inflight.filter(ask('create')), false)
  for (const exchange of many) inflight.leave(exchange)
  assert.equal(inflight.mutating, 1)
})

test('where memory is used up, everybody is refused', () => {
  const inflight = inflightOf({ pressure: { isFull: true } })
  assert.throws(() => inflight.filter(ask('get', 'system:masters')), OverloadedError)
})

test('ten times as many as may be answered and wait: the others are refused at once', () => {
  const inflight = inflightOf({ maxMutating: 20, maxWaiting: 100 })
  let refused = 0
  for (let i = 0; i < 1200; i++) {
    try {
      const answered = inflight.filter(ask('create'))
      if (answered instanceof Promise) answered.catch(() => undefined)
    } catch {
      refused++
    }
  }
  assert.deepEqual([inflight.mutating, inflight.waiting, refused], [20, 100, 1080])
})
