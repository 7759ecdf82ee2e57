// What becomes of dependents when their owners go: one play for each rule.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flushTurns } from '../kit/timers.fixture.js'
import { type Play, Theatre } from './play.fixture.js'

const long = { wait: 5000 }
const held = ['example.com/hold']

const plays: readonly Play[] = [
  {
    title: 'background: what is owned goes after its owner, level by level, and others stay',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }, { name: 'c', kind: 'Secret', owners: ['b'] }, { name: 'other' }],
    when: [{ remove: 'a' }, long],
    expect: { left: ['other'] },
  },
  {
    title: 'an owner that is changed and not deleted keeps its dependents',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }],
    when: [{ change: 'a', metadata: { labels: { new: 'label' } } }, long],
    expect: { left: ['a', 'b'], owners: { b: ['a'] } },
  },
  {
    title: 'one owner of two goes: the dependent stays and loses the reference',
    given: [{ name: 'a' }, { name: 'b' }, { name: 'c', owners: ['a', 'b'] }],
    when: [{ remove: 'a' }, long],
    expect: { left: ['b', 'c'], owners: { c: ['b'] } },
  },
  {
    title: 'the last of two owners goes',
    given: [{ name: 'a' }, { name: 'b' }, { name: 'c', owners: ['a', 'b'] }],
    when: [{ remove: 'a' }, { remove: 'b' }, long],
    expect: { left: [] },
  },
  {
    title: 'an owner held by somebody is still there: its dependents stay until it is gone',
    given: [
      { name: 'a', finalizers: held },
      { name: 'b', owners: ['a'] },
    ],
    when: [{ remove: 'a', policy: 'Background' }, long],
    expect: { left: ['-a', 'b'] },
  },
  {
    title: 'it is let go, and they follow',
    given: [
      { name: 'a', finalizers: held },
      { name: 'b', owners: ['a'] },
    ],
    when: [{ remove: 'a' }, long, { change: 'a', metadata: { finalizers: null } }, long],
    expect: { left: [] },
  },
  {
    title: 'a dependent held by somebody is marked and waits',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'], finalizers: held }],
    when: [{ remove: 'a' }, long],
    expect: { left: ['-b'] },
  },
  {
    title: 'orphan: the owner goes, what it owned stays without it, and so do others that they own',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }, { name: 'c', owners: ['a', 'b'] }],
    when: [{ remove: 'a', policy: 'Orphan' }, long],
    expect: { left: ['b', 'c'], owners: { b: [], c: ['b'] } },
  },
  {
    title: 'orphan, and the owner is held by somebody else as well',
    given: [
      { name: 'a', finalizers: held },
      { name: 'b', owners: ['a'] },
    ],
    when: [{ remove: 'a', policy: 'Orphan' }, long],
    expect: { left: ['-a', 'b'], owners: { b: [] } },
  },
  {
    title: 'who changes their mind before anything was done is heard',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }],
    when: [{ remove: 'a', policy: 'Foreground' }, { remove: 'a', policy: 'Orphan' }, long],
    expect: { left: ['b'], owners: { b: [] } },
  },
  {
    title: 'foreground: dependents go first, and the owner after them',
    given: [{ name: 'a' }, { name: 'b', owners: [{ of: 'a', blocks: true }] }, { name: 'c', owners: [{ of: 'b', blocks: true }] }],
    when: [{ remove: 'a', policy: 'Foreground' }, long],
    expect: { left: [] },
  },
  {
    title: 'foreground: an owner waits for a dependent that blocks it and is held',
    given: [{ name: 'a' }, { name: 'b', owners: [{ of: 'a', blocks: true }], finalizers: held }, { name: 'c', owners: ['a'] }],
    when: [{ remove: 'a', policy: 'Foreground' }, long],
    expect: { left: ['-a', '-b'] },
  },
  {
    title: 'foreground: it goes when that one is gone',
    given: [{ name: 'a' }, { name: 'b', owners: [{ of: 'a', blocks: true }], finalizers: held }],
    when: [{ remove: 'a', policy: 'Foreground' }, long, { change: 'b', metadata: { finalizers: null } }, { wait: 100 }],
    expect: { left: [] },
  },
  {
    title: 'foreground: or when it does not block any more',
    given: [{ name: 'a' }, { name: 'b', owners: [{ of: 'a', blocks: true }], finalizers: held }],
    when: [{ remove: 'a', policy: 'Foreground' }, long, { change: 'b', metadata: { ownerReferences: null } }, { wait: 100 }],
    expect: { left: ['-b'] },
  },
  {
    title: 'foreground: who does not block is not waited for',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'], finalizers: held }],
    when: [{ remove: 'a', policy: 'Foreground' }, long],
    expect: { left: ['-b'] },
  },
  {
    title: 'foreground: a dependent with another owner stays, and lets the one that waits go',
    given: [{ name: 'a' }, { name: 'o' }, { name: 'b', owners: [{ of: 'a', blocks: true }, 'o'] }],
    when: [{ remove: 'a', policy: 'Foreground' }, long],
    expect: { left: ['b', 'o'], owners: { b: ['o'] } },
  },
  {
    title: 'foreground reaches through levels: who depends on a dependent is waited for',
    given: [
      { name: 'a' },
      { name: 'b', owners: [{ of: 'a', blocks: true }] },
      { name: 'c', owners: [{ of: 'b', blocks: true }], finalizers: held },
    ],
    when: [{ remove: 'a', policy: 'Foreground' }, long],
    expect: { left: ['-a', '-b', '-c'] },
  },
  {
    title: 'an owner that does not exist: the dependent goes',
    given: [{ name: 'b', owners: [{ of: 'nobody' }] }],
    when: [long],
    expect: { left: [] },
  },
  {
    title: 'an owner of another uid: the dependent goes, and the one of that name stays',
    given: [{ name: 'a' }, { name: 'b', owners: [{ of: 'a', as: { uid: 'another' } }] }],
    when: [long],
    expect: { left: ['a'] },
  },
  {
    title: 'an owner of another kind: the dependent goes',
    given: [{ name: 'a' }, { name: 'b', owners: [{ of: 'a', as: { kind: 'Secret' } }] }],
    when: [long],
    expect: { left: ['a'] },
  },
  {
    title: 'an owner of a kind that nobody serves: the dependent stays, whoever else it had',
    given: [{ name: 'a' }, { name: 'b', owners: ['a', { of: 'x', as: { apiVersion: 'example.com/v1', kind: 'Unknown' } }] }],
    when: [{ remove: 'a' }, long],
    expect: { left: ['b'], owners: { b: ['a', 'x'] } },
  },
  {
    title: 'an owner in another namespace: the dependent goes, and an event says why',
    given: [
      { name: 'a', namespace: 'm' },
      { name: 'b', owners: ['a'] },
    ],
    when: [long],
    expect: {
      left: ['a'],
      events: ['b OwnerRefInvalidNamespace ownerRef [v1/ConfigMap, namespace: n, name: a, uid: uid-1] does not exist in namespace "n"'],
    },
  },
  {
    title: 'what is in no namespace cannot belong to what is in one: it stays for ever, and an event says so',
    given: [{ name: 'a' }, { name: 'r', kind: 'ClusterRole', owners: ['a'] }],
    when: [{ wait: 2000 }, { remove: 'a' }, long],
    expect: {
      left: ['r'],
      owners: { r: ['a'] },
      events: ['r OwnerRefInvalidNamespace ownerRef [v1/ConfigMap, namespace: , name: a, uid: uid-1] does not exist in namespace ""'],
    },
  },
  {
    title: 'what is in a namespace can belong to what is in none',
    given: [
      { name: 'r', kind: 'ClusterRole' },
      { name: 'b', owners: ['r'] },
      { name: 'c', namespace: 'm', owners: ['r'] },
    ],
    when: [long, { remove: 'r' }, long],
    expect: { left: [] },
  },
  {
    title: 'two that own each other go together',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }],
    when: [
      { change: 'a', metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: 'uid-2' }] } },
      { remove: 'a' },
      long,
    ],
    expect: { left: [] },
  },
  {
    title: 'two that block each other do not wait for each other for ever',
    given: [{ name: 'a' }, { name: 'b', owners: [{ of: 'a', blocks: true }] }],
    when: [
      {
        change: 'a',
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: 'uid-2', blockOwnerDeletion: true }] },
      },
      { remove: 'a', policy: 'Foreground' },
      long,
    ],
    expect: { left: [] },
  },
  {
    title: 'a dependent that comes after its owner was deleted goes, too',
    given: [{ name: 'a' }],
    when: [{ remove: 'a' }, { wait: 2000 }, { make: { name: 'b', owners: ['a'] } }, long],
    expect: { left: [] },
  },
  {
    title: 'a dependent that is given to another owner in time stays',
    given: [{ name: 'a' }, { name: 'o' }, { name: 'b', owners: ['a'] }],
    when: [
      { remove: 'a' },
      { change: 'b', metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'uid-2' }] } },
      long,
    ],
    expect: { left: ['b', 'o'], owners: { b: ['o'] } },
  },
  {
    title: 'an owner that is put back in time, as a reset does, keeps its dependents',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }],
    when: [{ remove: 'a' }, { restore: 'a' }, long],
    expect: { left: ['a', 'b'], owners: { b: ['a'] } },
  },
  {
    title: 'a dependent with the finalizer of an orphan leaves its own dependents behind',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'], finalizers: ['orphan'] }, { name: 'c', owners: ['b'] }],
    when: [{ remove: 'a' }, long],
    expect: { left: ['c'], owners: { c: [] } },
  },
  {
    title: 'what happened while nobody looked is found at the start: an owner that went',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }, { name: 'o' }, { name: 'c', owners: ['o'] }],
    when: [{ stop: true }, { remove: 'a' }, long, { start: true }, long],
    expect: { left: ['c', 'o'] },
  },
  {
    title: 'and one that waits for its dependents, and one whose shall stay',
    given: [{ name: 'a' }, { name: 'b', owners: [{ of: 'a', blocks: true }] }, { name: 'o' }, { name: 'c', owners: ['o'] }],
    when: [{ stop: true }, { remove: 'a', policy: 'Foreground' }, { remove: 'o', policy: 'Orphan' }, { start: true }, long],
    expect: { left: ['c'], owners: { c: [] } },
  },
]

for (const { title, given, when, expect } of plays) {
  test(title, async () => {
    const theatre = await Theatre.open()
    for (const thing of given) await theatre.make(thing)
    for (const step of when) await theatre.do(step)
    await flushTurns()
    assert.deepEqual(theatre.left, expect.left)
    for (const [name, owners] of Object.entries(expect.owners ?? {})) assert.deepEqual(theatre.ownersOf(name), owners)
    const events = theatre.events().map(({ involvedObject, reason, message }) => `${involvedObject.name} ${reason} ${message}`)
    assert.deepEqual(events, expect.events ?? [])
    await theatre.stop()
  })
}
