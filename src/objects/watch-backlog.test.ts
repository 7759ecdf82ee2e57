// Slow watchers: what waits for them is counted once, and those go first who have been behind longest.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StoredObject } from './stored-object.js'
import { type Laggard, type UnsentPart, WatchBacklog } from './watch-backlog.js'
import { WatchEvent } from './watch-events.js'

const eventOf = (bytes: number): WatchEvent =>
  new WatchEvent('ADDED', new StoredObject({ key: 'k', revision: 1, value: Buffer.alloc(bytes) }))

/** Holds events, and gives them back when it is let go. */
class Slow implements Laggard {
  isGone = false
  private held: WatchEvent[] = []
  private readonly backlog: WatchBacklog
  constructor(backlog: WatchBacklog) {
    this.backlog = backlog
  }
  take(event: WatchEvent): void {
    this.held.push(event)
    this.backlog.hold([event], this)
  }
  letGo(): void {
    this.isGone = true
    this.backlog.release(this.held)
    this.held = []
  }
}

test('an event counts once, however many wait for it', () => {
  const backlog = new WatchBacklog(10_000)
  const event = eventOf(1000)
  const slow = [new Slow(backlog), new Slow(backlog), new Slow(backlog)]
  for (const one of slow) one.take(event)
  const once = backlog.bytes
  assert.ok(once > 2000 && once < 3000)
  assert.equal(backlog.laggards, 3)
  slow[0]?.letGo()
  assert.equal(backlog.bytes, once)
  for (const one of slow.slice(1)) one.letGo()
  assert.equal(backlog.bytes, 0)
})

test('when it is too much, those go who have been behind longest, and no more of them than needed', () => {
  const backlog = new WatchBacklog(50_000)
  const old = [new Slow(backlog), new Slow(backlog)]
  const young = new Slow(backlog)
  for (let i = 0; i < 15; i++) {
    const event = eventOf(1000)
    for (const one of old) one.take(event)
  }
  for (let i = 0; i < 10; i++) young.take(eventOf(1000))
  assert.deepEqual(
    [...old, young].map(({ isGone }) => isGone),
    [true, true, false],
  )
  assert.equal(backlog.laggards, 1)
  assert.ok(backlog.bytes <= 50_000)
})

/** A connection that has so many bytes to send, of its own or shared with others. */
class Stuck implements Laggard {
  isGone = false
  readonly parts: readonly UnsentPart[]
  constructor(...parts: readonly UnsentPart[]) {
    this.parts = parts
  }
  unsent() {
    return this.parts
  }
  letGo(): void {
    this.isGone = true
  }
}

test('what lies in connections counts when nothing of it was taken between two looks, and once', () => {
  const backlog = new WatchBacklog(10_000)
  const frame = {}
  const stuck = [new Stuck([{}, 1000], [frame, 5000]), new Stuck([{}, 1000], [frame, 5000])]
  for (const one of stuck) backlog.stall(one)
  backlog.look()
  assert.equal(backlog.bytes, 0)
  backlog.look()
  assert.equal(backlog.bytes, 7000)
  for (const one of stuck) backlog.move(one)
  backlog.look()
  assert.equal(backlog.bytes, 0)
})

test('of connections that take nothing those go first that took something longest ago; whoever moves stays', () => {
  const backlog = new WatchBacklog(10_000)
  const stuck = Array.from({ length: 10 }, () => new Stuck([{}, 4000]))
  for (const one of stuck) backlog.stall(one)
  for (let i = 0; i < 3; i++) {
    backlog.look()
    backlog.stall(stuck[0] as Stuck)
  }
  assert.deepEqual(
    stuck.map(({ isGone }) => isGone),
    [false, ...Array.from({ length: 7 }, () => true), false, false],
  )
  assert.ok(backlog.bytes <= 10_000)
  backlog.close()
})

test('queues and connections are counted together', () => {
  const backlog = new WatchBacklog(10_000)
  const stuck = new Stuck([{}, 8000])
  backlog.stall(stuck)
  backlog.look()
  backlog.look()
  new Slow(backlog).take(eventOf(2000))
  assert.equal(stuck.isGone, false, 'whose queue is empty goes at the next look')
  backlog.look()
  assert.equal(stuck.isGone || backlog.bytes <= 10_000, true)
  backlog.close()
})

test('a large event that several make for themselves is one', () => {
  const backlog = new WatchBacklog(10_000)
  const first = eventOf(20_000)
  assert.equal(backlog.share(first), first)
  assert.equal(backlog.share(eventOf(20_000)), first)
  const small = eventOf(1000)
  assert.equal(backlog.share(small), small)
  const other = eventOf(1000)
  assert.equal(backlog.share(other), other)
})

test('how much lies in a connection is asked once for all who share it', () => {
  const backlog = new WatchBacklog(10_000)
  let asked = 0
  const connection = {}
  const unsentBytes = (): number => {
    asked++
    return 1000
  }
  for (let i = 0; i < 50; i++) backlog.stall(new Stuck([connection, unsentBytes]))
  backlog.look()
  assert.equal(asked, 0)
  backlog.look()
  assert.deepEqual([asked, backlog.bytes], [1, 1000])
  backlog.close()
})

/** To let it go takes a millisecond. */
class Tedious extends Stuck {
  override letGo(): void {
    for (const until = performance.now() + 1; performance.now() < until; );
    super.letGo()
  }
}

test('very many that take nothing are let go in pieces; whoever moves meanwhile stays', async () => {
  const backlog = new WatchBacklog(10_000)
  const stuck = Array.from({ length: 50 }, () => new Tedious([{}, 4000]))
  const gone = (): number => stuck.filter(({ isGone }) => isGone).length
  for (const one of stuck) backlog.stall(one)
  backlog.look()
  backlog.look()
  assert.ok(gone() <= 4, `${gone()} at once`)
  backlog.move(stuck[40] as Tedious)
  for (let before = gone(); gone() < 47; before = gone()) {
    await nextTurn()
    // A piece, and another one where its own timer looks meanwhile, as on a busy machine.
    assert.ok(gone() - before <= 8, `${gone() - before} in one turn`)
  }
  for (let i = 0; i < 10; i++) await nextTurn()
  // What the one that moved had to send counts until the next look.
  assert.ok(gone() === 47 || gone() === 48, `${gone()} were let go`)
  assert.equal(stuck[40]?.isGone, false)
  assert.ok(backlog.bytes <= 10_000)
  backlog.close()
})
