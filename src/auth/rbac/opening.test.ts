// All bindings are read in short turns before anything is decided, and what is written meanwhile counts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { parseRequest } from '../../api/request-info.js'
import type { User } from '../../api/user.js'
import { silentLogger } from '../../base/logger.js'
import { timedTest } from '../../base/timed-test.fixture.js'
import { turnsOf } from '../../base/turns.fixture.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import type { Decision } from '../authorize.js'
import { catalog, identity, type Stage, stageOf, user } from './rbac.fixture.js'
import { rbacAuthorizer } from './rbac-authorizer.js'
import { RbacIndex } from './rbac-index.js'

const pods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const ns = '/api/v1/namespaces/space'
const decide = async ({ authorizer }: Stage, who: User, path: string): Promise<Decision> =>
  authorizer.authorize({ user: who, info: parseRequest('GET', path) })

timedTest('very many bindings are read in short turns, and nobody is decided about before they are', async () => {
  const stage = await stageOf()
  await stage.role('r', [pods], 'space')
  const many = 5000
  await Promise.all(Array.from({ length: many }, (_, i) => stage.bind(`b${i}`, 'Role r', `User:u${i}`, 'space')))
  const asked = async (name: string): Promise<string> => (await decide(stage, user(name), `${ns}/pods/p`)).verdict
  const verdicts: string[] = []
  const { longestMs, totalMs } = await turnsOf(async () => {
    verdicts.push(...(await Promise.all(['u0', `u${many - 1}`, 'nobody'].map(asked))))
  })
  assert.deepEqual(verdicts, ['allow', 'allow', 'no-opinion'])
  assert.ok(longestMs < 20 && longestMs < totalMs / 2, `${longestMs} ms of ${totalMs} ms`)
})

test('what is written while bindings are read counts', async () => {
  const stage = await stageOf()
  await stage.role('r', [pods], 'space')
  await Promise.all(Array.from({ length: 3000 }, (_, i) => stage.bind(`b${i}`, 'Role r', `User:u${i}`, 'space')))
  const opening = stage.index.open()
  assert.ok(opening instanceof Promise && !stage.index.isOpen)
  const verdict = async (name: string): Promise<string> => (await decide(stage, user(name), `${ns}/pods/p`)).verdict
  assert.throws(() => stage.index.walk(user('u0'), 'space').next(), /before its bindings were read/)
  const changes = [
    stage.bind('b2999', 'Role r', 'User:late', 'space'),
    stage.remove('rolebindings', 'b2998', 'space'),
    stage.remove('rolebindings', 'b0', 'space'),
    stage.bind('new', 'Role r', 'User:new', 'space'),
  ]
  const early = verdict('u2997')
  await Promise.all([opening, ...changes])
  assert.equal(await early, 'allow')
  const names = ['late', 'new', 'u1', 'u2999', 'u2998', 'u0']
  assert.deepEqual(await Promise.all(names.map(verdict)), ['allow', 'allow', 'allow', 'no-opinion', 'no-opinion', 'no-opinion'])
})

test('bindings that could not be read are read anew by the next who asks', async () => {
  const stage = await stageOf()
  await stage.role('r', [pods], 'space')
  await stage.bind('b', 'Role r', 'User:ann', 'space')
  const { look } = stage.store
  stage.store.look = () => {
    throw new Error('the disk is gone')
  }
  await assert.rejects(decide(stage, user('ann'), `${ns}/pods/p`), /the disk is gone/)
  stage.store.look = look
  assert.equal((await decide(stage, user('ann'), `${ns}/pods/p`)).verdict, 'allow')
  assert.equal(stage.index.isOpen, true)
})

test('one that could not be opened forgets a binding that was being changed meanwhile', async () => {
  const stage = await stageOf()
  await stage.role('r', [pods], 'space')
  const bindCrowd = (first: string): Promise<void> =>
    stage.bind(
      'crowd',
      'Role r',
      [first, ...Array.from({ length: 5000 }, (_, i) => `u${i}`)].map((name) => `User:${name}`).join(' '),
      'space',
    )
  const verdict = async (name: string): Promise<string> => (await decide(stage, user(name), `${ns}/pods/p`)).verdict
  await bindCrowd('mallory')
  const { look } = stage.store
  stage.store.look = function* (query) {
    yield* look.call(stage.store, query)
    // Until it is taken in.
    for (const untilMs = performance.now() + 100; performance.now() < untilMs; ) yield undefined
    let isChanged = false
    void bindCrowd('ann').then(() => {
      isChanged = true
    })
    while (!isChanged) yield undefined
    throw new Error('the disk is gone')
  }
  await assert.rejects(verdict('ann'), /the disk is gone/)
  stage.store.look = look
  assert.deepEqual([await verdict('ann'), await verdict('mallory')], ['allow', 'no-opinion'])
  await stage.remove('rolebindings', 'crowd', 'space')
  assert.deepEqual([await verdict('ann'), await verdict('mallory')], ['no-opinion', 'no-opinion'])
})

test('a long binding that cannot be read gives nobody anything, and the log says so', async () => {
  const { store, role, bind } = await stageOf()
  await role('r', [pods], 'space')
  const said: string[] = []
  const index = new RbacIndex(store, catalog, { ...silentLogger, error: (_fields, message) => void said.push(message) })
  const authorizer = rbacAuthorizer(index, identity)
  const verdict = async (name: string) =>
    (await authorizer.authorize({ user: user(name), info: parseRequest('GET', `${ns}/pods/p`) })).verdict
  await bind('b', 'Role r', 'User:ann', 'space')
  assert.equal(await verdict('ann'), 'allow')
  const address = { resource: catalog.find('rbac.authorization.k8s.io', 'v1', 'rolebindings') as Resource, namespace: 'space', name: 'b' }
  const subjects = Array.from({ length: 5000 }, (_, i) => ({ kind: 'User', name: `u${i}` }))
  const metadata = { name: 'b', namespace: 'space', uid: 'b', creationTimestamp: '2020-01-01T00:00:00Z' }
  const value = store.encode(address.resource, { metadata, roleRef: { kind: 'Role', name: 'r' }, subjects } as ApiObject)
  value.fill('x', value.length - 100)
  await store.put(address, value, { expect: store.read(address)?.revision ?? 0 })
  assert.deepEqual([await verdict('ann'), await verdict('u0')], ['no-opinion', 'no-opinion'])
  assert.deepEqual(said, ['a role binding cannot be read, and gives nobody anything'])
})
