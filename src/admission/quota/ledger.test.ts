// Quotas are charged with what is stored, refuse what does not fit, and follow what others write.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.js'
import type { WriteOutcome } from '../../objects/object-store.js'
import type { ResourceQuota } from '../../resources/core/v1.schema.js'
import type { LimitedResource } from '../config/quota-settings.js'
import { type Attempt, type Stage, stageOf } from '../stage.fixture.js'
import { QuotaLedger } from './ledger.js'

interface Setting {
  readonly stage: Stage
  readonly ledger: QuotaLedger
  readonly used: (name?: string) => object | undefined
  readonly store: (attempt: Omit<Attempt, 'namespace'>) => Promise<WriteOutcome>
  readonly refusal: (attempt: Omit<Attempt, 'namespace'>) => string
}

const base = { metadata: { name: 'x', namespace: 'a' } }

async function setUp(quotas: readonly object[], { limited = [] as readonly LimitedResource[], enforces = true } = {}): Promise<Setting> {
  const stage = await stageOf()
  const resource = stage.find('resourcequotas')
  for (const [i, quota] of quotas.entries()) await stage.put(resource, { metadata: { name: `q${i}`, namespace: 'a' }, ...quota })
  const ledger = new QuotaLedger({ store: stage.store, quotas: resource, limited, enforces })
  const callOf = (attempt: Omit<Attempt, 'namespace'>) => stage.attempt({ ...attempt, namespace: 'a' }).call
  return {
    stage,
    ledger,
    used: (name = 'q0') =>
      (stage.store.read({ resource, namespace: 'a', name })?.decode(resource) as ResourceQuota | undefined)?.status?.used,
    store: (attempt) => {
      const call = callOf(attempt)
      const address = { resource: attempt.resource, namespace: 'a', name: call.name }
      const commit = (alongside: Parameters<Parameters<NonNullable<ReturnType<QuotaLedger['accountFor']>>>[0]>[0]) => {
        const stored = stage.store.read(address)
        if (attempt.object === undefined && stored !== undefined) return stage.store.remove(stored, [], alongside)
        return stage.store.put(address, stage.store.encode(attempt.resource, attempt.object ?? {}), {
          expect: stored?.revision ?? 0,
          alongside,
        })
      }
      const account = ledger.accountFor(call, { next: attempt.object, old: attempt.old })
      return account === undefined ? commit([]) : account(commit)
    },
    refusal: (attempt) => {
      try {
        ledger.check(callOf(attempt), { next: attempt.object, old: attempt.old })
        return ''
      } catch (thrown) {
        return (thrown as ApiError).status.message
      }
    },
  }
}

const counted = (count: number, used = '0') => {
  const hard = { 'count/configmaps': String(count) }
  return { spec: { hard }, status: { hard, used: { 'count/configmaps': used } } }
}
const mapOf = (name: string) => ({ metadata: { name, namespace: 'a', uid: name, creationTimestamp: '2020-01-01T00:00:00Z' } })

test('what is stored is charged with it, and what goes is given back', async () => {
  const { stage, store, used } = await setUp([counted(5)])
  const resource = stage.find('configmaps')
  assert.ok((await store({ resource, object: mapOf('m') })).ok)
  assert.deepEqual(used(), { 'count/configmaps': '1' })
  assert.ok((await store({ resource, operation: 'DELETE', name: 'm', old: mapOf('m') })).ok)
  assert.deepEqual(used(), { 'count/configmaps': '0' })
})

test('what is not stored is not charged', async () => {
  const { stage, store, used } = await setUp([counted(5)])
  const resource = stage.find('configmaps')
  await store({ resource, object: mapOf('m') })
  const account = stage.store.read({ resource, namespace: 'a', name: 'm' })
  assert.ok(account !== undefined)
  const call = stage.attempt({ resource, namespace: 'a', object: mapOf('m') }).call
  const again = await new QuotaLedger({ store: stage.store, quotas: stage.find('resourcequotas'), limited: [], enforces: true }).accountFor(
    call,
    { next: mapOf('m'), old: undefined },
  )?.((alongside) =>
    stage.store.put({ resource, namespace: 'a', name: 'm' }, stage.store.encode(resource, mapOf('m')), { expect: 0, alongside }),
  )
  assert.equal(again?.ok, false)
  assert.deepEqual(used(), { 'count/configmaps': '1' })
})

test('of many at once exactly as many are stored as fit', async () => {
  const { stage, store, used } = await setUp([counted(10)])
  const outcomes = await Promise.allSettled(
    Array.from({ length: 40 }, (_, i) => store({ resource: stage.find('configmaps'), object: mapOf(`m${i}`) })),
  )
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10)
  assert.deepEqual(used(), { 'count/configmaps': '10' })
  assert.equal(stage.store.count(stage.find('configmaps'), 'a'), 10)
})

test('two ledgers on one store, as on two servers, never exceed either', async () => {
  const { stage, store } = await setUp([counted(10)])
  const resource = stage.find('configmaps')
  const quotas = stage.find('resourcequotas')
  const other = new QuotaLedger({ store: stage.store, quotas, limited: [], enforces: true })
  const elsewhere = (name: string) => {
    const call = stage.attempt({ resource, namespace: 'a', object: mapOf(name) }).call
    return other.accountFor(call, { next: mapOf(name), old: undefined })?.((alongside) =>
      stage.store.put({ resource, namespace: 'a', name }, stage.store.encode(resource, mapOf(name)), { expect: 0, alongside }),
    )
  }
  await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? store({ resource, object: mapOf(`m${i}`) }) : elsewhere(`m${i}`))),
  )
  assert.equal(stage.store.count(resource, 'a'), 10)
})

