// Kinds that are defined and removed again, without an end: metrics tell a number of them apart, and count the others together.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import type { Exchange } from '../exchange.js'
import type { Family } from './exposition.js'
import { RequestTallies } from './request-tallies.js'
import { WatchTallies } from './watch-tallies.js'

/** Twice as many as are told apart. */
const kinds = 4_000

const kindOf = (i: number): Resource =>
  ({
    group: `g${i}.example`,
    version: 'v1',
    apiVersion: `g${i}.example/v1`,
    kind: `Kind${i}`,
    name: `kinds${i}`,
    subresources: new Map(),
  }) as unknown as Resource

/** As much of a request as is counted. */
const requestFor = (resource: Resource, verb: 'get' | 'list'): Exchange =>
  ({
    info: {
      ...resource,
      isResource: true,
      resource: resource.name,
      subresource: '',
      namespace: 'n',
      name: '',
      verb,
      method: 'GET',
      query: '',
    },
    catalog: { find: () => resource },
    request: { headers: {} },
    response: { headersSent: true, statusCode: 200 },
    begunMs: performance.now(),
    sentBytes: 1,
  }) as unknown as Exchange

const rowsOf = (families: readonly Family[]): readonly number[] => families.map(({ rows }) => [...rows].length)

/** How often the last row of a family was counted. */
const lastOf = (family: Family | undefined): unknown => [...(family?.rows ?? [])].at(-1)?.value

test('requests', () => {
  const tallies = new RequestTallies()
  for (let i = 0; i < kinds; i++) for (const verb of ['get', 'list'] as const) tallies.complete(requestFor(kindOf(i), verb))
  assert.equal(Math.max(...rowsOf(tallies.families())), 4_001)
  assert.equal(lastOf(tallies.families()[0]), 4_000)
})

test('events of watches', () => {
  const tallies = new WatchTallies()
  for (let i = 0; i < kinds; i++) tallies.of(kindOf(i)).add(1, 100)
  assert.deepEqual(rowsOf(tallies.families()), [2_001, 2_001])
  assert.equal(lastOf(tallies.families()[0]), 2_000)
})
