// ResourceQuota: charging with the write, rejection, concurrency between servers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { ResourceQuota } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { WriteOutcome } from '../../objects/object-store.js'
import { type AdmissionFixture, admissionFixture, type RequestInput } from '../admission.fixture.js'
import type { LimitedResource } from '../config/plugin-configs.js'
import { QuotaLedger } from './resource-quota.js'

interface QuotaFixture {
  readonly fixture: AdmissionFixture
  readonly ledger: QuotaLedger
  readonly used: (name?: string) => object | undefined
  readonly store: (input: Omit<RequestInput, 'namespace'>) => Promise<WriteOutcome>
  readonly refusal: (input: Omit<RequestInput, 'namespace'>) => string
}

const namedObject = { metadata: { name: 'x', namespace: 'a' } }

async function setUp(
  quotas: readonly object[],
  { limited = [] as readonly LimitedResource[], shouldEnforce = true } = {},
): Promise<QuotaFixture> {
  const fixture = await admissionFixture()
  const resource = fixture.find('resourcequotas')
  for (const [i, quota] of quotas.entries()) await fixture.put(resource, { metadata: { name: `q${i}`, namespace: 'a' }, ...quota })
  const ledger = new QuotaLedger({ store: fixture.store, quotas: resource, limited, shouldEnforce })
  const callOf = (input: Omit<RequestInput, 'namespace'>) => fixture.request({ ...input, namespace: 'a' }).call
  return {
    fixture,
    ledger,
    used: (name = 'q0') =>
      (fixture.store.read({ resource, namespace: 'a', name })?.decode(resource) as ResourceQuota | undefined)?.status?.used,
    store: (input) => {
      const call = callOf(input)
      const address = { resource: input.resource, namespace: 'a', name: call.name }
      const commit = (alongside: Parameters<Parameters<NonNullable<ReturnType<QuotaLedger['accountFor']>>>[0]>[0]) => {
        const stored = fixture.store.read(address)
        if (input.object === undefined && stored !== undefined) return fixture.store.remove(stored, [], alongside)
        return fixture.store.put(address, fixture.store.encode(input.resource, input.object ?? {}), {
          expect: stored?.revision ?? 0,
          alongside,
        })
      }
      const account = ledger.accountFor(call, { next: input.object, old: input.old })
      return account === undefined ? commit([]) : account(commit)
    },
    refusal: (input) => {
      try {
        ledger.check(callOf(input), { next: input.object, old: input.old })
        return ''
      } catch (thrown) {
        return (thrown as ApiError).status.message
      }
    },
  }
}

const quotaOf = (count: number, used = '0') => {
  const hard = { 'count/configmaps': String(count) }
  return { spec: { hard }, status: { hard, used: { 'count/configmaps': used } } }
}
const mapOf = (name: string) => ({ metadata: { name, namespace: 'a', uid: name, creationTimestamp: '2020-01-01T00:00:00Z' } })

test('creates are charged and deletes are credited', async () => {
  const { fixture, store, used } = await setUp([quotaOf(5)])
  const resource = fixture.find('configmaps')
  assert.ok((await store({ resource, object: mapOf('m') })).ok)
  assert.deepEqual(used(), { 'count/configmaps': '1' })
  assert.ok((await store({ resource, operation: 'DELETE', name: 'm', old: mapOf('m') })).ok)
  assert.deepEqual(used(), { 'count/configmaps': '0' })
})

test('a failed write is not charged', async () => {
  const { fixture, store, used } = await setUp([quotaOf(5)])
  const resource = fixture.find('configmaps')
  await store({ resource, object: mapOf('m') })
  const stored = fixture.store.read({ resource, namespace: 'a', name: 'm' })
  assert.ok(stored !== undefined)
  const call = fixture.request({ resource, namespace: 'a', object: mapOf('m') }).call
  const result = await new QuotaLedger({
    store: fixture.store,
    quotas: fixture.find('resourcequotas'),
    limited: [],
    shouldEnforce: true,
  }).accountFor(call, { next: mapOf('m'), old: undefined })?.((alongside) =>
    fixture.store.put({ resource, namespace: 'a', name: 'm' }, fixture.store.encode(resource, mapOf('m')), { expect: 0, alongside }),
  )
  assert.equal(result?.ok, false)
  assert.deepEqual(used(), { 'count/configmaps': '1' })
})

test('of many concurrent writes exactly as many succeed as fit', async () => {
  const { fixture, store, used } = await setUp([quotaOf(10)])
  const outcomes = await Promise.allSettled(
    Array.from({ length: 40 }, (_, i) => store({ resource: fixture.find('configmaps'), object: mapOf(`m${i}`) })),
  )
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10)
  assert.deepEqual(used(), { 'count/configmaps': '10' })
  assert.equal(fixture.store.count(fixture.find('configmaps'), 'a'), 10)
})

test('two ledgers on one store, as on two servers, never exceed the quota', async () => {
  const { fixture, store } = await setUp([quotaOf(10)])
  const resource = fixture.find('configmaps')
  const quotas = fixture.find('resourcequotas')
  const otherLedger = new QuotaLedger({ store: fixture.store, quotas, limited: [], shouldEnforce: true })
  const onOtherServer = (name: string) => {
    const call = fixture.request({ resource, namespace: 'a', object: mapOf(name) }).call
    return otherLedger.accountFor(call, { next: mapOf(name), old: undefined })?.((alongside) =>
      fixture.store.put({ resource, namespace: 'a', name }, fixture.store.encode(resource, mapOf(name)), { expect: 0, alongside }),
    )
  }
  await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? store({ resource, object: mapOf(`m${i}`) }) : onOtherServer(`m${i}`))),
  )
  assert.equal(fixture.store.count(resource, 'a'), 10)
})

