// Tests of FlowSchemas: subjects, rules, precedence, mandatory objects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { flowSchema } from './flow-schema.js'
import { mandatoryFlowSchemas } from './mandatory-flow-schemas.js'
import type { FlowSchema, FlowSchemaSpec, PolicyRulesWithSubjects } from './v1beta2.schema.js'

const context = { ...testContext(), version: 'v1beta3' }
const metadata = { name: 'f', generation: 1, resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const valid: FlowSchemaSpec = { priorityLevelConfiguration: { name: 'l' }, matchingPrecedence: 1000 }
const make = (spec: FlowSchemaSpec, more: Partial<FlowSchema> = {}): FlowSchema => frozen({ metadata, spec, ...more })

test('matchingPrecedence defaults to 1000', () => {
  assert.deepEqual(flowSchema.defaults?.(frozen({ metadata }), context), { metadata, spec: { matchingPrecedence: 1000 } })
  const complete = make(valid)
  assert.equal(flowSchema.defaults?.(complete, context), complete)
})

const rows: readonly (readonly [spec: FlowSchemaSpec, ...expected: readonly string[]])[] = [
  [{ distinguisherMethod: { type: 'ByUser' } }],
  [
    { distinguisherMethod: { type: 'ByMood' } },
    'distinguisherMethod.type: Unsupported value: "ByMood": supported values: "ByNamespace", "ByUser"',
  ],
  [{ matchingPrecedence: -1 }, 'matchingPrecedence: Invalid value: -1: must be a positive value'],
  [{ matchingPrecedence: 1 }, "matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
  [{ matchingPrecedence: 10001 }, 'matchingPrecedence: Invalid value: 10001: must not be greater than 10000'],
  [{ priorityLevelConfiguration: {} }, 'priorityLevelConfiguration.name: Required value: must reference a priority level'],
]

for (const [spec, ...expected] of rows) {
  test(`a flow schema: ${rowTitle(spec, expected)}`, () => {
    const object = make({ ...valid, ...spec })
    assert.deepEqual(
      lines(validateCreation(flowSchema, object, context)),
      expected.map((line) => `spec.${line}`),
    )
    assert.equal(validateChange(flowSchema, { next: object, old: make(valid) }, context).length, expected.length)
  })
}

const user = { kind: 'User', user: { name: 'u' } }
const resource = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }
const path = { verbs: ['*'], nonResourceURLs: ['/healthz', '/', '/apis/*'] }
const ruleRows: readonly (readonly [rules: PolicyRulesWithSubjects, ...expected: readonly string[]])[] = [
  [{ subjects: [user], resourceRules: [resource], nonResourceRules: [path] }],
  [{ subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'n', name: '*' } }], nonResourceRules: [path] }],
  [
    {},
    'subjects: Required value: subjects must contain at least one value',
    ': Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
  ],
  [
    {
      subjects: [{ kind: 'User', group: { name: 'g' } }, { kind: 'Robot' }, { kind: 'ServiceAccount', serviceAccount: {} }],
      nonResourceRules: [path],
    },
    "subjects[0].user: Required value: user is required when subject kind is 'User'",
    "subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
    'subjects[1].kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User"',
    'subjects[2].serviceAccount.name: Required value',
    'subjects[2].serviceAccount.namespace: Required value: must specify namespace for service account',
  ],
  [
    {
      subjects: [user],
      resourceRules: [{ ...resource, verbs: ['*', 'get'], apiGroups: ['*', 'a'], resources: ['*', 'b'], namespaces: ['*', 'c'] }],
    },
    'resourceRules[0].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not specify other verbs',
    'resourceRules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other api groups',
    'resourceRules[0].resources: Invalid value: ["*","b"]: if \'*\' is present, must not specify other resources',
    'resourceRules[0].namespaces: Invalid value: ["*","c"]: if \'*\' is present, must not specify other namespaces',
  ],
  [
    { subjects: [user], resourceRules: [{}] },
    'resourceRules[0].verbs: Required value: verbs must contain at least one value',
    'resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group',
    'resourceRules[0].resources: Required value: resource rules must supply at least one resource',
    'resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace',
  ],
  [{ subjects: [user], resourceRules: [{ ...resource, namespaces: [], clusterScope: true }] }],
  [
    { subjects: [user], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['', 'x', '/a b', '/a//b', '/a*', '/*/b'] }] },
    ...[
      '[0]: Invalid value: "": must not be empty',
      '[1]: Invalid value: "x": must start with slash',
      '[2]: Invalid value: "/a b": must not contain white-space',
      '[3]: Invalid value: "/a//b": must not contain double slash',
      '[4]: Invalid value: "/a*": wildcard can only do suffix matching',
      '[5]: Invalid value: "/*/b": wildcard can only do suffix matching',
    ].map((line) => `nonResourceRules[0].nonResourceURLs${line}`),
  ],
]

for (const [rules, ...expected] of ruleRows) {
  test(`rules: ${rowTitle(rules, expected)}`, () => {
    const errors = lines(validateCreation(flowSchema, make({ ...valid, rules: [rules] }), context))
    assert.deepEqual(
      errors,
      expected.map((line) => (line.startsWith(':') ? `spec.rules[0]${line}` : `spec.rules[0].${line}`)),
    )
  })
}

test('mandatory FlowSchemas cannot be changed', () => {
  for (const [name, spec] of mandatoryFlowSchemas) {
    const named = { metadata: { ...metadata, name } }
    assert.deepEqual(validateCreation(flowSchema, make(spec, named), context), [])
    const errors = validateCreation(flowSchema, make({ ...spec, rules: [] }, named), context)
    assert.match(lines(errors).join(), new RegExp(`^spec: Invalid value: .*: spec of '${name}' must equal the fixed value$`))
  }
})

test('a status update keeps metadata and spec', () => {
  const [status] = flowSchema.subresources ?? []
  const old = make(valid)
  const sent = make(
    {},
    {
      metadata: { ...metadata, labels: { a: 'b' } },
      status: { conditions: [{ type: 'Dangling', status: 'True' }, { type: 'Dangling' }, {}] },
    },
  )
  const next = frozen(status?.prepareUpdate(sent, old, context)) as FlowSchema
  assert.deepEqual(next, { metadata, spec: valid, status: sent.status })
  assert.deepEqual(lines(validateChange(flowSchema, { next, old, ...(status && { subresource: status }) }, context)), [
    'status.conditions[1].type: Duplicate value: "Dangling"',
    'status.conditions[2].type: Required value: must not be empty',
  ])
  assert.deepEqual(flowSchema.table?.cells(next, context), ['f', 'l', 1000, '<none>', '60m', 'True'])
})

test('spec changes increase the generation', () => {
  const old = make(valid, { status: { conditions: [] } })
  assert.equal(flowSchema.prepareUpdate?.(make({ ...valid }), old, context).metadata?.generation, 1)
  assert.equal(flowSchema.prepareUpdate?.(make({ ...valid, matchingPrecedence: 5 }), old, context).metadata?.generation, 2)
})
