// A service that is asked: what it is sent, and what is done when it says too much, nothing, or is not there.

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { until } from '../base/until.fixture.js'
import { issueCertificate } from './issue-certificate.js'
import { JsonEndpoint } from './json-endpoint.js'

async function withServer(listener: RequestListener, act: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    await act(`http://127.0.0.1:${(server.address() as AddressInfo).port}/path`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('a document goes there and one comes back, over one connection', async () => {
  const ports = new Set<number | undefined>()
  await withServer(
    (request, response) => {
      ports.add(request.socket.remotePort)
      let text = ''
      request.on('data', (part) => {
        text += part
      })
      request.on('end', () => {
        response.writeHead(201, { 'retry-after': '3' })
        response.end(JSON.stringify([request.url, request.headers['content-type'], request.headers.authorization, JSON.parse(text)]))
      })
    },
    async (url) => {
      const endpoint = new JsonEndpoint({ url, authorization: () => 'Bearer x' }, { timeoutMs: 5000 })
      for (let i = 0; i < 3; i++) {
        const { status, body, retryAfter } = await endpoint.post({ i })
        assert.deepEqual([status, retryAfter, JSON.parse(body.toString())], [201, 3, ['/path', 'application/json', 'Bearer x', { i }]])
      }
      assert.equal(ports.size, 1)
      endpoint.close()
    },
  )
})

test('who says too much or nothing is not waited for', async () => {
  await withServer(
    (request, response) => {
      if (request.headers['authorization'] === 'much') response.end('x'.repeat(5000))
    },
    async (url) => {
      const much = new JsonEndpoint({ url, authorization: () => 'much' }, { timeoutMs: 5000, maxBytes: 1000 })
      await assert.rejects(much.post({}), /longer than 1000 bytes/)
      const silent = new JsonEndpoint({ url }, { timeoutMs: 50 })
      await assert.rejects(silent.post({}), /no answer within 50 ms/)
      much.close()
      silent.close()
    },
  )
})

test('nobody there is an error', async () => {
  const endpoint = new JsonEndpoint({ url: 'http://127.0.0.1:1/' }, { timeoutMs: 5000 })
  await assert.rejects(endpoint.post({}), /ECONNREFUSED/)
})

test('one that is closed asks nobody any more, also not those again whom it was asking', async () => {
  let asked = 0
  await withServer(
    (_request, response) => {
      asked++
      if (asked === 1) response.end('{}')
    },
    async (url) => {
      const endpoint = new JsonEndpoint({ url }, { timeoutMs: 60_000 })
      await endpoint.post({})
      const waiting = endpoint.post({})
      await until(() => asked >= 2)
      endpoint.close()
      await assert.rejects(waiting, { code: 'ECONNRESET' })
      await assert.rejects(endpoint.post({}), { code: 'ECONNRESET' })
      await new Promise((resolve) => setTimeout(resolve, 20))
      assert.equal(asked, 2)
    },
  )
})

test('a surplus response in a TLS record of its own is never the response to the next request', async (t) => {
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }
  const authority = { ...issueCertificate({ commonName: 'authority', use: 'authority', ...times }), commonName: 'authority' }
  const pair = issueCertificate({ commonName: 'hook', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)
  const recordBytes = 16 << 10
  const head = (bytes: number, more = ''): string => `HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n${more}\r\n`
  const padding = (bytes: number): string => `x-padding: ${'p'.repeat(bytes)}\r\n`
  // The first response fills a record exactly.
  const first = `${head(1, padding(recordBytes - head(1, padding(0)).length - 1))}x`
  const server = createTlsServer({ ...pair, ALPNProtocols: ['http/1.1'] }, (socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      const isEvil = bytes.toString().endsWith('"evil"')
      socket.write(isEvil ? `${first}${head(7)}surplus` : `${head(3)}own`)
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const endpoint = new JsonEndpoint({ url, ca: authority.cert }, { timeoutMs: 60_000, maxSockets: 1 })
  t.after(() => {
    endpoint.close()
    server.close()
  })
  const answerTo = async (text: string): Promise<string> => (await endpoint.post(JSON.stringify(text))).body.toString()
  assert.equal(await answerTo('evil'), 'x')
  assert.equal(await answerTo('after it'), 'own')
  // The same with a request that waits for the connection.
  assert.deepEqual(await Promise.all([answerTo('evil'), answerTo('behind it'), answerTo('behind both')]), ['x', 'own', 'own'])
})
