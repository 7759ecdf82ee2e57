// Classification by FlowSchema, seats of priority levels, and the order in which queued requests are served.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { OverloadedError } from '../memory-pressure.js'
import { classifier } from './classify-request.js'
import { dealHand, flowHash } from './compiled-flow-schema.js'
import { FlowConfigs, hasFreeSeats } from './flow-config.js'
import type { FlowRule, FlowSchemaConfig, FlowSubject, LimitedLevel, PriorityLevelConfig } from './flow-schema-config.js'
import { PriorityAndFairness, type SeatedRequest } from './priority-and-fairness.js'

const userOf = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })

const everybody: FlowSubject = { kind: 'Group', group: { name: '*' } }
const everything: FlowRule = {
  subjects: [everybody],
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

const schemaOf = (name: string, changes: Partial<FlowSchemaConfig> = {}): FlowSchemaConfig => ({
  name,
  uid: `uid-${name}`,
  level: 'catch-all',
  precedence: 1000,
  distinguisher: 'ByUser',
  rules: [everything],
  ...changes,
})

const isClassified = (rules: readonly FlowRule[], user: User, url: string, method = 'GET'): boolean =>
  classifier([{ config: schemaOf('s', { rules }), schema: 's' }])(user, parseRequest(method, url)) !== undefined

const resources = (changes: object): FlowRule => ({
  subjects: [everybody],
  resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['pods'], namespaces: ['*'], ...changes }],
})

const bot = 'system:serviceaccount:team:bot'

for (const { title, rule, user = userOf('alice', 'dev'), url, method, isMatch } of [
  { title: 'a rule for everything', rule: everything, url: '/version', isMatch: true },
  {
    title: 'a user by name',
    rule: { ...everything, subjects: [{ kind: 'User', user: { name: 'alice' } }] },
    url: '/version',
    isMatch: true,
  },
  { title: 'any user', rule: { ...everything, subjects: [{ kind: 'User', user: { name: '*' } }] }, url: '/version', isMatch: true },
  { title: 'another user', rule: { ...everything, subjects: [{ kind: 'User', user: { name: 'bob' } }] }, url: '/version', isMatch: false },
  { title: 'a group', rule: { ...everything, subjects: [{ kind: 'Group', group: { name: 'dev' } }] }, url: '/version', isMatch: true },
  {
    title: 'a service account',
    rule: { ...everything, subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'team', name: 'bot' } }] },
    user: userOf(bot),
    url: '/version',
    isMatch: true,
  },
  {
    title: 'all service accounts of a namespace',
    rule: { ...everything, subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'team', name: '*' } }] },
    user: userOf(bot),
    url: '/version',
    isMatch: true,
  },
  {
    title: 'service accounts of another namespace',
    rule: { ...everything, subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'te', name: '*' } }] },
    user: userOf(bot),
    url: '/version',
    isMatch: false,
  },
  { title: 'a resource in a namespace', rule: resources({}), url: '/api/v1/namespaces/a/pods', isMatch: true },
  { title: 'a rule for namespaces, for a request across all namespaces', rule: resources({}), url: '/api/v1/pods', isMatch: false },
  {
    title: 'clusterScope, for a request across all namespaces',
    rule: resources({ clusterScope: true, namespaces: [] }),
    url: '/api/v1/pods',
    isMatch: true,
  },
  { title: 'a resource, for its subresource', rule: resources({}), url: '/api/v1/namespaces/a/pods/p/status', isMatch: false },
  { title: 'a subresource', rule: resources({ resources: ['pods/status'] }), url: '/api/v1/namespaces/a/pods/p/status', isMatch: true },
  { title: 'another verb', rule: resources({ verbs: ['list'] }), url: '/api/v1/namespaces/a/pods', method: 'POST', isMatch: false },
  { title: 'a non-resource URL, for a path below it', rule: paths('/healthz'), url: '/healthz/ping', isMatch: true },
  { title: 'a non-resource URL, for a path with the same prefix', rule: paths('/healthz'), url: '/healthzz', isMatch: false },
  { title: 'a wildcard URL, for the path itself', rule: paths('/openapi/*'), url: '/openapi', isMatch: false },
] as readonly { title: string; rule: FlowRule; user?: User; url: string; method?: string; isMatch: boolean }[]) {
  test(`FlowSchema rule: ${title} ${isMatch ? 'matches' : 'does not match'}`, () => {
    assert.equal(isClassified([rule], user, url, method), isMatch)
  })
}

function paths(...nonResourceURLs: readonly string[]): FlowRule {
  return { subjects: [everybody], nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] }
}

test('the lower matchingPrecedence wins, then the smaller name', async () => {
  const schemas = [schemaOf('b'), schemaOf('a'), schemaOf('late', { precedence: 2000 })]
  const classify = classifier(schemas.map((config) => ({ config, schema: config.name })))
  assert.equal(classify(userOf('x'), parseRequest('GET', '/version')), 'a')
})

