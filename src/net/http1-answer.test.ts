// One answer of HTTP/1.1 from bytes: whole, in pieces of any size, and as somebody would send it who means harm.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerReader } from './http1-answer.js'

const readerOf = (mostBytes = 1000) => new AnswerReader({ mostBytes, hold: () => true })

function read(text: string, pieces: number, mostBytes?: number): AnswerReader {
  const reader = readerOf(mostBytes)
  const bytes = Buffer.from(text, 'latin1')
  for (let i = 0; i < bytes.length; i += pieces) reader.push(bytes.subarray(i, i + pieces))
  return reader
}

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;name=value\r\n, you!\r\n0\r\nX-Trailer: y\r\n\r\n'

test('an answer is the same however its bytes come', () => {
  const answers: readonly (readonly [text: string, body: string, isReusable: boolean])[] = [
    ['HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 5\r\n\r\nhello', 'hello', true],
    ['HTTP/1.1 200\r\ncontent-length:0\r\n\r\n', '', true],
    ['HTTP/1.1 204 No Content\r\n\r\n', '', true],
    ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}', '{}', true],
    ['HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\n{}', '{}', false],
    ['HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}', '{}', false],
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}more', '{}', false],
    [chunked, 'hello, you!', true],
  ]
  for (const [text, body, isReusable] of answers)
    for (const pieces of [1, 2, 3, 5, 7, 1000]) {
      const reader = read(text, pieces)
      assert.deepEqual([reader.isDone, reader.body.toString(), reader.isReusable], [true, body, isReusable], `${text} in ${pieces}`)
    }
})

test('the head of an answer', () => {
  const { head } = read('HTTP/1.1 429 Slow\r\nRetry-After:  7 \r\nContent-Type: text/plain\r\nKeep-Alive: max=3, timeout=5\r\n\r\n', 1)
  assert.deepEqual(head, { status: 429, contentType: 'text/plain', retryAfter: '7', keptSeconds: 5 })
})

test('what has no length ends with its connection, and what has one does not', () => {
  const open = read('HTTP/1.1 200 OK\r\n\r\nhello', 4)
  assert.equal(open.isDone, false)
  open.close()
  assert.deepEqual([open.isDone, open.body.toString(), open.isReusable], [true, 'hello', false])
  assert.throws(() => read('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello', 4).close(), { code: 'ECONNRESET', message: 'aborted' })
  assert.throws(() => read(chunked.slice(0, -20), 4).close(), { code: 'ECONNRESET' })
  const nothing = readerOf()
  assert.equal(nothing.hasBegun, false)
  assert.throws(() => nothing.close(), { code: 'ECONNRESET', message: 'socket hang up' })
})

test('what is no answer is refused', () => {
  const ok = 'HTTP/1.1 200 OK\r\n'
  const bad = [
    'HTTP/2 200 OK\r\n\r\n',
    'SSH-2.0-x\r\n\r\n',
    'HTTP/1.1 999 What\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n',
    `${ok}Content-Length: -1\r\n\r\n`,
    `${ok}Content-Length: 0x10\r\n\r\n`,
    `${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    `${ok}Content-Length: 2\r\nContent-Length: 2\r\n\r\n`,
    `${ok}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    `${ok}A: b\nContent-Length: 2\r\n\r\n`,
    `${ok}A: b\rc\r\n\r\n`,
    `${ok}Content-Length : 2\r\n\r\n`,
    `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`,
    `${ok}no colon\r\n\r\n`,
    `${ok}A: b\r\n folded\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n-1\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\n{}xx\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(1000)}\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n${`${'x'.repeat(200)}\r\n`.repeat(1000)}`,
    `${ok}${'A: b\r\n'.repeat(20_000)}`,
    'HTTP/1.1 100 Continue\r\n\r\n'.repeat(5000),
  ]
  for (const text of bad)
    for (const pieces of [3, 100_000])
      assert.throws(() => read(text, pieces), { name: 'MalformedAnswerError' }, JSON.stringify(text.slice(0, 100)))
})

test('an answer is no longer than it may be, and takes no more than there is room for', () => {
  const long = /longer than 10 bytes/
  assert.throws(() => read('HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n', 1000, 10), long)
  assert.throws(() => read(chunked, 1, 10), long)
  assert.throws(() => read(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(11)}`, 1, 10), long)
  assert.equal(read(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(10)}`, 1, 10).body.length, 10)
  let room = 6
  const hold = (bytes: number): boolean => {
    room -= bytes
    return room >= 0
  }
  const full = new AnswerReader({ mostBytes: 100, hold })
  assert.throws(() => full.push(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello, x')), /no room/)
})

test('an answer of very many chunks is read as one', () => {
  const count = 50_000
  const reader = readerOf(count)
  reader.push(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'))
  reader.push(Buffer.from(`${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`))
  assert.deepEqual([reader.isDone, reader.body.toString()], [true, 'x'.repeat(count)])
})
