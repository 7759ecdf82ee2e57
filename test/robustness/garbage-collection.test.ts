// Tests of the garbage collection checker: finds remaining, missing and unfinished objects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Dependent, findGarbageProblems, type OwnerSet, type Remaining } from './garbage-collection.js'

const child: Dependent = { name: 'c', isAcknowledged: true, hasSecondOwner: false }
const ownerSet = (deletion?: OwnerSet['deletion'], more: Partial<Dependent> = {}): OwnerSet => ({
  owner: 'o',
  uid: 'u',
  children: [{ ...child, ...more }],
  ...(deletion === undefined ? {} : { deletion }),
})
const owner: Remaining = { uid: 'u', isTerminating: false, owners: [] }
const owned: Remaining = { uid: 'x', isTerminating: false, owners: ['u'] }
const free: Remaining = { uid: 'x', isTerminating: false, owners: [] }
const background = { policy: 'Background', isAcknowledged: true } as const
const orphan = { policy: 'Orphan', isAcknowledged: true } as const

for (const { title, ownerSets, remaining, problem } of [
  { title: 'owner and dependent exist', ownerSets: [ownerSet()], remaining: { o: owner, c: owned }, problem: undefined },
  { title: 'the owner is missing', ownerSets: [ownerSet()], remaining: { c: owned }, problem: /was not deleted/ },
  { title: 'the dependent is missing', ownerSets: [ownerSet()], remaining: { o: owner }, problem: /should have stayed/ },
  {
    title: 'a dependent whose creation has an unknown result',
    ownerSets: [ownerSet(undefined, { isAcknowledged: false })],
    remaining: { o: owner },
    problem: undefined,
  },
  { title: 'both are deleted', ownerSets: [ownerSet(background)], remaining: {}, problem: undefined },
  { title: 'the owner still exists', ownerSets: [ownerSet(background)], remaining: { o: owner, c: owned }, problem: /still there/ },
  {
    title: 'the owner is terminating',
    ownerSets: [ownerSet(background)],
    remaining: { o: { ...owner, isTerminating: true } },
    problem: /still there/,
  },
  { title: 'the dependent remains', ownerSets: [ownerSet(background)], remaining: { c: owned }, problem: /was not collected/ },
  {
    title: 'the dependent is terminating',
    ownerSets: [ownerSet(background)],
    remaining: { c: { ...owned, isTerminating: true } },
    problem: /is still terminating/,
  },
  { title: 'an orphan stays', ownerSets: [ownerSet(orphan)], remaining: { c: free }, problem: undefined },
  { title: 'an orphan is deleted', ownerSets: [ownerSet(orphan)], remaining: {}, problem: /should have stayed/ },
  { title: 'an orphan with an owner reference', ownerSets: [ownerSet(orphan)], remaining: { c: owned }, problem: /refers/ },
  { title: 'with another owner', ownerSets: [ownerSet(background, { hasSecondOwner: true })], remaining: { c: free }, problem: undefined },
  {
    title: 'a dependent with another owner is deleted',
    ownerSets: [ownerSet(background, { hasSecondOwner: true })],
    remaining: {},
    problem: /should have stayed/,
  },
  {
    title: 'a delete with unknown result, applied',
    ownerSets: [ownerSet({ policy: 'Foreground', isAcknowledged: false })],
    remaining: {},
    problem: undefined,
  },
  {
    title: 'a delete with unknown result, not applied',
    ownerSets: [ownerSet({ policy: 'Foreground', isAcknowledged: false })],
    remaining: { o: owner, c: owned },
    problem: undefined,
  },
  {
    title: 'a delete with unknown result, half applied',
    ownerSets: [ownerSet({ policy: 'Foreground', isAcknowledged: false })],
    remaining: { c: owned },
    problem: /was not collected/,
  },
]) {
  test(title, () => {
    const problems = findGarbageProblems(ownerSets, new Map<string, Remaining>(Object.entries(remaining)))
    if (problem === undefined) assert.deepEqual(problems, [])
    else assert.match(problems.join(), problem)
  })
}
