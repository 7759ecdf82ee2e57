// Metrics of any number of custom kinds: a limited number has own rows, the others are counted together.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Family } from './prometheus-exposition.js'
import { RequestCounters } from './request-metrics.js'
import { WatchCounters } from './watch-metrics.js'

/** Twice the number that has own rows. */
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

/** The part of an exchange that metrics read. */
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
    resource,
    request: { headers: {} },
    response: { headersSent: true, statusCode: 200 },
    begunMs: performance.now(),
    sentBytes: 1,
  }) as unknown as Exchange

const rowsOf = (families: readonly Family[]): readonly number[] => families.map(({ rows }) => [...rows].length)

/** Value of the last row of a family. */
const lastOf = (family: Family | undefined): unknown => [...(family?.rows ?? [])].at(-1)?.value

test('request metrics have at most 4,001 rows', () => {
  const counters = new RequestCounters()
  for (let i = 0; i < kinds; i++) for (const verb of ['get', 'list'] as const) counters.complete(requestFor(kindOf(i), verb))
  assert.equal(Math.max(...rowsOf(counters.families())), 4_001)
  assert.equal(lastOf(counters.families()[0]), 4_000)
})

test('watch event metrics have at most 2,001 rows', () => {
  const counters = new WatchCounters()
  for (let i = 0; i < kinds; i++) counters.of(kindOf(i)).add(1, 100)
  assert.deepEqual(rowsOf(counters.families()), [2_001, 2_001])
  assert.equal(lastOf(counters.families()[0]), 2_000)
})
