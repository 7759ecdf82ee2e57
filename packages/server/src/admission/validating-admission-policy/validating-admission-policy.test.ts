// ValidatingAdmissionPolicy: matching, variables, reasons, parameters, failures and cost.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { type AdmissionFixture, admissionFixture, type RequestInput, refusalOf } from '../admission.fixture.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import { PolicyCounters } from './policy-counters.js'
import { validatingAdmissionPolicy } from './validating-admission-policy.js'

const group = 'admissionregistration.k8s.io'
const selectors = { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' }
const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: '*' }

interface PolicyFixture {
  readonly fixture: AdmissionFixture
  readonly plugin: Plugin
  readonly counters: PolicyCounters
  policy(name: string, expression: string | readonly object[], spec?: object): Promise<void>
  bind(policyName: string, spec?: object, name?: string): Promise<void>
  admit(input: Partial<RequestInput>): Promise<string>
}

async function policyFixture(): Promise<PolicyFixture> {
  const fixture = await admissionFixture()
  const policies = fixture.find('validatingadmissionpolicies', group, 'v1alpha1')
  const bindings = fixture.find('validatingadmissionpolicybindings', group, 'v1alpha1')
  const [namespaces, maps] = [fixture.find('namespaces'), fixture.find('configmaps')]
  await fixture.put(namespaces, { metadata: { name: 'shop', labels: { tier: 'web' } } })
  const counters = new PolicyCounters()
  const plugin = validatingAdmissionPolicy({
    store: fixture.store,
    catalogs: { current: fixture.catalog },
    namespaces,
    policies,
    bindings,
    counters,
  })
  const bind: PolicyFixture['bind'] = (policyName, spec = {}, name = `${policyName}-binding`) =>
    fixture.put(bindings, { metadata: { name }, spec: { policyName, ...spec } })
  return {
    fixture,
    plugin,
    counters,
    bind,
    policy: async (name, expression, spec = {}) => {
      const validations = typeof expression === 'string' ? [{ expression }] : expression
      const matchConstraints = { ...selectors, resourceRules: [rule] }
      await fixture.put(policies, { metadata: { name }, spec: { failurePolicy: 'Fail', validations, matchConstraints, ...spec } })
    },
    admit: async (input) => {
      const object = { metadata: { name: 'x', namespace: 'shop' }, data: { n: '7' } }
      const refusal = await refusalOf(plugin, fixture.request({ resource: maps, object, ...input }))
      return refusal.replace(/^configmaps "x" is forbidden: ValidatingAdmissionPolicy /, '')
    },
  }
}

test('a policy applies from the request after its first binding until the binding is deleted', async () => {
  const { fixture, policy, bind, admit } = await policyFixture()
  await policy('small', 'int(object.data.n) < 5')
  assert.equal(await admit({}), '')
  await bind('small')
  assert.equal(await admit({}), "'small' with binding 'small-binding' denied request: failed expression: int(object.data.n) < 5")
  await policy('small', 'int(object.data.n) < 10')
  assert.equal(await admit({}), '')
  await policy('small', [{ expression: 'false', message: ' no ' }])
  assert.match(await admit({}), /denied request: no$/)
  const resource = fixture.find('validatingadmissionpolicybindings', group, 'v1alpha1')
  const stored = fixture.store.read({ resource, namespace: '', name: 'small-binding' })
  assert.ok(stored)
  await fixture.store.remove(stored)
  assert.equal(await admit({}), '')
})

test('expressions see object, oldObject and request, and null where there is none', async () => {
  const { policy, bind, admit, fixture } = await policyFixture()
  await bind('p')
  const expectTrue = async (expression: string, input: Partial<RequestInput> = {}): Promise<void> => {
    await policy('p', expression)
    assert.equal(await admit(input), '', expression)
  }
  await expectTrue("object.kind == 'ConfigMap' && object.apiVersion == 'v1' && object.metadata.name == 'x' && oldObject == null")
  await expectTrue('!has(object.metadata.resourceVersion) && !has(object.binaryData)')
  await expectTrue("request.operation == 'CREATE' && request.name == 'x' && request.namespace == 'shop' && !request.dryRun")
  await expectTrue("request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' && !has(request.subResource)")
  await expectTrue("request.userInfo.username == 'somebody' && !has(request.userInfo.uid) && request.userInfo.groups == ['g']", {
    user: { groups: ['g'] },
  })
  const old = { metadata: { name: 'x', namespace: 'shop' }, data: { n: '6' } }
  await expectTrue("oldObject.data.n == '6' && object.data.n == '7'", { old, operation: 'UPDATE' })
  await expectTrue("object == null && oldObject.data.n == '6'", {
    old,
    operation: 'DELETE',
    object: undefined as never,
    namespace: 'shop',
    name: 'x',
  })
  const deployment = { metadata: { name: 'd', namespace: 'shop' }, spec: { template: { spec: { containers: [] } } } }
  await expectTrue('object.status == {} && object.spec.template.metadata.creationTimestamp == null', {
    resource: fixture.find('deployments', 'apps'),
    object: deployment,
  })
})

