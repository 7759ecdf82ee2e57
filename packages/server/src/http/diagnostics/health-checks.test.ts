// Health checks: excluded and verbose checks, start-up, grace period and shutdown.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { readQuery } from '@cluster-apiserver/api/api/options/query.js'
import { type Check, healthChecks, runCheck, runChecks } from './health-checks.js'

const checks: readonly Check[] = [
  { name: 'ping', problem: () => undefined },
  { name: 'etcd', problem: () => 'no response' },
]

const responses: readonly { query: string; code: number; text: RegExp }[] = [
  { query: '', code: 500, text: /^\[\+\]ping ok\n\[-\]etcd failed: reason withheld\nlivez check failed\n$/ },
  { query: 'exclude=etcd', code: 200, text: /^ok$/ },
  { query: 'exclude=etcd&verbose', code: 200, text: /^\[\+\]ping ok\n\[\+\]etcd excluded: ok\nhealthz check passed\n$/ },
  {
    query: 'exclude=etcd&exclude=odd&exclude=any&exclude=odd&verbose',
    code: 200,
    text: /cannot be excluded: no matches for "any","odd"\n/,
  },
]

for (const row of responses) {
  test(`/livez?${row.query}`, async () => {
    const response = await runChecks('livez', checks, readQuery(row.query))
    assert.equal(response.code, row.code)
    assert.match(response.text, row.text)
  })
}

test('a single check by name: 200 if it passes, 500 if it fails, undefined if unknown', async () => {
  assert.equal((await runCheck(checks, 'ping'))?.code, 200)
  assert.equal((await runCheck(checks, 'etcd'))?.code, 500)
  assert.equal(await runCheck(checks, 'odd'), undefined)
})

test('unfinished start-up fails readiness at once, and liveness after the grace period', async () => {
  const state = { started: false, grace: true, down: false }
  const all = healthChecks(
    {
      storeProblem: () => undefined,
      storeReadinessProblem: () => undefined,
      hasStarted: () => state.started,
      isShuttingDown: () => state.down,
      isInGracePeriod: () => state.grace,
    },
    identityOf('cluster'),
  )
  const code = async (path: 'livez' | 'readyz' | 'healthz') => (await runChecks(path, all[path], readQuery(''))).code
  const codes = () => Promise.all([code('livez'), code('readyz'), code('healthz')])
  assert.deepEqual(await codes(), [200, 500, 500])
  state.grace = false
  assert.equal(await code('livez'), 500)
  state.started = true
  assert.deepEqual(await codes(), [200, 200, 200])
  state.down = true
  assert.deepEqual(await codes(), [200, 500, 200])
})
