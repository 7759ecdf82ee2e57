// Header values over node:http and fetch: UTF-8 in impersonation and warnings, repeated headers.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { Requester } from '../requests/requester.js'
import { FetchTransport } from '../transport/fetch-transport.js'
import { HttpTransport } from './http-transport.js'

const cleanups: (() => void)[] = []
after(() => cleanups.forEach((close) => void close()))

async function startHttpServer(respond: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(respond)
  cleanups.push(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('impersonation headers and warnings are UTF-8, with and without a body', async () => {
  const received: string[] = []
  const server = await startHttpServer(({ rawHeaders }, response) => {
    for (let i = 0; i < rawHeaders.length; i += 2)
      if (rawHeaders[i]?.startsWith('impersonate-')) received.push(Buffer.from(rawHeaders[i + 1] as string, 'latin1').toString())
    response.writeHead(200, ['Warning', Buffer.from('299 - "größer"').toString('latin1')]).end('{}')
  })
  const impersonate = { user: 'jörg', uid: 'ü', groups: ['Łódź'], extra: { a: ['李雷'] } }
  for (const transport of [new HttpTransport({ server }), new FetchTransport({ server })]) {
    const warnings: string[] = []
    const requester = new Requester({ transport, impersonate, onWarning: ({ text }) => warnings.push(text) })
    await requester.json({ path: '/' })
    await requester.json({ path: '/', method: 'POST', body: { name: 'ä' } })
    await requester.json({ path: '/', method: 'POST', body: new TextEncoder().encode('{}') })
    transport.close()
    assert.deepEqual(
      received.splice(0),
      [1, 2, 3].flatMap(() => ['jörg', 'ü', 'Łódź', '李雷']),
    )
    assert.deepEqual(warnings, ['größer', 'größer', 'größer'])
  }
})

test('two impersonated groups are two headers, and an error over fetch', async () => {
  const received: (string | undefined)[] = []
  const server = await startHttpServer(({ rawHeaders }, response) => {
    received.push(...rawHeaders.filter((_, i) => rawHeaders[i - 1] === 'impersonate-group'))
    response.end('{}')
  })
  const impersonate = { user: 'alice', groups: ['a', 'b'] }
  await new Requester({ transport: new HttpTransport({ server }), impersonate }).json({ path: '/' })
  assert.deepEqual(received, ['a', 'b'])
  const byFetch = new Requester({ transport: new FetchTransport({ server }), impersonate })
  await assert.rejects(byFetch.json({ path: '/' }), /fetch can send only one value of the header impersonate-group, not 2/)
  assert.deepEqual(received, ['a', 'b'])
})