test('a quota does not charge itself when it is deleted', async () => {
  const hard = { resourcequotas: '5' }
  const { fixture, store } = await setUp([{ spec: { hard }, status: { hard, used: { resourcequotas: '1' } } }])
  const resource = fixture.find('resourcequotas')
  assert.ok((await store({ resource, operation: 'DELETE', name: 'q0', old: { metadata: { name: 'q0', namespace: 'a' } } })).ok)
  assert.equal(fixture.store.count(resource, 'a'), 0)
})

test('a write changes the revision of a quota whose usage is not counted yet', async () => {
  const { fixture, store } = await setUp([{ spec: { hard: { 'count/configmaps': '5' } } }])
  const quotas = fixture.find('resourcequotas')
  const revision = () => fixture.store.read({ resource: quotas, namespace: 'a', name: 'q0' })?.revision ?? 0
  const before = revision()
  await store({ resource: fixture.find('configmaps'), object: mapOf('m') })
  assert.ok(revision() > before)
})

test('without the plugin usage is counted and nothing is rejected', async () => {
  const { fixture, store, used } = await setUp([quotaOf(1, '1')], { shouldEnforce: false })
  assert.ok((await store({ resource: fixture.find('configmaps'), object: mapOf('m') })).ok)
  assert.deepEqual(used(), { 'count/configmaps': '2' })
})

const podOf = (requests: object, specFields: object = {}) => ({
  ...namedObject,
  spec: { containers: [{ name: 'c', resources: { requests } }], ...specFields },
})
const computeQuota = (quotaFields: object = {}) => ({
  spec: { hard: { cpu: '1', pods: '2' } },
  status: { hard: { cpu: '1', pods: '2' }, used: { cpu: '600m', pods: '1' } },
  ...quotaFields,
})

test('the message names quota, requested, used and limited amounts', async () => {
  const { fixture, refusal } = await setUp([computeQuota()])
  const resource = fixture.find('pods')
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

test('a quota without status.used rejects writes', async () => {
  const { fixture, refusal } = await setUp([computeQuota({ status: { hard: { cpu: '1', pods: '2' } } })])
  assert.equal(
    refusal({ resource: fixture.find('pods'), object: podOf({ cpu: '1m' }) }),
    'pods "x" is forbidden: status unknown for quota: q0, resources: cpu,pods',
  )
})

test('updates of kinds that can grow are charged by their difference', async () => {
  const hard = { 'requests.storage': '5Gi' }
  const { fixture, refusal } = await setUp([{ spec: { hard }, status: { hard, used: { 'requests.storage': '4Gi' } } }, computeQuota()])
  const claim = (storage: string) => ({ ...namedObject, spec: { resources: { requests: { storage } } } })
  const resource = fixture.find('persistentvolumeclaims')
  assert.equal(refusal({ resource, operation: 'UPDATE', old: claim('1Gi'), object: claim('2Gi') }), '')
  assert.match(refusal({ resource, operation: 'UPDATE', old: claim('1Gi'), object: claim('3Gi') }), /requested: requests.storage=2Gi/)
  assert.equal(refusal({ resource, operation: 'UPDATE', old: claim('3Gi'), object: claim('1Gi') }), '')
  assert.equal(refusal({ resource: fixture.find('pods'), operation: 'UPDATE', old: podOf({ cpu: '1' }), object: podOf({ cpu: '9' }) }), '')
  assert.equal(refusal({ resource: fixture.find('pods'), subresource: 'status', object: podOf({ cpu: '9' }) }), '')
})

test('limitedResources require a matching quota', async () => {
  const limited: readonly LimitedResource[] = [
    {
      apiGroup: '',
      resource: 'pods',
      matchContains: ['cpu'],
      matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
    },
  ]
  const withoutQuota = await setUp([], { limited })
  const resource = withoutQuota.fixture.find('pods')
  assert.match(withoutQuota.refusal({ resource, object: podOf({ cpu: '1' }) }), /insufficient quota to consume: cpu,requests.cpu/)
  assert.match(
    withoutQuota.refusal({ resource, object: podOf({}, { priorityClassName: 'high' }) }),
    /insufficient quota to match these scopes: \[\{PriorityClass In \[high\]\}\]/,
  )
  assert.equal(withoutQuota.refusal({ resource, object: podOf({}) }), '')
  assert.equal(withoutQuota.refusal({ resource, object: podOf({ cpu: '0' }) }), '', 'a request of 0 is not limited')
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }
  const hard = { pods: '5' }
  const withQuota = await setUp([{ spec: { hard, scopeSelector }, status: { hard, used: { pods: '0' } } }], { limited })
  assert.equal(withQuota.refusal({ resource: withQuota.fixture.find('pods'), object: podOf({}, { priorityClassName: 'high' }) }), '')
})

test('a storage error is not a quota error', async () => {
  const { fixture, ledger } = await setUp([quotaOf(5)])
  const call = fixture.request({ resource: fixture.find('configmaps'), namespace: 'a', object: mapOf('m') }).call
  await assert.rejects(
    async () => ledger.accountFor(call, { next: mapOf('m'), old: undefined })?.(() => Promise.reject(new Error('full'))),
    (error) => !(error instanceof ApiError),
  )
})
