// Very many bindings, very large roles and roles that are not there: each role is looked at once, in short turns, and answers have a bound.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { parseRequest } from '../../api/request-info.js'
import type { User } from '../../api/user.js'
import { atOnce } from '../../base/pieces.js'
import { timedTest } from '../../base/timed-test.fixture.js'
import { turnsOf } from '../../base/turns.fixture.js'
import { fieldsInSteps } from '../../objects/fields-in-steps.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import type { Decision, UserRules } from '../authorize.js'
import { type BoundRole, BoundRoles } from './bound-role.js'
import { findAllowing } from './held-roles.js'
import { catalog, identity, type Stage, stageOf, user } from './rbac.fixture.js'
import { askedFor, RoleRules } from './role-rules.js'

const pods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const ns = '/api/v1/namespaces/space'
const named = (count: number): PolicyRule[] => Array.from({ length: count }, (_, i) => ({ ...pods, resourceNames: [`n${i}`] }))
const times = async (count: number, act: (i: number) => Promise<void>): Promise<void> => {
  for (let i = 0; i < count; i++) await act(i)
}
const decide = async ({ authorizer }: Stage, who: User, path: string): Promise<Decision> =>
  authorizer.authorize({ user: who, info: parseRequest('GET', path) })
const rulesOf = async ({ authorizer }: Stage, who: User): Promise<UserRules> => {
  const rules = await authorizer.rulesFor?.(who, 'space')
  assert.ok(rules !== undefined)
  return rules
}

/** How many roles are asked for their rules, and how many of them are read, while something is done. */
async function looks({ index, store }: Stage, act: () => Promise<unknown>): Promise<{ readonly asked: number; readonly read: number }> {
  const [isKnown, readObject] = [index.isKnown, store.read]
  let [asked, read] = [0, 0]
  index.isKnown = (role) => {
    asked += 1
    return isKnown.call(index, role)
  }
  store.read = (address) => {
    read += 1
    return readObject.call(store, address)
  }
  try {
    await act()
  } finally {
    index.isKnown = isKnown
    store.read = readObject
  }
  return { asked, read }
}

test('a role tells its rules as often as bindings give it, however often one of them names somebody', async () => {
  const stage = await stageOf()
  await stage.role('one', [pods, { ...pods, resources: ['secrets'] }], 'space')
  await times(50, (i) => stage.bind(`b${i}`, 'Role one', 'Group:devs User:ann', 'space'))
  assert.equal((await rulesOf(stage, user('ann', 'devs', 'devs'))).resourceRules.length, 100)
})

test('of very many rules a review tells the first, and that there are more', async () => {
  const stage = await stageOf()
  await stage.role('small', [pods], 'space')
  await stage.role('big', named(28_000), 'space')
  await stage.bind('a', 'Role small', 'Group:devs', 'space')
  await times(100, (i) => stage.bind(`b${i}`, 'Role big', 'Group:devs', 'space'))
  await stage.bind('c', 'Role gone', 'User:ann', 'space')
  const { resourceRules, isIncomplete, problem = '' } = await rulesOf(stage, user('ann', 'devs'))
  assert.equal(resourceRules.length, 10_000)
  assert.equal(isIncomplete, true)
  assert.match(problem, /"gone" not found, there are more than 10000 rules, or more than 1 MiB of them: the others are not told\]$/)
})

test('of very long rules a review tells those that are a megabyte', async () => {
  const stage = await stageOf()
  const long = { ...pods, resourceNames: Array.from({ length: 300 }, (_, i) => `${'x'.repeat(1000)}${i}`) }
  await stage.role('long', [long, long, long, long, long], 'space')
  await stage.bind('b', 'Role long', 'Group:devs', 'space')
  const { resourceRules, isIncomplete } = await rulesOf(stage, user('ann', 'devs'))
  assert.equal(resourceRules.length, 3)
  assert.equal(isIncomplete, true)
})

timedTest('the rules of very many roles are collected in short turns', async () => {
  const stage = await stageOf()
  await times(2000, (i) => stage.role(`r${i}`, [pods], 'space'))
  await times(2000, (i) => stage.bind(`b${i}`, `Role r${i}`, 'Group:devs', 'space'))
  await stage.index.open()
  const { longestMs } = await turnsOf(async () => assert.equal((await rulesOf(stage, user('ann', 'devs'))).resourceRules.length, 2000))
  assert.ok(longestMs < 20, `${longestMs} ms`)
})

