// Tests of webhook configurations: defaults, validation, generation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import type { MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations } from './v1.schema.js'
import { mutatingWebhookConfiguration as mutating, validatingWebhookConfiguration as validating } from './webhook-configurations.js'

const context = testContext()
const metadata = { name: 'c', resourceVersion: '1', generation: 3, creationTimestamp: '2024-03-01T11:00:00Z' }
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }
const webhookDefaults = { failurePolicy: 'Fail', matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, timeoutSeconds: 10 }
const service = { namespace: 'n', name: 's', port: 443 }
const valid: MutatingWebhook = {
  name: 'a.example.com',
  clientConfig: { service },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...webhookDefaults,
  reinvocationPolicy: 'Never',
}
const make = (...webhooks: readonly MutatingWebhook[]): MutatingWebhookConfiguration => frozen({ metadata, webhooks })

test('defaults of a webhook', () => {
  const { scope: _, ...bareRule } = rule
  const bare = {
    name: 'a.example.com',
    clientConfig: { service: { namespace: 'n', name: 's' } },
    rules: [bareRule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  }
  assert.deepEqual(mutating.defaults?.(make(bare), context), make(valid))
  const { reinvocationPolicy: __, ...validatingDefaults } = valid
  assert.deepEqual(validating.defaults?.(make(bare), context), make(validatingDefaults))
  const complete = make(valid)
  assert.equal(mutating.defaults?.(complete, context), complete)
})

const rows: readonly (readonly [webhook: Partial<MutatingWebhook>, ...problems: readonly string[]])[] = [
  [{}],
  [{ clientConfig: { url: 'https://a.b/x' } }],
  [{ admissionReviewVersions: ['v2', 'v1beta1'] }],
  [{ name: '' }, 'name: Required value'],
  [{ name: 'two.parts' }, 'name: Invalid value: "two.parts": should be a domain with at least three segments separated by dots'],
  [{ sideEffects: 'Some' }, 'sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
  [
    { failurePolicy: 'Retry', matchPolicy: '', reinvocationPolicy: 'Always', timeoutSeconds: 31 },
    'failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"',
    'matchPolicy: Unsupported value: "": supported values: "Equivalent", "Exact"',
    'timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
    'reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"',
  ],
  [{ clientConfig: { url: 'https://a.b/', service } }, 'clientConfig: Required value: exactly one of url or service is required'],
  [{ admissionReviewVersions: [] }, 'admissionReviewVersions: Required value: must specify one of v1, v1beta1'],
  [
    { admissionReviewVersions: ['v2', 'v2'] },
    'admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
    'admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
  ],
  [
    { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    "objectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ],
]

for (const [webhook, ...problems] of rows) {
  test(`a webhook: ${rowTitle(webhook, problems)}`, () => {
    const object = make(valid, { ...valid, name: 'b.example.com', ...webhook })
    const expected = problems.map((line) => `webhooks[1].${line}`)
    assert.deepEqual(lines(validateCreation(mutating, object, context)), expected)
    assert.deepEqual(lines(validateChange(mutating, { next: object, old: make() }, context)), expected)
  })
}

const resources: readonly (readonly [rule: Partial<RuleWithOperations>, ...problems: readonly string[]])[] = [
  [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: 'Cluster' }],
  [{ resources: ['*', 'pods/status'] }],
  [
    { operations: [], apiGroups: [], apiVersions: [], resources: [] },
    ...['operations', 'apiGroups', 'apiVersions', 'resources'].map((name) => `${name}: Required value`),
  ],
  [{ operations: ['get'] }, 'operations[0]: Unsupported value: "get": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"'],
  [
    { apiVersions: ['*', ''] },
    'apiVersions: Invalid value: ["*",""]: if \'*\' is present, must not specify other API versions',
    'apiVersions[1]: Required value',
  ],
  [
    { resources: ['*', 'pods'] },
    'resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources without subresources',
  ],
  [
    { resources: ['pods/*', '*/scale', 'pods/status', 'jobs/scale'] },
    'resources[2]: Invalid value: "pods/status": if \'pods/*\' is present, must not specify pods/status',
    'resources[3]: Invalid value: "jobs/scale": if \'*/scale\' is present, must not specify jobs/scale',
  ],
  [{ scope: 'Galaxy' }, 'scope: Unsupported value: "Galaxy": supported values: "*", "Cluster", "Namespaced"'],
]

for (const [givenRule, ...problems] of resources) {
  test(`a rule: ${rowTitle(givenRule, problems)}`, () => {
    const object = make({ ...valid, rules: [{ ...rule, ...givenRule }] })
    assert.deepEqual(
      lines(validateCreation(validating, object, context)),
      problems.map((line) => `webhooks[0].rules[0].${line}`),
    )
  })
}

test('duplicate webhook names are rejected', () => {
  assert.deepEqual(lines(validateCreation(mutating, make(valid, valid), context)), ['webhooks[1].name: Duplicate value: "a.example.com"'])
})

test('a change of webhooks increases the generation, a change of labels does not', () => {
  const old = make(valid)
  const labelled = frozen({ ...old, metadata: { ...metadata, labels: { a: 'b' } } })
  assert.equal(mutating.prepareCreate?.(old, context).metadata?.generation, 1)
  assert.equal(mutating.prepareUpdate?.(labelled, old, context).metadata?.generation, 3)
  assert.equal(mutating.prepareUpdate?.(make(), old, context).metadata?.generation, 4)
})

test('printer columns', () => assert.deepEqual(validating.table?.cells(make(valid), context), ['c', 1, '60m']))
