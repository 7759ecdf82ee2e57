// Options of writes: dry run, field manager, field validation, force, and how they are refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api-error.js'
import { identityOf } from '../identity.js'
import { fieldManagerOr } from './field-manager.js'
import { readQuery } from './query.js'
import { fieldValidationOf, isDryRun, parseCreateOptions, parsePatchOptions, parseUpdateOptions } from './write-options.js'

const identity = identityOf('cluster')
const create = (query: string) => parseCreateOptions(readQuery(query), identity)
const patch = (query: string) => parsePatchOptions(readQuery(query), { identity, isApply: false })
const apply = (query: string) => parsePatchOptions(readQuery(query), { identity, isApply: true })

test('the options are an object of the API', () => {
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
  { query: '', is: false },
  { query: 'dryRun', is: false },
  { query: 'dryRun=', is: false },
  { query: 'dryRun=All', is: true },
  { query: 'dryRun=All&dryRun=All', is: true },
  { query: 'dryRun=&dryRun=All', is: true },
]
for (const { query, is } of dryRuns) test(`dry run: ${query}`, () => assert.equal(isDryRun(create(query)), is))

test('field validation warns unless told otherwise', () => {
  assert.equal(fieldValidationOf(create('')), 'Warn')
  assert.equal(fieldValidationOf(create('fieldValidation=')), 'Warn')
  assert.equal(fieldValidationOf(create('fieldValidation=Ignore')), 'Ignore')
})

const refusals = [
  {
    name: 'dry run',
    parse: () => create('dryRun=Some'),
    message: 'CreateOptions.meta.cluster.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
  },
  {
    name: 'dry run twice',
    parse: () => create('dryRun=All&dryRun=none'),
    message: 'CreateOptions.meta.cluster.io "" is invalid: dryRun: Unsupported value: ["All","none"]: supported values: "All"',
  },
  {
    name: 'validation',
    parse: () => create('fieldValidation=Sometimes'),
    message:
      'CreateOptions.meta.cluster.io "" is invalid: fieldValidation: Unsupported value: "Sometimes": supported values: "", "Ignore", "Strict", "Warn"',
  },
  {
    name: 'long manager',
    parse: () => patch(`fieldManager=${'m'.repeat(129)}`),
    message: 'PatchOptions.meta.cluster.io "" is invalid: fieldManager: Too long: must have at most 128 bytes',
  },
  {
    name: 'unprintable manager',
    parse: () => patch('fieldManager=a%0Ab'),
    message: 'PatchOptions.meta.cluster.io "" is invalid: fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)',
  },
  {
    name: 'force on a patch',
    parse: () => patch('force=perhaps'),
    message: 'PatchOptions.meta.cluster.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  },
  {
    name: 'force=false on a patch',
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
    name: 'several',
    parse: () => apply('dryRun=x'),
    message:
      'PatchOptions.meta.cluster.io "" is invalid: [fieldManager: Required value: is required for apply patch, dryRun: Unsupported value: ["x"]: supported values: "All"]',
  },
] as const
for (const { name, parse, message } of refusals)
  test(`refused: ${name}`, () => {
    assert.throws(parse, (thrown) => {
      assert.ok(thrown instanceof ApiError)
      assert.equal(thrown.message, message)
      assert.equal(thrown.status.code, 422)
      assert.equal(thrown.status.reason, 'Invalid')
      return true
    })
  })

test('a manager may have 128 bytes, letters of any language and spaces', () => {
  assert.equal(patch(`fieldManager=${'m'.repeat(128)}`).fieldManager?.length, 128)
  assert.equal(patch('fieldManager=zo%C3%AB%20gr%C3%B6%C3%9Fe%201').fieldManager, 'zoë größe 1')
})

const managers = [
  { given: 'm', agent: 'kubectl/v1', name: 'm' },
  { given: undefined, agent: 'kubectl/v1.26 (linux)', name: 'kubectl' },
  { given: '', agent: 'a\tb\u0000c/1', name: 'abc' },
  { given: undefined, agent: undefined, name: '' },
  { given: undefined, agent: 'é'.repeat(100), name: 'é'.repeat(64) },
]
for (const { given, agent, name } of managers)
  test(`manager from ${given} and ${agent}`, () => assert.equal(fieldManagerOr(given, agent), name))
