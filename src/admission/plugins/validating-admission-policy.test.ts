// Policies: what they are about, what their expressions see, and what becomes of those that cannot be evaluated.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.js'
import { timedTest } from '../../base/timed-test.fixture.js'
import { turnsOf } from '../../base/turns.fixture.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import { PolicyTallies } from '../policy/policy-tallies.js'
import { type Attempt, refusalOf, type Stage, stageOf } from '../stage.fixture.js'
import { validatingAdmissionPolicy } from './validating-admission-policy.js'

const group = 'admissionregistration.k8s.io'
const selectors = { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' }
const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: '*' }

interface Scene {
  readonly stage: Stage
  readonly plugin: Plugin
  readonly tallies: PolicyTallies
  policy(name: string, expression: string | readonly object[], spec?: object): Promise<void>
  bind(policyName: string, spec?: object, name?: string): Promise<void>
  /** What is said against it, without what stands in front of every refusal. */
  ask(attempt: Partial<Attempt>): Promise<string>
}

async function sceneOf(): Promise<Scene> {
  const stage = await stageOf()
  const policies = stage.find('validatingadmissionpolicies', group, 'v1alpha1')
  const bindings = stage.find('validatingadmissionpolicybindings', group, 'v1alpha1')
  const [namespaces, maps] = [stage.find('namespaces'), stage.find('configmaps')]
  await stage.put(namespaces, { metadata: { name: 'shop', labels: { tier: 'web' } } })
  const tallies = new PolicyTallies()
  const plugin = validatingAdmissionPolicy({
    store: stage.store,
    catalogs: { current: stage.catalog },
    namespaces,
    policies,
    bindings,
    tallies,
  })
  const bind: Scene['bind'] = (policyName, spec = {}, name = `${policyName}-here`) =>
    stage.put(bindings, { metadata: { name }, spec: { policyName, ...spec } })
  return {
    stage,
    plugin,
    tallies,
    bind,
    policy: async (name, expression, spec = {}) => {
      const validations = typeof expression === 'string' ? [{ expression }] : expression
      const matchConstraints = { ...selectors, resourceRules: [rule] }
      await stage.put(policies, { metadata: { name }, spec: { failurePolicy: 'Fail', validations, matchConstraints, ...spec } })
    },
    ask: async (attempt) => {
      const object = { metadata: { name: 'x', namespace: 'shop' }, data: { n: '7' } }
      const said = await refusalOf(plugin, stage.attempt({ resource: maps, object, ...attempt }))
      return said.replace(/^configmaps "x" is forbidden: ValidatingAdmissionPolicy /, '')
    },
  }
}

test('a policy is in force with its first binding, on the next request, and no longer than it', async () => {
  const { stage, policy, bind, ask } = await sceneOf()
  await policy('small', 'int(object.data.n) < 5')
  assert.equal(await ask({}), '')
  await bind('small')
  assert.equal(await ask({}), "'small' with binding 'small-here' denied request: failed expression: int(object.data.n) < 5")
  await policy('small', 'int(object.data.n) < 10')
  assert.equal(await ask({}), '')
  await policy('small', [{ expression: 'false', message: ' no ' }])
  assert.match(await ask({}), /denied request: no$/)
  const resource = stage.find('validatingadmissionpolicybindings', group, 'v1alpha1')
  const stored = stage.store.read({ resource, namespace: '', name: 'small-here' })
  assert.ok(stored)
  await stage.store.remove(stored)
  assert.equal(await ask({}), '')
})