test('reasons map to status codes, and the first denial is reported', async () => {
  const { fixture, plugin, policy, bind } = await policyFixture()
  const statusOf = async (request: AdmissionRequest): Promise<ApiError['status'] | undefined> => {
    try {
      await plugin.validate?.(request)
      return undefined
    } catch (thrown) {
      assert.ok(thrown instanceof ApiError)
      return thrown.status
    }
  }
  const request = fixture.request({ resource: fixture.find('configmaps'), object: { metadata: { name: 'x', namespace: 'shop' } } })
  await bind('b')
  await bind('a')
  await policy('b', 'false')
  for (const [reason, code] of [
    ['Forbidden', 403],
    ['Invalid', 422],
    ['RequestEntityTooLarge', 413],
  ]) {
    await policy('a', [{ expression: 'true' }, { expression: 'false', reason }, { expression: 'false', reason: 'Invalid' }])
    const text = "ValidatingAdmissionPolicy 'a' with binding 'a-binding' denied request: failed expression: false"
    assert.deepEqual(await statusOf(request), {
      code,
      reason,
      message: `configmaps "x" is forbidden: ${text}`,
      details: { name: 'x', kind: 'configmaps', causes: [{ message: text }] },
    })
  }
  const unnamed = fixture.request({ resource: fixture.find('configmaps'), namespace: 'shop', operation: 'DELETE', old: {} })
  assert.match((await statusOf(unnamed))?.message ?? '', /^configmaps "Unknown" is forbidden: /)
})

test('failurePolicy decides about expressions that cannot be evaluated', async () => {
  const { policy, bind, admit, counters } = await policyFixture()
  await bind('p')
  await policy('p', "object.data.missing == 'x'")
  assert.match(await admit({}), /denied request: expression 'object.data.missing == 'x'' resulted in error: no such key: missing$/)
  await policy('p', "object.data.missing == 'x'", { failurePolicy: 'Ignore' })
  assert.equal(await admit({}), '')
  await policy('p', [{ expression: "object.data.missing == 'x'" }, { expression: 'false' }], { failurePolicy: 'Ignore' })
  assert.match(await admit({}), /denied request: failed expression: false$/)
  await policy('p', 'nothing == 1')
  assert.match(await admit({}), /denied request: compilation error: compilation failed: ERROR/)
  const counted = Array.from(counters.checks(), ({ action, durations: { counts } }) => [action, counts.reduce((a, b) => a + b)])
  assert.deepEqual(counted, [
    ['deny', 3],
    ['allow', 2],
  ])
  assert.equal(counters.definitions, 1)
})

test('a binding narrows the rules of its policy', async () => {
  const { policy, bind, admit } = await policyFixture()
  const matchOf = (constraints: object): object => ({ matchConstraints: { ...selectors, resourceRules: [rule], ...constraints } })
  const denyingExpression = "request.userInfo.username == ''"
  await bind('p')
  const isMatch = async (spec: object, input: Partial<RequestInput> = {}): Promise<boolean> => {
    await policy('p', denyingExpression, spec)
    return (await admit(input)) !== ''
  }
  assert.equal(await isMatch(matchOf({ resourceRules: [{ ...rule, resources: ['pods'] }] })), false)
  assert.equal(await isMatch(matchOf({ resourceRules: [{ ...rule, resourceNames: ['y'] }] })), false)
  assert.equal(await isMatch(matchOf({ resourceRules: [{ ...rule, resourceNames: ['x'] }] })), true)
  assert.equal(await isMatch(matchOf({ excludeResourceRules: [{ ...rule, apiGroups: [''] }] })), false)
  assert.equal(await isMatch(matchOf({ namespaceSelector: { matchLabels: { tier: 'web' } } })), true)
  assert.equal(await isMatch(matchOf({ namespaceSelector: { matchLabels: { tier: 'db' } } })), false)
  assert.equal(await isMatch(matchOf({ objectSelector: { matchLabels: { a: 'b' } } })), false)
  await policy('p', denyingExpression)
  await bind('p', { matchResources: { ...selectors, objectSelector: { matchLabels: { a: 'b' } } } })
  assert.equal(await admit({}), '')
  await bind('p', { matchResources: selectors })
  assert.notEqual(await admit({}), '')
})

test('resourceNames are matched for every request, also after a cached decision', async () => {
  const { policy, bind, admit } = await policyFixture()
  const matchConstraints = { ...selectors, resourceRules: [{ ...rule, resourceNames: ['x'] }] }
  await policy('p', 'false', { matchConstraints })
  await bind('p')
  const inputNamed = (name: string) => ({ object: { metadata: { name, namespace: 'shop' } } })
  for (let i = 0; i < 2; i++) {
    assert.equal(await admit(inputNamed('y')), '')
    assert.match(await admit(inputNamed('x')), /denied request/)
  }
  const excluded = { ...selectors, resourceRules: [rule], excludeResourceRules: [{ ...rule, resourceNames: ['x'] }] }
  await policy('p', 'false', { matchConstraints: excluded })
  for (let i = 0; i < 2; i++) {
    assert.equal(await admit(inputNamed('x')), '')
    assert.match(await admit(inputNamed('y')), /denied request/)
  }
})

