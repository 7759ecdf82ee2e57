// Who takes a request, who waits, and in which order they are served.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { identityOf } from '../../api/identity.js'
import { parseRequest } from '../../api/request-info.js'
import type { User } from '../../api/user.js'
import type { Exchange } from '../exchange.js'
import { OverloadedError } from '../pressure.js'
import { classifier } from './classify.js'
import { Flow, FlowTally } from './flow.js'
import { FlowConfigs, hasRoom } from './flow-config.js'
import { FlowControl } from './flow-control.js'
import type { FlowRule, FlowSchemaObject, FlowSubject, LimitedLevel, PriorityLevelObject } from './flow-objects.js'
import { dealHand, flowHash } from './shuffle-shard.js'

const userOf = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })

const everybody: FlowSubject = { kind: 'Group', group: { name: '*' } }
const everything: FlowRule = {
  subjects: [everybody],
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

const schemaOf = (name: string, changes: Partial<FlowSchemaObject> = {}): FlowSchemaObject => ({
  name,
  uid: `uid-${name}`,
  level: 'catch-all',
  precedence: 1000,
  distinguisher: 'ByUser',
  rules: [everything],
  ...changes,
})

const asked = (rules: readonly FlowRule[], user: User, url: string, method = 'GET'): boolean =>
  classifier([{ object: schemaOf('s', { rules }), schema: 's' }])(user, parseRequest(method, url)) !== undefined

const resources = (changes: object): FlowRule => ({
  subjects: [everybody],
  resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['pods'], namespaces: ['*'], ...changes }],
})

const bot = 'system:serviceaccount:team:bot'

for (const { title, rule, user = userOf('alice', 'dev'), url, method, isTaken } of [
  { title: 'everything', rule: everything, url: '/version', isTaken: true },
  { title: 'a user', rule: { ...everything, subjects: [{ kind: 'User', user: { name: 'alice' } }] }, url: '/version', isTaken: true },
  { title: 'any user', rule: { ...everything, subjects: [{ kind: 'User', user: { name: '*' } }] }, url: '/version', isTaken: true },
  { title: 'another user', rule: { ...everything, subjects: [{ kind: 'User', user: { name: 'bob' } }] }, url: '/version', isTaken: false },
  { title: 'a group', rule: { ...everything, subjects: [{ kind: 'Group', group: { name: 'dev' } }] }, url: '/version', isTaken: true },
  {
    title: 'an account',
    rule: { ...everything, subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'team', name: 'bot' } }] },
    user: userOf(bot),
    url: '/version',
    isTaken: true,
  },
  {
    title: 'any account of a namespace',
    rule: { ...everything, subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'team', name: '*' } }] },
    user: userOf(bot),
    url: '/version',
    isTaken: true,
  },
  {
    title: 'an account of another namespace',
    rule: { ...everything, subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'te', name: '*' } }] },
    user: userOf(bot),
    url: '/version',
    isTaken: false,
  },
  { title: 'a resource in a namespace', rule: resources({}), url: '/api/v1/namespaces/a/pods', isTaken: true },
  { title: 'not over all namespaces', rule: resources({}), url: '/api/v1/pods', isTaken: false },
  { title: 'over all namespaces', rule: resources({ clusterScope: true, namespaces: [] }), url: '/api/v1/pods', isTaken: true },
  { title: 'a part is not the whole', rule: resources({}), url: '/api/v1/namespaces/a/pods/p/status', isTaken: false },
  { title: 'a part', rule: resources({ resources: ['pods/status'] }), url: '/api/v1/namespaces/a/pods/p/status', isTaken: true },
  { title: 'another verb', rule: resources({ verbs: ['list'] }), url: '/api/v1/namespaces/a/pods', method: 'POST', isTaken: false },
  { title: 'a path and what is below it', rule: paths('/healthz'), url: '/healthz/ping', isTaken: true },
  { title: 'a path that begins alike', rule: paths('/healthz'), url: '/healthzz', isTaken: false },
  { title: 'what is below a path only', rule: paths('/openapi/*'), url: '/openapi', isTaken: false },
] as readonly { title: string; rule: FlowRule; user?: User; url: string; method?: string; isTaken: boolean }[]) {
  test(title, () => {
    assert.equal(asked([rule], user, url, method), isTaken)
  })
}

function paths(...nonResourceURLs: readonly string[]): FlowRule {
  return { subjects: [everybody], nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] }
}

test('the lower precedence comes first, and of two alike the smaller name', () => {
  const schemas = [schemaOf('b'), schemaOf('a'), schemaOf('late', { precedence: 2000 })]
  const classify = classifier(schemas.map((object) => ({ object, schema: object.name })))
  assert.equal(classify(userOf('x'), parseRequest('GET', '/version')), 'a')
})

