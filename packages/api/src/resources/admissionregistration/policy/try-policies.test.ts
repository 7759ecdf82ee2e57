// Trials of policies: verdicts, why a policy does not apply, costs, traces, parameters, failurePolicy.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../v1alpha1.schema.js'
import { bindPolicies, CompiledBinding, CompiledPolicy } from './compiled-policy.js'
import { withBindingDefaults, withPolicyDefaults } from './policy-defaults.js'
import { type PolicyTrial, type TrialSource, type TriedRequest, tryPolicies } from './try-policies.js'

const group = 'apps'
const rule = { operations: ['CREATE'], apiGroups: [group], apiVersions: ['v1'], resources: ['deployments'], scope: '*' }
const deployments = { group, version: 'v1', name: 'deployments', namespaced: true }

const request: TriedRequest = {
  operation: 'CREATE',
  kind: { group, version: 'v1', kind: 'Deployment' },
  resource: deployments,
  subresource: '',
  name: 'web',
  namespace: 'shop',
  user: { name: 'eve', uid: '', groups: ['dev'], extra: {} },
  dryRun: false,
  options: { kind: 'CreateOptions' },
  object: { metadata: { name: 'web', labels: { tier: 'web' } }, spec: { replicas: 6 } } as TriedRequest['object'],
  old: undefined,
}

const source: TrialSource = {
  equivalents: [],
  namespaceLabels: { env: 'test' },
  readParams: async () => undefined,
  turns: { isSpent: false, nextTurn: async () => undefined, yieldIfSpent: async () => undefined },
}

type Spec = NonNullable<ValidatingAdmissionPolicy['spec']>
type BindingSpec = NonNullable<ValidatingAdmissionPolicyBinding['spec']>

interface Trial {
  readonly spec?: Spec
  readonly binding?: BindingSpec
  readonly request?: Partial<TriedRequest>
  readonly source?: Partial<TrialSource>
}

async function attempt(expression: string, trial: Trial = {}): Promise<PolicyTrial> {
  const spec = { validations: [{ expression }], matchConstraints: { resourceRules: [rule] }, ...trial.spec }
  const bound = bindPolicies(
    [new CompiledPolicy(withPolicyDefaults({ metadata: { name: 'few' }, spec }))],
    [new CompiledBinding(withBindingDefaults({ metadata: { name: 'bound' }, spec: { policyName: 'few', ...trial.binding } }))],
  )
  const [result, ...more] = await tryPolicies(bound, { ...request, ...trial.request }, { ...source, ...trial.source })
  assert.ok(result !== undefined && more.length === 0)
  return result
}

test('an expression that is false denies, with its cost, estimate and trace', async () => {
  const result = await attempt('object.spec.replicas <= 5')
  assert.deepEqual([result.verdict, result.reasons], ['denied', ['failed expression: object.spec.replicas <= 5']])
  const [expression] = result.expressions
  assert.deepEqual(expression?.trace, [{ text: 'object.spec.replicas', value: '6' }])
  assert.equal(expression?.result, 'false')
  assert.ok(expression.cost > 0 && result.cost === expression.cost)
  assert.ok((expression.estimatedCost ?? 0n) > 0n)
})

test('an expression that is true allows; request and the user are variables', async () => {
  const result = await attempt("request.userInfo.username == 'eve' && 'dev' in request.userInfo.groups && oldObject == null")
  assert.deepEqual([result.verdict, result.reasons, result.expressions[0]?.result], ['allowed', [], 'true'])
})

test('an error denies unless failurePolicy is Ignore; a text that does not compile has no cost', async () => {
  assert.match((await attempt('object.spec.none > 1')).reasons[0] ?? '', /resulted in error: no such key: none/)
  const ignored = await attempt('object.spec.none > 1', {
    spec: { failurePolicy: 'Ignore', validations: [{ expression: 'object.spec.none > 1' }] },
  })
  assert.deepEqual([ignored.verdict, ignored.expressions[0]?.result], ['allowed', 'error'])
  const broken = await attempt('object.spec.(')
  assert.deepEqual([broken.verdict, broken.expressions[0]?.result, broken.cost], ['denied', 'skipped', 0])
})

test('the reason names what does not match', async () => {
  const constraints = { resourceRules: [rule] }
  const cases: readonly (readonly [Trial, RegExp])[] = [
    [{ request: { operation: 'DELETE' } }, /no resource rule/],
    [{ spec: { matchConstraints: { ...constraints, objectSelector: { matchLabels: { tier: 'db' } } } } }, /objectSelector/],
    [{ spec: { matchConstraints: { ...constraints, namespaceSelector: { matchLabels: { env: 'live' } } } } }, /namespaceSelector does not/],
    [{ spec: { matchConstraints: { ...constraints, excludeResourceRules: [rule] } } }, /excludeResourceRules/],
    [{ binding: { matchResources: { objectSelector: { matchLabels: { tier: 'db' } } } } }, /the binding: objectSelector/],
    [{ binding: { policyName: 'other' } }, /no binding/],
    [
      {
        spec: { matchConstraints: { ...constraints, namespaceSelector: { matchLabels: { a: 'b' } } } },
        source: { namespaceLabels: undefined },
      },
      /labels of namespace shop, which are unknown/,
    ],
  ]
  for (const [trial, reason] of cases) {
    const { verdict, reasons } = await attempt('false', trial)
    assert.equal(verdict, 'does not apply')
    assert.match(reasons[0] ?? '', reason)
  }
})

test('matchPolicy Equivalent matches other versions of the same objects', async () => {
  const matchConstraints = { resourceRules: [{ ...rule, apiVersions: ['v1beta1'] }] }
  const others = { equivalents: [{ ...deployments, version: 'v1beta1' }] }
  const exact = await attempt('true', { spec: { matchConstraints: { ...matchConstraints, matchPolicy: 'Exact' } }, source: others })
  const equivalent = await attempt('true', {
    spec: { matchConstraints },
    source: others,
  })
  assert.deepEqual([exact.verdict, equivalent.verdict], ['does not apply', 'allowed'])
})

test('parameters are read by kind and reference; a missing object denies', async () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const trial = (most: string | undefined): Trial => ({
    spec: { paramKind, validations: [{ expression: 'object.spec.replicas <= int(params.data.most)', message: 'too many' }] },
    binding: { paramRef: { name: 'limits', namespace: 'shop' } },
    source: {
      readParams: async (kind, ref) =>
        kind.kind === 'ConfigMap' && ref.name === 'limits' && most ? ({ data: { most } } as object) : undefined,
    },
  })
  assert.deepEqual((await attempt('', trial('9'))).verdict, 'allowed')
  const denied = await attempt('', trial('5'))
  assert.deepEqual([denied.reasons, denied.expressions[0]?.message], [['too many'], 'too many'])
  assert.deepEqual((await attempt('', trial(undefined))).reasons, ['failed to configure binding: limits not found'])
})
