// Tests of ValidatingAdmissionPolicy and its binding: defaults, validation, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import type { ValidatingAdmissionPolicyBindingSpec as BindingSpec, ValidatingAdmissionPolicySpec as PolicySpec } from './v1alpha1.schema.js'
import { validatingAdmissionPolicyBinding as binding, validatingAdmissionPolicy as policy } from './validating-admission-policies.js'

const context = { ...testContext(), version: 'v1alpha1' }
const metadata = { name: 'p', generation: 1, resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }
const match = { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' }
const valid: PolicySpec = {
  matchConstraints: { ...match, resourceRules: [rule] },
  validations: [{ expression: 'true' }],
  failurePolicy: 'Fail',
}
const make = (spec: PolicySpec) => frozen({ metadata, spec })

test('defaults of policy and binding', () => {
  const { scope: _, ...bare } = rule
  const sent = make({ matchConstraints: { resourceRules: [bare], excludeResourceRules: [bare] }, validations: [{ expression: 'true' }] })
  const complete = make({ ...valid, matchConstraints: { ...match, resourceRules: [rule], excludeResourceRules: [rule] } })
  assert.deepEqual(policy.defaults?.(sent, context), complete)
  assert.equal(policy.defaults?.(complete, context), complete)
  assert.deepEqual(binding.defaults?.(make({ matchResources: {} } as PolicySpec), context), make({ matchResources: match } as PolicySpec))
})

const rows: readonly (readonly [spec: Partial<PolicySpec>, ...expected: readonly string[]])[] = [
  [{ paramKind: { apiVersion: 'a.b/v1', kind: 'Limit' } }],
  [
    { paramKind: { apiVersion: 'a/b/c', kind: '' } },
    'paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    'paramKind.kind: Required value',
  ],
  [{ paramKind: { apiVersion: 'a.b/', kind: 'Limit' } }, 'paramKind.apiVersion: Invalid value: "a.b/": version must be specified'],
  [{ matchConstraints: match }, 'matchConstraints.resourceRules: Required value'],
  [
    { matchConstraints: { ...match, objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] }, resourceRules: [rule] } },
    "matchConstraints.labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ],
  [{ validations: [] }, 'validations: Required value'],
  [
    { validations: [{ expression: ' ' }, { expression: 'true', message: 'a\nb', reason: 'Teapot' }, { expression: 'true', message: ' ' }] },
    'validations[0].expression: Required value: expression is not specified',
    'validations[1].message: Invalid value: "a\\nb": message must not contain line breaks',
    'validations[1].reason: Unsupported value: "Teapot": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
    'validations[2].message: Invalid value: " ": message must be non-empty if specified',
  ],
  [
    { validations: [{ expression: 'nothing == 1' }, { expression: '1 + 1' }, { expression: 'params.x == 1' }] },
    `validations[0].expression: Invalid value: "nothing == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n | nothing == 1\n | ^`,
    'validations[1].expression: Invalid value: "1 + 1": cel expression must evaluate to a bool',
    `validations[2].expression: Invalid value: "params.x == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x == 1\n | ^`,
  ],
  [{ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: 'params.x == object.x' }] }],
  [
    { matchConstraints: { ...match, resourceRules: [{ ...rule, resourceNames: ['a', 'Bad_Name', 'a', 'x/y'] }] } },
    'matchConstraints.resourceRules[0].resourceNames[2]: Duplicate value: "a"',
    'matchConstraints.resourceRules[0].resourceNames[3]: Invalid value: "x/y": may not contain \'/\'',
  ],
]

for (const [spec, ...expected] of rows) {
  test(`a policy: ${rowTitle(spec, expected)}`, () => {
    assert.deepEqual(
      lines(validateCreation(policy, make({ ...valid, ...spec }), context)),
      expected.map((line) => `spec.${line}`),
    )
  })
}

test('an empty policy reports all required fields', () => {
  const object = policy.defaults?.(frozen({ metadata }), context) ?? {}
  assert.deepEqual(lines(validateCreation(policy, object, context)), [
    'spec.matchConstraints: Required value',
    'spec.validations: Required value',
  ])
})

const bindings: readonly (readonly [spec: BindingSpec, cell: string | undefined, ...expected: readonly string[]])[] = [
  [{ policyName: 'a.b' }, '<unset>'],
  [{ policyName: 'a', paramRef: { name: 'n', namespace: 'm' } }, 'm/n'],
  [{ policyName: 'a', paramRef: { name: 'n' } }, 'n'],
  [{}, undefined, 'spec.policyName: Required value'],
  [
    { policyName: 'a', paramRef: { name: 'a/b' }, matchResources: { ...match, matchPolicy: 'x' } },
    undefined,
    'spec.paramRef.name: Invalid value: "a/b": may not contain \'/\'',
    'spec.matchResouces.matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact"',
  ],
]

for (const [spec, cell, ...expected] of bindings) {
  test(`a binding: ${rowTitle(spec, expected)}`, () => {
    const object = frozen({ metadata, spec })
    assert.deepEqual(lines(validateCreation(binding, object, context)), expected)
    if (cell !== undefined) assert.deepEqual(binding.table?.cells(object, context), ['p', spec.policyName, cell, '60m'])
  })
}

test('printer columns and generation', () => {
  const object = make({ ...valid, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } })
  assert.deepEqual(policy.table?.cells(object, context), ['p', 1, 'v1/ConfigMap', '60m'])
  assert.equal(policy.prepareUpdate?.(object, make(valid), context).metadata?.generation, 2)
})

test('a policy with long expressions is costly to validate', () => {
  const isCostly = (expression: string): boolean | undefined =>
    policy.isCostlyToValidate?.(make({ ...valid, validations: [{ expression }] }), 0)
  assert.equal(isCostly('object.a == 1'), false)
  assert.equal(isCostly(Array.from({ length: 500 }, () => 'object.a == 1').join(' || ')), true)
})
