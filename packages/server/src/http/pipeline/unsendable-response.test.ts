// Responses whose head cannot be written: the client gets a 500, or its stream is reset.

import assert from 'node:assert/strict'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { MemoryPressure } from '../../flow-control/memory-pressure.js'
import { boxes } from '../../objects/box-store.fixture.js'
import { writeHead } from '../responses/send-response.js'
import type { Exchange } from './exchange.js'
import { requestListener } from './request-listener.js'

const catalog = new Catalog({ identity: identityOf('cluster'), definitions: [boxes.definition], isServed: () => true })

/** HTTP/2 error code CANCEL, which the server does not use. */
const cancelCode = 8

/** Returns the status of an HTTP/2 response, the error code that closed its stream, and the number of panics. */
async function requestOnce(
  respond: (exchange: Exchange) => Promise<boolean>,
): Promise<{ status: unknown; closedWith: number; panics: number }> {
  let panics = 0
  const listener = requestListener({
    filters: [respond],
    catalogs: new CatalogSource(catalog),
    clock: systemClock,
    requestTimeoutMs: 60_000,
    pressure: new MemoryPressure({ bodyBytes: 1 << 20, responseBytes: 1 << 20, responseMs: 1000 }),
    hooks: [{ panic: () => panics++ }],
  })
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  try {
    const stream = session.request({ ':path': '/' })
    let status: unknown
    stream.on('response', (headers) => {
      status = headers[':status']
    })
    stream.on('error', () => undefined)
    const timer = setTimeout(() => stream.close(cancelCode), 3000)
    await new Promise<void>((resolve) => stream.resume().once('close', resolve))
    clearTimeout(timer)
    return { status, closedWith: stream.rstCode, panics }
  } finally {
    session.destroy()
    server.close()
  }
}

const duplicateHeaders = ['Content-Type', 'a/b', 'Content-Type', 'c/d']

test('headers that HTTP/2 forbids lead to a clean 500 response', async () => {
  const outcome = await requestOnce(async (exchange) => {
    writeHead(exchange, 200, [...duplicateHeaders])
    return true
  })
  assert.deepEqual(outcome, { status: 500, closedWith: 0, panics: 1 })
})

test('the stream is reset if the error response cannot be written either', async () => {
  const outcome = await requestOnce(async (exchange) => {
    exchange.response.setHeader('Content-Type', 'a/b')
    throw new Error('broken')
  })
  assert.deepEqual(outcome, { status: undefined, closedWith: 2, panics: 2 })
})