test('expressions see the object, the one before, the request and nothing where there is nothing', async () => {
  const { policy, bind, ask, stage } = await sceneOf()
  await bind('p')
  const holds = async (expression: string, attempt: Partial<Attempt> = {}): Promise<void> => {
    await policy('p', expression)
    assert.equal(await ask(attempt), '', expression)
  }
  await holds("object.kind == 'ConfigMap' && object.apiVersion == 'v1' && object.metadata.name == 'x' && oldObject == null")
  await holds('!has(object.metadata.resourceVersion) && !has(object.binaryData)')
  await holds("request.operation == 'CREATE' && request.name == 'x' && request.namespace == 'shop' && !request.dryRun")
  await holds("request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' && !has(request.subResource)")
  await holds("request.userInfo.username == 'somebody' && !has(request.userInfo.uid) && request.userInfo.groups == ['g']", {
    user: { groups: ['g'] },
  })
  const old = { metadata: { name: 'x', namespace: 'shop' }, data: { n: '6' } }
  await holds("oldObject.data.n == '6' && object.data.n == '7'", { old, operation: 'UPDATE' })
  await holds("object == null && oldObject.data.n == '6'", {
    old,
    operation: 'DELETE',
    object: undefined as never,
    namespace: 'shop',
    name: 'x',
  })
  const deployment = { metadata: { name: 'd', namespace: 'shop' }, spec: { template: { spec: { containers: [] } } } }
  await holds('object.status == {} && object.spec.template.metadata.creationTimestamp == null', {
    resource: stage.find('deployments', 'apps'),
    object: deployment,
  })
})

test('reasons have their codes, and the first refusal is the one that is told', async () => {
  const { stage, plugin, policy, bind } = await sceneOf()
  const statusOf = async (request: AdmissionRequest): Promise<ApiError['status'] | undefined> => {
    try {
      await plugin.validate?.(request)
      return undefined
    } catch (thrown) {
      assert.ok(thrown instanceof ApiError)
      return thrown.status
    }
  }
  const request = stage.attempt({ resource: stage.find('configmaps'), object: { metadata: { name: 'x', namespace: 'shop' } } })
  await bind('b')
  await bind('a')
  await policy('b', 'false')
  for (const [reason, code] of [
    ['Forbidden', 403],
    ['Invalid', 422],
    ['RequestEntityTooLarge', 413],
  ]) {
    await policy('a', [{ expression: 'true' }, { expression: 'false', reason }, { expression: 'false', reason: 'Invalid' }])
    const text = "ValidatingAdmissionPolicy 'a' with binding 'a-here' denied request: failed expression: false"
    assert.deepEqual(await statusOf(request), {
      code,
      reason,
      message: `configmaps "x" is forbidden: ${text}`,
      details: { name: 'x', kind: 'configmaps', causes: [{ message: text }] },
    })
  }
  // As each one of a collection that is deleted.
  const unnamed = stage.attempt({ resource: stage.find('configmaps'), namespace: 'shop', operation: 'DELETE', old: {} })
  assert.match((await statusOf(unnamed))?.message ?? '', /^configmaps "Unknown" is forbidden: /)
})

test('what cannot be evaluated refuses, or does not count, as the policy says', async () => {
  const { policy, bind, ask, tallies } = await sceneOf()
  await bind('p')
  await policy('p', "object.data.missing == 'x'")
  assert.match(await ask({}), /denied request: expression 'object.data.missing == 'x'' resulted in error: no such key: missing$/)
  await policy('p', "object.data.missing == 'x'", { failurePolicy: 'Ignore' })
  assert.equal(await ask({}), '')
  await policy('p', [{ expression: "object.data.missing == 'x'" }, { expression: 'false' }], { failurePolicy: 'Ignore' })
  assert.match(await ask({}), /denied request: failed expression: false$/)
  await policy('p', 'nothing == 1')
  assert.match(await ask({}), /denied request: compilation error: compilation failed: ERROR/)
  const counted = Array.from(tallies.checks(), ({ action, durations: { counts } }) => [action, counts.reduce((a, b) => a + b)])
  assert.deepEqual(counted, [
    ['deny', 3],
    ['allow', 2],
  ])
  assert.equal(tallies.definitions, 1)
})

