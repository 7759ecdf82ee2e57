// The tables of get, list and watch: which state each combination of parameters means, and which combinations are refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api-error.js'
import { metadataFields } from '../field-selector.js'
import { identityOf } from '../identity.js'
import { encodeContinueToken } from './continue-token.js'
import { parseGetOptions } from './get-options.js'
import { isWatchRequested, parseListOptions, parseWatchOptions } from './list-options.js'
import { readQuery } from './query.js'

const context = { identity: identityOf('kubernetes'), fields: metadataFields }
const token = encodeContinueToken({ resourceVersion: 7, startKey: 'n/b', remaining: 3, countedIn: 'c' }, context.identity)

const list = (query: string) => parseListOptions(readQuery(query), context)
const watch = (query: string) => parseWatchOptions(readQuery(query), context)

const gets = [
  { query: '', version: { mode: 'most-recent' } },
  { query: 'resourceVersion=', version: { mode: 'most-recent' } },
  { query: 'resourceVersion=0', version: { mode: 'any' } },
  { query: 'resourceVersion=5&resourceVersionMatch=Exact', version: { mode: 'not-older-than', resourceVersion: 5 } },
  {
    query: 'resourceVersion=18446744073709551615',
    version: { mode: 'not-older-than', resourceVersion: 2 ** 64, asked: '18446744073709551615' },
  },
  { query: 'watch=1&limit=x', version: { mode: 'most-recent' } },
]
for (const { query, version } of gets) test(`get: ${query}`, () => assert.deepEqual(parseGetOptions(readQuery(query)), { version }))

const lists = [
  { query: '', version: { mode: 'most-recent' }, limit: 0 },
  { query: 'resourceVersion=0', version: { mode: 'any' }, limit: 0 },
  { query: 'resourceVersion=5', version: { mode: 'not-older-than', resourceVersion: 5 }, limit: 0 },
  { query: 'limit=2', version: { mode: 'most-recent' }, limit: 2 },
  { query: 'limit=-3', version: { mode: 'most-recent' }, limit: 0 },
  { query: 'limit=2&resourceVersion=0', version: { mode: 'any' }, limit: 0 },
  { query: 'limit=2&resourceVersion=5', version: { mode: 'exact', resourceVersion: 5 }, limit: 2 },
  { query: 'resourceVersion=5&resourceVersionMatch=Exact', version: { mode: 'exact', resourceVersion: 5 }, limit: 0 },
  { query: 'limit=1&resourceVersion=5&resourceVersionMatch=Exact', version: { mode: 'exact', resourceVersion: 5 }, limit: 1 },
  { query: 'resourceVersion=0&resourceVersionMatch=NotOlderThan', version: { mode: 'any' }, limit: 0 },
  { query: 'limit=2&resourceVersion=0&resourceVersionMatch=NotOlderThan', version: { mode: 'any' }, limit: 0 },
  { query: 'resourceVersion=5&resourceVersionMatch=NotOlderThan', version: { mode: 'not-older-than', resourceVersion: 5 }, limit: 0 },
  {
    query: 'limit=2&resourceVersion=5&resourceVersionMatch=NotOlderThan',
    version: { mode: 'not-older-than', resourceVersion: 5 },
    limit: 2,
  },
  {
    query: `limit=2&continue=${token}`,
    version: { mode: 'continue', token: { resourceVersion: 7, startKey: 'n/b', remaining: 3, countedIn: 'c' } },
    limit: 2,
  },
  {
    query: `continue=${token}&resourceVersion=0`,
    version: { mode: 'continue', token: { resourceVersion: 7, startKey: 'n/b', remaining: 3, countedIn: 'c' } },
    limit: 0,
  },
]
for (const { query, version, limit } of lists)
  test(`list: ${query}`, () => {
    const options = list(query)
    assert.deepEqual({ version: options.version, limit: options.limit }, { version, limit })
  })

