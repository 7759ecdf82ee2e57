// Kinds that come while the server runs, more dependents than a queue holds, and a store that does not answer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { box, boxes, definition, put } from '../../objects/fixture.js'
import { flushTurns } from '../kit/timers.fixture.js'
import { Theatre } from './play.fixture.js'

const boxOwner = { of: 'x', as: { kind: 'Box', uid: 'uid-1' } }

async function until(theatre: Theatre, isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 10_000 && !isDone(); i++) await theatre.timers.advance(1000)
  assert.ok(isDone())
}

test('owners of a kind that comes later are looked for then', async () => {
  const theatre = await Theatre.open()
  await put(theatre.stage.engine.store, box('x'))
  await theatre.make({ name: 'kept', owners: [boxOwner] })
  await theatre.make({ name: 'lost', owners: [{ of: 'y', as: { kind: 'Box' } }] })
  await theatre.timers.advance(60_000)
  assert.deepEqual(theatre.left, ['kept', 'lost'])
  theatre.stage.catalogs.change({ put: [definition] })
  await until(theatre, () => theatre.left.length === 1)
  assert.deepEqual(theatre.left, ['kept'])
  await theatre.stop()
})

test('what owners of a kind owned goes although the kind itself is gone before anything is done about it, or the version is', async () => {
  const theatre = await Theatre.open()
  const { engine, catalogs } = theatre.stage
  catalogs.change({ put: [definition] })
  await put(engine.store, box('x'))
  await theatre.make({ name: 'owned', owners: [boxOwner] })
  await theatre.make({ name: 'by-version', owners: [{ of: 'x', as: { apiVersion: 'v9', kind: 'Box', uid: 'uid-1' } }] })
  await theatre.make({ name: 'of-nobody', owners: [{ of: 'x', as: { apiVersion: 'v9', kind: 'Other', uid: 'uid-1' } }] })
  await theatre.timers.advance(60_000)
  assert.deepEqual(theatre.left, ['by-version', 'of-nobody', 'owned'])
  const owner = engine.store.read({ resource: boxes, namespace: 'n', name: 'x' })
  assert.ok(owner)
  await engine.store.remove(owner)
  catalogs.change({ remove: [definition] })
  await until(theatre, () => theatre.left.length === 1)
  assert.deepEqual(theatre.left, ['of-nobody'])
  await theatre.stop()
})

test('dependents of a kind that comes later are collected, those that were there before and those that come', async () => {
  const theatre = await Theatre.open()
  const { store } = theatre.stage.engine
  await theatre.make({ name: 'a' })
  const owned = (name: string) => ({
    ...box(name),
    metadata: {
      ...box(name).metadata,
      ownerReferences: [theatre.refer('a') as { apiVersion: string; kind: string; name: string; uid: string }],
    },
  })
  await put(store, owned('before'))
  theatre.stage.catalogs.change({ put: [definition] })
  await put(store, owned('behind'))
  await theatre.timers.advance(5000)
  assert.equal(store.count(boxes, ''), 2)
  await theatre.remove('a')
  await until(theatre, () => store.count(boxes, '') === 0)
  await theatre.stop()
})

test('however many depend on one, all of them go, and the queue stays short', async () => {
  const theatre = await Theatre.open()
  await theatre.make({ name: 'a' })
  for (let i = 0; i < 1500; i++) await theatre.make({ name: `b${i}`, owners: ['a'] })
  await theatre.timers.advance(2000)
  await theatre.remove('a')
  await until(theatre, () => theatre.count === 0)
  assert.ok(theatre.counters.of('garbage_collector_attempt_to_delete').adds < 1600)
  await theatre.stop()
})

test('what the queue has no room for is found by going through everything', async () => {
  const theatre = await Theatre.open()
  const many = 10_500
  for (let at = 0; at < many; at += 500)
    await Promise.all(Array.from({ length: 500 }, (_, i) => theatre.make({ name: `b${at + i}`, owners: [{ of: `nobody-${at + i}` }] })))
  await until(theatre, () => theatre.count === 0)
  await theatre.stop()
})

test('an object may name thousands of owners that are not there: that is work for a moment', async () => {
  const theatre = await Theatre.open()
  await theatre.make({ name: 'a', owners: Array.from({ length: 2000 }, (_, i) => ({ of: `nobody-${i}` })) })
  const before = process.cpuUsage()
  await until(theatre, () => theatre.left.length === 0)
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 10_000_000, `it took ${(user + system) / 1000} ms`)
  await theatre.stop()
})

test('one that may not be deleted does not save the others, and is tried again', async () => {
  const theatre = await Theatre.open()
  await theatre.make({ name: 'a' })
  for (const name of ['b', 'c', 'd']) await theatre.make({ name, owners: ['a'] })
  let refusals = 0
  const { admission } = theatre.stage.engine
  Object.assign(admission, {
    validate: ({ call }: { readonly call: { readonly name: string } }) => {
      if (call.name !== 'c' || refusals === 3) return undefined
      refusals += 1
      throw new Error('not this one')
    },
  })
  await theatre.remove('a')
  await theatre.timers.advance(350)
  assert.deepEqual(theatre.left, ['c'])
  await until(theatre, () => theatre.left.length === 0)
  assert.equal(refusals, 3)
  await theatre.stop()
})

test('nothing is done after the end', async () => {
  const theatre = await Theatre.open()
  await theatre.make({ name: 'a' })
  await theatre.make({ name: 'b', owners: ['a'] })
  await theatre.remove('a')
  await theatre.stop()
  await theatre.timers.advance(10_000)
  await flushTurns()
  assert.deepEqual(theatre.left, ['b'])
  assert.equal(theatre.timers.size, 0)
})

test('where nobody sees to dependents, an owner does not wait for them', async () => {
  const theatre = await Theatre.open()
  await theatre.stop()
  Object.assign(theatre.stage.engine, { ignoresDependents: true })
  await theatre.make({ name: 'a' })
  await theatre.make({ name: 'b', owners: ['a'] })
  await theatre.remove('a', 'Foreground')
  assert.deepEqual(theatre.left, ['b'])
})