test('shuffle sharding deals different queues to different flows', async () => {
  const hands = Array.from({ length: 200 }, (_, i) => dealHand(flowHash('s', `user-${i}`), { deckSize: 128, handSize: 6 }))
  for (const hand of hands) {
    assert.equal(new Set(hand).size, 6)
    assert.ok(hand.every((card) => card >= 0 && card < 128))
  }
  assert.ok(new Set(hands.map(String)).size > 195)
  assert.deepEqual(dealHand(5n, { deckSize: 3, handSize: 3 }).length, 3)
})

const limited = (changes: Partial<LimitedLevel> = {}): LimitedLevel => ({
  shares: 10,
  lendablePercent: 0,
  borrowingLimitPercent: undefined,
  queuing: { queues: 16, handSize: 2, queueLengthLimit: 10 },
  ...changes,
})

const levelOf = (name: string, limits: LimitedLevel | undefined): PriorityLevelConfig => ({ name, uid: `uid-${name}`, limited: limits })

const identity = identityOf('cluster')

test('levels share the seats by their shares, and lend unused ones', async () => {
  const configs = new FlowConfigs(identity, 100)
  const levels = [
    levelOf('catch-all', limited({ shares: 20 })),
    levelOf('other', limited({ shares: 80, lendablePercent: 50 })),
    levelOf('free', undefined),
  ]
  const config = configs.compile({ schemas: [schemaOf('catch-all')], levels })
  const [catchAll, other] = [config.levels.get('catch-all'), config.levels.get('other')]
  assert.ok(catchAll && other)
  assert.deepEqual([catchAll.nominal, other.nominal, other.lendable], [20, 80, 40])
  const hasRoom = (): boolean => hasFreeSeats(catchAll, 1, config.levels.values())
  catchAll.take(59)
  assert.ok(hasRoom(), 'forty are borrowed from the other level')
  catchAll.take(1)
  assert.ok(!hasRoom())
  other.take(50)
  assert.ok(!hasFreeSeats(catchAll, 1, config.levels.values()))
  const recompiled = configs.compile({
    schemas: [schemaOf('catch-all')],
    levels: [levelOf('catch-all', limited({ borrowingLimitPercent: 0 }))],
  })
  assert.equal(recompiled.levels.get('catch-all'), catchAll, 'a level keeps its state when it is reconfigured')
  assert.equal(catchAll.nominal, 100)
})

let clockMs = 0

function request(name: string, { url = '/api/v1/namespaces/a/pods/p', method = 'GET' } = {}): SeatedRequest {
  clockMs += 10
  return {
    info: parseRequest(method, url),
    user: userOf(name),
    begunMs: clockMs,
    isClosed: false,
    isTimedOut: false,
    releaseBody: () => undefined,
  } as unknown as SeatedRequest
}

const lag = { touch: () => undefined, isOverloaded: false, isStillOverloaded: false }

function controlOf({
  seats = 1,
  limits = limited(),
  count = 0,
  maxWaitMs = 60_000,
  budget = new TurnBudget(() => 0),
} = {}): PriorityAndFairness {
  const configs = new FlowConfigs(identity, seats)
  const schemas = [
    schemaOf('catch-all'),
    schemaOf('masters', {
      level: 'exempt',
      precedence: 1,
      rules: [{ ...everything, subjects: [{ kind: 'User', user: { name: 'root' } }] }],
    }),
  ]
  const config = configs.compile({ schemas, levels: [levelOf('catch-all', limits), levelOf('exempt', undefined)] })
  return new PriorityAndFairness({ pressure: { isFullFor: () => false }, config, countOf: () => count, maxWaitMs, lag, budget })
}

const complete = (control: PriorityAndFairness, ended: SeatedRequest): void => control.hooks.responseComplete(ended)

test('under lasting event loop lag low-priority requests are refused, but no watches, probes and exempt requests', async () => {
  const configs = new FlowConfigs(identity, 10)
  const rulesOf = (name: string) => [{ ...everything, subjects: [{ kind: 'User', user: { name } }] }]
  const schemas = [
    schemaOf('catch-all'),
    schemaOf('masters', { level: 'exempt', precedence: 1, rules: rulesOf('root') }),
    schemaOf('nodes', { precedence: 500, rules: rulesOf('node') }),
  ]
  const config = configs.compile({ schemas, levels: [levelOf('catch-all', limited()), levelOf('exempt', undefined)] })
  const late = { touch: () => undefined, isOverloaded: true, isStillOverloaded: false }
  const control = new PriorityAndFairness({ pressure: { isFullFor: () => false }, config, countOf: () => 0, maxWaitMs: 60_000, lag: late })
  const isServed = async (user: string, url = '/api/v1/namespaces/a/pods/p'): Promise<boolean> => {
    return await Promise.resolve(control.filter(request(user, { url }))).then(
      () => true,
      () => false,
    )
  }
  assert.ok(await isServed('alice'), 'a flow without queued requests is served at first')
  late.isStillOverloaded = true
  assert.equal(await isServed('alice'), false)
  for (const user of ['root', 'node']) assert.ok(await isServed(user), user)
  for (const url of ['/api/v1/namespaces/a/pods?watch=1', '/livez']) assert.ok(await isServed('alice', url), url)
  control.close()
})

