// Fault rules: wrong members are refused with a message that names them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FaultRuleError, parseFaultRule } from './fault-rule.js'

const error = { code: 500 }

for (const [rule, message] of [
  [undefined, 'the rule must be an object, not undefined'],
  [[], 'the rule must be an object, not []'],
  [{}, 'exactly one of error, latency, cut, watch, expireToken, webhook, disk is needed'],
  [{ error, cut: 'after' }, 'exactly one of error, latency, cut, watch, expireToken, webhook, disk is needed, not error and cut'],
  [{ error, verbs: ['get'] }, /^fault rule: verbs is unknown; the members are verb, resource, /],
  [{ error, verb: 'GET' }, /^fault rule: verb must be one of get, list, .*, connect, \*, not "GET"$/],
  [{ error, verb: [] }, 'verb must have 1 to 1000 values'],
  [{ error, resource: 'Pod' }, /^fault rule: resource must be a plural such as "pods", .*, not "Pod"$/],
  [{ error, resource: 'pods/' }, /^fault rule: resource must be a plural/],
  [{ error, namespace: 1 }, 'namespace must be a text, not 1'],
  [{ error, name: ['a', null] }, 'name must be a text, not null'],
  [{ error, user: { name: 'alice' } }, 'user must be a text, not {"name":"alice"}'],
  [{ error, nth: 0 }, 'nth must be an integer of at least 1, not 0'],
  [{ error, nth: [1, 1.5] }, 'nth must be an integer of at least 1, not 1.5'],
  [{ error, nth: Array.from({ length: 1001 }, (_, i) => i + 1) }, 'nth must have 1 to 1000 values'],
  [{ error, times: '2' }, 'times must be an integer of at least 1, not "2"'],
  [{ error, probability: 2 }, 'probability must be a number from 0 to 1, not 2'],
  [{ error, probability: Number.NaN }, 'probability must be a number from 0 to 1, not null'],
  [{ error, probability: 0.5, seed: -1 }, 'seed must be an integer from 0 to 4294967295, not -1'],
  [{ error, seed: 1 }, 'seed needs probability'],
  [{ error: 500 }, 'error must be an object, not 500'],
  [{ error: {} }, 'error.code must be an integer from 400 to 599, not undefined'],
  [{ error: { code: 200 } }, 'error.code must be an integer from 400 to 599, not 200'],
  [{ error: { code: 500, status: 'x' } }, 'error.status is unknown; the members are code, reason, message, retryAfterSeconds'],
  [{ error: { code: 500, message: 1 } }, 'error.message must be a text, not 1'],
  [{ error: { code: 429, retryAfterSeconds: -1 } }, 'error.retryAfterSeconds must be an integer of at least 0, not -1'],
  [{ latency: 'soon' }, 'latency must be milliseconds or a duration such as "500ms" or "1m30s", not "soon"'],
  [{ latency: '-1s' }, /^fault rule: latency must be milliseconds/],
  [{ latency: Number.POSITIVE_INFINITY }, /^fault rule: latency must be milliseconds/],
  [{ cut: 'now' }, 'cut must be one of before, after, not "now"'],
  [{ watch: {} }, 'watch needs at least one of end, delay, repeat'],
  [{ watch: { drop: true } }, 'watch.drop is unknown; the members are end, afterEvents, delay, repeat'],
  [{ watch: { end: 'gone' } }, 'watch.end must be one of close, cut, expired, not "gone"'],
  [{ watch: { repeat: true, afterEvents: 1 } }, 'watch.afterEvents needs watch.end'],
  [{ watch: { repeat: false } }, 'watch.repeat must be true, not false'],
  [{ watch: { end: 'cut' }, verb: ['get', 'list'] }, 'verb must be "watch" for a fault of watches, not ["get","list"]'],
  [{ expireToken: 'yes' }, 'expireToken must be true, not "yes"'],
  [{ webhook: 'slow' }, 'webhook must be "unavailable", not "slow"'],
  [{ webhook: 'unavailable', user: 'a' }, 'user has no effect for webhook, which matches only the name of the webhook'],
  [{ disk: 'slow' }, 'disk must be "full", not "slow"'],
  [{ disk: 'full', resource: 'pods' }, 'resource has no effect for disk, which affects the whole server'],
] as const)
  test(`refused: ${JSON.stringify(rule)?.slice(0, 80)} because ${message}`, () => {
    assert.throws(
      () => parseFaultRule(rule),
      (thrown) => {
        assert.ok(thrown instanceof FaultRuleError && thrown instanceof TypeError)
        if (typeof message === 'string') assert.equal(thrown.message, `fault rule: ${message}`)
        else assert.match(thrown.message, message)
        return true
      },
    )
  })

test('a rule is copied, so that later changes by the caller have no effect', () => {
  const rule = { verb: ['get' as const], error: { code: 500 } }
  const parsed = parseFaultRule(rule)
  rule.error.code = 409
  assert.deepEqual(parsed.rule, { verb: ['get'], error: { code: 500 } })
  assert.deepEqual(parsed.action, { kind: 'error', error: { code: 500 } })
})

test('durations are milliseconds or texts', () => {
  assert.deepEqual(parseFaultRule({ latency: 250 }).action, { kind: 'latency', ms: 250 })
  assert.deepEqual(parseFaultRule({ latency: '1m30s' }).action, { kind: 'latency', ms: 90_000 })
  assert.deepEqual(parseFaultRule({ latency: '2d' }).action, { kind: 'latency', ms: 172_800_000 })
  assert.deepEqual(parseFaultRule({ watch: { delay: '20ms' } }).action, {
    kind: 'watch',
    end: undefined,
    afterEvents: 0,
    delayMs: 20,
    repeats: false,
  })
})
