// Watches at once: how many there may be, and that many of them begin one after the other.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mastersGroup, type User } from '../api/user.js'
import { OverloadedError } from './pressure.js'
import { WatchRoom } from './watch-room.js'

const user = (name: string, ...groups: readonly string[]): User => ({ name, uid: '', groups, extra: {} })
const admin = user('admin', mastersGroup)

test('beyond the limit they are refused, until somebody has gone', () => {
  const room = new WatchRoom(2)
  const leaving: (() => void)[] = []
  const exchange = { user: admin, onLeave: (call: () => void) => void leaving.push(call) }
  room.enter(exchange)
  room.enter(exchange)
  assert.throws(() => room.enter(exchange), OverloadedError)
  leaving[0]?.()
  room.enter(exchange)
  assert.equal(room.open, 2)
})

test('one user may have half of them, and administrators all', () => {
  const room = new WatchRoom(100)
  const leaving: (() => void)[] = []
  const of = (who: User) => ({ user: who, onLeave: (call: () => void) => void leaving.push(call) })
  for (let i = 0; i < 50; i++) room.enter(of(user('mallory')))
  for (let i = 0; i < 500; i++) {
    assert.throws(() => room.enter(of(user('mallory'))), {
      message: /user "mallory" has 50 watches open, which is as many as one user may/,
    })
  }
  room.enter(of(user('alice')))
  leaving.shift()?.()
  room.enter(of(user('mallory')))
  for (const leave of leaving.splice(0)) leave()
  assert.equal(room.open, 0)
  for (let i = 0; i < 100; i++) room.enter(of(admin))
  assert.equal(room.open, 100)
})

test('of very many conditions in selectors no more are kept than there is room for, and usual watches do not mind', () => {
  const room = new WatchRoom(1000)
  const leaving: (() => void)[] = []
  const exchange = { user: admin, onLeave: (call: () => void) => void leaving.push(call) }
  for (let i = 0; i < 20; i++) room.enter(exchange, { conditions: 10_000 })
  for (let i = 0; i < 200; i++) assert.throws(() => room.enter(exchange, { conditions: 10_000 }), OverloadedError)
  for (let i = 0; i < 100; i++) room.enter(exchange, { conditions: 16 })
  leaving[0]?.()
  room.enter(exchange, { conditions: 10_000 })
  assert.equal(room.open, 120)
})

test('of watches with long addresses there are as many as there is room for, and usual ones do not mind', () => {
  const room = new WatchRoom(20_000)
  const leaving: (() => void)[] = []
  const exchange = { user: admin, onLeave: (call: () => void) => void leaving.push(call) }
  for (let i = 0; i < 1024; i++) room.enter(exchange, { bytes: 64 << 10 })
  for (let i = 0; i < 10_240; i++) assert.throws(() => room.enter(exchange, { bytes: 64 << 10 }), OverloadedError)
  room.enter(exchange, { bytes: 4 << 10 })
  leaving[0]?.()
  room.enter(exchange, { bytes: 64 << 10 })
  assert.equal(room.open, 1025)
})

test('ten times as many as may be open: as many as may be open', () => {
  const room = new WatchRoom(100)
  let refused = 0
  for (let i = 0; i < 1000; i++) {
    try {
      room.enter({ user: admin, onLeave: () => undefined })
    } catch {
      refused++
    }
  }
  assert.deepEqual([room.open, refused], [100, 900])
})

test('a burst begins at once, the others take turns with everything else', async () => {
  const room = new WatchRoom(10_000)
  const waiting = Array.from({ length: 500 }, () => room.turn())
  assert.equal(waiting.filter((turn) => turn === undefined).length, 50)
  let begun = 0
  let turns = 0
  let longest = 0
  const begin = async (turn: Promise<void> | undefined): Promise<void> => {
    await turn
    for (const until = performance.now() + 1; performance.now() < until; );
    begun++
  }
  const all = Promise.all(waiting.map(begin))
  while (begun < waiting.length) {
    const before = begun
    await new Promise(setImmediate)
    if (turns++ > 0) longest = Math.max(longest, begun - before)
    assert.ok(turns < 10_000)
  }
  await all
  assert.ok(longest <= 10, `${longest} in one turn`)
  assert.equal(room.turn(), undefined)
})

test('where there are very many each has less room', () => {
  const room = new WatchRoom(10_000)
  const before = room.bytesEach
  for (let i = 0; i < 2000; i++) room.enter({ user: admin, onLeave: () => undefined })
  assert.ok(room.bytesEach < before)
})
