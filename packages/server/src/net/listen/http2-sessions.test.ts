// Abusive HTTP/2 sessions are closed; other sessions of the port are served.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { authority, certificate } from '../proxy/proxy.fixture.js'
import { listen } from './listen.js'

async function fixture(t: TestContext): Promise<() => Promise<ClientHttp2Session>> {
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, (request, response) => {
    if (request.url === '/ok') response.end('ok')
  })
  t.after(() => listener.close())
  return async () => {
    const session = connect(`https://127.0.0.1:${listener.port}`, { ca: authority.cert }).on('error', () => undefined)
    t.after(() => session.destroy())
    await once(session, 'connect')
    return session
  }
}

async function isServed(session: ClientHttp2Session): Promise<boolean> {
  const stream = session.request({ ':path': '/ok' })
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += chunk
  return text === 'ok'
}

const field = (i: number): readonly [string, string] => [`x-${i}`, 'v'.repeat(20)]

for (const [name, flood] of [
  [
    'opens and resets streams',
    (session: ClientHttp2Session): void => {
      for (let i = 0; i < 200; i++) {
        const stream = session.request({ ':path': '/never' })
        stream.on('error', () => undefined).close(i % 2 === 0 ? 8 : 0)
      }
    },
  ],
  [
    'sends thousands of header fields',
    (session: ClientHttp2Session): void => {
      const headers = Object.fromEntries(Array.from({ length: 200 }, (_, i) => field(i)))
      for (let i = 0; i < 100; i++) session.request({ ':path': '/never', ...headers }).on('error', () => undefined)
    },
  ],
] as const) {
  test(`a session that ${name} in one turn is closed, another one is served`, async (t) => {
    const open = await fixture(t)
    const [loud, quiet] = [await open(), await open()]
    const closed = once(loud, 'close')
    flood(loud)
    await closed
    assert.ok(await isServed(quiet))
  })
}

test('a session with 200 concurrent requests is served', async (t) => {
  const session = await (await fixture(t))()
  const served = await Promise.all(Array.from({ length: 200 }, () => isServed(session)))
  assert.ok(served.every(Boolean))
})
