// Tests of CreateOptions, UpdateOptions and PatchOptions: dryRun, fieldManager, fieldValidation, force.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api-error.js'
import { defaultFeatureGates, parseFeatureGates } from '../feature-gates/feature-gates.js'
import { identityOf } from '../identity.js'
import { readQuery } from './query.js'
import { fieldValidationOf, isDryRun, parseCreateOptions, parsePatchOptions, parseUpdateOptions } from './write-options.js'

const identity = identityOf('cluster')
const create = (query: string) => parseCreateOptions(readQuery(query), identity)
const patch = (query: string) => parsePatchOptions(readQuery(query), { identity, isApply: false })
const apply = (query: string) => parsePatchOptions(readQuery(query), { identity, isApply: true })

test('parsed options have kind and apiVersion', () => {
  assert.deepEqual(create(''), { kind: 'CreateOptions', apiVersion: 'meta.cluster.io/v1' })
  assert.deepEqual(parseUpdateOptions(readQuery('dryRun=All&fieldManager=m&fieldValidation=Strict'), identity), {
    kind: 'UpdateOptions',
    apiVersion: 'meta.cluster.io/v1',
    dryRun: ['All'],
    fieldManager: 'm',
    fieldValidation: 'Strict',
  })
  assert.deepEqual(apply('fieldManager=m&force=false'), {
    kind: 'PatchOptions',
    apiVersion: 'meta.cluster.io/v1',
    fieldManager: 'm',
    force: false,
  })
})

const dryRuns = [
  { query: '', isOn: false },
  { query: 'dryRun', isOn: false },
  { query: 'dryRun=', isOn: false },
  { query: 'dryRun=All', isOn: true },
  { query: 'dryRun=All&dryRun=All', isOn: true },
  { query: 'dryRun=&dryRun=All', isOn: true },
]
for (const { query, isOn } of dryRuns) test(`dry run: ${query}`, () => assert.equal(isDryRun(create(query)), isOn))

test('fieldValidation defaults to Warn', () => {
  assert.equal(fieldValidationOf({ options: create(''), gates: defaultFeatureGates }), 'Warn')
  assert.equal(fieldValidationOf({ options: create('fieldValidation='), gates: defaultFeatureGates }), 'Warn')
  assert.equal(fieldValidationOf({ options: create('fieldValidation=Ignore'), gates: defaultFeatureGates }), 'Ignore')
  const gates = parseFeatureGates(['ServerSideFieldValidation=false'])
  for (const query of ['', 'fieldValidation=Strict', 'fieldValidation=Warn'])
    assert.equal(fieldValidationOf({ options: create(query), gates }), 'Ignore')
})

const rejections = [
  {
    name: 'an unsupported dryRun value',
    parse: () => create('dryRun=Some'),
    message: 'CreateOptions.meta.cluster.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
  },
  {
    name: 'a supported and an unsupported dryRun value',
    parse: () => create('dryRun=All&dryRun=none'),
    message: 'CreateOptions.meta.cluster.io "" is invalid: dryRun: Unsupported value: ["All","none"]: supported values: "All"',
  },
  {
    name: 'an unsupported fieldValidation value',
    parse: () => create('fieldValidation=Sometimes'),
    message:
      'CreateOptions.meta.cluster.io "" is invalid: fieldValidation: Unsupported value: "Sometimes": supported values: "", "Ignore", "Strict", "Warn"',
  },
  {
    name: 'a fieldManager above 128 bytes',
    parse: () => patch(`fieldManager=${'m'.repeat(129)}`),
    message: 'PatchOptions.meta.cluster.io "" is invalid: fieldManager: Too long: must have at most 128 bytes',
  },
  {
    name: 'an unprintable character in fieldManager',
    parse: () => patch('fieldManager=a%0Ab'),
    message: 'PatchOptions.meta.cluster.io "" is invalid: fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)',
  },
  {
    name: 'force on a non-apply patch',
    parse: () => patch('force=perhaps'),
    message: 'PatchOptions.meta.cluster.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  },
  {
    name: 'force=false on a non-apply patch',
    parse: () => patch('force=false'),
    message: 'PatchOptions.meta.cluster.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  },
  {
    name: 'apply without a manager',
    parse: () => apply('force=true'),
    message: 'PatchOptions.meta.cluster.io "" is invalid: fieldManager: Required value: is required for apply patch',
  },
  {
    name: 'apply with an empty manager',
    parse: () => apply('fieldManager='),
    message: 'PatchOptions.meta.cluster.io "" is invalid: fieldManager: Required value: is required for apply patch',
  },
  {
    name: 'several invalid options',
    parse: () => apply('dryRun=x'),
    message:
      'PatchOptions.meta.cluster.io "" is invalid: [fieldManager: Required value: is required for apply patch, dryRun: Unsupported value: ["x"]: supported values: "All"]',
  },
] as const
for (const { name, parse, message } of rejections)
  test(`rejected: ${name}`, () => {
    assert.throws(parse, (thrown) => {
      assert.ok(thrown instanceof ApiError)
      assert.equal(thrown.message, message)
      assert.equal(thrown.status.code, 422)
      assert.equal(thrown.status.reason, 'Invalid')
      return true
    })
  })

test('a fieldManager may have 128 bytes, non-ASCII letters and spaces', () => {
  assert.equal(patch(`fieldManager=${'m'.repeat(128)}`).fieldManager?.length, 128)
  assert.equal(patch('fieldManager=zo%C3%AB%20gr%C3%B6%C3%9Fe%201').fieldManager, 'zoë größe 1')
})