test('hands have different cards of the deck, and flows have different hands', () => {
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

const levelOf = (name: string, limits: LimitedLevel | undefined): PriorityLevelObject => ({ name, uid: `uid-${name}`, limited: limits })

const identity = identityOf('cluster')

test('levels share the seats, and lend what they do not use', () => {
  const configs = new FlowConfigs(identity, 100)
  const levels = [
    levelOf('catch-all', limited({ shares: 20 })),
    levelOf('other', limited({ shares: 80, lendablePercent: 50 })),
    levelOf('free', undefined),
  ]
  const config = configs.make({ schemas: [schemaOf('catch-all')], levels })
  const [own, other] = [config.levels.get('catch-all'), config.levels.get('other')]
  assert.ok(own && other)
  assert.deepEqual([own.nominal, other.nominal, other.lendable], [20, 80, 40])
  const room = (): boolean => hasRoom(own, 1, config.levels.values())
  own.take(59)
  assert.ok(room(), 'forty of the other level')
  own.take(1)
  assert.ok(!room())
  other.take(50)
  assert.ok(!hasRoom(own, 1, config.levels.values()))
  const again = configs.make({ schemas: [schemaOf('catch-all')], levels: [levelOf('catch-all', limited({ borrowingLimitPercent: 0 }))] })
  assert.equal(again.levels.get('catch-all'), own, 'a level that stays keeps its requests')
  assert.equal(own.nominal, 100)
})

interface Asked extends Exchange {
  isGone: boolean
}

let clock = 0

function request(name: string, { url = '/api/v1/namespaces/a/pods/p', method = 'GET' } = {}): Asked {
  clock += 10
  return {
    info: parseRequest(method, url),
    user: userOf(name),
    begunMs: clock,
    isGone: false,
    isTimedOut: false,
    releaseBody: () => undefined,
  } as unknown as Asked
}

const lag = { touch: () => undefined, isOverloaded: false, isStillOverloaded: false }

function controlOf({ seats = 1, limits = limited(), count = 0, maxWaitMs = 60_000 } = {}): FlowControl {
  const configs = new FlowConfigs(identity, seats)
  const schemas = [
    schemaOf('catch-all'),
    schemaOf('masters', {
      level: 'exempt',
      precedence: 1,
      rules: [{ ...everything, subjects: [{ kind: 'User', user: { name: 'root' } }] }],
    }),
  ]
  const config = configs.make({ schemas, levels: [levelOf('catch-all', limits), levelOf('exempt', undefined)] })
  return new FlowControl({ pressure: { isFull: false }, config, countOf: () => count, maxWaitMs, lag })
}

const complete = (control: FlowControl, exchange: Exchange): void => control.hooks.responseComplete?.(exchange)

test('when the loop stays late, what can wait is refused: not watches, probes, the exempt, and what comes before the usual', async () => {
  const configs = new FlowConfigs(identity, 10)
  const rulesOf = (name: string) => [{ ...everything, subjects: [{ kind: 'User', user: { name } }] }]
  const schemas = [
    schemaOf('catch-all'),
    schemaOf('masters', { level: 'exempt', precedence: 1, rules: rulesOf('root') }),
    schemaOf('nodes', { precedence: 500, rules: rulesOf('node') }),
  ]
  const config = configs.make({ schemas, levels: [levelOf('catch-all', limited()), levelOf('exempt', undefined)] })
  const late = { touch: () => undefined, isOverloaded: true, isStillOverloaded: false }
  const control = new FlowControl({ pressure: { isFull: false }, config, countOf: () => 0, maxWaitMs: 60_000, lag: late })
  const isTaken = async (user: string, url = '/api/v1/namespaces/a/pods/p'): Promise<boolean> => {
    return await Promise.resolve(control.filter(request(user, { url }))).then(
      () => true,
      () => false,
    )
  }
  assert.ok(await isTaken('alice'), 'one who has nothing waiting goes on at first')
  late.isStillOverloaded = true
  assert.equal(await isTaken('alice'), false)
  for (const user of ['root', 'node']) assert.ok(await isTaken(user), user)
  for (const url of ['/api/v1/namespaces/a/pods?watch=1', '/livez']) assert.ok(await isTaken('alice', url), url)
  control.close()
})

test('the queues of a flow are kept, and dealt anew each time for a name that is long', () => {
  const level = new FlowConfigs(identity, 100)
    .make({ schemas: [schemaOf('catch-all')], levels: [levelOf('catch-all', limited())] })
    .levels.get('catch-all')
  assert.ok(level)
  const flow = new Flow(schemaOf('s'), { level, tally: new FlowTally('s', 'catch-all'), identity })
  for (const [name, isKept] of [
    ['alice', true],
    ['x'.repeat(256), true],
    ['x'.repeat(257), false],
    ['x'.repeat(60_000), false],
  ] as const) {
    const hand = flow.handOf(name)
    assert.deepEqual(flow.handOf(name), hand)
    assert.equal(flow.handOf(name) === hand, isKept, `${name.length} characters`)
  }
})

test('what is gone is counted until its last request has left', () => {
  const configs = new FlowConfigs(identity, 100)
  const levels = [levelOf('catch-all', limited()), levelOf('tmp', limited())]
  const usual = schemaOf('catch-all')
  const counted = (): readonly string[] => [...configs.tallies.keys()]
  for (let i = 0; i < 100; i++)
    configs.make({ levels, schemas: [usual, schemaOf(`s${i}`), schemaOf('moves', { level: i % 2 ? 'tmp' : 'catch-all' })] })
  assert.deepEqual(counted(), ['catch-all/catch-all', 's99/catch-all', 'moves/tmp'])
  const tally = configs.tallies.get('s99/catch-all')
  assert.ok(tally !== undefined)
  for (const state of ['waiting', 'executing'] as const) {
    tally[state] = 1
    configs.make({ levels, schemas: [usual] })
    assert.deepEqual(counted(), ['catch-all/catch-all', 's99/catch-all'])
    tally[state] = 0
  }
  configs.make({ levels, schemas: [usual] })
  assert.deepEqual(counted(), ['catch-all/catch-all'])
})

test('whoever finds a seat goes on at once, and has the names of his flow', () => {
  const control = controlOf()
  const first = request('alice')
  assert.equal(control.filter(first), false)
  assert.deepEqual(first.flow?.headers, ['X-Cluster-PF-FlowSchema-UID', 'uid-catch-all', 'X-Cluster-PF-PriorityLevel-UID', 'uid-catch-all'])
  assert.equal(control.readOnly, 1)
  complete(control, first)
  complete(control, first)
  assert.equal(control.readOnly, 0)
})

test('of many who wait, those of different users take turns', async () => {
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

test('the exempt, health and what is no request in this sense never wait', () => {
  const control = controlOf()
  control.filter(request('alice'))
  assert.equal(control.filter(request('root')), false)
  assert.equal(control.filter(request('alice', { url: '/livez' })), false)
  const log = request('alice', { url: '/api/v1/namespaces/a/pods/p/log' })
  assert.equal(control.filter(log), false)
  assert.equal(log.flow, undefined)
})

test('a watch has its seat until it has begun', async () => {
  const control = controlOf()
  const watch = request('alice', { url: '/api/v1/pods?watch=1' })
  assert.equal(control.filter(watch), false)
  const other = Promise.resolve(control.filter(request('bob')))
  control.hooks.responseStarted?.(watch)
  assert.equal(await other, false)
})

test('a long list takes several seats, though never more than there are', async () => {
  const control = controlOf({ seats: 5, count: 420 })
  const list = request('alice', { url: '/api/v1/pods' })
  assert.equal(control.filter(list), false)
  assert.equal(list.seated?.seats, 5)
  const page = request('bob', { url: '/api/v1/pods?limit=10' })
  const waiting = control.filter(page)
  assert.ok(waiting instanceof Promise)
  complete(control, list)
  await waiting
  assert.equal(page.seated?.seats, 1)
})

test('a level without queues refuses what finds no seat; one with queues what finds them full', async () => {
  const strict = controlOf({ limits: limited({ queuing: undefined }) })
  strict.filter(request('alice'))
  assert.throws(() => strict.filter(request('alice')), OverloadedError)
  const short = controlOf({ limits: limited({ queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } }) })
  short.filter(request('alice'))
  const waiting = short.filter(request('alice'))
  assert.ok(waiting instanceof Promise)
  waiting.catch(() => undefined)
  await assert.rejects(async () => short.filter(request('alice')), OverloadedError)
  short.close()
})

test('of millions of queues those are kept in which somebody waits or from which somebody is at work', async () => {
  const control = controlOf({ limits: limited({ queuing: { queues: 10_000_000, handSize: 2, queueLengthLimit: 10 } }) })
  const level = control.config.levels.get('catch-all')
  assert.equal(level?.queues.size, 0)
  const [first, second] = [request('alice'), request('bob')]
  control.filter(first)
  const waiting = control.filter(second)
  assert.equal(level?.queues.size, 1)
  complete(control, first)
  await waiting
  assert.equal(level?.queues.size, 1, 'bob is at work')
  complete(control, second)
  assert.equal(level?.queues.size, 0)
  control.close()
})

test('more than a few within a millisecond wait for the next turn of the event loop, though there are seats', async () => {
  const control = controlOf({ seats: 1_000, limits: limited({ queuing: { queues: 1, handSize: 1, queueLengthLimit: 1_000 } }) })
  const now = request('x').begunMs
  const flood = Array.from({ length: 40 }, () => ({ ...request('loud'), begunMs: now }) as unknown as Exchange)
  const answers = flood.map((exchange) => control.filter(exchange))
  assert.equal(answers.filter((answer) => answer === false).length, 16)
  for (let i = 0; i < 50 && control.waiting > 0; i++) await setImmediate()
  assert.equal(control.waiting, 0)
})

test('who has waited too long, or is gone, is taken out', async () => {
  const control = controlOf({ maxWaitMs: -1 })
  const first = request('alice')
  control.filter(first)
  const alive = setInterval(() => undefined, 100) // what looks for them keeps no process alive
  await assert.rejects(async () => control.filter(request('alice')), OverloadedError)
  clearInterval(alive)
  assert.equal(control.waiting, 0)
  control.close()
})
