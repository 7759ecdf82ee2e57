// Answers whose head cannot be written: their clients are told so, or cut off, and never left waiting.

import assert from 'node:assert/strict'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Catalog } from '../api/catalog.js'
import { CatalogSource } from '../api/catalog-source.js'
import { identityOf } from '../api/identity.js'
import { systemClock } from '../base/clock.js'
import { boxes } from '../objects/fixture.js'
import type { Exchange } from './exchange.js'
import { requestListener } from './handle.js'
import { Pressure } from './pressure.js'
import { writeHead } from './respond.js'

const catalog = new Catalog({ identity: identityOf('cluster'), definitions: [boxes.definition], isServed: () => true })

/** A code of HTTP/2 that the server never closes a stream with. */
const timedOut = 8

/** The code with which a client of HTTP/2 is answered, and that with which its stream is closed. */
async function askServer(
  answer: (exchange: Exchange) => Promise<boolean>,
): Promise<{ status: unknown; closedWith: number; faults: number }> {
  let faults = 0
  const listener = requestListener({
    filters: [answer],
    catalogs: new CatalogSource(catalog),
    clock: systemClock,
    requestTimeoutMs: 60_000,
    pressure: new Pressure({ bodyBytes: 1 << 20, answerBytes: 1 << 20, answerMs: 1000 }),
    hooks: [{ panic: () => faults++ }],
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
    const late = setTimeout(() => stream.close(timedOut), 3000)
    await new Promise<void>((resolve) => stream.resume().once('close', resolve))
    clearTimeout(late)
    return { status, closedWith: stream.rstCode, faults }
  } finally {
    session.destroy()
    server.close()
  }
}

const doubled = ['Content-Type', 'a/b', 'Content-Type', 'c/d']

test('a head that HTTP/2 does not carry is an internal error, and leaves nothing behind in the answer that says so', async () => {
  const got = await askServer(async (exchange) => {
    writeHead(exchange, 200, [...doubled])
    return true
  })
  assert.deepEqual(got, { status: 500, closedWith: 0, faults: 1 })
})

test('where even the error cannot be told the stream is closed', async () => {
  const got = await askServer(async (exchange) => {
    exchange.response.setHeader('Content-Type', 'a/b')
    throw new Error('fault')
  })
  assert.deepEqual(got, { status: undefined, closedWith: 2, faults: 2 })
})
