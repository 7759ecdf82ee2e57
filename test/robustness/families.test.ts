// The judge of families finds what is left over, what is missing and what was not finished, and nothing else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Child, type Family, judgeFamilies, type Left } from './families.js'

const child: Child = { name: 'c', isSure: true, hasSecondOwner: false }
const family = (deletion?: Family['deletion'], more: Partial<Child> = {}): Family => ({
  owner: 'o',
  uid: 'u',
  children: [{ ...child, ...more }],
  ...(deletion === undefined ? {} : { deletion }),
})
const owner: Left = { uid: 'u', isGoing: false, owners: [] }
const owned: Left = { uid: 'x', isGoing: false, owners: ['u'] }
const free: Left = { uid: 'x', isGoing: false, owners: [] }
const background = { policy: 'Background', isSure: true } as const
const orphan = { policy: 'Orphan', isSure: true } as const

for (const { title, families, left, wrong } of [
  { title: 'all is there', families: [family()], left: { o: owner, c: owned }, wrong: undefined },
  { title: 'the owner is missing', families: [family()], left: { c: owned }, wrong: /nobody deleted it/ },
  { title: 'the child is missing', families: [family()], left: { o: owner }, wrong: /should have stayed/ },
  { title: 'a child that may not have been made', families: [family(undefined, { isSure: false })], left: { o: owner }, wrong: undefined },
  { title: 'both are gone', families: [family(background)], left: {}, wrong: undefined },
  { title: 'the owner is still there', families: [family(background)], left: { o: owner, c: owned }, wrong: /still there/ },
  { title: 'the owner is going', families: [family(background)], left: { o: { ...owner, isGoing: true } }, wrong: /still there/ },
  { title: 'the child is left over', families: [family(background)], left: { c: owned }, wrong: /left over/ },
  { title: 'the child is going', families: [family(background)], left: { c: { ...owned, isGoing: true } }, wrong: /not gone/ },
  { title: 'an orphan stays', families: [family(orphan)], left: { c: free }, wrong: undefined },
  { title: 'an orphan is gone', families: [family(orphan)], left: {}, wrong: /should have stayed/ },
  { title: 'an orphan that refers', families: [family(orphan)], left: { c: owned }, wrong: /refers/ },
  { title: 'with another owner', families: [family(background, { hasSecondOwner: true })], left: { c: free }, wrong: undefined },
  { title: 'with another owner, gone', families: [family(background, { hasSecondOwner: true })], left: {}, wrong: /should have stayed/ },
  {
    title: 'a deletion that nobody knows of, done',
    families: [family({ policy: 'Foreground', isSure: false })],
    left: {},
    wrong: undefined,
  },
  {
    title: 'and not done',
    families: [family({ policy: 'Foreground', isSure: false })],
    left: { o: owner, c: owned },
    wrong: undefined,
  },
  { title: 'and half done', families: [family({ policy: 'Foreground', isSure: false })], left: { c: owned }, wrong: /left over/ },
]) {
  test(title, () => {
    const problems = judgeFamilies(families, new Map<string, Left>(Object.entries(left)))
    if (wrong === undefined) assert.deepEqual(problems, [])
    else assert.match(problems.join(), wrong)
  })
}