test('counters of a deleted schema are kept until its last request ends', async () => {
  const configs = new FlowConfigs(identity, 100)
  const levels = [levelOf('catch-all', limited()), levelOf('tmp', limited())]
  const usual = schemaOf('catch-all')
  const counted = (): readonly string[] => [...configs.counters.keys()]
  for (let i = 0; i < 100; i++)
    configs.compile({ levels, schemas: [usual, schemaOf(`s${i}`), schemaOf('moves', { level: i % 2 ? 'tmp' : 'catch-all' })] })
  assert.deepEqual(counted(), ['catch-all/catch-all', 's99/catch-all', 'moves/tmp'])
  const counter = configs.counters.get('s99/catch-all')
  assert.ok(counter !== undefined)
  for (const state of ['waiting', 'executing'] as const) {
    counter[state] = 1
    configs.compile({ levels, schemas: [usual] })
    assert.deepEqual(counted(), ['catch-all/catch-all', 's99/catch-all'])
    counter[state] = 0
  }
  configs.compile({ levels, schemas: [usual] })
  assert.deepEqual(counted(), ['catch-all/catch-all'])
})

test('a request with a free seat begins at once, and its response names schema and level', async () => {
  const control = controlOf()
  const first = request('alice')
  assert.equal(await control.filter(first), false)
  assert.deepEqual(first.flowSchema?.headers, [
    'X-Cluster-PF-FlowSchema-UID',
    'uid-catch-all',
    'X-Cluster-PF-PriorityLevel-UID',
    'uid-catch-all',
  ])
  assert.equal(control.readOnly, 1)
  complete(control, first)
  complete(control, first)
  assert.equal(control.readOnly, 0)
})

test('a queued request of another user does not wait for all earlier ones', async () => {
  const control = controlOf()
  const first = request('loud')
  control.filter(first)
  const order: string[] = []
  const wait = (name: string): Promise<unknown> => {
    const exchange = request(name)
    return Promise.resolve(control.filter(exchange)).then(() => {
      order.push(name)
      complete(control, exchange)
    })
  }
  const all = [wait('loud'), wait('loud'), wait('loud'), wait('loud'), wait('quiet')]
  complete(control, first)
  await Promise.all(all)
  assert.ok(order.indexOf('quiet') <= 2, order.join(' '))
})

test('exempt requests, probes and long-running requests never wait', async () => {
  const control = controlOf()
  control.filter(request('alice'))
  assert.equal(await control.filter(request('root')), false)
  assert.equal(await control.filter(request('alice', { url: '/livez' })), false)
  const log = request('alice', { url: '/api/v1/namespaces/a/pods/p/log' })
  assert.equal(await control.filter(log), false)
  assert.equal(log.flowSchema, undefined)
})

test('a watch gives its seat back when its stream has begun', async () => {
  const control = controlOf()
  const watch = request('alice', { url: '/api/v1/pods?watch=1' })
  assert.equal(await control.filter(watch), false)
  const other = Promise.resolve(control.filter(request('bob')))
  control.hooks.responseStarted(watch)
  assert.equal(await other, false)
})

test('a long list takes several seats, at most all of its level', async () => {
  const control = controlOf({ seats: 5, count: 420 })
  const list = request('alice', { url: '/api/v1/pods' })
  assert.equal(await control.filter(list), false)
  assert.equal(list.seating?.seats, 5)
  const page = request('bob', { url: '/api/v1/pods?limit=10' })
  const waiting = control.filter(page)
  complete(control, list)
  await waiting
  assert.equal(page.seating?.seats, 1)
})

test('a level without queues refuses when it has no seat, one with queues when they are full', async () => {
  const strict = controlOf({ limits: limited({ queuing: undefined }) })
  strict.filter(request('alice'))
  await assert.rejects(async () => strict.filter(request('alice')), OverloadedError)
  const short = controlOf({ limits: limited({ queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } }) })
  short.filter(request('alice'))
  const waiting = short.filter(request('alice'))
  waiting.catch(() => undefined)
  await assert.rejects(async () => short.filter(request('alice')), OverloadedError)
  short.close()
})

test('only queues with waiting or executing requests take memory', async () => {
  const control = controlOf({ limits: limited({ queuing: { queues: 10_000_000, handSize: 2, queueLengthLimit: 10 } }) })
  const level = control.config.levels.get('catch-all')
  assert.equal(level?.queues.size, 0)
  const [first, second] = [request('alice'), request('bob')]
  control.filter(first)
  const waiting = control.filter(second)
  assert.equal(level?.queues.size, 1)
  complete(control, first)
  await waiting
  assert.equal(level?.queues.size, 1, 'a request of bob executes')
  complete(control, second)
  assert.equal(level?.queues.size, 0)
  control.close()
})

test('a request that waited too long is refused', async () => {
  const control = controlOf({ maxWaitMs: -1 })
  const first = request('alice')
  control.filter(first)
  // The sweeper's timer does not keep the process alive.
  const alive = setInterval(() => undefined, 100)
  await assert.rejects(async () => control.filter(request('alice')), OverloadedError)
  clearInterval(alive)
  assert.equal(control.waiting, 0)
  control.close()
})
