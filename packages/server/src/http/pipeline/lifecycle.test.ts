// Each stage of a request is told once, in order; a watch is complete when its stream has ended.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { notFound } from '../api/api-error.js'
import { Catalog } from '../api/catalog.js'
import { CatalogSource } from '../api/catalog-source.js'
import { identityOf } from '../api/identity.js'
import { anonymous } from '../api/user.js'
import { systemClock } from '../base/clock.js'
import { boxes } from '../objects/fixture.js'
import { authentication } from './filters.js'
import { requestListener } from './handle.js'
import { loggingHooks, type RequestHooks } from './lifecycle.js'
import { ServerMetrics } from './metrics/server-metrics.js'
import type { Filter } from './pipeline.js'
import { Pressure } from './pressure.js'
import { flushHead, headersOf, sendPlain, writeHead } from './respond.js'

const catalogs = new CatalogSource(new Catalog({ identity: identityOf('cluster'), definitions: [boxes.definition], isServed: () => true }))

const telling = (told: string[], word: string): RequestHooks => ({
  received: () => told.push(`${word} received`),
  authenticated: ({ user }) => told.push(`${word} authenticated ${user.name}`),
  responseStarted: () => told.push(`${word} started`),
  responseComplete: ({ response }) => told.push(`${word} complete ${response.statusCode}`),
  panic: (_exchange, thrown) => told.push(`${word} panic ${thrown}`),
})

async function serving(
  answer: Filter,
  hooks: readonly RequestHooks[],
  act: (url: string) => Promise<void>,
  requestTimeoutMs = 5_000,
): Promise<void> {
  const listener = requestListener({
    filters: [authentication({ authenticators: [], anonymous }), answer],
    catalogs,
    clock: systemClock,
    requestTimeoutMs,
    pressure: new Pressure({ bodyBytes: 1 << 20, answerBytes: 1 << 20, answerMs: 1000 }),
    hooks,
  })
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await act(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/namespaces/n/boxes`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const plain: Filter = (exchange) => {
  sendPlain(exchange, 200, 'x')
  return true
}

const textOf = async (metrics: ServerMetrics): Promise<string> => Buffer.concat((await metrics.read()).pieces).toString()

test('the stages of a request, for each hook in order', async () => {
  const told: string[] = []
  await serving(plain, [telling(told, 'a'), telling(told, 'b'), {}], async (url) => {
    await (await fetch(url)).text()
  })
  const name = anonymous.name
  assert.deepEqual(
    told,
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

  test(`a fault of the server is told and logged, ${delayed ? 'later' : 'at once'}`, async () => {
    const told: string[] = []
    const lines: string[] = []
    const ignore = (): void => undefined
    const logger = { error: (_fields: object, text: string) => void lines.push(text), warn: ignore, info: ignore, debug: ignore }
    await serving(throwing(new Error('broken')), [telling(told, 'a'), loggingHooks(logger)], async (url) => {
      assert.equal((await fetch(url)).status, 500)
    })
    assert.deepEqual(told.slice(2), ['a panic Error: broken', 'a started', 'a complete 500'])
    assert.deepEqual(lines, ['internal error'])
  })

  test(`a refusal is none, ${delayed ? 'later' : 'at once'}`, async () => {
    const told: string[] = []
    await serving(throwing(notFound(boxes.subject, 'a')), [telling(told, 'a')], async (url) => {
      assert.equal((await fetch(url)).status, 404)
    })
    assert.deepEqual(told.slice(2), ['a started', 'a complete 404'])
  })
}

test('a watch lasts as long as its stream, and is counted with all of its time', async () => {
  const told: string[] = []
  const metrics = new ServerMetrics({ sources: [] })
  const streamMs = 120
  const watch: Filter = (exchange) => {
    exchange.isLongRunning = true
    writeHead(exchange, 200, headersOf(exchange, 'application/json'))
    flushHead(exchange)
    setTimeout(() => exchange.response.end(), streamMs)
    return true
  }
  await serving(watch, [telling(told, 'a'), metrics.hooks], async (url) => {
    const answer = await fetch(`${url}?watch=1`)
    assert.deepEqual(told.slice(2), ['a started'])
    assert.doesNotMatch(await textOf(metrics), /apiserver_request_total\{/)
    await answer.text()
    for (let i = 0; i < 6000 && told.length < 4; i++) await sleep(10)
    assert.deepEqual(told.slice(2), ['a started', 'a complete 200'])
    const text = await textOf(metrics)
    assert.match(text, /^apiserver_request_total\{[^}]*verb="WATCH"[^}]*\} 1$/m)
    const sum = /^apiserver_request_duration_seconds_sum\{[^}]*verb="WATCH"[^}]*\} ([\d.]+)$/m.exec(text)?.[1]
    assert.ok(Number(sum) >= streamMs / 1000 - 0.01, `${sum} seconds`)
  })
})

test('what turns out to last while its user is still looked for has no end', async () => {
  const slow: Filter = async (exchange) => {
    await sleep(20)
    exchange.isLongRunning = true
    await sleep(100)
    sendPlain(exchange, 200, 'late')
    return true
  }
  await serving(slow, [], async (url) => assert.equal(await (await fetch(url)).text(), 'late'), 50)
})
