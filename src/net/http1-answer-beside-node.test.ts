// Our reader of answers beside Node's own client, on answers that were made at random and then spoilt. Whatever ours takes, Node takes, too, and
// finds the same in it; what ours refuses beyond that is listed here.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { AnswerReader } from './http1-answer.js'

/** HTTP_CASES and HTTP_SEED for more and others. */
const cases = Number(process.env['HTTP_CASES'] ?? 500)

type Read = { readonly status: number; readonly body: string } | { readonly problem: string }

function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const someHeaders = [
  'Content-Type: application/json',
  'Connection: close',
  'Connection: keep-alive',
  'Keep-Alive: timeout=5, max=100',
  'Retry-After: 3',
  'X-Empty:',
  'X-Spaced: \t a  b \t',
  'Content-Length: 5',
  'content-length:5',
  'Content-Length: 7',
  'Content-Length: +5',
  'Content-Length: 5, 5',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: Chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: identity',
  'Content-Length : 5',
  'No colon',
  ': no name',
  'Bad name: x',
  'X: a\r\n folded',
  'X: a\rb',
  'X: a\nContent-Length: 5',
]
const statusLines = [
  '200 OK',
  '200 OK',
  '200',
  '201 Created',
  '204 No Content',
  '304 Not Modified',
  '400 Bad',
  '500 x',
  '099 x',
  '20 x',
  '600 x',
]
const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'http/1.1']
const bodies = [
  'hello',
  '',
  '5\r\nhello\r\n0\r\n\r\n',
  '3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\nT: x\r\n\r\n',
  '05\r\nhello\r\n000\r\n\r\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  '5\nhello\n0\n\n',
  '5\r\nhelloo\r\n0\r\n\r\n',
  '-5\r\nhello\r\n0\r\n\r\n',
  '0x5\r\nhello\r\n0\r\n\r\n',
  'fffffffffffffffff\r\nhello',
]

function answerOf(below: (limit: number) => number): Buffer {
  const pick = (choices: readonly string[]): string => choices[below(choices.length)] ?? ''
  const informed = below(12) === 0 ? 'HTTP/1.1 103 Early\r\nLink: x\r\n\r\n' : ''
  const headers = Array.from({ length: below(4) }, () => `${pick(someHeaders)}\r\n`).join('')
  const text = `${informed}${pick(versions)} ${pick(statusLines)}\r\n${headers}\r\n${pick(bodies)}`
  const bytes = Buffer.from(text, 'latin1')
  // A byte of the head or of what frames a body is lost, doubled or another one.
  if (below(3) > 0) return bytes
  const at = below(bytes.length)
  const changed = [[], [bytes[at] ?? 0, bytes[at] ?? 0], [below(256)]][below(3)] ?? []
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(changed), bytes.subarray(at + 1)])
}

/** With the bytes that belong to it: what follows is no part of an answer, and ends the connection. */
function readHere(bytes: Buffer, piece: number): { readonly read: Read; readonly taken: number } {
  const reader = new AnswerReader({ mostBytes: 1 << 20, hold: () => true })
  let taken = 0
  try {
    for (; taken < bytes.length && !reader.isDone; taken += piece) reader.push(bytes.subarray(taken, taken + piece))
    if (!reader.isDone) reader.close()
    return { read: { status: reader.head?.status ?? 0, body: reader.body.toString('latin1') }, taken }
  } catch (error) {
    return { read: { problem: String(error) }, taken: bytes.length }
  }
}

function readByNode(port: number): Promise<Read> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void => resolve({ problem: String(error) })
    get({ port, host: '127.0.0.1', agent: false }, async (answer) => {
      try {
        let body = ''
        for await (const chunk of answer.setEncoding('latin1')) body += chunk
        resolve({ status: answer.statusCode ?? 0, body })
      } catch (error) {
        fail(error)
      }
    })
      .on('error', fail)
      .on('upgrade', (_, socket) => {
        socket.destroy()
        fail('another protocol')
      })
  })
}

/** What Node takes and we do not. */
const strictness: readonly RegExp[] = [
  // Versions and statuses that there are not, and a change of the protocol.
  /HTTP\/(?!1\.[01] (?!101)[1-5])/,
  // Other encodings than chunks, which nobody asked for, and two at once.
  /transfer-encoding:(?! *chunked\r)/i,
  /transfer-encoding:.*transfer-encoding:/is,
  // Control characters in the text behind the status.
  /HTTP\/1\.\d \d{3} [^\r]*[^\r -~\x80-\xff]/,
  // Lines that are folded.
  /\r\n[ \t]/,
]

test('whatever is taken here is taken by Node, and is the same there', async (t) => {
  const seed = Number(process.env['HTTP_SEED'] ?? 7)
  const below = numbers(seed)
  let current: Buffer = Buffer.alloc(0)
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(current))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let both = 0
  let alone = 0
  try {
    for (let i = 0; i < cases; i++) {
      const answer = answerOf(below)
      const { read: here, taken } = readHere(answer, 1)
      assert.deepEqual(readHere(answer, 2 + below(40)).read, here)
      current = answer.subarray(0, taken)
      const there = await readByNode(port)
      const told = `HTTP_SEED=${seed}, answer ${i}: ${JSON.stringify(current.toString('latin1'))}\nhere ${JSON.stringify(here)}\nNode ${JSON.stringify(there)}`
      if (!('problem' in here)) {
        assert.deepEqual(here, there, told)
        both++
      } else if (!('problem' in there)) {
        const text = answer.toString('latin1')
        assert.ok(
          strictness.some((reason) => reason.test(text)),
          told,
        )
        alone++
      }
    }
  } finally {
    server.close()
  }
  t.diagnostic(`${both} of ${cases} were read by both, ${alone} by Node alone`)
  assert.ok(both > cases / 10)
})