test('a decision asks a role once, whatever the number of bindings and of times that a group is named', async () => {
  const stage = await stageOf()
  await stage.role('r', named(100), 'space')
  await stage.role('everywhere', named(3))
  await times(200, (i) => stage.bind(`b${i}`, 'Role r', 'Group:devs Group:ops User:ann', 'space'))
  await stage.bind('c', 'ClusterRole everywhere', 'Group:devs')
  await stage.bind('d', 'ClusterRole everywhere', 'Group:devs', 'space')
  const groups = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? 'devs' : 'ops'))
  const counted = await looks(stage, async () =>
    assert.equal((await decide(stage, user('ann', ...groups), `${ns}/pods/q`)).verdict, 'no-opinion'),
  )
  assert.equal(counted.asked, 2)
  assert.equal((await decide(stage, user('ann', ...groups), `${ns}/pods/n99`)).verdict, 'allow')
})

timedTest('a large role that many bindings give is asked in short turns', async () => {
  const stage = await stageOf()
  await stage.role('big', named(9000), 'space')
  await times(300, (i) => stage.bind(`b${i}`, 'Role big', 'Group:devs', 'space'))
  const ann = user('ann', 'devs')
  assert.match(
    (await decide(stage, ann, `${ns}/pods/n8999`)).reason,
    /^RBAC: allowed by RoleBinding "b0\/space" of Role "big" to Group "devs"$/,
  )
  const { longestMs, totalMs } = await turnsOf(async () => {
    for (const path of ['secrets', 'pods/zzz', 'pods']) assert.equal((await decide(stage, ann, `${ns}/${path}`)).verdict, 'no-opinion')
  })
  assert.ok(longestMs < 5 && totalMs < 20, `${longestMs} ms of ${totalMs} ms`)
})

test('roles that are not there are looked for once, until they are made', async () => {
  const stage = await stageOf()
  await times(1000, (i) => stage.bind(`b${i}`, `Role ${'m'.repeat(240)}${i % 500}`, 'Group:devs', 'space'))
  const [ann, path] = [user('ann', 'devs'), `${ns}/pods/p`]
  assert.equal((await looks(stage, () => decide(stage, ann, path))).read, 500)
  assert.equal((await looks(stage, () => decide(stage, ann, path))).read, 0)
  await stage.role(`${'m'.repeat(240)}7`, [pods], 'space')
  assert.equal((await decide(stage, ann, path)).verdict, 'allow')
  await stage.remove('roles', `${'m'.repeat(240)}7`, 'space')
  assert.equal((await decide(stage, ann, path)).verdict, 'no-opinion')
})

test('of very many roles that are not there the first are named, and how many more there are', async () => {
  const stage = await stageOf()
  await times(500, (i) => stage.bind(`b${i}`, `Role ${'m'.repeat(240)}${i}`, 'Group:devs', 'space'))
  const { reason } = await decide(stage, user('ann', 'devs'), `${ns}/pods/p`)
  assert.match(reason, /^RBAC: \[role\.rbac\.authorization\.k8s\.io "m+0" not found, .* not found, and 492 more\]$/)
  assert.ok(reason.length < 4096)
  assert.equal((await rulesOf(stage, user('ann', 'devs'))).problem, reason.slice('RBAC: '.length))
})

test('what is kept of roles has a bound, and what is forgotten is read again', () => {
  const bound = new BoundRoles(1000)
  const roles = Array.from({ length: 100 }, (_, i) => bound.take({ kind: 'Role', name: `r${i}`, namespace: 'space' }))
  const rules = new RoleRules(named(25))
  assert.equal(rules.weight, 125)
  for (const role of roles) bound.keep(role, rules)
  assert.deepEqual(
    roles.map((role, i) => (role.isKnown ? i : -1)).filter((i) => i >= 0),
    [92, 93, 94, 95, 96, 97, 98, 99],
  )
  for (const role of roles.slice(92)) bound.giveBack(role)
  for (const role of roles.slice(0, 8)) bound.keep(role, rules)
  assert.equal(roles.filter(({ isKnown }) => isKnown).length, 8)
  const large = new RoleRules(named(9000))
  bound.keep(roles[9] as BoundRole, large)
  assert.deepEqual([roles[9]?.rules, roles.filter(({ isKnown }) => isKnown).length], [large, 1])
})

test('a role that no binding names any more is not kept by one who still looks at it', async () => {
  const stage = await stageOf()
  await stage.role('r', [pods], 'space')
  await stage.bind('b', 'Role r', 'User:ann', 'space')
  await stage.index.open()
  const held = stage.index.walk(user('ann'), 'space').next().value
  assert.ok(held)
  await stage.remove('rolebindings', 'b', 'space')
  assert.equal(atOnce(stage.index.rulesInSteps(held.role))?.rules.length, 1)
  await stage.remove('roles', 'r', 'space')
  assert.equal(atOnce(stage.index.rulesInSteps(held.role)), undefined)
})

