// Tests of DeleteOptions: from the query, from the body, preconditions, propagation policy and contradictions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api-error.js'
import { identityOf } from '../identity.js'
import { type DeleteOptions, parseDeleteOptions, propagationOf } from './delete-options.js'
import { readQuery } from './query.js'

const identity = identityOf('kubernetes')
const fromQuery = (query: string) => parseDeleteOptions({ query: readQuery(query), identity })
const fromBody = (body: DeleteOptions, query = '') => parseDeleteOptions({ query: readQuery(query), body, identity })
const typeMeta = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' }

const queries = [
  { query: '', options: {} },
  { query: 'gracePeriodSeconds=30&propagationPolicy=Background', options: { gracePeriodSeconds: 30, propagationPolicy: 'Background' } },
  { query: 'orphanDependents', options: { orphanDependents: true } },
  { query: 'orphanDependents=0', options: { orphanDependents: false } },
  { query: 'uid=u&resourceVersion=5', options: { preconditions: { uid: 'u', resourceVersion: '5' } } },
  { query: 'dryRun=All&dryRun=', options: { dryRun: ['All'] } },
  { query: 'dryRun', options: {} },
]
for (const { query, options } of queries) test(`query: ${query}`, () => assert.deepEqual(fromQuery(query), { ...options, ...typeMeta }))

test('uid and resourceVersion are preconditions, also resourceVersion 0', () => {
  assert.deepEqual(fromQuery('resourceVersion=0&uid=u'), { preconditions: { uid: 'u', resourceVersion: '0' }, ...typeMeta })
})

test('a body replaces the query', () => {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 1, dryRun: [''] }
  assert.deepEqual(fromBody(body, 'propagationPolicy=Sideways&gracePeriodSeconds=x'), { gracePeriodSeconds: 1, ...typeMeta })
})

const rejections = [
  {
    name: 'a grace period that is not an integer',
    parse: () => fromQuery('gracePeriodSeconds=x'),
    code: 400,
    message: 'gracePeriodSeconds: Invalid value: "x": must be an integer',
  },
  {
    name: 'a body of another kind',
    parse: () => fromBody({ kind: 'Pod' }),
    code: 400,
    message: 'the body of a delete request must be of kind DeleteOptions, not Pod',
  },
  {
    name: 'orphanDependents with propagationPolicy',
    parse: () => fromBody({ orphanDependents: true, propagationPolicy: 'Foreground' }),
    code: 422,
    message:
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Foreground": orphanDependents and deletionPropagation cannot be both set',
  },
  {
    name: 'an unknown propagation policy',
    parse: () => fromQuery('propagationPolicy=Sideways'),
    code: 422,
    message:
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
  },
  {
    name: 'an unsupported dryRun value',
    parse: () => fromBody({ dryRun: ['Some'] }),
    code: 422,
    message: 'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
  },
] as const
for (const { name, parse, code, message } of rejections)
  test(`rejected: ${name}`, () => {
    assert.throws(parse, (thrown) => {
      assert.ok(thrown instanceof ApiError)
      assert.equal(thrown.message, message)
      assert.equal(thrown.status.code, code)
      return true
    })
  })

const policies = [
  { options: {}, policy: undefined },
  { options: { propagationPolicy: 'Foreground' }, policy: 'Foreground' },
  { options: { orphanDependents: true }, policy: 'Orphan' },
  { options: { orphanDependents: false }, policy: 'Background' },
]
for (const { options, policy } of policies)
  test(`propagation policy of ${JSON.stringify(options)}`, () => assert.equal(propagationOf(options), policy))
