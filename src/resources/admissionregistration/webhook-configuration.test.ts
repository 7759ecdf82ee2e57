// What configurations of webhooks default to and must say.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { mutatingWebhookConfiguration as mutating } from './mutating-webhook-configuration.js'
import type { MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations } from './v1.schema.js'
import { validatingWebhookConfiguration as validating } from './validating-webhook-configuration.js'

const context = testContext()
const metadata = { name: 'c', resourceVersion: '1', generation: 3, creationTimestamp: '2024-03-01T11:00:00Z' }
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }
const filled = { failurePolicy: 'Fail', matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, timeoutSeconds: 10 }
const service = { namespace: 'n', name: 's', port: 443 }
const good: MutatingWebhook = {
  name: 'a.example.com',
  clientConfig: { service },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...filled,
  reinvocationPolicy: 'Never',
}
const make = (...webhooks: readonly MutatingWebhook[]): MutatingWebhookConfiguration => frozen({ metadata, webhooks })

test('what a webhook leaves out is filled in', () => {
  const { scope: _, ...bareRule } = rule
  const bare = {
    name: 'a.example.com',
    clientConfig: { service: { namespace: 'n', name: 's' } },
    rules: [bareRule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  }
  assert.deepEqual(mutating.defaults?.(make(bare), context), make(good))
  const { reinvocationPolicy: __, ...asked } = good
  assert.deepEqual(validating.defaults?.(make(bare), context), make(asked))
  const complete = make(good)
  assert.equal(mutating.defaults?.(complete, context), complete)
})

const rows: readonly { readonly title: string; readonly webhook: Partial<MutatingWebhook>; readonly found: readonly string[] }[] = [
  { title: 'a service', webhook: {}, found: [] },
  { title: 'a URL', webhook: { clientConfig: { url: 'https://a.b/x' } }, found: [] },
  { title: 'an unknown version besides a known one', webhook: { admissionReviewVersions: ['v2', 'v1beta1'] }, found: [] },
  { title: 'no name', webhook: { name: '' }, found: ['name: Required value'] },
  {
    title: 'a short name',
    webhook: { name: 'two.parts' },
    found: ['name: Invalid value: "two.parts": should be a domain with at least three segments separated by dots'],
  },
  {
    title: 'side effects',
    webhook: { sideEffects: 'Some' },
    found: ['sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
  },
  {
    title: 'unknown words',
    webhook: { failurePolicy: 'Retry', matchPolicy: '', reinvocationPolicy: 'Always', timeoutSeconds: 31 },
    found: [
      'failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"',
      'matchPolicy: Unsupported value: "": supported values: "Equivalent", "Exact"',
      'timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
      'reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"',
    ],
  },
  {
    title: 'both a URL and a service',
    webhook: { clientConfig: { url: 'https://a.b/', service } },
    found: ['clientConfig: Required value: exactly one of url or service is required'],
  },
  {
    title: 'no review version',
    webhook: { admissionReviewVersions: [] },
    found: ['admissionReviewVersions: Required value: must specify one of v1, v1beta1'],
  },
  {
    title: 'only unknown review versions',
    webhook: { admissionReviewVersions: ['v2', 'v2'] },
    found: [
      'admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
      'admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
    ],
  },
  {
    title: 'a bad selector',
    webhook: { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    found: ["objectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
  },
]

for (const { title, webhook, found } of rows) {
  test(`a webhook with ${title}`, () => {
    const object = make(good, { ...good, name: 'b.example.com', ...webhook })
    const expected = found.map((line) => `webhooks[1].${line}`)
    assert.deepEqual(lines(validateCreation(mutating, object, context)), expected)
    assert.deepEqual(lines(validateChange(mutating, { next: object, old: make() }, context)), expected)
  })
}

const resources: readonly { readonly title: string; readonly rule: Partial<RuleWithOperations>; readonly found: readonly string[] }[] = [
  {
    title: 'everything',
    rule: { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: 'Cluster' },
    found: [],
  },
  { title: 'all resources and one subresource', rule: { resources: ['*', 'pods/status'] }, found: [] },
  {
    title: 'nothing',
    rule: { operations: [], apiGroups: [], apiVersions: [], resources: [] },
    found: ['operations', 'apiGroups', 'apiVersions', 'resources'].map((name) => `${name}: Required value`),
  },
  {
    title: 'a verb',
    rule: { operations: ['get'] },
    found: ['operations[0]: Unsupported value: "get": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"'],
  },
  {
    title: 'a wildcard and more',
    rule: { apiVersions: ['*', ''] },
    found: [
      'apiVersions: Invalid value: ["*",""]: if \'*\' is present, must not specify other API versions',
      'apiVersions[1]: Required value',
    ],
  },
  {
    title: 'all resources and one',
    rule: { resources: ['*', 'pods'] },
    found: ['resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources without subresources'],
  },
  {
    title: 'subresources that a wildcard covers',
    rule: { resources: ['pods/*', '*/scale', 'pods/status', 'jobs/scale'] },
    found: [
      'resources[2]: Invalid value: "pods/status": if \'pods/*\' is present, must not specify pods/status',
      'resources[3]: Invalid value: "jobs/scale": if \'*/scale\' is present, must not specify jobs/scale',
    ],
  },
  {
    title: 'an unknown scope',
    rule: { scope: 'Galaxy' },
    found: ['scope: Unsupported value: "Galaxy": supported values: "*", "Cluster", "Namespaced"'],
  },
]

for (const row of resources) {
  test(`a rule for ${row.title}`, () => {
    const object = make({ ...good, rules: [{ ...rule, ...row.rule }] })
    assert.deepEqual(
      lines(validateCreation(validating, object, context)),
      row.found.map((line) => `webhooks[0].rules[0].${line}`),
    )
  })
}

test('no two webhooks of one name', () => {
  assert.deepEqual(lines(validateCreation(mutating, make(good, good), context)), ['webhooks[1].name: Duplicate value: "a.example.com"'])
})

test('a change of webhooks counts, one of labels does not', () => {
  const old = make(good)
  const labelled = frozen({ ...old, metadata: { ...metadata, labels: { a: 'b' } } })
  assert.equal(mutating.prepareCreate?.(old, context).metadata?.generation, 1)
  assert.equal(mutating.prepareUpdate?.(labelled, old, context).metadata?.generation, 3)
  assert.equal(mutating.prepareUpdate?.(make(), old, context).metadata?.generation, 4)
})

test('a row of the table', () => assert.deepEqual(validating.table?.cells(make(good), context), ['c', 1, '60m']))
