// What policies and their bindings default to and must say.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateCreation } from '../../api/validation/validate-write.js'
import type { ValidatingAdmissionPolicyBindingSpec as BindingSpec, ValidatingAdmissionPolicySpec as PolicySpec } from './v1alpha1.schema.js'
import { validatingAdmissionPolicy as policy } from './validating-admission-policy.js'
import { validatingAdmissionPolicyBinding as binding } from './validating-admission-policy-binding.js'

const context = { ...testContext(), version: 'v1alpha1' }
const metadata = { name: 'p', generation: 1, resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }
const match = { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' }
const good: PolicySpec = {
  matchConstraints: { ...match, resourceRules: [rule] },
  validations: [{ expression: 'true' }],
  failurePolicy: 'Fail',
}
const make = (spec: PolicySpec) => frozen({ metadata, spec })

test('what is left out is filled in', () => {
  const { scope: _, ...bare } = rule
  const sent = make({ matchConstraints: { resourceRules: [bare], excludeResourceRules: [bare] }, validations: [{ expression: 'true' }] })
  const complete = make({ ...good, matchConstraints: { ...match, resourceRules: [rule], excludeResourceRules: [rule] } })
  assert.deepEqual(policy.defaults?.(sent, context), complete)
  assert.equal(policy.defaults?.(complete, context), complete)
  assert.deepEqual(binding.defaults?.(make({ matchResources: {} } as PolicySpec), context), make({ matchResources: match } as PolicySpec))
})

const rows: readonly { readonly title: string; readonly spec: Partial<PolicySpec>; readonly found: readonly string[] }[] = [
  { title: 'a kind of parameters', spec: { paramKind: { apiVersion: 'a.b/v1', kind: 'Limit' } }, found: [] },
  {
    title: 'a broken kind of parameters',
    spec: { paramKind: { apiVersion: 'a/b/c', kind: '' } },
    found: ['paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c', 'paramKind.kind: Required value'],
  },
  {
    title: 'a kind without version',
    spec: { paramKind: { apiVersion: 'a.b/', kind: 'Limit' } },
    found: ['paramKind.apiVersion: Invalid value: "a.b/": version must be specified'],
  },
  { title: 'no rules', spec: { matchConstraints: match }, found: ['matchConstraints.resourceRules: Required value'] },
  { title: 'no validations', spec: { validations: [] }, found: ['validations: Required value'] },
  {
    title: 'bad validations',
    spec: {
      validations: [{ expression: ' ' }, { expression: 'true', message: 'a\nb', reason: 'Teapot' }, { expression: 'true', message: ' ' }],
    },
    found: [
      'validations[0].expression: Required value: expression is not specified',
      'validations[1].message: Invalid value: "a\\nb": message must not contain line breaks',
      'validations[1].reason: Unsupported value: "Teapot": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      'validations[2].message: Invalid value: " ": message must be non-empty if specified',
    ],
  },
  {
    title: 'expressions that do not compile',
    spec: { validations: [{ expression: 'nothing == 1' }, { expression: '1 + 1' }, { expression: 'params.x == 1' }] },
    found: [
      `validations[0].expression: Invalid value: "nothing == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n | nothing == 1\n | ^`,
      'validations[1].expression: Invalid value: "1 + 1": cel expression must evaluate to a bool',
      `validations[2].expression: Invalid value: "params.x == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x == 1\n | ^`,
    ],
  },
  {
    title: 'expressions over parameters',
    spec: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: 'params.x == object.x' }] },
    found: [],
  },
  {
    title: 'names twice, and one that is no name',
    spec: { matchConstraints: { ...match, resourceRules: [{ ...rule, resourceNames: ['a', 'Bad_Name', 'a', 'x/y'] }] } },
    found: [
      'matchConstraints.resourceRules[0].resourceNames[2]: Duplicate value: "a"',
      'matchConstraints.resourceRules[0].resourceNames[3]: Invalid value: "x/y": may not contain \'/\'',
    ],
  },
]

for (const { title, spec, found } of rows) {
  test(`a policy with ${title}`, () => {
    assert.deepEqual(
      lines(validateCreation(policy, make({ ...good, ...spec }), context)),
      found.map((line) => `spec.${line}`),
    )
  })
}

test('a policy without anything', () => {
  const object = policy.defaults?.(frozen({ metadata }), context) ?? {}
  assert.deepEqual(lines(validateCreation(policy, object, context)), [
    'spec.matchConstraints: Required value',
    'spec.validations: Required value',
  ])
})

const bindings: readonly {
  readonly title: string
  readonly spec: BindingSpec
  readonly found: readonly string[]
  readonly cell?: string
}[] = [
  { title: 'a policy', spec: { policyName: 'a.b' }, found: [], cell: '<unset>' },
  { title: 'parameters', spec: { policyName: 'a', paramRef: { name: 'n', namespace: 'm' } }, found: [], cell: 'm/n' },
  { title: 'parameters of the cluster', spec: { policyName: 'a', paramRef: { name: 'n' } }, found: [], cell: 'n' },
  { title: 'nothing', spec: {}, found: ['spec.policyName: Required value'] },
  {
    title: 'broken names',
    spec: { policyName: 'a', paramRef: { name: 'a/b' }, matchResources: { ...match, matchPolicy: 'x' } },
    found: [
      'spec.paramRef.name: Invalid value: "a/b": may not contain \'/\'',
      'spec.matchResouces.matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact"',
    ],
  },
]

for (const { title, spec, found, cell } of bindings) {
  test(`a binding with ${title}`, () => {
    const object = frozen({ metadata, spec })
    assert.deepEqual(lines(validateCreation(binding, object, context)), found)
    if (cell !== undefined) assert.deepEqual(binding.table?.cells(object, context), ['p', spec.policyName, cell, '60m'])
  })
}

test('a row of the table, and the count of changes', () => {
  const object = make({ ...good, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } })
  assert.deepEqual(policy.table?.cells(object, context), ['p', 1, 'v1/ConfigMap', '60m'])
  assert.equal(policy.prepareUpdate?.(object, make(good), context).metadata?.generation, 2)
})

test('a policy whose expressions take long to compile is costly to validate', () => {
  const isCostly = (expression: string): boolean | undefined =>
    policy.isCostlyToValidate?.(make({ ...good, validations: [{ expression }] }), 0)
  assert.equal(isCostly('object.a == 1'), false)
  assert.equal(isCostly(Array.from({ length: 500 }, () => 'object.a == 1').join(' || ')), true)
})
