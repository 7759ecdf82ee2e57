// Hooks run once per stage and in order; a watch is complete at the end of its stream.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { notFound } from '@cluster-apiserver/api/api/api-error.js'
import { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { anonymous } from '@cluster-apiserver/api/api/user.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { MemoryPressure } from '../../flow-control/memory-pressure.js'
import { boxes } from '../../objects/box-store.fixture.js'
import { authentication } from '../filters/authentication.js'
import { ServerMetrics } from '../metrics/request-metrics.js'
import { flushHead, headersOf, sendPlain, writeHead } from '../responses/send-response.js'
import type { Filter } from './filter.js'
import { loggingHooks, type RequestHooks } from './lifecycle.js'
import { requestListener } from './request-listener.js'

const catalogs = new CatalogSource(new Catalog({ identity: identityOf('cluster'), definitions: [boxes.definition], isServed: () => true }))

const recordingHooks = (calls: string[], name: string): RequestHooks => ({
  received: () => calls.push(`${name} received`),
  authenticated: ({ user }) => calls.push(`${name} authenticated ${user.name}`),
  responseStarted: () => calls.push(`${name} started`),
  responseComplete: ({ response }) => calls.push(`${name} complete ${response.statusCode}`),
  panic: (_exchange, thrown) => calls.push(`${name} panic ${thrown}`),
})

async function withServer(
  respond: Filter,
  hooks: readonly RequestHooks[],
  useServer: (url: string) => Promise<void>,
  requestTimeoutMs = 5_000,
): Promise<void> {
  const listener = requestListener({
    filters: [authentication({ authenticators: [], anonymous }), respond],
    catalogs,
    clock: systemClock,
    requestTimeoutMs,
    pressure: new MemoryPressure({ bodyBytes: 1 << 20, responseBytes: 1 << 20, responseMs: 1000 }),
    hooks,
  })
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await useServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/namespaces/n/boxes`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const respondOk: Filter = async (exchange) => {
  sendPlain(exchange, 200, 'x')
  return true
}

const textOf = async (metrics: ServerMetrics): Promise<string> => Buffer.concat((await metrics.read()).chunks).toString()

test('each stage calls all hooks in order', async () => {
  const calls: string[] = []
  await withServer(respondOk, [recordingHooks(calls, 'a'), recordingHooks(calls, 'b'), {}], async (url) => {
    await (await fetch(url)).text()
  })
  const name = anonymous.name
  assert.deepEqual(
    calls,
    ['received', `authenticated ${name}`, 'started', 'complete 200'].flatMap((stage) => [`a ${stage}`, `b ${stage}`]),
  )
})

for (const delayed of [false, true]) {
  const throwing = (thrown: Error): Filter => {
    if (delayed) return () => Promise.reject(thrown)
    return () => {
      throw thrown
    }
  }

  test(`an internal error calls the panic hooks and is logged (${delayed ? 'rejected' : 'thrown'})`, async () => {
    const calls: string[] = []
    const lines: string[] = []
    const ignore = (): void => undefined
    const logger = { error: (_fields: object, text: string) => void lines.push(text), warn: ignore, info: ignore, debug: ignore }
    await withServer(throwing(new Error('broken')), [recordingHooks(calls, 'a'), loggingHooks(logger)], async (url) => {
      assert.equal((await fetch(url)).status, 500)
    })
    assert.deepEqual(calls.slice(2), ['a panic Error: broken', 'a started', 'a complete 500'])
    assert.deepEqual(lines, ['internal error'])
  })

  test(`an API error calls no panic hook (${delayed ? 'rejected' : 'thrown'})`, async () => {
    const calls: string[] = []
    await withServer(throwing(notFound(boxes.subject, 'a')), [recordingHooks(calls, 'a')], async (url) => {
      assert.equal((await fetch(url)).status, 404)
    })
    assert.deepEqual(calls.slice(2), ['a started', 'a complete 404'])
  })
}

test('a watch is complete at the end of its stream, and its duration is that of the stream', async () => {
  const calls: string[] = []
  const metrics = new ServerMetrics({ sources: [] })
  const streamMs = 120
  const watch: Filter = async (exchange) => {
    exchange.isLongRunning = true
    writeHead(exchange, 200, headersOf(exchange, 'application/json'))
    flushHead(exchange)
    setTimeout(() => exchange.response.end(), streamMs)
    return true
  }
  await withServer(watch, [recordingHooks(calls, 'a'), metrics.hooks], async (url) => {
    const response = await fetch(`${url}?watch=1`)
    assert.deepEqual(calls.slice(2), ['a started'])
    assert.doesNotMatch(await textOf(metrics), /apiserver_request_total\{/)
    await response.text()
    for (let i = 0; i < 6000 && calls.length < 4; i++) await sleep(10)
    assert.deepEqual(calls.slice(2), ['a started', 'a complete 200'])
    const text = await textOf(metrics)
    assert.match(text, /^apiserver_request_total\{[^}]*verb="WATCH"[^}]*\} 1$/m)
    const sum = /^apiserver_request_duration_seconds_sum\{[^}]*verb="WATCH"[^}]*\} ([\d.]+)$/m.exec(text)?.[1]
    assert.ok(Number(sum) >= streamMs / 1000 - 0.01, `${sum} seconds`)
  })
})

test('a request that becomes long-running during authentication does not time out', async () => {
  const slow: Filter = async (exchange) => {
    await new Promise(setImmediate)
    exchange.isLongRunning = true
    await sleep(100)
    sendPlain(exchange, 200, 'late')
    return true
  }
  await withServer(slow, [], async (url) => assert.equal(await (await fetch(url)).text(), 'late'), 50)
})
