// Questions to servers that do not answer as they should.

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ask } from './ask.js'

async function serverSaying(t: TestContext, text: string, isEnded = false): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => (isEnded ? socket.end(text) : socket.write(text)))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** More than any of them needs: who waits for this has not been told. */
const timeoutMs = 120_000

test('an answer that changes the protocol is refused at once', { timeout: 60_000 }, async (t) => {
  const url = await serverSaying(t, 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\nother words')
  await assert.rejects(ask(request(url, { agent: false }), { timeoutMs, mostBytes: 1000 }), /changes the protocol/)
})

test('a connection that ends in the middle is an error', { timeout: 60_000 }, async (t) => {
  for (const text of ['', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello']) {
    const url = await serverSaying(t, text, true)
    await assert.rejects(ask(request(url, { agent: false }), { timeoutMs, mostBytes: 1000 }), { code: 'ECONNRESET' }, text)
  }
})

test('who has gone before asks nothing', async (t) => {
  const url = await serverSaying(t, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
  const signal = AbortSignal.abort(new Error('long gone'))
  await assert.rejects(ask(request(url, { agent: false }), { timeoutMs, mostBytes: 1000, signal }), /long gone/)
})
