// Tests of quota usage by kind, scopes of pods, and required requests and limits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import { limitedNames, matchesQuota, type QuotaEvaluator } from './quota-evaluator.js'
import { evaluatorOf } from './quota-usage.js'
import { writeAmounts } from './resource-amounts.js'

const identity = identityOf('kubernetes')
const now = Date.parse('2026-01-01T00:00:00Z')
const evaluator = (collection: string): QuotaEvaluator => evaluatorOf(collection) as QuotaEvaluator
const usage = (collection: string, object: object, at = now) =>
  writeAmounts(evaluator(collection).usage(object as ApiObject, { identity, now: at }))
const container = (requests: object, limits: object = {}, name = 'c') => ({ name, resources: { requests, limits } })

test('a pod uses the sum of its containers or the largest init container, and its overhead', () => {
  const spec = {
    containers: [container({ cpu: '1', memory: '1Gi' }, { cpu: '2' }), container({ cpu: '500m' })],
    initContainers: [container({ cpu: '1200m', memory: '3Gi' })],
    overhead: { cpu: '100m' },
  }
  assert.deepEqual(usage('pods', { spec }), {
    'count/pods': '1',
    pods: '1',
    cpu: '1600m',
    'requests.cpu': '1600m',
    memory: '3Gi',
    'requests.memory': '3Gi',
    'limits.cpu': '2100m',
  })
})

test('huge pages count under both names, extended resources as requests only', () => {
  const used = usage('pods', { spec: { containers: [container({ 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2' })] } })
  assert.equal(used['hugepages-2Mi'], '4Mi')
  assert.equal(used['requests.hugepages-2Mi'], '4Mi')
  assert.equal(used['requests.example.com/gpu'], '2')
  assert.equal(used['example.com/gpu'], undefined)
})

test('a terminated pod, or one past its grace period, uses count/pods only', () => {
  const spec = { containers: [container({ cpu: '1' })] }
  assert.deepEqual(usage('pods', { spec, status: { phase: 'Failed' } }), { 'count/pods': '1' })
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }
  assert.equal(usage('pods', { metadata, spec }, now + 30_000)['pods'], '1')
  assert.deepEqual(usage('pods', { metadata, spec }, now + 31_000), { 'count/pods': '1' })
})

test('a Service uses node ports and load balancers', () => {
  const ports = [{ port: 1, nodePort: 30000 }, { port: 2 }]
  assert.deepEqual(usage('services', { spec: { type: 'NodePort', ports } }), {
    'count/services': '1',
    services: '1',
    'services.nodeports': '2',
    'services.loadbalancers': '0',
  })
  const balanced = { type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false }
  assert.deepEqual(usage('services', { spec: balanced }), {
    'count/services': '1',
    services: '1',
    'services.nodeports': '1',
    'services.loadbalancers': '1',
  })
})

test('a claim uses storage in whole bytes, in total and by storage class', () => {
  const spec = { storageClassName: 'gold', resources: { requests: { storage: '1500m' } } }
  assert.deepEqual(usage('persistentvolumeclaims', { spec }), {
    'count/persistentvolumeclaims': '1',
    persistentvolumeclaims: '1',
    'requests.storage': '2',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    'gold.storageclass.storage.k8s.io/requests.storage': '2',
  })
})

test('other kinds are counted, some under a short name, too; events are not', () => {
  assert.deepEqual(usage('deployments.apps', {}), { 'count/deployments.apps': '1' })
  assert.deepEqual(usage('secrets', {}), { 'count/secrets': '1', secrets: '1' })
  assert.equal(evaluatorOf('events'), undefined)
  assert.equal(evaluatorOf('events.events.k8s.io'), undefined)
})

const scopes: readonly [string, object, object, boolean][] = [
  ['Terminating', {}, { activeDeadlineSeconds: 0 }, true],
  ['NotTerminating', {}, { activeDeadlineSeconds: 0 }, false],
  ['BestEffort', {}, {}, true],
  ['NotBestEffort', {}, { containers: [container({ cpu: '1' })] }, true],
  ['PriorityClass', { operator: 'Exists' }, { priorityClassName: 'high' }, true],
  ['PriorityClass', { operator: 'In', values: ['low'] }, { priorityClassName: 'high' }, false],
  ['PriorityClass', { operator: 'NotIn', values: ['low'] }, {}, true],
  ['PriorityClass', { operator: 'DoesNotExist' }, {}, true],
  [
    'CrossNamespacePodAffinity',
    {},
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['a'] }] } } },
    true,
  ],
  [
    'CrossNamespacePodAffinity',
    {},
    { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: {} }] } } },
    false,
  ],
  ['Nothing', {}, {}, false],
]

for (const [scopeName, more, spec, isExpected] of scopes) {
  test(`a pod ${JSON.stringify(spec)} is ${isExpected ? '' : 'not '}in ${scopeName} ${JSON.stringify(more)}`, () =>
    assert.equal(evaluator('pods').isInScope({ scopeName, operator: 'Exists', ...more }, { spec } as ApiObject), isExpected))
}

test('an invalid scope selector throws', () => {
  const evaluate = (operator: string) => () => evaluator('pods').isInScope({ scopeName: 'PriorityClass', operator, values: [] }, {})
  assert.throws(evaluate('In'), /values set can't be empty/)
  assert.throws(evaluate('Gt'), /"Gt" is not a valid scope selector operator/)
})

test('a quota with scopes applies to pods only', () => {
  const quota = { spec: { scopes: ['BestEffort'] }, status: { hard: { pods: '1', services: '1' } } }
  assert.equal(matchesQuota(evaluator('pods'), quota, {}, identity), true)
  assert.equal(matchesQuota(evaluator('services'), quota, {}, identity), false)
  assert.equal(matchesQuota(evaluator('secrets'), { status: { hard: { pods: '1' } } }, {}, identity), false)
})

test('limitedNames filters by kind', () => {
  const hard = Object.fromEntries(
    [
      'pods',
      'cpu',
      'requests.example.com/x',
      'example.com/x',
      'services',
      'a.storageclass.storage.k8s.io/requests.storage',
      'count/jobs.batch',
    ].map((name) => [name, '1']),
  )
  assert.deepEqual(limitedNames(evaluator('pods'), hard, identity), ['pods', 'cpu', 'requests.example.com/x'])
  assert.deepEqual(limitedNames(evaluator('services'), hard, identity), ['services'])
  assert.deepEqual(limitedNames(evaluator('persistentvolumeclaims'), hard, identity), ['a.storageclass.storage.k8s.io/requests.storage'])
  assert.deepEqual(limitedNames(evaluator('jobs.batch'), hard, identity), ['count/jobs.batch'])
})

test('containers must set limited resources', () => {
  const spec = {
    containers: [container({ cpu: '1' }, {}, 'b'), container({}, { memory: '1' }, 'a')],
    initContainers: [container({}, {}, 'z')],
  }
  const problem = evaluator('pods').constraintProblem(['limits.memory', 'cpu', 'pods', 'ephemeral-storage'], { spec } as ApiObject)
  assert.equal(problem, 'must specify cpu for: a,z; limits.memory for: b,z')
})
