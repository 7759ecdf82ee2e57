// Requests that do not wait for the answers before them: whoever goes is gone for all of them, and a change of protocol in between harms nobody.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { listen, type Response } from './listen.js'
import { certificate, closing, dial, eventually, readUntil, upgradeRequest } from './proxy.fixture.js'

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const withBody = upgradeRequest('/body', 'Content-Length: 2\r\n')

/** Answers `/now` at once and anything else never. */
async function startSilent(): Promise<{ readonly port: number; readonly begun: string[]; readonly closed: string[] }> {
  const begun: string[] = []
  const closed: string[] = []
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, ({ url = '' }, response: Response) => {
    begun.push(url)
    response.on('close', () => closed.push(url))
    if (url === '/now') response.end('answered')
  })
  closing.push(() => listener.close())
  return { port: listener.port, begun, closed }
}

test('answers that wait for their turn hear that the client has gone', async () => {
  const { port, begun, closed } = await startSilent()
  const socket = await dial(port)
  socket.write(['/a', '/b', '/c'].map(get).join(''))
  await eventually(() => begun.length === 3, 'all have begun')
  assert.deepEqual(closed, [])
  socket.destroy()
  await eventually(() => closed.length === 3, 'all are closed')
  assert.deepEqual([...closed].sort(), ['/a', '/b', '/c'], 'each once')
})

test('answers that have had their turn are closed once', async () => {
  const { port, closed } = await startSilent()
  const socket = await dial(port)
  socket.write(['/now', '/now', '/now'].map(get).join(''))
  await eventually(() => closed.length === 3, 'all are closed')
  socket.destroy()
  await once(socket, 'close')
  assert.equal(closed.length, 3)
})

for (const [what, sent] of [
  ['a request', get('/a') + upgradeRequest('/up')],
  ['two requests', get('/a') + get('/b') + upgradeRequest('/up')],
  ['a body', `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}${upgradeRequest('/up', 'Content-Length: 0\r\n')}`],
  ['a request, with a body of its own', `${get('/a')}${withBody}{}`],
  ['one with a body', `${withBody}{}${upgradeRequest('/up')}`],
] as const)
  test(`a change of protocol behind ${what} without an answer ends the connection and nothing else`, async () => {
    const { port, begun, closed } = await startSilent()
    const socket = await dial(port)
    socket.on('error', () => undefined)
    socket.write(sent)
    socket.resume()
    if (!socket.closed) await once(socket, 'close')
    await eventually(() => closed.length === begun.length, 'what began is closed')
    assert.ok(!begun.includes('/up'))
    const other = await dial(port)
    other.write(get('/now'))
    await readUntil(other, 'answered')
    other.destroy()
  })
