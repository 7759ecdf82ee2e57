// Responses below /openapi: formats, ETags, compression and hashes in URLs.

import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { MemoryPressure } from '../../flow-control/memory-pressure.js'
import { openApiDocuments } from '../../openapi/documents/documents.js'
import { sampleCatalog } from '../../openapi/sample-kinds.fixture.js'
import { requestListener } from '../pipeline/request-listener.js'
import { serveOpenApi } from './serve-openapi.js'

interface Reply {
  readonly code: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const nowMs = Date.parse('2024-03-01T12:00:00Z')

describe('/openapi', () => {
  const documents = openApiDocuments({ describe: () => undefined, release: 'v1.26.8' })
  let server: Server

  before(async () => {
    const listener = requestListener({
      filters: [
        async (exchange) => {
          const isHandled = await serveOpenApi({ documents, hasV3: true }, exchange, exchange.info.path.split('/').filter(Boolean))
          if (!isHandled) exchange.response.writeHead(418).end()
          return true
        },
      ],
      catalogs: new CatalogSource(sampleCatalog()),
      clock: { now: () => nowMs },
      pressure: new MemoryPressure({ bodyBytes: 1 << 20, responseBytes: 1 << 20, responseMs: 1000 }),
      requestTimeoutMs: 10_000,
      hooks: [],
    })
    server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => server.close())

  const get = (path: string, headers: { readonly [name: string]: string } = {}, method = 'GET'): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo
      request({ port, path, method, headers, agent: false }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve({ code: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }))
      })
        .on('error', reject)
        .end()
    })

  const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'

  const accepted: readonly (readonly [name: string, accept: string | undefined, code: number, type: string | undefined])[] = [
    ['no Accept header', undefined, 200, 'text/plain; charset=utf-8'],
    ['*/*', '*/*', 200, 'text/plain; charset=utf-8'],
    ['JSON', 'application/json', 200, 'text/plain; charset=utf-8'],
    ['Protobuf', protobuf, 200, 'application/octet-stream'],
    ['Protobuf by its later name', 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf', 200, 'application/octet-stream'],
    ['the preferred format', `application/json;q=0.5, ${protobuf}`, 200, 'application/octet-stream'],
    ['YAML is not acceptable', 'application/yaml', 406, undefined],
    ['the Protobuf of version 3 is not acceptable', 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf', 406, undefined],
  ]
  for (const [name, accept, code, type] of accepted) {
    test(`version 2: ${name}`, async () => {
      const reply = await get('/openapi/v2', accept === undefined ? {} : { accept })
      assert.equal(reply.code, code)
      assert.equal(reply.headers['content-type'], type)
      assert.equal(reply.headers['vary'], 'Accept-Encoding, Accept')
      assert.equal(reply.headers['cache-control'], 'no-cache, private')
      if (code === 406) assert.equal(reply.body.length, 0)
      if (type?.startsWith('text')) assert.equal(JSON.parse(reply.body.toString()).swagger, '2.0')
      if (type === 'application/octet-stream') assert.equal(reply.body.subarray(0, 5).toString('latin1'), '\n\x032.0')
    })
  }

  test('JSON and Protobuf have different ETags', async () => {
    const [json, binary] = await Promise.all([get('/openapi/v2'), get('/openapi/v2', { accept: protobuf })])
    assert.match(json.headers.etag ?? '', /^"[0-9A-F]{128}"$/)
    assert.notEqual(json.headers.etag, binary.headers.etag)
  })

  test('a matching If-None-Match returns 304', async () => {
    const { etag = '' } = (await get('/openapi/v2')).headers
    for (const tags of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const reply = await get('/openapi/v2', { 'if-none-match': tags })
      assert.equal(reply.code, 304, tags)
      assert.equal(reply.headers.etag, etag)
      assert.equal(reply.body.length, 0)
    }
    assert.equal((await get('/openapi/v2', { 'if-none-match': '"other"' })).code, 200)
  })

  test('gzip is used if the client accepts it', async () => {
    const uncompressed = await get('/openapi/v2')
    const compressed = await get('/openapi/v2', { 'accept-encoding': 'gzip' })
    assert.equal(compressed.headers['content-encoding'], 'gzip')
    assert.equal(uncompressed.headers['content-encoding'], undefined)
    assert.deepEqual(gunzipSync(compressed.body), uncompressed.body)
  })

  test('HEAD has the length and no content', async () => {
    const [head, reply] = await Promise.all([get('/openapi/v2', {}, 'HEAD'), get('/openapi/v2')])
    assert.equal(head.headers['content-length'], String(reply.body.length))
    assert.equal(head.body.length, 0)
  })

  test('/openapi/v3 is an index of documents', async () => {
    const reply = await get('/openapi/v3')
    assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(reply.headers['vary'], undefined)
    const { paths } = JSON.parse(reply.body.toString())
    const address: string = paths['apis/small.things.cluster.io/v1'].serverRelativeURL
    const document = await get(address)
    assert.equal(document.headers['vary'], 'Accept')
    assert.equal((await get(address, { 'accept-encoding': 'gzip' })).headers['vary'], 'Accept-Encoding, Accept')
    assert.equal(document.code, 200)
    assert.equal(JSON.parse(document.body.toString()).openapi, '3.0.0')
    assert.equal(address, `/openapi/v3/apis/small.things.cluster.io/v1?hash=${document.headers.etag?.replaceAll('"', '')}`)
  })

  test('a URL with the current hash is cacheable for a year', async () => {
    const { etag = '' } = (await get('/openapi/v3/api/v1')).headers
    const reply = await get(`/openapi/v3/api/v1?hash=${etag.replaceAll('"', '')}`)
    assert.equal(reply.headers['cache-control'], 'public, immutable')
    assert.equal(reply.headers['expires'], 'Sat, 01 Mar 2025 12:00:00 GMT')
    assert.equal((await get('/openapi/v3/api/v1')).headers['cache-control'], 'no-cache, private')
  })

  test('a URL with another hash redirects to the current one', async () => {
    const { etag = '' } = (await get('/openapi/v3/api/v1')).headers
    const reply = await get('/openapi/v3/api/v1?hash=0000')
    assert.equal(reply.code, 301)
    assert.equal(reply.headers['location'], `/openapi/v3/api/v1?hash=${etag.replaceAll('"', '')}`)
    assert.equal(reply.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(reply.headers['cache-control'], 'no-cache, private')
  })

  test('a v3 document in Protobuf', async () => {
    const reply = await get('/openapi/v3/api/v1', { accept: 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf' })
    assert.equal(reply.headers['content-type'], 'application/octet-stream')
    assert.equal(reply.body.subarray(0, 7).toString('latin1'), '\n\x053.0.0')
  })

  test('an unknown document is 404 without a body', async () => {
    assert.equal((await get('/openapi/v3/apis/none.example.com/v1', { accept: 'text/html' })).code, 404)
    assert.equal((await get('/openapi/v3/api/v1', { accept: 'text/html' })).code, 406)
    const reply = await get('/openapi/v3/apis/none.example.com/v1')
    assert.equal(reply.code, 404)
    assert.equal(reply.headers['content-type'], undefined)
    assert.equal(reply.body.length, 0)
  })

  test('other paths are not handled', async () => {
    for (const path of ['/openapi', '/openapi/v1', '/openapi/v2/more']) assert.equal((await get(path)).code, 418, path)
  })
})
