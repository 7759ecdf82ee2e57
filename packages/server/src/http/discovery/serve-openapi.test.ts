// The answers below /openapi over a real socket: forms, tags, compression, hashes.

import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { CatalogSource } from '../../api/catalog-source.js'
import { requestListener } from '../handle.js'
import { Pressure } from '../pressure.js'
import { openApiDocuments } from './documents.js'
import { serveOpenApi } from './serve-openapi.js'
import { thingsCatalog } from './things.fixture.js'

interface Got {
  readonly code: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const nowMs = Date.parse('2024-03-01T12:00:00Z')

describe('what is answered below /openapi', () => {
  const documents = openApiDocuments({ describe: () => undefined, release: 'v1.26.8' })
  let server: Server

  before(async () => {
    const listener = requestListener({
      filters: [
        async (exchange) => {
          const isAnswered = await serveOpenApi({ documents }, exchange, exchange.info.path.split('/').filter(Boolean))
          if (!isAnswered) exchange.response.writeHead(418).end()
          return true
        },
      ],
      catalogs: new CatalogSource(thingsCatalog()),
      clock: { now: () => nowMs },
      pressure: new Pressure({ bodyBytes: 1 << 20, answerBytes: 1 << 20, answerMs: 1000 }),
      requestTimeoutMs: 10_000,
      hooks: [],
    })
    server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => server.close())

  const get = (path: string, headers: { readonly [name: string]: string } = {}, method = 'GET'): Promise<Got> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo
      request({ port, path, method, headers, agent: false }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => resolve({ code: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }))
      })
        .on('error', reject)
        .end()
    })

  const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'

  const accepted: readonly (readonly [name: string, accept: string | undefined, code: number, type: string | undefined])[] = [
    ['nothing is asked for', undefined, 200, 'text/plain; charset=utf-8'],
    ['anything', '*/*', 200, 'text/plain; charset=utf-8'],
    ['JSON', 'application/json', 200, 'text/plain; charset=utf-8'],
    ['Protobuf', protobuf, 200, 'application/octet-stream'],
    ['Protobuf by its later name', 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf', 200, 'application/octet-stream'],
    ['what is liked best', `application/json;q=0.5, ${protobuf}`, 200, 'application/octet-stream'],
    ['YAML, which there is not', 'application/yaml', 406, undefined],
    ['the Protobuf of the other version', 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf', 406, undefined],
  ]
  for (const [name, accept, code, type] of accepted) {
    test(`version 2: ${name}`, async () => {
      const got = await get('/openapi/v2', accept === undefined ? {} : { accept })
      assert.equal(got.code, code)
      assert.equal(got.headers['content-type'], type)
      assert.equal(got.headers['vary'], 'Accept-Encoding, Accept')
      assert.equal(got.headers['cache-control'], 'no-cache, private')
      if (code === 406) assert.equal(got.body.length, 0)
      if (type?.startsWith('text')) assert.equal(JSON.parse(got.body.toString()).swagger, '2.0')
      if (type === 'application/octet-stream') assert.equal(got.body.subarray(0, 5).toString('latin1'), '\n\x032.0')
    })
  }

  test('the two forms have tags of their own', async () => {
    const [json, binary] = await Promise.all([get('/openapi/v2'), get('/openapi/v2', { accept: protobuf })])
    assert.match(json.headers.etag ?? '', /^"[0-9A-F]{128}"$/)
    assert.notEqual(json.headers.etag, binary.headers.etag)
  })

  test('what the client has is not sent again', async () => {
    const { etag = '' } = (await get('/openapi/v2')).headers
    for (const tags of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const got = await get('/openapi/v2', { 'if-none-match': tags })
      assert.equal(got.code, 304, tags)
      assert.equal(got.headers.etag, etag)
      assert.equal(got.body.length, 0)
    }
    assert.equal((await get('/openapi/v2', { 'if-none-match': '"other"' })).code, 200)
  })

  test('it is compressed for those who can read that', async () => {
    const plain = await get('/openapi/v2')
    const compressed = await get('/openapi/v2', { 'accept-encoding': 'gzip' })
    assert.equal(compressed.headers['content-encoding'], 'gzip')
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.deepEqual(gunzipSync(compressed.body), plain.body)
  })

  test('HEAD has the length and no content', async () => {
    const [head, got] = await Promise.all([get('/openapi/v2', {}, 'HEAD'), get('/openapi/v2')])
    assert.equal(head.headers['content-length'], String(got.body.length))
    assert.equal(head.body.length, 0)
  })

  test('version 3 begins with an index', async () => {
    const got = await get('/openapi/v3')
    assert.equal(got.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(got.headers['vary'], undefined)
    const { paths } = JSON.parse(got.body.toString())
    const address: string = paths['apis/small.things.cluster.io/v1'].serverRelativeURL
    const document = await get(address)
    assert.equal(document.headers['vary'], 'Accept')
    assert.equal((await get(address, { 'accept-encoding': 'gzip' })).headers['vary'], 'Accept-Encoding, Accept')
    assert.equal(document.code, 200)
    assert.equal(JSON.parse(document.body.toString()).openapi, '3.0.0')
    assert.equal(address, `/openapi/v3/apis/small.things.cluster.io/v1?hash=${document.headers.etag?.replaceAll('"', '')}`)
  })

  test('an address with the right hash may be kept for good', async () => {
    const { etag = '' } = (await get('/openapi/v3/api/v1')).headers
    const got = await get(`/openapi/v3/api/v1?hash=${etag.replaceAll('"', '')}`)
    assert.equal(got.headers['cache-control'], 'public, immutable')
    assert.equal(got.headers['expires'], 'Sat, 01 Mar 2025 12:00:00 GMT')
    assert.equal((await get('/openapi/v3/api/v1')).headers['cache-control'], 'no-cache, private')
  })

  test('an address with another hash leads to the right one', async () => {
    const { etag = '' } = (await get('/openapi/v3/api/v1')).headers
    const got = await get('/openapi/v3/api/v1?hash=0000')
    assert.equal(got.code, 301)
    assert.equal(got.headers['location'], `/openapi/v3/api/v1?hash=${etag.replaceAll('"', '')}`)
    assert.equal(got.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(got.headers['cache-control'], 'no-cache, private')
  })

  test('a document of version 3 in Protobuf', async () => {
    const got = await get('/openapi/v3/api/v1', { accept: 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf' })
    assert.equal(got.headers['content-type'], 'application/octet-stream')
    assert.equal(got.body.subarray(0, 7).toString('latin1'), '\n\x053.0.0')
  })

  test('a document that there is not', async () => {
    const got = await get('/openapi/v3/apis/none.example.com/v1')
    assert.equal(got.code, 404)
    assert.equal(got.headers['content-type'], undefined)
    assert.equal(got.body.length, 0)
  })

  test('other paths are left to others', async () => {
    for (const path of ['/openapi', '/openapi/v1', '/openapi/v2/more']) assert.equal((await get(path)).code, 418, path)
  })
})
