// Tests of resourceVersion and resourceVersionMatch for get, list and watch: accepted and rejected combinations.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api-error.js'
import { identityOf } from '../identity.js'
import { metadataFields } from '../selectors/field-selector.js'
import { encodeContinueToken } from './continue-token.js'
import { parseGetOptions } from './get-options.js'
import { isWatchRequested, parseListOptions, parseWatchOptions } from './list-options.js'
import { readQuery } from './query.js'

const context = { identity: identityOf('kubernetes'), fields: metadataFields }
const token = encodeContinueToken({ resourceVersion: 7, startKey: 'n/b', remaining: 3, countedIn: 'c' }, context.identity)

const list = (query: string) => parseListOptions(readQuery(query), context)
const watch = (query: string) => parseWatchOptions(readQuery(query), context)

const gets: readonly (readonly [query: string, version: object])[] = [
  ['', { mode: 'most-recent' }],
  ['resourceVersion=', { mode: 'most-recent' }],
  ['resourceVersion=0', { mode: 'any' }],
  ['resourceVersion=5&resourceVersionMatch=Exact', { mode: 'not-older-than', resourceVersion: 5 }],
  ['resourceVersion=18446744073709551615', { mode: 'not-older-than', resourceVersion: 2 ** 64, requested: '18446744073709551615' }],
  ['watch=1&limit=x', { mode: 'most-recent' }],
]
for (const [query, version] of gets) test(`get: ${query}`, () => assert.deepEqual(parseGetOptions(readQuery(query)), { version }))

const lists: readonly (readonly [query: string, version: object, limit: number])[] = [
  ['', { mode: 'most-recent' }, 0],
  ['resourceVersion=0', { mode: 'any' }, 0],
  ['resourceVersion=5', { mode: 'not-older-than', resourceVersion: 5 }, 0],
  ['limit=2', { mode: 'most-recent' }, 2],
  ['limit=-3', { mode: 'most-recent' }, 0],
  ['limit=2&resourceVersion=0', { mode: 'any' }, 0],
  ['limit=2&resourceVersion=5', { mode: 'exact', resourceVersion: 5 }, 2],
  ['resourceVersion=5&resourceVersionMatch=Exact', { mode: 'exact', resourceVersion: 5 }, 0],
  ['limit=1&resourceVersion=5&resourceVersionMatch=Exact', { mode: 'exact', resourceVersion: 5 }, 1],
  ['resourceVersion=0&resourceVersionMatch=NotOlderThan', { mode: 'any' }, 0],
  ['limit=2&resourceVersion=0&resourceVersionMatch=NotOlderThan', { mode: 'any' }, 0],
  ['resourceVersion=5&resourceVersionMatch=NotOlderThan', { mode: 'not-older-than', resourceVersion: 5 }, 0],
  ['limit=2&resourceVersion=5&resourceVersionMatch=NotOlderThan', { mode: 'not-older-than', resourceVersion: 5 }, 2],
  [`limit=2&continue=${token}`, { mode: 'continue', token: { resourceVersion: 7, startKey: 'n/b', remaining: 3, countedIn: 'c' } }, 2],
  [
    `continue=${token}&resourceVersion=0`,
    { mode: 'continue', token: { resourceVersion: 7, startKey: 'n/b', remaining: 3, countedIn: 'c' } },
    0,
  ],
]
for (const [query, version, limit] of lists)
  test(`list: ${query}`, () => {
    const options = list(query)
    assert.deepEqual({ version: options.version, limit: options.limit }, { version, limit })
  })

const badLists: readonly (readonly [query: string, code: number, message: string])[] = [
  ['limit=ten', 400, 'limit: Invalid value: "ten": must be an integer'],
  ['limit=', 400, 'limit: Invalid value: "": must be an integer'],
  ['timeoutSeconds=soon&limit=ten', 400, 'timeoutSeconds: Invalid value: "soon": must be an integer'],
  ['resourceVersion=abc', 400, 'resourceVersion: Invalid value: "abc": must be the resourceVersion of an earlier response'],
  [
    'resourceVersion=-1&resourceVersionMatch=NotOlderThan',
    400,
    'resourceVersion: Invalid value: "-1": must be the resourceVersion of an earlier response',
  ],
  [`continue=${token}&resourceVersion=1`, 400, 'specifying resource version is not allowed when using continue'],
  ['labelSelector=a===b', 400, "unable to parse requirement: found '=', expected: identifier"],
  ['fieldSelector=data.k%3D1', 400, '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  [
    'resourceVersionMatch=Exact',
    422,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  ],
  [
    'resourceVersion=0&resourceVersionMatch=Exact&limit=2',
    422,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  ],
  [
    `continue=${token}&resourceVersionMatch=Exact`,
    422,
    'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, ' +
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided]',
  ],
  [
    'resourceVersionMatch=Latest',
    422,
    'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, ' +
      'resourceVersionMatch: Unsupported value: "Latest": supported values: "Exact", "NotOlderThan", ""]',
  ],
]
for (const [query, code, message] of badLists)
  test(`list rejects: ${query}`, () => {
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

test('the 422 of invalid options names ListOptions and no object', () => {
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

test('selectors that match everything are undefined', () => {
  assert.deepEqual(list('labelSelector=&fieldSelector=').selection, { labels: undefined, fields: undefined })
  const { labels, fields } = list('labelSelector=a%3Db&fieldSelector=metadata.name%3Dx').selection
  assert.equal(labels?.text, 'a=b')
  assert.equal(fields?.exactValue('metadata.name'), 'x')
})

test('the first of repeated parameters counts', () => {
  assert.equal(list('limit=1&limit=x').limit, 1)
})

const watches: readonly (readonly [query: string, start: object, allowBookmarks: boolean, timeoutSeconds: number | undefined])[] = [
  ['', { mode: 'most-recent' }, false, undefined],
  ['resourceVersion=0', { mode: 'any' }, false, undefined],
  ['resourceVersion=9&allowWatchBookmarks=true&timeoutSeconds=30', { mode: 'exact', resourceVersion: 9 }, true, 30],
  ['limit=1&continue=abc', { mode: 'most-recent' }, false, undefined],
]
for (const [query, start, allowBookmarks, timeoutSeconds] of watches)
  test(`watch: ${query}`, () => {
    const options = watch(query)
    assert.deepEqual(options.start, start)
    assert.equal(options.allowBookmarks, allowBookmarks)
    assert.equal(options.timeoutSeconds, timeoutSeconds)
  })

test('a watch with resourceVersionMatch returns 422', () => {
  assert.throws(
    () => watch('resourceVersionMatch=NotOlderThan&resourceVersion=0'),
    /ListOptions\.meta\.k8s\.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch$/,
  )
})

const watchQueries: readonly (readonly [query: string, isWatch: boolean])[] = [
  ['watch', true],
  ['watch=', true],
  ['watch=1', true],
  ['watch=true', true],
  ['watch=yes', true],
  ['watch=0', false],
  ['watch=False', false],
  ['watch=false&watch=true', false],
  ['limit=x&watch=1', true],
  ['watcher=1', false],
  ['', false],
]
for (const [query, isWatch] of watchQueries)
  test(`isWatchRequested: ${query}`, () => assert.equal(isWatchRequested(readQuery(query)), isWatch))
