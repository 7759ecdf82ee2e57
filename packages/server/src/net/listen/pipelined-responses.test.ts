// HTTP/1.1 pipelining: disconnects reach all queued responses, and requests that take over the socket keep the order of responses.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import { certificate, cleanups, dial, readUntil, upgradeRequest } from '../proxy/proxy.fixture.js'
import type { HttpResponse } from './http-messages.js'
import { listen } from './listen.js'

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const withBody = upgradeRequest('/body', 'Content-Length: 2\r\n')

/** Responds to `/now` at once, and to other paths never. */
async function startSilent(): Promise<{ readonly port: number; readonly begun: string[]; readonly closed: string[] }> {
  const begun: string[] = []
  const closed: string[] = []
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, ({ url = '' }, response: HttpResponse) => {
    begun.push(url)
    response.on('close', () => closed.push(url))
    if (url === '/now') response.end('done')
  })
  cleanups.push(() => listener.close())
  return { port: listener.port, begun, closed }
}

test('queued responses emit close when the client disconnects', async () => {
  const { port, begun, closed } = await startSilent()
  const socket = await dial(port)
  socket.write(['/a', '/b', '/c'].map(get).join(''))
  await until(() => begun.length === 3)
  assert.deepEqual(closed, [])
  socket.destroy()
  await until(() => closed.length === 3)
  assert.deepEqual([...closed].sort(), ['/a', '/b', '/c'], 'each once')
})

test('sent responses emit close once', async () => {
  const { port, closed } = await startSilent()
  const socket = await dial(port)
  socket.write(['/now', '/now', '/now'].map(get).join(''))
  await until(() => closed.length === 3)
  socket.destroy()
  await once(socket, 'close')
  assert.equal(closed.length, 3)
})

for (const [title, bytes] of [
  ['a request', get('/a') + upgradeRequest('/up')],
  ['two requests', get('/a') + get('/b') + upgradeRequest('/up')],
  ['a body', `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}${upgradeRequest('/up', 'Content-Length: 0\r\n')}`],
  ['a request, with a body of its own', `${get('/a')}${withBody}{}`],
  ['an upgrade with a body', `${withBody}{}${upgradeRequest('/up')}`],
  ['a request, as CONNECT', `${get('/a')}CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n`],
] as const)
  test(`an upgrade pipelined after ${title} without a response closes the connection only`, async () => {
    const { port, begun, closed } = await startSilent()
    const socket = await dial(port)
    socket.on('error', () => undefined)
    let received = ''
    socket.on('data', (chunk) => (received += chunk))
    socket.write(bytes)
    if (!socket.closed) await once(socket, 'close')
    assert.equal(received, '')
    await until(() => closed.length === begun.length)
    assert.ok(!begun.includes('/up'))
    const other = await dial(port)
    other.write(get('/now'))
    await readUntil(other, 'done')
    other.destroy()
  })

for (const [title, sent, expected] of [
  ['an upgrade request', upgradeRequest('/now'), /200 OK.*done.*200 OK.*done$/s],
  ['an upgrade request with a body', `${upgradeRequest('/now', 'Content-Length: 2\r\n')}{}`, /200 OK.*done.*200 OK.*done$/s],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n', /200 OK.*doneHTTP\/1\.1 405 /s],
  ['an unknown method', 'BOGUS / HTTP/1.1\r\nHost: x\r\n\r\n', /200 OK.*doneHTTP\/1\.1 405 /s],
  ['an invalid request', '\r\nx\r\n', /200 OK.*doneHTTP\/1\.1 400 /s],
] as const)
  test(`${title} directly after a response gets a response`, async () => {
    let isFirst = true
    const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, ({ socket }, response: HttpResponse) => {
      response.end('done')
      // As if it arrived before the operating system reported the end of the write.
      if (isFirst) socket.emit('data', Buffer.from(sent))
      isFirst = false
    })
    cleanups.push(() => listener.close())
    const socket = await dial(listener.port)
    let received = ''
    socket.on('data', (chunk) => (received += chunk))
    socket.on('close', () => (received += '[closed]'))
    socket.write(get('/first'))
    await until(() => expected.test(received.replace('[closed]', '')) || received.endsWith('[closed]'))
    assert.match(received.replace('[closed]', ''), expected)
    socket.destroy()
  })

test('a body that comes after the end of an earlier response is read, although its head came before', async () => {
  const requests: string[] = []
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, (request, response: HttpResponse) => {
    requests.push(request.url ?? '')
    request.resume()
    request.on('end', () => response.end(request.method === 'GET' ? 'x'.repeat(16 << 20) : `received ${request.url}`))
  })
  cleanups.push(() => listener.close())
  const socket = await dial(listener.port)
  socket.on('error', () => undefined)
  socket.write(get('/long'))
  await once(socket, 'readable')
  socket.write('POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n')
  await until(() => requests.includes('/body'))
  let bytes = 0
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    received = received.slice(-1000) + chunk
  })
  await until(() => bytes > 16 << 20)
  socket.write('body')
  await until(() => received.endsWith('received /body'))
  socket.destroy()
})

test('a request with a long body is read while an earlier response is being sent', async () => {
  const long = 'x'.repeat(16 << 20)
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, (request, response: HttpResponse) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => (bytes += chunk.length))
    request.on('end', () => response.end(request.method === 'GET' ? long : `received ${bytes}`))
  })
  cleanups.push(() => listener.close())
  const socket = await dial(listener.port)
  socket.on('error', () => undefined)
  socket.write(get('/long'))
  await once(socket, 'readable')
  for (const i of [1, 2]) socket.write(`POST /${i} HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n${'y'.repeat(200_000)}`)
  let received = ''
  socket.on('data', (chunk) => (received = received.slice(-1000) + chunk))
  await until(() => socket.closed || received.split('received 200000').length === 3)
  assert.match(received, /received 200000.*received 200000$/s)
  socket.destroy()
})
