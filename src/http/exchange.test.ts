// What an exchange keeps of its request.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { connect, createServer as createHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Exchange, type WireRequest, type WireResponse } from './exchange.js'

const headers = { authorization: `Bearer ${'x'.repeat(1000)}`, 'user-agent': 'a program', 'x-long': 'x'.repeat(10_000) }

for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) {
  test(`the headers of a watch are not kept, over ${protocol}`, async () => {
    const seen: Exchange[] = []
    const serve = (request: WireRequest, response: WireResponse): void => {
      const exchange = new Exchange({ request, response } as unknown as ConstructorParameters<typeof Exchange>[0])
      assert.equal(exchange.bearerToken.length, 1000)
      exchange.forgetHeaders()
      seen.push(exchange)
      response.end()
    }
    const server = protocol === 'HTTP/2' ? createHttp2(serve) : createServer(serve)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    if (protocol === 'HTTP/2') {
      const session = connect(url)
      await once(session.request(headers).resume(), 'end')
      session.close()
    } else {
      const [response] = await once(get(url, { headers, agent: false }), 'response')
      await once(response.resume(), 'end')
    }
    server.close()
    const [exchange] = seen
    assert.deepEqual([exchange?.rawHeaders, Object.entries(exchange?.headers ?? {})], [[], [['user-agent', 'a program']]])
    assert.deepEqual([exchange?.userAgent, exchange?.bearerToken], ['a program', ''])
  })
}
