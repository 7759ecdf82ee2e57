// HTTP/1.1 requests that the parser rejects: unknown methods get 405, other errors the response of Node.js, and the connection is closed.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { certificate, dial } from '../proxy/proxy.fixture.js'
import { type Listener, listen } from './listen.js'

describe('requests that the parser rejects', () => {
  let listener: Listener
  before(async () => {
    listener = await listen(
      { host: '127.0.0.1', port: 0, certificate, unknownMethod: { contentType: 'application/json', body: '{"code":405}' } },
      ({ url, method }, response) => url !== '/never' && response.end(`${method} ${url}`),
    )
  })
  after(() => listener.close())

  /** All bytes until the server closes the connection. */
  async function responseTo(text: string): Promise<string> {
    const socket = await dial(listener.port)
    let received = ''
    socket.on('data', (chunk) => (received += chunk))
    socket.write(text, 'latin1')
    if (!socket.closed) await once(socket, 'close')
    return received
  }

  const requestTail = ' /api/v1/namespaces HTTP/1.1\r\nHost: x\r\n\r\n'
  const notAllowed = /^HTTP\/1\.1 405 Method Not Allowed\r\nContent-Type: application\/json\r\n.*Connection: close\r\n\r\n\{"code":405\}$/s
  for (const method of ['BOGUS', 'GETX', 'get', 'M-X', 'DESCRIBE', 'X'])
    test(`the method ${method} gets 405`, async () => assert.match(await responseTo(`${method}${requestTail}`), notAllowed))

  test('CONNECT gets 405', async () => assert.match(await responseTo('CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n'), notAllowed))

  test('an unknown method after another request on the same connection', async () => {
    const socket = await dial(listener.port)
    let received = ''
    socket.on('data', (chunk) => (received += chunk))
    socket.write('GET /first HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
    socket.write(`BOGUS${requestTail}`)
    await once(socket, 'close')
    assert.match(received, /^HTTP\/1\.1 200 OK.*GET \/firstHTTP\/1\.1 405 Method Not Allowed/s)
  })

  test('an unknown method is not the response to an earlier request', async () =>
    assert.equal(await responseTo(`GET /never HTTP/1.1\r\nHost: x\r\n\r\nBOGUS${requestTail}`), ''))

  const badRequest = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'
  for (const [title, text] of [
    ['a control character in the method', `BO\x01GUS${requestTail}`],
    ['no path', 'BOGUS HTTP/1.1\r\n\r\n'],
    ['another protocol', 'BOGUS / SMTP/1.1\r\n\r\n'],
    ['an invalid header', 'GET / HTTP/1.1\r\na b: c\r\n\r\n'],
    ['an invalid chunk', 'POST /never HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ] as const)
    test(`${title} gets 400`, async () => assert.equal(await responseTo(text), badRequest))

  test('headers over the limit get 431', async () =>
    assert.match(await responseTo(`GET / HTTP/1.1\r\na: ${'x'.repeat(100_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /))
})