test('a heavy role is read in steps, once for all who ask, and anew when it was written meanwhile', async () => {
  const stage = await stageOf()
  await stage.role('big', named(9000), 'space')
  await stage.bind('b', 'Role big', 'User:ann', 'space')
  await stage.index.open()
  const role = stage.index.walk(user('ann'), 'space').next().value?.role
  assert.ok(role)
  const [one, other] = [stage.index.rulesInSteps(role), stage.index.rulesInSteps(role)]
  let steps = 0
  let [left, right] = [one.next(), other.next()]
  for (; !left.done || !right.done; steps++) [left, right] = [left.done ? left : one.next(), right.done ? right : other.next()]
  assert.ok(steps > 10, String(steps))
  assert.ok(left.value?.rules.length === 9000 && left.value === right.value && role.rules === left.value)
  await stage.role('big', named(8000), 'space')
  const late = stage.index.rulesInSteps(role)
  late.next()
  await stage.role('big', named(7000), 'space')
  assert.equal(atOnce(late)?.rules.length, 8000)
  assert.equal(atOnce(stage.index.rulesInSteps(role))?.rules.length, 7000)
})

test('rules that are read in steps are those that are stored, whatever stands in them and before them', async () => {
  const stage = await stageOf()
  const odd = ['"rules":[', 'x:null', '\\', '\\"', ']}],', '{[', 'ä€😀', '\u0000\n', '']
  const rules = Array.from({ length: 9000 }, (_, i) => ({
    ...pods,
    resourceNames: [odd[i % odd.length] as string, `${i}${odd[(i * 3) % odd.length]}`],
  }))
  const resource = catalog.find('rbac.authorization.k8s.io', 'v1', 'roles') as Resource
  const annotations = Object.fromEntries([...odd.map((text, i) => [`k${i}`, text]), ['rules', '"rules":[{"verbs":["*"]}]']])
  const metadata = { name: 'odd', namespace: 'space', uid: 'odd', creationTimestamp: '2020-01-01T00:00:00Z', annotations }
  const address = { resource, namespace: 'space', name: 'odd' }
  await stage.store.put(address, stage.store.encode(resource, { metadata, rules } as ApiObject), { expect: 0 })
  const stored = stage.store.read(address)
  assert.ok(stored)
  assert.deepEqual(atOnce(fieldsInSteps(stored, resource)), { metadata, rules })
  await stage.index.open()
  assert.deepEqual(atOnce(stage.index.rulesNamed({ kind: 'Role', name: 'odd', namespace: 'space' }))?.rules, rules)
})

test('a binding that is written anew in the middle of a walk is found', async () => {
  const stage = await stageOf()
  await times(2, (i) => stage.role(`r${i}`, [pods], 'space'))
  await times(2, (i) => stage.bind(`b${i}`, `Role r${i}`, 'Group:devs', 'space'))
  await stage.index.open()
  const walk = stage.index.walk(user('ann', 'devs'), 'space')
  const first = walk.next().value
  await stage.remove('rolebindings', 'b0', 'space')
  await stage.bind('b1', 'Role r1', 'Group:devs Group:ops', 'space')
  const second = walk.next().value
  assert.deepEqual([first?.role.name, second?.role.name], ['r0', 'r1'])
})

test('bindings that are deleted while a decision is made allow nothing any more', async () => {
  const stage = await stageOf()
  await stage.role('big', named(9000), 'space')
  await stage.index.open()
  for (const bindings of [1, 2]) {
    await times(bindings, (i) => stage.bind(`b${i}`, 'Role big', 'Group:devs', 'space'))
    const finding = findAllowing(
      stage.index,
      { identity, user: user('ann', 'devs'), namespace: 'space' },
      askedFor(parseRequest('GET', `${ns}/pods/n8999`)),
    )
    finding.next()
    await times(bindings, (i) => stage.remove('rolebindings', `b${i}`, 'space'))
    assert.equal(atOnce(finding).by, undefined, `${bindings}`)
  }
})

