// Requests of a worker process wait until it knows the changes that others have acknowledged.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import type { Exchange } from '../../http/pipeline/exchange.js'
import { awaitChanges } from './await-changes.js'

const emptyCatalog = {} as Catalog
function exchangeOf(path: string): Exchange {
  const exchange = {
    info: parseRequest('GET', path),
    catalog: emptyCatalog,
    replaceCatalog: (catalog: Catalog): void => {
      exchange.catalog = catalog
    },
  }
  return exchange as Partial<Exchange> as Exchange
}
const pods = exchangeOf('/api/v1/pods')
const catalogs = { current: emptyCatalog }

test('a request waits for changes only if some are missing, and probes never wait', async () => {
  let index: number | Promise<number> = 7
  const filter = awaitChanges({ readIndex: () => index }, catalogs)
  assert.equal(filter(pods), false)
  let arrive = (_revision: number): void => undefined
  index = new Promise((resolve) => {
    arrive = resolve
  })
  assert.equal(filter(exchangeOf('/readyz')), false)
  const waiting = filter(pods)
  assert.ok(waiting instanceof Promise)
  arrive(8)
  assert.equal(await waiting, false)
  assert.ok(pods.hasReadIndex, 'its reads need not wait again')
})

test('a request that waited is served from the catalog with the changes', async () => {
  const changed = { current: emptyCatalog }
  let arrive = (_revision: number): void => undefined
  const index = new Promise<number>((resolve) => {
    arrive = resolve
  })
  const exchange = exchangeOf('/apis/shop.example.com/v1/wares')
  const waiting = awaitChanges({ readIndex: () => index }, changed)(exchange)
  changed.current = {} as Catalog
  arrive(8)
  await waiting
  assert.ok(exchange.catalog === changed.current)
})

test('a request fails if the changes cannot be read, and the number of waiting requests is limited', async () => {
  let fail = (_error: Error): void => undefined
  const index = new Promise<number>((_resolve, reject) => {
    fail = reject
  })
  const filter = awaitChanges({ readIndex: () => index }, catalogs)
  const waiting = Array.from({ length: 2000 }, () => filter(pods) as Promise<boolean>)
  assert.throws(() => filter(pods), /too many requests wait for the store/)
  const settled = Promise.allSettled(waiting)
  fail(new Error('no response'))
  assert.ok((await settled).every(({ status }) => status === 'rejected'))
  await assert.rejects(async () => filter(pods), /no response/, 'the places are free again')
})