test('a policy is about what its rules name, and a binding about less', async () => {
  const { policy, bind, ask } = await sceneOf()
  const matchOf = (more: object): object => ({ matchConstraints: { ...selectors, resourceRules: [rule], ...more } })
  const nobody = "request.userInfo.username == ''"
  await bind('p')
  const isMeant = async (spec: object, attempt: Partial<Attempt> = {}): Promise<boolean> => {
    await policy('p', nobody, spec)
    return (await ask(attempt)) !== ''
  }
  assert.equal(await isMeant(matchOf({ resourceRules: [{ ...rule, resources: ['pods'] }] })), false)
  assert.equal(await isMeant(matchOf({ resourceRules: [{ ...rule, resourceNames: ['y'] }] })), false)
  assert.equal(await isMeant(matchOf({ resourceRules: [{ ...rule, resourceNames: ['x'] }] })), true)
  assert.equal(await isMeant(matchOf({ excludeResourceRules: [{ ...rule, apiGroups: [''] }] })), false)
  assert.equal(await isMeant(matchOf({ namespaceSelector: { matchLabels: { tier: 'web' } } })), true)
  assert.equal(await isMeant(matchOf({ namespaceSelector: { matchLabels: { tier: 'db' } } })), false)
  assert.equal(await isMeant(matchOf({ objectSelector: { matchLabels: { a: 'b' } } })), false)
  await policy('p', nobody)
  await bind('p', { matchResources: { ...selectors, objectSelector: { matchLabels: { a: 'b' } } } })
  assert.equal(await ask({}), '')
  await bind('p', { matchResources: selectors })
  assert.notEqual(await ask({}), '')
})

test('a policy about one name is asked about that name, whoever came before', async () => {
  const { policy, bind, ask } = await sceneOf()
  const matchConstraints = { ...selectors, resourceRules: [{ ...rule, resourceNames: ['x'] }] }
  await policy('p', 'false', { matchConstraints })
  await bind('p')
  const named = (name: string) => ({ object: { metadata: { name, namespace: 'shop' } } })
  for (let i = 0; i < 2; i++) {
    assert.equal(await ask(named('y')), '')
    assert.match(await ask(named('x')), /denied request/)
  }
  const excluded = { ...selectors, resourceRules: [rule], excludeResourceRules: [{ ...rule, resourceNames: ['x'] }] }
  await policy('p', 'false', { matchConstraints: excluded })
  for (let i = 0; i < 2; i++) {
    assert.equal(await ask(named('x')), '')
    assert.match(await ask(named('y')), /denied request/)
  }
})

test('a namespace that is not there is told, unless nobody minds', async () => {
  const { policy, bind, ask } = await sceneOf()
  const matchConstraints = { ...selectors, resourceRules: [rule], namespaceSelector: { matchLabels: { tier: 'web' } } }
  await bind('p')
  await policy('p', 'true', { matchConstraints })
  const object = { metadata: { name: 'x', namespace: 'gone' } }
  assert.equal(await ask({ object }), `'p' denied request: failed to configure policy: namespaces "gone" not found`)
  await policy('p', 'true', { matchConstraints, failurePolicy: 'Ignore' })
  assert.equal(await ask({ object }), '')
})

test('objects are seen in the version that the rules name', async () => {
  const { stage, policy, bind, ask } = await sceneOf()
  await bind('p')
  const v1 = { ...rule, apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] }
  await policy('p', "object.apiVersion == 'autoscaling/v1' && request.kind.version == 'v2'", {
    matchConstraints: { ...selectors, resourceRules: [v1] },
  })
  const resource = stage.find('horizontalpodautoscalers', 'autoscaling', 'v2')
  const object = { metadata: { name: 'x', namespace: 'shop' }, spec: { maxReplicas: 3, scaleTargetRef: { kind: 'D', name: 'd' } } }
  assert.equal(await ask({ resource, object }), '')
})