test('a quota does not charge itself when it goes', async () => {
  const hard = { resourcequotas: '5' }
  const { stage, store } = await setUp([{ spec: { hard }, status: { hard, used: { resourcequotas: '1' } } }])
  const resource = stage.find('resourcequotas')
  assert.ok((await store({ resource, operation: 'DELETE', name: 'q0', old: { metadata: { name: 'q0', namespace: 'a' } } })).ok)
  assert.equal(stage.store.count(resource, 'a'), 0)
})

test('what is not known yet must not change while it is counted', async () => {
  const { stage, store } = await setUp([{ spec: { hard: { 'count/configmaps': '5' } } }])
  const quotas = stage.find('resourcequotas')
  const revision = () => stage.store.read({ resource: quotas, namespace: 'a', name: 'q0' })?.revision ?? 0
  const before = revision()
  await store({ resource: stage.find('configmaps'), object: mapOf('m') })
  assert.ok(revision() > before)
})

test('without the plugin everything is counted, and nothing is refused', async () => {
  const { stage, store, used } = await setUp([counted(1, '1')], { enforces: false })
  assert.ok((await store({ resource: stage.find('configmaps'), object: mapOf('m') })).ok)
  assert.deepEqual(used(), { 'count/configmaps': '2' })
})

const podOf = (requests: object, more: object = {}) => ({
  ...base,
  spec: { containers: [{ name: 'c', resources: { requests } }], ...more },
})
const compute = (more: object = {}) => ({
  spec: { hard: { cpu: '1', pods: '2' } },
  status: { hard: { cpu: '1', pods: '2' }, used: { cpu: '600m', pods: '1' } },
  ...more,
})

test('a refusal names the quota, what was asked for, what is used and what is allowed', async () => {
  const { stage, refusal } = await setUp([compute()])
  const resource = stage.find('pods')
  assert.equal(refusal({ resource, object: podOf({ cpu: '400m' }) }), '')
  assert.equal(
    refusal({ resource, object: podOf({ cpu: '500m' }) }),
    'pods "x" is forbidden: exceeded quota: q0, requested: cpu=500m, used: cpu=600m, limited: cpu=1',
  )
  assert.equal(refusal({ resource, object: podOf({}) }), 'pods "x" is forbidden: failed quota: q0: must specify cpu for: c')
  assert.equal(
    refusal({ resource, object: podOf({ cpu: '-1' }) }),
    'pods "x" is forbidden: quota usage is negative for resource(s): cpu,requests.cpu',
  )
})

test('a quota whose usage is unknown lets nothing in', async () => {
  const { stage, refusal } = await setUp([compute({ status: { hard: { cpu: '1', pods: '2' } } })])
  assert.equal(
    refusal({ resource: stage.find('pods'), object: podOf({ cpu: '1m' }) }),
    'pods "x" is forbidden: status unknown for quota: q0, resources: cpu,pods',
  )
})

test('updates count where a kind can grow, by what they add', async () => {
  const hard = { 'requests.storage': '5Gi' }
  const { stage, refusal } = await setUp([{ spec: { hard }, status: { hard, used: { 'requests.storage': '4Gi' } } }, compute()])
  const claim = (storage: string) => ({ ...base, spec: { resources: { requests: { storage } } } })
  const resource = stage.find('persistentvolumeclaims')
  assert.equal(refusal({ resource, operation: 'UPDATE', old: claim('1Gi'), object: claim('2Gi') }), '')
  assert.match(refusal({ resource, operation: 'UPDATE', old: claim('1Gi'), object: claim('3Gi') }), /requested: requests.storage=2Gi/)
  assert.equal(refusal({ resource, operation: 'UPDATE', old: claim('3Gi'), object: claim('1Gi') }), '')
  assert.equal(refusal({ resource: stage.find('pods'), operation: 'UPDATE', old: podOf({ cpu: '1' }), object: podOf({ cpu: '9' }) }), '')
  assert.equal(refusal({ resource: stage.find('pods'), subresource: 'status', object: podOf({ cpu: '9' }) }), '')
})

test('what is limited by configuration needs a quota', async () => {
  const limited: readonly LimitedResource[] = [
    {
      apiGroup: '',
      resource: 'pods',
      matchContains: ['cpu'],
      matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
    },
  ]
  const none = await setUp([], { limited })
  const resource = none.stage.find('pods')
  assert.match(none.refusal({ resource, object: podOf({ cpu: '1' }) }), /insufficient quota to consume: cpu,requests.cpu/)
  assert.match(
    none.refusal({ resource, object: podOf({}, { priorityClassName: 'high' }) }),
    /insufficient quota to match these scopes: \[\{PriorityClass In \[high\]\}\]/,
  )
  assert.equal(none.refusal({ resource, object: podOf({}) }), '')
  assert.equal(none.refusal({ resource, object: podOf({ cpu: '0' }) }), '', 'nothing of it is not limited')
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }
  const hard = { pods: '5' }
  const some = await setUp([{ spec: { hard, scopeSelector }, status: { hard, used: { pods: '0' } } }], { limited })
  assert.equal(some.refusal({ resource: some.stage.find('pods'), object: podOf({}, { priorityClassName: 'high' }) }), '')
})

test('an error of the store is no refusal', async () => {
  const { stage, ledger } = await setUp([counted(5)])
  const call = stage.attempt({ resource: stage.find('configmaps'), namespace: 'a', object: mapOf('m') }).call
  await assert.rejects(
    async () => ledger.accountFor(call, { next: mapOf('m'), old: undefined })?.(() => Promise.reject(new Error('full'))),
    (error) => !(error instanceof ApiError),
  )
})