const badLists = [
  { query: 'limit=ten', code: 400, message: 'limit: Invalid value: "ten": must be an integer' },
  { query: 'limit=', code: 400, message: 'limit: Invalid value: "": must be an integer' },
  { query: 'timeoutSeconds=soon&limit=ten', code: 400, message: 'timeoutSeconds: Invalid value: "soon": must be an integer' },
  {
    query: 'resourceVersion=abc',
    code: 400,
    message: 'resourceVersion: Invalid value: "abc": must be the resourceVersion of an earlier answer',
  },
  {
    query: 'resourceVersion=-1&resourceVersionMatch=NotOlderThan',
    code: 400,
    message: 'resourceVersion: Invalid value: "-1": must be the resourceVersion of an earlier answer',
  },
  { query: `continue=${token}&resourceVersion=1`, code: 400, message: 'specifying resource version is not allowed when using continue' },
  { query: 'labelSelector=a===b', code: 400, message: "unable to parse requirement: found '=', expected: identifier" },
  {
    query: 'fieldSelector=data.k%3D1',
    code: 400,
    message: '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  {
    query: 'resourceVersionMatch=Exact',
    code: 422,
    message:
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  },
  {
    query: 'resourceVersion=0&resourceVersionMatch=Exact&limit=2',
    code: 422,
    message:
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  },
  {
    query: `continue=${token}&resourceVersionMatch=Exact`,
    code: 422,
    message:
      'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, ' +
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided]',
  },
  {
    query: 'resourceVersionMatch=Latest',
    code: 422,
    message:
      'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, ' +
      'resourceVersionMatch: Unsupported value: "Latest": supported values: "Exact", "NotOlderThan", ""]',
  },
]
for (const { query, code, message } of badLists)
  test(`list refused: ${query}`, () => {
    assert.throws(
      () => list(query),
      (thrown) => {
        assert.ok(thrown instanceof ApiError)
        assert.equal(thrown.message, message)
        assert.equal(thrown.status.code, code)
        assert.equal(thrown.status.reason, code === 400 ? 'BadRequest' : 'Invalid')
        return true
      },
    )
  })

test('a refusal of the options names them, and no object', () => {
  assert.throws(
    () => list('resourceVersionMatch=Exact'),
    (thrown) => {
      assert.ok(thrown instanceof ApiError)
      assert.deepEqual(thrown.status.details, {
        group: 'meta.k8s.io',
        kind: 'ListOptions',
        causes: [
          {
            reason: 'FieldValueForbidden',
            message: 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
            field: 'resourceVersionMatch',
          },
        ],
      })
      return true
    },
  )
})

test('selectors that pick everything are none', () => {
  assert.deepEqual(list('labelSelector=&fieldSelector=').selection, { labels: undefined, fields: undefined })
  const { labels, fields } = list('labelSelector=a%3Db&fieldSelector=metadata.name%3Dx').selection
  assert.equal(labels?.text, 'a=b')
  assert.equal(fields?.exactValue('metadata.name'), 'x')
})

test('the first of several values counts', () => {
  assert.equal(list('limit=1&limit=x').limit, 1)
})

const watches = [
  { query: '', start: { mode: 'most-recent' }, allowBookmarks: false, timeoutSeconds: undefined },
  { query: 'resourceVersion=0', start: { mode: 'any' }, allowBookmarks: false, timeoutSeconds: undefined },
  {
    query: 'resourceVersion=9&allowWatchBookmarks=true&timeoutSeconds=30',
    start: { mode: 'exact', resourceVersion: 9 },
    allowBookmarks: true,
    timeoutSeconds: 30,
  },
  { query: 'limit=1&continue=abc', start: { mode: 'most-recent' }, allowBookmarks: false, timeoutSeconds: undefined },
]
for (const { query, start, allowBookmarks, timeoutSeconds } of watches)
  test(`watch: ${query}`, () => {
    const options = watch(query)
    assert.deepEqual(options.start, start)
    assert.equal(options.allowBookmarks, allowBookmarks)
    assert.equal(options.timeoutSeconds, timeoutSeconds)
  })

test('a watch may not say how its version is to match', () => {
  assert.throws(
    () => watch('resourceVersionMatch=NotOlderThan&resourceVersion=0'),
    /ListOptions\.meta\.k8s\.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch$/,
  )
})

const booleans = [
  { query: 'watch', is: true },
  { query: 'watch=', is: true },
  { query: 'watch=1', is: true },
  { query: 'watch=true', is: true },
  { query: 'watch=yes', is: true },
  { query: 'watch=0', is: false },
  { query: 'watch=False', is: false },
  { query: 'watch=false&watch=true', is: false },
  { query: 'limit=x&watch=1', is: true },
  { query: 'watcher=1', is: false },
  { query: '', is: false },
]
for (const { query, is } of booleans) test(`is a watch: ${query}`, () => assert.equal(isWatchRequested(readQuery(query)), is))