test('parameters are an object of the kind that the policy names, where the binding says', async () => {
  const { stage, policy, bind, ask } = await sceneOf()
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  await policy('p', 'params != null && int(object.data.n) <= int(params.data.most)', { paramKind })
  const [maps, namespaces] = [stage.find('configmaps'), stage.find('namespaces')]
  const limit = (most: string): Promise<void> => stage.put(maps, { metadata: { name: 'limits', namespace: 'shop' }, data: { most } })
  const paramRef = { name: 'limits', namespace: 'shop' }
  await bind('p')
  assert.match(await ask({}), /failed expression: params != null/)
  await bind('p', { paramRef })
  assert.equal(await ask({}), "'p' with binding 'p-here' denied request: failed to configure binding: limits not found")
  await limit('5')
  assert.match(await ask({}), /failed expression/)
  await limit('9')
  assert.equal(await ask({}), '')
  await bind('p', { paramRef: { name: 'limits' } })
  assert.match(await ask({}), /failed to configure binding: limits not found$/)
  await policy('p', "params.metadata.labels.tier == 'web'", { paramKind: { apiVersion: 'v1', kind: 'Namespace' } })
  await bind('p', { paramRef: { name: 'shop' } })
  assert.equal(await ask({}), '')
  await stage.put(namespaces, { metadata: { name: 'shop' } })
  assert.match(await ask({}), /no such key: labels/)
})

test('a kind of parameters that is not served spoils the whole policy', async () => {
  const { policy, ask } = await sceneOf()
  await policy('p', 'true', { paramKind: { apiVersion: 'x.io/v1', kind: 'Limit' } })
  const said = "'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'x.io/v1, Kind=Limit'"
  assert.equal(await ask({}), said)
  await policy('p', 'true', { paramKind: { apiVersion: 'x.io/v1', kind: 'Limit' }, failurePolicy: 'Ignore' })
  assert.equal(await ask({}), '')
})

test('no policy is asked about policies', async () => {
  const { stage, policy, bind, ask } = await sceneOf()
  await policy('p', 'false')
  await bind('p')
  const object = { metadata: { name: 'x' } }
  assert.equal(await ask({ resource: stage.find('validatingadmissionpolicies', group, 'v1alpha1'), object }), '')
  assert.notEqual(await ask({ resource: stage.find('validatingwebhookconfigurations', group), object }), '')
})

timedTest('a dear expression ends at its limit, dear policies at theirs, and others have their turn meanwhile', async () => {
  const { stage, plugin, policy, bind } = await sceneOf()
  await bind('p')
  const items = Array.from({ length: 2000 }, (_, i) => String(i))
  const data = { ...Object.fromEntries(items.map((item) => [item, item])), long: 'x'.repeat(100_000) }
  const object = { metadata: { name: 'x', namespace: 'shop' }, data }
  const attempt = (): AdmissionRequest => stage.attempt({ resource: stage.find('configmaps'), object })
  const dear = { expression: 'object.data.all(a, object.data.all(b, a != b + "x"))' }
  await policy('p', [dear])
  let refusal = ''
  const { longestMs, totalMs } = await turnsOf(async () => {
    refusal = await refusalOf(plugin, attempt())
  })
  assert.match(refusal, /resulted in error: operation cancelled: actual cost limit exceeded$/)
  // Without turns for others it is all of it.
  assert.ok(longestMs < Math.max(40, totalMs / 4), `the event loop was held for ${longestMs} of ${totalMs} ms`)
  // Half of what one may cost: a text costs by its length.
  const fairly = { expression: `[${items.slice(0, 50)}].all(i, object.data.long + string(i) != '')` }
  await policy('p', [fairly])
  assert.equal(await refusalOf(plugin, attempt()), '')
  await policy(
    'p',
    Array.from({ length: 30 }, () => fairly),
  )
  assert.match(await refusalOf(plugin, attempt()), /denied request: validation failed due to running out of cost budget/)
})
