// Tests of UTF-8 header values over real HTTP/1.1 and HTTP/2 connections.

import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import { connect, createServer as createHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { decodeHeader, encodeHeader } from './header-encoding.js'

const texts = ['plain', 'jörg', 'Łukasz', '李雷 🚀']

test('header values survive a round trip over HTTP/1.1', async () => {
  const server = createServer(({ rawHeaders }, response) => response.end(decodeHeader(rawHeaders[rawHeaders.indexOf('x-text') + 1] ?? '')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  for (const text of texts) {
    const echoed = new Promise<string>((resolve) => {
      request({ port, host: '127.0.0.1', agent: false, headers: { 'x-text': encodeHeader(text) } }, (message) => {
        let body = ''
        message.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
        message.on('end', () => resolve(body))
      }).end()
    })
    assert.equal(await echoed, text)
  }
  server.close()
})

test('header values survive a round trip over HTTP/2', async () => {
  const server = createHttp2(({ rawHeaders }, response) => response.end(decodeHeader(rawHeaders[rawHeaders.indexOf('x-text') + 1] ?? '')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  for (const text of texts) {
    let body = ''
    const stream = session.request({ ':path': '/', 'x-text': encodeHeader(text) })
    for await (const chunk of stream.setEncoding('utf8')) body += chunk
    assert.equal(body, text)
  }
  session.close()
  server.close()
})
