// Outbound HTTP: documents, line streams and probes, with broken responses and limits.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { after, before, test } from 'node:test'
import { authority, certificate, startTcp } from '../proxy/proxy.fixture.js'
import { getDocument, probe, readLines } from './http-client.js'

/** More than any test needs. */
const limits = { timeoutMs: 120_000, maxBytes: 1000 }
const endless = `first\n\n${'second '.repeat(300)}\n${'x'.repeat(5000)}`

let server: Server
let url = ''

before(async () => {
  server = createHttpsServer(certificate, async (request, response) => {
    if (request.url === '/never') return
    if (request.url === '/long') response.write('x'.repeat(1 << 20))
    else if (request.url === '/lines') for (const character of endless) response.write(character) || (await once(response, 'drain'))
    else response.writeHead(request.url === '/ill' ? 500 : 200, { etag: '"1"', 'content-type': 'text/plain' }).end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  ;(server as ReturnType<typeof createHttpsServer>).closeAllConnections()
  server.close()
})

test('a document has its status, content type and ETag', async () => {
  const document = await getDocument({ url: `${url}/`, ca: authority.cert, ...limits })
  assert.deepEqual({ ...document, body: document.body.toString() }, { status: 200, contentType: 'text/plain', tag: '"1"', body: 'ok' })
  const { status, body } = await getDocument({ url: `${url}/long`, insecure: true, ...limits, maxBytes: 0 })
  assert.deepEqual([status, body.length], [200, 0])
})

for (const [title, text] of Object.entries({
  'nothing at all': '',
  'half a head': 'HTTP/1.1 200 OK\r\n',
  'half a body': 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello',
  'half a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello',
}))
  test(`a connection that ends after ${title} is an error`, async () => {
    const { href } = await startTcp((socket) => socket.once('data', () => socket.end(text)))
    await assert.rejects(getDocument({ url: href, ...limits }), { message: `Get ${JSON.stringify(href)}: EOF` })
  })

test('errors have the messages of kube-apiserver', async () => {
  const unresponsive = `${url}/never`
  const get = (overrides: object) => getDocument({ url: unresponsive, insecure: true, ...limits, ...overrides })
  const cases: readonly (readonly [object, string])[] = [
    [{ timeoutMs: 50 }, 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'],
    [{ signal: AbortSignal.abort() }, 'context canceled'],
    [{ insecure: false }, 'x509: certificate signed by unknown authority'],
    [{ insecure: false, ca: authority.cert, serverName: 'other' }, 'x509: certificate is valid for localhost, 127.0.0.1, not other'],
  ]
  for (const [overrides, expected] of cases)
    await assert.rejects(get(overrides), { message: `Get ${JSON.stringify(unresponsive)}: ${expected}` })
})

test('a refused connection is reported with its address', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  const message = `Delete "https://127.0.0.1:${port}/": dial tcp 127.0.0.1:${port}: connect: connection refused`
  await assert.rejects(getDocument({ url: `https://127.0.0.1:${port}/`, method: 'DELETE', body: '{}', ...limits }), { message })
})

test('lines are joined from chunks of one byte; a line over the limit is an error', async () => {
  const lines: string[] = []
  const streamOptions = { headMs: 60_000, idleMs: 60_000, maxLineBytes: 4000, signal: new AbortController().signal, ca: authority.cert }
  await assert.rejects(async () => {
    for await (const line of readLines({ url: `${url}/lines`, ...streamOptions })) lines.push(line.toString())
  }, /a line is longer than 4000 bytes/)
  assert.deepEqual(lines, endless.split('\n').slice(0, 3))
  await assert.rejects(readLines({ url: `${url}/ill`, ...streamOptions }).next(), { name: 'LineStreamRefusedError', status: 500 })
  await assert.rejects(readLines({ url: `${url}/never`, ...streamOptions, headMs: 20 }).next(), /no response within 20 ms/)
})

test('a probe reports health, failure, timeout and an endless response', async () => {
  assert.deepEqual(await probe(`${url}/healthz`, 60_000), { isHealthy: true, message: 'ok' })
  assert.deepEqual(await probe(`${url}/ill`, 60_000), { isHealthy: false, message: 'HTTP probe failed with statuscode: 500' })
  assert.equal((await probe(`${url}/never`, 50)).isHealthy, false)
  const { isHealthy, message } = await probe(`${url}/long`, 60_000)
  assert.ok(isHealthy && message.length === 10 << 10)
})
