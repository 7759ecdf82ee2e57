// What clients say in headers, over Node and over fetch: names in every script are sent as they are, and several groups as several.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { FetchTransport } from '../fetch-transport.js'
import { Requester } from '../requester.js'
import { HttpTransport } from './http-transport.js'

const ends: (() => void)[] = []
after(() => ends.forEach((end) => void end()))

async function plain(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  ends.push(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('who is acted as is one user, with a body and without, and warnings are texts', async () => {
  const seen: string[] = []
  const server = await plain(({ rawHeaders }, response) => {
    for (let i = 0; i < rawHeaders.length; i += 2)
      if (rawHeaders[i]?.startsWith('impersonate-')) seen.push(Buffer.from(rawHeaders[i + 1] as string, 'latin1').toString())
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
      seen.splice(0),
      [1, 2, 3].flatMap(() => ['jörg', 'ü', 'Łódź', '李雷']),
    )
    assert.deepEqual(warnings, ['größer', 'größer', 'größer'])
  }
})

test('several groups are never sent as one', async () => {
  const seen: (string | undefined)[] = []
  const server = await plain(({ rawHeaders }, response) => {
    seen.push(...rawHeaders.filter((_, i) => rawHeaders[i - 1] === 'impersonate-group'))
    response.end('{}')
  })
  const impersonate = { user: 'alice', groups: ['a', 'b'] }
  await new Requester({ transport: new HttpTransport({ server }), impersonate }).json({ path: '/' })
  assert.deepEqual(seen, ['a', 'b'])
  const byFetch = new Requester({ transport: new FetchTransport({ server }), impersonate })
  await assert.rejects(byFetch.json({ path: '/' }), /fetch can send one value of the header impersonate-group, and here are 2/)
  assert.deepEqual(seen, ['a', 'b'])
})
