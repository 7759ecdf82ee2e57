// Garbage collection: scenarios of owner references and propagation policies.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flushTurns } from '../framework/timers.fixture.js'
import { Scenario, type ScenarioCase } from './scenario.fixture.js'

const long = { wait: 5000 }
const otherFinalizers = ['example.com/hold']

const cases: readonly ScenarioCase[] = [
  {
    title: 'background: dependents are deleted after their owner, level by level',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }, { name: 'c', kind: 'Secret', owners: ['b'] }, { name: 'other' }],
    when: [{ remove: 'a' }, long],
    expect: { remaining: ['other'] },
  },
  {
    title: 'an owner that is changed and not deleted keeps its dependents',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }],
    when: [{ change: 'a', metadata: { labels: { new: 'label' } } }, long],
    expect: { remaining: ['a', 'b'], owners: { b: ['a'] } },
  },
  {
    title: 'one of two owners is deleted: the dependent loses the reference',
    given: [{ name: 'a' }, { name: 'b' }, { name: 'c', owners: ['a', 'b'] }],
    when: [{ remove: 'a' }, long],
    expect: { remaining: ['b', 'c'], owners: { c: ['b'] } },
  },
  {
    title: 'both owners are deleted: the dependent is deleted',
    given: [{ name: 'a' }, { name: 'b' }, { name: 'c', owners: ['a', 'b'] }],
    when: [{ remove: 'a' }, { remove: 'b' }, long],
    expect: { remaining: [] },
  },
  {
    title: 'dependents of a terminating owner with a finalizer stay',
    given: [
      { name: 'a', finalizers: otherFinalizers },
      { name: 'b', owners: ['a'] },
    ],
    when: [{ remove: 'a', policy: 'Background' }, long],
    expect: { remaining: ['-a', 'b'] },
  },
  {
    title: 'dependents of a terminating owner are deleted after its finalizer is removed',
    given: [
      { name: 'a', finalizers: otherFinalizers },
      { name: 'b', owners: ['a'] },
    ],
    when: [{ remove: 'a' }, long, { change: 'a', metadata: { finalizers: null } }, long],
    expect: { remaining: [] },
  },
  {
    title: 'a dependent with a finalizer is terminating',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'], finalizers: otherFinalizers }],
    when: [{ remove: 'a' }, long],
    expect: { remaining: ['-b'] },
  },
  {
    title: 'orphan: dependents lose the reference and stay',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }, { name: 'c', owners: ['a', 'b'] }],
    when: [{ remove: 'a', policy: 'Orphan' }, long],
    expect: { remaining: ['b', 'c'], owners: { b: [], c: ['b'] } },
  },
  {
    title: 'orphan: the owner has another finalizer',
    given: [
      { name: 'a', finalizers: otherFinalizers },
      { name: 'b', owners: ['a'] },
    ],
    when: [{ remove: 'a', policy: 'Orphan' }, long],
    expect: { remaining: ['-a', 'b'], owners: { b: [] } },
  },
  {
    title: 'a second DELETE changes the propagation policy',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }],
    when: [{ remove: 'a', policy: 'Foreground' }, { remove: 'a', policy: 'Orphan' }, long],
    expect: { remaining: ['b'], owners: { b: [] } },
  },
  {
    title: 'foreground: dependents are deleted before the owner',
    given: [{ name: 'a' }, { name: 'b', owners: [{ name: 'a', blocks: true }] }, { name: 'c', owners: [{ name: 'b', blocks: true }] }],
    when: [{ remove: 'a', policy: 'Foreground' }, long],
    expect: { remaining: [] },
  },
  {
    title: 'foreground: the owner waits for a blocking dependent with a finalizer',
    given: [{ name: 'a' }, { name: 'b', owners: [{ name: 'a', blocks: true }], finalizers: otherFinalizers }, { name: 'c', owners: ['a'] }],
    when: [{ remove: 'a', policy: 'Foreground' }, long],
    expect: { remaining: ['-a', '-b'] },
  },
  {
    title: 'foreground: the owner is deleted after the blocking dependent',
    given: [{ name: 'a' }, { name: 'b', owners: [{ name: 'a', blocks: true }], finalizers: otherFinalizers }],
    when: [{ remove: 'a', policy: 'Foreground' }, long, { change: 'b', metadata: { finalizers: null } }, { wait: 100 }],
    expect: { remaining: [] },
  },
  {
    title: 'foreground: the owner is deleted after the reference is removed',
    given: [{ name: 'a' }, { name: 'b', owners: [{ name: 'a', blocks: true }], finalizers: otherFinalizers }],
    when: [{ remove: 'a', policy: 'Foreground' }, long, { change: 'b', metadata: { ownerReferences: null } }, { wait: 100 }],
    expect: { remaining: ['-b'] },
  },
  {
    title: 'foreground: the owner does not wait for dependents without blockOwnerDeletion',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'], finalizers: otherFinalizers }],
    when: [{ remove: 'a', policy: 'Foreground' }, long],
    expect: { remaining: ['-b'] },
  },
  {
    title: 'foreground: a dependent with another owner loses the reference',
    given: [{ name: 'a' }, { name: 'o' }, { name: 'b', owners: [{ name: 'a', blocks: true }, 'o'] }],
    when: [{ remove: 'a', policy: 'Foreground' }, long],
    expect: { remaining: ['b', 'o'], owners: { b: ['o'] } },
  },
  {
    title: 'foreground: the owner waits for dependents of dependents',
    given: [
      { name: 'a' },
      { name: 'b', owners: [{ name: 'a', blocks: true }] },
      { name: 'c', owners: [{ name: 'b', blocks: true }], finalizers: otherFinalizers },
    ],
    when: [{ remove: 'a', policy: 'Foreground' }, long],
    expect: { remaining: ['-a', '-b', '-c'] },
  },
  {
    title: 'a missing owner: the dependent is deleted',
    given: [{ name: 'b', owners: [{ name: 'missing' }] }],
    when: [long],
    expect: { remaining: [] },
  },
  {
    title: 'an owner with another uid: the dependent is deleted',
    given: [{ name: 'a' }, { name: 'b', owners: [{ name: 'a', fields: { uid: 'another' } }] }],
    when: [long],
    expect: { remaining: ['a'] },
  },
  {
    title: 'an owner of another kind: the dependent is deleted',
    given: [{ name: 'a' }, { name: 'b', owners: [{ name: 'a', fields: { kind: 'Secret' } }] }],
    when: [long],
    expect: { remaining: ['a'] },
  },
  {
    title: 'an owner of an unknown kind: the dependent stays',
    given: [{ name: 'a' }, { name: 'b', owners: ['a', { name: 'x', fields: { apiVersion: 'example.com/v1', kind: 'Unknown' } }] }],
    when: [{ remove: 'a' }, long],
    expect: { remaining: ['b'], owners: { b: ['a', 'x'] } },
  },
  {
    title: 'an owner in another namespace: the dependent is deleted with an event',
    given: [
      { name: 'a', namespace: 'm' },
      { name: 'b', owners: ['a'] },
    ],
    when: [long],
    expect: {
      remaining: ['a'],
      events: ['b OwnerRefInvalidNamespace ownerRef [v1/ConfigMap, namespace: n, name: a, uid: uid-1] does not exist in namespace "n"'],
    },
  },
  {
    title: 'a cluster-scoped object with a namespaced owner stays, with an event',
    given: [{ name: 'a' }, { name: 'r', kind: 'ClusterRole', owners: ['a'] }],
    when: [{ wait: 2000 }, { remove: 'a' }, long],
    expect: {
      remaining: ['r'],
      owners: { r: ['a'] },
      events: ['r OwnerRefInvalidNamespace ownerRef [v1/ConfigMap, namespace: , name: a, uid: uid-1] does not exist in namespace ""'],
    },
  },
  {
    title: 'a namespaced object can have a cluster-scoped owner',
    given: [
      { name: 'r', kind: 'ClusterRole' },
      { name: 'b', owners: ['r'] },
      { name: 'c', namespace: 'm', owners: ['r'] },
    ],
    when: [long, { remove: 'r' }, long],
    expect: { remaining: [] },
  },
  {
    title: 'two objects that own each other are deleted together',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }],
    when: [
      { change: 'a', metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: 'uid-2' }] } },
      { remove: 'a' },
      long,
    ],
    expect: { remaining: [] },
  },
  {
    title: 'two objects that block each other are deleted',
    given: [{ name: 'a' }, { name: 'b', owners: [{ name: 'a', blocks: true }] }],
    when: [
      {
        change: 'a',
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: 'uid-2', blockOwnerDeletion: true }] },
      },
      { remove: 'a', policy: 'Foreground' },
      long,
    ],
    expect: { remaining: [] },
  },
  {
    title: 'a dependent created after its owner was deleted is deleted',
    given: [{ name: 'a' }],
    when: [{ remove: 'a' }, { wait: 2000 }, { create: { name: 'b', owners: ['a'] } }, long],
    expect: { remaining: [] },
  },
  {
    title: 'a dependent that gets another owner in time stays',
    given: [{ name: 'a' }, { name: 'o' }, { name: 'b', owners: ['a'] }],
    when: [
      { remove: 'a' },
      { change: 'b', metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'uid-2' }] } },
      long,
    ],
    expect: { remaining: ['b', 'o'], owners: { b: ['o'] } },
  },
  {
    title: 'an owner that is restored in time keeps its dependents',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }],
    when: [{ remove: 'a' }, { restore: 'a' }, long],
    expect: { remaining: ['a', 'b'], owners: { b: ['a'] } },
  },
  {
    title: 'a dependent with the orphan finalizer orphans its own dependents',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'], finalizers: ['orphan'] }, { name: 'c', owners: ['b'] }],
    when: [{ remove: 'a' }, long],
    expect: { remaining: ['c'], owners: { c: [] } },
  },
  {
    title: 'an owner deleted while the controller was stopped',
    given: [{ name: 'a' }, { name: 'b', owners: ['a'] }, { name: 'o' }, { name: 'c', owners: ['o'] }],
    when: [{ stop: true }, { remove: 'a' }, long, { start: true }, long],
    expect: { remaining: ['c', 'o'] },
  },
  {
    title: 'foreground and orphan deletions while the controller was stopped',
    given: [{ name: 'a' }, { name: 'b', owners: [{ name: 'a', blocks: true }] }, { name: 'o' }, { name: 'c', owners: ['o'] }],
    when: [{ stop: true }, { remove: 'a', policy: 'Foreground' }, { remove: 'o', policy: 'Orphan' }, { start: true }, long],
    expect: { remaining: ['c'], owners: { c: [] } },
  },
]

for (const { title, given, when, expect } of cases) {
  test(title, async () => {
    const scenario = await Scenario.open()
    for (const object of given) await scenario.create(object)
    for (const step of when) await scenario.do(step)
    await flushTurns()
    assert.deepEqual(scenario.remaining, expect.remaining)
    for (const [name, owners] of Object.entries(expect.owners ?? {})) assert.deepEqual(scenario.ownersOf(name), owners)
    const events = scenario.events().map(({ involvedObject, reason, message }) => `${involvedObject.name} ${reason} ${message}`)
    assert.deepEqual(events, expect.events ?? [])
    await scenario.stop()
  })
}
