// Which fault rule fires for a request: matchers, order, counts, and choice by number, maximum and probability.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FaultRule } from './fault-rule.js'
import { FaultRules, type TokenRequest } from './fault-rules.js'

const request: TokenRequest = {
  isResource: true,
  verb: 'update',
  isConnect: false,
  group: '',
  resource: 'configmaps',
  subresource: '',
  namespace: 'shop',
  name: 'total',
  user: 'alice',
  tokenUser: 'alice',
}
const ware = { ...request, group: 'shop.example.com', resource: 'wares' }
const status = { ...request, resource: 'pods', subresource: 'status' }
const exec = { ...request, resource: 'pods', subresource: 'exec', verb: 'create', isConnect: true }
const version = { ...request, isResource: false, verb: 'get', resource: '', namespace: '', name: '' }

const error = { code: 500 }
const rulesOf = (...list: readonly FaultRule[]): FaultRules => {
  const rules = new FaultRules()
  for (const rule of list) rules.add(rule)
  return rules
}
/** True if the rule fires. */
const fires = (rules: FaultRules, sent: TokenRequest): boolean => {
  const { fault } = rules.decide(sent)
  fault?.firing.fire()
  return fault !== undefined
}

for (const [matchers, sent, isMatch] of [
  [{}, request, true],
  [{}, version, true],
  [{ user: 'alice' }, version, true],
  [{ verb: '*' }, version, false],
  [{ verb: 'get' }, version, false],
  [{ verb: 'update' }, request, true],
  [{ verb: ['get', 'update'] }, request, true],
  [{ verb: ['get', '*'] }, request, true],
  [{ verb: 'patch' }, request, false],
  [{ verb: 'connect' }, request, false],
  [{ verb: 'connect' }, exec, true],
  [{ verb: 'create' }, exec, true],
  [{ resource: 'configmaps' }, request, true],
  [{ resource: 'secrets' }, request, false],
  [{ resource: ['secrets', 'configmaps'] }, request, true],
  [{ resource: '*' }, status, true],
  [{ resource: 'wares.shop.example.com' }, ware, true],
  [{ resource: 'wares' }, ware, true],
  [{ resource: 'wares.other.example.com' }, ware, false],
  [{ resource: 'wares.shop.example.com/status' }, ware, false],
  [{ resource: 'pods' }, status, false],
  [{ resource: 'pods/status' }, status, true],
  [{ resource: '*/status' }, status, true],
  [{ resource: 'pods/*' }, status, true],
  [{ resource: 'pods/*' }, { ...status, subresource: '' }, false],
  [{ resource: 'pods/scale' }, status, false],
  [{ namespace: 'shop' }, request, true],
  [{ namespace: 'other' }, request, false],
  [{ namespace: '' }, { ...request, namespace: '' }, true],
  [{ name: 'total' }, request, true],
  [{ name: ['a', 'b'] }, request, false],
  [{ user: 'alice' }, request, true],
  [{ user: ['bob', 'carol'] }, request, false],
  [{ verb: 'update', resource: 'configmaps', namespace: 'shop', name: 'total', user: 'alice' }, request, true],
  [{ verb: 'update', resource: 'configmaps', namespace: 'shop', name: 'total', user: 'bob' }, request, false],
] as const)
  test(`${JSON.stringify(matchers)} ${isMatch ? 'matches' : 'does not match'} ${sent.verb} ${sent.resource}/${sent.subresource}`, () => {
    assert.equal(fires(rulesOf({ ...matchers, error }), sent), isMatch)
  })

test('a fault of watches matches only watches', () => {
  const rules = rulesOf({ watch: { end: 'close' } })
  assert.equal(fires(rules, request), false)
  assert.equal(fires(rules, { ...request, verb: 'watch' }), true)
  assert.equal(rules.list()[0]?.matched, 1)
})

test('tokens expire by their owner, not by the user whom the owner impersonates', () => {
  const rules = rulesOf({ user: 'alice', expireToken: true })
  assert.equal(fires(rules, { ...request, tokenUser: 'admin' }), false)
  assert.equal(fires(rules, { ...request, tokenUser: undefined }), false)
  assert.equal(fires(rules, { ...request, user: 'bob' }), true)
})

test('the first rule that fires decides; latencies before it add up, and later rules see nothing', () => {
  const rules = rulesOf({ latency: 10 }, { error, nth: 2 }, { latency: '1s' }, { cut: 'before' }, { latency: 100 })
  const decide = () => {
    const { latencies, fault } = rules.decide(request)
    return [latencies.map(({ ms }) => ms), fault?.action.kind]
  }
  assert.deepEqual(decide(), [[10, 1000], 'cut'])
  assert.deepEqual(decide(), [[10], 'error'])
  assert.deepEqual(
    rules.list().map(({ matched }) => matched),
    [2, 2, 1, 1, 0],
  )
})

const firedAt = (choice: Partial<FaultRule>, requests = 12): readonly number[] => {
  const rules = rulesOf({ ...choice, error })
  const fired: number[] = []
  for (let i = 1; i <= requests; i++) if (fires(rules, request)) fired.push(i)
  const [fault] = rules.list()
  assert.deepEqual([fault?.matched, fault?.fired], [requests, fired.length])
  return fired
}

