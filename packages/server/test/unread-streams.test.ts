// HTTP/2 clients that do not read their responses and then disconnect.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import type { Writable } from 'node:stream'
import { test } from 'node:test'
import { until } from '../../../test/kit/fixtures.js'
import { openUnread } from '../../../test/kit/network/raw-http2.js'
import { listen } from '../src/net/listen/listen.js'
import { authority, certificate } from '../src/net/proxy/proxy.fixture.js'

const chunk = Buffer.alloc(1 << 19)

test('streams of a client that disconnects without reading are closed; an open stream without data is kept', async (t) => {
  const open = new Map<string, number>()
  const count = (path: string): number => open.get(path) ?? 0
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate, limits: { stallMs: 3_000 } }, ({ url = '' }, anyResponse) => {
    const response = anyResponse as Writable
    open.set(url, count(url) + 1)
    response.on('close', () => open.set(url, count(url) - 1))
    response.write('begun')
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
    }
    if (url === '/large') response.on('drain', write)
    if (url === '/large') write()
  })
  t.after(() => listener.close())
  const url = `https://127.0.0.1:${listener.port}`
  const quiet = connect(url, { ca: authority.cert })
  t.after(() => quiet.destroy())
  await once(quiet.request({ ':path': '/quiet' }), 'data')
  const unread = await openUnread({ url, ca: authority.cert, token: '' }, '/large', 5)
  await until(
    async () => count('/large'),
    (streams) => streams === 5,
  )
  unread.socket.destroy()
  await until(
    async () => count('/large'),
    (streams) => streams === 0,
  )
  assert.equal(count('/quiet'), 1)
})
