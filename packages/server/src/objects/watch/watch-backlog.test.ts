// The backlog of slow watchers: shared events count once, and the slowest watchers are ended first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { StoredObject } from '../entry/stored-object.js'
import { type SlowWatcher, type UnsentBuffer, WatchBacklog } from './watch-backlog.js'
import { WatchEvent } from './watch-events.js'

/** The time budget is never spent. */
const backlogOf = (maxBytes: number): WatchBacklog => new WatchBacklog(maxBytes, new TurnBudget(() => 0))

const eventOf = (bytes: number): WatchEvent =>
  new WatchEvent('ADDED', new StoredObject({ key: 'k', revision: 1, value: Buffer.alloc(bytes) }))

/** Queues events, and releases them when it is ended. */
class QueueingWatcher implements SlowWatcher {
  isEnded = false
  private queued: WatchEvent[] = []
  private readonly backlog: WatchBacklog
  constructor(backlog: WatchBacklog) {
    this.backlog = backlog
  }
  take(event: WatchEvent): void {
    this.queued.push(event)
    this.backlog.add([event], this)
  }
  endTooSlow(): void {
    this.isEnded = true
    this.backlog.release(this.queued)
    this.queued = []
  }
}

test('an event counts once for any number of watchers', () => {
  const backlog = backlogOf(10_000)
  const event = eventOf(1000)
  const watchers = [new QueueingWatcher(backlog), new QueueingWatcher(backlog), new QueueingWatcher(backlog)]
  for (const watcher of watchers) watcher.take(event)
  const once = backlog.bytes
  assert.ok(once > 2000 && once < 3000)
  assert.equal(backlog.slowWatcherCount, 3)
  watchers[0]?.endTooSlow()
  assert.equal(backlog.bytes, once)
  for (const watcher of watchers.slice(1)) watcher.endTooSlow()
  assert.equal(backlog.bytes, 0)
})

test('above the limit, the longest waiting watchers end, and no more than needed', () => {
  const backlog = backlogOf(50_000)
  const oldWatchers = [new QueueingWatcher(backlog), new QueueingWatcher(backlog)]
  const newWatcher = new QueueingWatcher(backlog)
  for (let i = 0; i < 15; i++) {
    const event = eventOf(1000)
    for (const watcher of oldWatchers) watcher.take(event)
  }
  for (let i = 0; i < 10; i++) newWatcher.take(eventOf(1000))
  assert.deepEqual(
    [...oldWatchers, newWatcher].map(({ isEnded }) => isEnded),
    [true, true, false],
  )
  assert.equal(backlog.slowWatcherCount, 1)
  assert.ok(backlog.bytes <= 50_000)
})

/** A stalled connection with unsent buffers, its own or shared ones. */
class StalledWatcher implements SlowWatcher {
  isEnded = false
  readonly buffers: readonly UnsentBuffer[]
  constructor(...buffers: readonly UnsentBuffer[]) {
    this.buffers = buffers
  }
  unsent() {
    return this.buffers
  }
  endTooSlow(): void {
    this.isEnded = true
  }
}

test('unsent bytes of a connection count once it has sent nothing between two measurements', () => {
  const backlog = backlogOf(10_000)
  const frame = {}
  const stalled = [new StalledWatcher([{}, 1000], [frame, 5000]), new StalledWatcher([{}, 1000], [frame, 5000])]
  for (const watcher of stalled) backlog.stall(watcher)
  backlog.measure()
  assert.equal(backlog.bytes, 0)
  backlog.measure()
  assert.equal(backlog.bytes, 7000)
  for (const watcher of stalled) backlog.unstall(watcher)
  backlog.measure()
  assert.equal(backlog.bytes, 0)
})

test('the longest stalled connections end first; a connection that sends stays', () => {
  const backlog = backlogOf(10_000)
  const stalled = Array.from({ length: 10 }, () => new StalledWatcher([{}, 4000]))
  for (const watcher of stalled) backlog.stall(watcher)
  for (let i = 0; i < 3; i++) {
    backlog.measure()
    backlog.stall(stalled[0] as StalledWatcher)
  }
  assert.deepEqual(
    stalled.map(({ isEnded }) => isEnded),
    [false, ...Array.from({ length: 7 }, () => true), false, false],
  )
  assert.ok(backlog.bytes <= 10_000)
  backlog.close()
})

test('queues and connections are counted together', () => {
  const backlog = backlogOf(10_000)
  const stalled = new StalledWatcher([{}, 8000])
  backlog.stall(stalled)
  backlog.measure()
  backlog.measure()
  new QueueingWatcher(backlog).take(eventOf(2000))
  assert.equal(stalled.isEnded, false, 'a watcher with an empty queue ends at the next measurement')
  backlog.measure()
  assert.equal(stalled.isEnded || backlog.bytes <= 10_000, true)
  backlog.close()
})

test('watchers that replay a large event share it', () => {
  const backlog = backlogOf(10_000)
  const first = eventOf(20_000)
  assert.equal(backlog.share(first), first)
  assert.equal(backlog.share(eventOf(20_000)), first)
  const small = eventOf(1000)
  assert.equal(backlog.share(small), small)
  const other = eventOf(1000)
  assert.equal(backlog.share(other), other)
})