test('a missing namespace is an error unless failurePolicy is Ignore', async () => {
  const { policy, bind, admit } = await policyFixture()
  const matchConstraints = { ...selectors, resourceRules: [rule], namespaceSelector: { matchLabels: { tier: 'web' } } }
  await bind('p')
  await policy('p', 'true', { matchConstraints })
  const object = { metadata: { name: 'x', namespace: 'gone' } }
  assert.equal(await admit({ object }), `'p' denied request: failed to configure policy: namespaces "gone" not found`)
  await policy('p', 'true', { matchConstraints, failurePolicy: 'Ignore' })
  assert.equal(await admit({ object }), '')
})

test('objects are converted to the version that the rules name', async () => {
  const { fixture, policy, bind, admit } = await policyFixture()
  await bind('p')
  const v1Rule = { ...rule, apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] }
  await policy('p', "object.apiVersion == 'autoscaling/v1' && request.kind.version == 'v2'", {
    matchConstraints: { ...selectors, resourceRules: [v1Rule] },
  })
  const resource = fixture.find('horizontalpodautoscalers', 'autoscaling', 'v2')
  const object = { metadata: { name: 'x', namespace: 'shop' }, spec: { maxReplicas: 3, scaleTargetRef: { kind: 'D', name: 'd' } } }
  assert.equal(await admit({ resource, object }), '')
})

test('params are the object of paramKind that paramRef names', async () => {
  const { fixture, policy, bind, admit } = await policyFixture()
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  await policy('p', 'params != null && int(object.data.n) <= int(params.data.most)', { paramKind })
  const [maps, namespaces] = [fixture.find('configmaps'), fixture.find('namespaces')]
  const setLimit = (most: string): Promise<void> => fixture.put(maps, { metadata: { name: 'limits', namespace: 'shop' }, data: { most } })
  const paramRef = { name: 'limits', namespace: 'shop' }
  await bind('p')
  assert.match(await admit({}), /failed expression: params != null/)
  await bind('p', { paramRef })
  assert.equal(await admit({}), "'p' with binding 'p-binding' denied request: failed to configure binding: limits not found")
  await setLimit('5')
  assert.match(await admit({}), /failed expression/)
  await setLimit('9')
  assert.equal(await admit({}), '')
  await bind('p', { paramRef: { name: 'limits' } })
  assert.match(await admit({}), /failed to configure binding: limits not found$/)
  await policy('p', "params.metadata.labels.tier == 'web'", { paramKind: { apiVersion: 'v1', kind: 'Namespace' } })
  await bind('p', { paramRef: { name: 'shop' } })
  assert.equal(await admit({}), '')
  await fixture.put(namespaces, { metadata: { name: 'shop' } })
  assert.match(await admit({}), /no such key: labels/)
})

test('a paramKind that is not served fails the whole policy', async () => {
  const { policy, admit } = await policyFixture()
  await policy('p', 'true', { paramKind: { apiVersion: 'x.io/v1', kind: 'Limit' } })
  const expected = "'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'x.io/v1, Kind=Limit'"
  assert.equal(await admit({}), expected)
  await policy('p', 'true', { paramKind: { apiVersion: 'x.io/v1', kind: 'Limit' }, failurePolicy: 'Ignore' })
  assert.equal(await admit({}), '')
})

test('policies do not apply to policies', async () => {
  const { fixture, policy, bind, admit } = await policyFixture()
  await policy('p', 'false')
  await bind('p')
  const object = { metadata: { name: 'x' } }
  assert.equal(await admit({ resource: fixture.find('validatingadmissionpolicies', group, 'v1alpha1'), object }), '')
  assert.notEqual(await admit({ resource: fixture.find('validatingwebhookconfigurations', group), object }), '')
})

test('an expression ends at its cost limit, a policy at its budget', async () => {
  const { fixture, plugin, policy, bind } = await policyFixture()
  await bind('p')
  const items = Array.from({ length: 2000 }, (_, i) => String(i))
  const data = { ...Object.fromEntries(items.map((item) => [item, item])), long: 'x'.repeat(100_000) }
  const object = { metadata: { name: 'x', namespace: 'shop' }, data }
  const input = (): AdmissionRequest => fixture.request({ resource: fixture.find('configmaps'), object })
  const quadratic = { expression: 'object.data.all(a, object.data.all(b, a != b + "x"))' }
  await policy('p', [quadratic])
  assert.match(await refusalOf(plugin, input()), /resulted in error: operation cancelled: actual cost limit exceeded$/)
  // Half of the limit: the cost of a string grows with its length.
  const expensive = { expression: `[${items.slice(0, 50)}].all(i, object.data.long + string(i) != '')` }
  await policy('p', [expensive])
  assert.equal(await refusalOf(plugin, input()), '')
  await policy(
    'p',
    Array.from({ length: 30 }, () => expensive),
  )
  assert.match(await refusalOf(plugin, input()), /denied request: validation failed due to running out of cost budget/)
})