test('nth and times choose matches', () => {
  assert.deepEqual(firedAt({ nth: 3 }), [3])
  assert.deepEqual(firedAt({ nth: [2, 5, 99] }), [2, 5])
  assert.deepEqual(firedAt({ times: 2 }), [1, 2])
  assert.deepEqual(firedAt({ nth: [2, 5], times: 1 }), [2])
})

test('probability is deterministic by its seed', () => {
  const chosen = firedAt({ probability: 0.3, seed: 7 }, 1000)
  assert.deepEqual(firedAt({ probability: 0.3, seed: 7 }, 1000), chosen)
  assert.notDeepEqual(firedAt({ probability: 0.3, seed: 8 }, 1000), chosen)
  assert.ok(chosen.length > 200 && chosen.length < 400, `${chosen.length} of 1000`)
  assert.deepEqual(firedAt({ probability: 0 }), [])
  assert.equal(firedAt({ probability: 1 }).length, 12)
  // Other choices do not shift the sequence.
  assert.deepEqual(firedAt({ probability: 0.3, seed: 7, times: 5 }, 1000), chosen.slice(0, 5))
})

test('a fault without effect does not count, and can fire at the next match', () => {
  const rules = rulesOf({ watch: { end: 'close', afterEvents: 3 }, times: 1 })
  const watch = { ...request, verb: 'watch' }
  rules.decide(watch).fault?.firing.release()
  assert.equal(rules.list()[0]?.fired, 0)
  const { fault } = rules.decide(watch)
  fault?.firing.fire()
  fault?.firing.fire()
  fault?.firing.release()
  assert.equal(rules.decide(watch).fault, undefined)
  assert.deepEqual([rules.list()[0]?.matched, rules.list()[0]?.fired], [3, 1])
})

test('check lists the rules that never fired', () => {
  const rules = rulesOf({ error }, { verb: 'get', error }, { disk: 'full', nth: 2 })
  assert.equal(rules.refusesCommit(), false)
  assert.equal(fires(rules, request), true)
  assert.throws(() => rules.check(), {
    message:
      'faults: 2 of 3 never fired:\n' +
      '  fault 2 {"verb":"get","error":{"code":500}}: nothing matched\n' +
      '  fault 3 {"disk":"full","nth":2}: matched once',
  })
  rules.list()[1]?.remove()
  assert.equal(rules.refusesCommit(), true)
  rules.check()
})

test('a removed rule has no effect and keeps its counts', () => {
  const rules = rulesOf({ error })
  const [fault] = rules.list()
  assert.equal(fires(rules, request), true)
  fault?.remove()
  fault?.remove()
  assert.equal(fires(rules, request), false)
  assert.deepEqual([fault?.id, fault?.matched, fault?.fired], ['1', 1, 1])
  assert.equal(JSON.stringify(fault), '{"id":"1","rule":{"error":{"code":500}},"matched":1,"fired":1}')
  assert.equal(rules.add({ error }).id, '2', 'ids are not used again')
})

test('names are needed while a rule of requests matches them', () => {
  const rules = rulesOf({ webhook: 'unavailable', name: 'w' }, { error, name: '*' })
  assert.equal(rules.needsNames, false)
  const fault = rules.add({ error, name: 'total' })
  assert.equal(rules.needsNames, true)
  fault.remove()
  fault.remove()
  assert.equal(rules.needsNames, false)
})

test('webhooks are matched by name', () => {
  const rules = rulesOf({ webhook: 'unavailable', name: ['a', 'b'], times: 2 })
  assert.deepEqual(
    ['c', 'a', 'b', 'a'].map((name) => rules.refusesWebhook(name)),
    [false, true, true, false],
  )
  assert.equal(rulesOf({ webhook: 'unavailable' }).refusesWebhook('c'), true)
})

test('there are at most 1,000 rules', () => {
  const rules = new FaultRules()
  for (let i = 0; i < 1000; i++) rules.add({ error })
  assert.throws(() => rules.add({ error }), { name: 'RangeError', message: /1000 rules, which is the maximum/ })
  rules.list()[0]?.remove()
  rules.add({ error })
  rules.clear()
  assert.deepEqual(rules.list(), [])
})

test('a rule remembers at most 10,000 expired tokens', () => {
  const rules = rulesOf({ expireToken: true })
  const { fault } = rules.decide(request)
  for (let i = 0; i <= 10_000; i++) fault?.expireToken(String(i))
  assert.deepEqual([rules.refusesToken('0'), rules.refusesToken('1'), rules.refusesToken('10000')], [false, true, true])
})

test('nth: a watch that the client ends before the fault is replaced by the next match', () => {
  const rules = rulesOf({ watch: { end: 'close' }, nth: 1 })
  const watch = { ...request, verb: 'watch' }
  rules.decide(watch).fault?.firing.release()
  assert.deepEqual([fires(rules, watch), fires(rules, watch)], [true, false])
  assert.deepEqual(
    rules.list().map(({ matched, fired }) => [matched, fired]),
    [[3, 1]],
  )
})