timedTest('a binding of very many subjects is taken in in short turns, and counts for the next decision', async () => {
  const stage = await stageOf()
  const { store, index, authorizer } = stage
  await stage.role('r', [pods], 'space')
  await stage.role('r', [pods], 'other')
  await stage.bind('c', 'Role r', 'User:ann', 'other')
  await index.open()
  const resource = catalog.find('rbac.authorization.k8s.io', 'v1', 'rolebindings') as Resource
  const address = { resource, namespace: 'space', name: 'b' }
  const bindMany = async (prefix: string): Promise<number> => {
    const metadata = { name: 'b', namespace: 'space', uid: 'b', creationTimestamp: '2020-01-01T00:00:00Z' }
    const subjects = Array.from({ length: 25_000 }, (_, i) => ({ kind: 'User', name: `${prefix}${i}` }))
    const value = store.encode(resource, { metadata, roleRef: { kind: 'Role', name: 'r' }, subjects } as ApiObject)
    return (await turnsOf(() => store.put(address, value, { expect: store.read(address)?.revision ?? 0 }))).longestMs
  }
  const verdicts = async (...names: string[]): Promise<string> => {
    const found: string[] = []
    for (const name of names) found.push((await decide(stage, user(name), `${ns}/pods/p`)).verdict)
    return found.join(' ')
  }
  for (const [prefix, before] of [
    ['a', 'none'],
    ['b', 'a24999'],
  ] as const) {
    const longestMs = await bindMany(prefix)
    assert.ok(longestMs < 15, `${longestMs} ms`)
    const elsewhere = authorizer.authorize({ user: user('ann'), info: parseRequest('GET', '/api/v1/namespaces/other/pods/p') })
    assert.ok(!(elsewhere instanceof Promise) && elsewhere.verdict === 'allow')
    assert.equal(await verdicts(`${prefix}0`, `${prefix}24999`, before, 'ann'), 'allow allow no-opinion no-opinion')
  }
  await bindMany('c')
  await stage.bind('b', 'Role r', 'User:ann', 'space')
  await stage.bind('d', 'Role r', 'User:ben', 'space')
  assert.deepEqual([index.isBehind('space'), index.isBehind('other')], [true, false])
  assert.equal(await verdicts('ann', 'ben', 'c0', 'b0', 'b24999'), 'allow allow no-opinion no-opinion no-opinion')
  assert.ok(!index.isBehind('space'))
  await bindMany('e')
  assert.equal(await verdicts('e24999'), 'allow')
  await stage.remove('rolebindings', 'b', 'space')
  assert.deepEqual((await rulesOf(stage, user('e24999'))).resourceRules, [])
  assert.equal(await verdicts('e0', 'e24999', 'ben'), 'no-opinion no-opinion allow')
})

/** Words of which all lists are made, so that many match and many do not. */
const words = ['*', '', 'a', 'b', 'ab', 'a/x', '*/x', '2 a', '/a*', '/a/b']
const pathsOf = (list: readonly string[]): readonly string[] => list.filter((word) => word.startsWith('/'))

test('a large role allows what the same rules allow in a small one', () => {
  let state = 7
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const list = (most: number): string[] => Array.from({ length: random(most + 1) }, () => words[random(words.length)] as string)
  // What makes it large and allows nothing that is asked for.
  const filler = Array.from({ length: 2000 }, (_, i) => ({ verbs: [`v${i}`], apiGroups: [''], resources: ['none'] }))
  let allowed = 0
  for (let round = 0; round < 300; round++) {
    const rules = Array.from({ length: 1 + random(6) }, (): PolicyRule => {
      const long = random(4) === 0 ? Array.from({ length: 20 }, (_, i) => `long${i}`) : []
      return {
        verbs: list(3),
        apiGroups: list(3),
        resources: [...list(3), ...long],
        resourceNames: list(2),
        nonResourceURLs: pathsOf(list(3)),
      }
    })
    const [small, large] = [new RoleRules(rules), new RoleRules([...rules, ...filler])]
    assert.deepEqual([small.isLarge, large.isLarge], [false, true])
    for (let i = 0; i < 20; i++) {
      const word = (): string => words[random(words.length)] as string
      const info = {
        verb: word(),
        group: word(),
        version: '',
        namespace: '',
        resource: word(),
        subresource: random(2) ? 'x' : '',
        name: word(),
      }
      const asked = askedFor({ ...info, isResource: random(4) > 0, path: random(2) ? '/a/b' : '/ab' })
      const expected = small.allows(asked)
      if (expected) allowed += 1
      assert.equal(atOnce(large.allowsInSteps(asked)), expected, JSON.stringify({ rules, asked }))
    }
  }
  assert.ok(allowed > 200 && allowed < 5800, String(allowed))
})

test('rules of very long lists are arranged in steps, once for all who ask', () => {
  const long = Array.from({ length: 200_000 }, (_, i) => `w${i}`)
  const role = new RoleRules([{ verbs: ['get'], apiGroups: [''], resources: ['pods', ...long], resourceNames: long }])
  const stepsFor = (name: string, expected: boolean): number => {
    const work = role.allowsInSteps(askedFor(parseRequest('GET', `${ns}/pods/${name}`)))
    for (let steps = 0; ; steps++) {
      const { done, value } = work.next()
      if (!done) continue
      assert.equal(value, expected)
      return steps
    }
  }
  assert.ok(stepsFor('p', false) >= 100)
  assert.equal(stepsFor('w199999', true), 0)
})
