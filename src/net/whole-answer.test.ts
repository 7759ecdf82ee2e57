// Answers that go to their connections in one piece are, to the byte, those that Node would send.

import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { allocateRoomy } from '../base/front-room.js'
import { answerWhole, type WholeAnswer } from './whole-answer.js'

async function start(listener: RequestListener, keepAliveTimeout = 60_000): Promise<Server> {
  const server = createServer({ keepAliveTimeout }, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

function stop(...servers: Server[]): void {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
}

/** Everything that comes back for these bytes, until nothing more is expected. */
function answersTo(server: Server, sent: string, { bytes }: { readonly bytes?: number } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    let text = ''
    const end = (): void => {
      client.destroy()
      resolve(text)
    }
    client.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (bytes !== undefined && text.length >= bytes) end()
    })
    client.on('end', end)
    client.on('error', reject)
    client.write(Buffer.from(sent, 'latin1'))
  })
}

const undated = (text: string): string => text.replace(/Date: [^\r]*\r\n/g, 'Date\r\n')

function endByNode(response: ServerResponse, { code, headers, body }: WholeAnswer): void {
  response.writeHead(code, headers as string[])
  response.end(body)
}

const plain = { code: 200, headers: ['Audit-Id', 'a', 'Content-Type', 'text/plain', 'Content-Length', '3'], body: Buffer.from('abc') }
const usual = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const last = 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

test('the usual answer goes in one piece on this platform', async () => {
  let writes = 0
  let isWhole: boolean | undefined
  const order: string[] = []
  const server = await start((request, response) => {
    if (request.url === '/last') {
      response.end()
      return
    }
    const { socket } = request
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
    socket.write = ((...args: unknown[]) => {
      writes++
      return write(...args)
    }) as typeof socket.write
    for (const event of ['prefinish', 'finish', 'close']) response.on(event, () => order.push(event))
    isWhole = answerWhole(response, plain)
    socket.write = write as typeof socket.write
    assert.deepEqual([response.headersSent, response.writableEnded, response.statusCode], [true, true, 200])
  })
  await answersTo(server, usual + last)
  assert.equal(isWhole, true)
  assert.equal(writes, 1)
  assert.deepEqual(order, ['prefinish', 'finish', 'close'])
  stop(server)
})

/** Servers that answer the same, as quickly as they can and as Node does. */
async function both(answerOf: (url: string) => WholeAnswer, before: (response: ServerResponse) => void = () => undefined) {
  let whole = 0
  const quick = await start((request, response) => {
    before(response)
    request.resume()
    const answer = answerOf(request.url ?? '')
    if (request.method !== 'HEAD' && answerWhole(response, answer)) whole++
    else endByNode(response, answer)
  })
  const slow = await start((request, response) => {
    before(response)
    request.resume()
    endByNode(response, answerOf(request.url ?? ''))
  })
  return { quick, slow, whole: () => whole }
}

async function compare(sent: string, answer: WholeAnswer | ((url: string) => WholeAnswer), before?: (response: ServerResponse) => void) {
  const { quick, slow, whole } = await both(typeof answer === 'function' ? answer : () => answer, before)
  const [ours, nodes] = [undated(await answersTo(quick, sent)), undated(await answersTo(slow, sent))]
  stop(quick, slow)
  assert.equal(ours, nodes)
  return { text: ours, whole: whole() }
}

test('answers are those of Node, and the connection goes on', async () => {
  const { text, whole } = await compare(usual.repeat(3) + last, plain)
  assert.equal(text.split('HTTP/1.1 200 OK').length, 5)
  // Those that wait behind another one on their connection, and the last one, are sent by Node.
  assert.equal(whole, 1)
})

test('a request after an answer is answered in one piece, too', async () => {
  const { quick, slow, whole } = await both(() => plain)
  const client = connect((quick.address() as AddressInfo).port, '127.0.0.1')
  let text = ''
  client.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  for (let i = 1; i <= 5; i++) {
    client.write(usual)
    while (text.split('abc').length <= i) await new Promise(setImmediate)
  }
  assert.equal(whole(), 5)
  client.destroy()
  stop(quick, slow)
})

test('a long body with room in front of it is sent without a copy', async () => {
  const body = allocateRoomy(40_000).fill('x')
  const answer = { code: 200, headers: ['Content-Type', 'text/plain', 'Content-Length', '40000'], body }
  let written: Uint8Array | undefined
  const server = await start((_request, response) => {
    const socket = response.socket as Socket
    const write = socket.write.bind(socket) as (bytes: Uint8Array, done: () => void) => boolean
    socket.write = ((bytes: Uint8Array, done: () => void) => {
      written = bytes
      return write(bytes, done)
    }) as Socket['write']
    assert.equal(answerWhole(response, answer), true)
  })
  const nodes = await start((_request, response) => endByNode(response, answer))
  const expected = undated(await answersTo(nodes, usual, { bytes: 40_100 }))
  assert.equal(undated(await answersTo(server, usual, { bytes: 40_100 })), expected)
  assert.equal(written?.buffer, body.buffer)
  stop(server, nodes)
})

test('what is not usual is left to Node', async () => {
  const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n'
  for (const [what, sent, answer = plain] of [
    ['a connection that shall end', last],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: x\r\n\r\n'],
    ['HTTP/1.0 that goes on', `GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n${last}`],
    ['HEAD', 'HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['no content', last, { ...plain, code: 204 }],
    ['not modified', last, { ...plain, code: 304 }],
    ['a code without words', last, { ...plain, code: 299 }],
    ['a header that says something to Node', usual + last, { ...plain, headers: ['connection', 'close', ...plain.headers] }],
    ['a date of its own', last, { ...plain, headers: ['Date', 'today', ...plain.headers] }],
    ['a body that is announced', `${post}Expect: 100-continue\r\nConnection: close\r\n\r\nabc`],
  ] as readonly (readonly [string, string, WholeAnswer?])[]) {
    const { whole } = await compare(sent, answer)
    assert.equal(whole, 0, what)
  }
})

test('where the client was told to go on, the answer is one piece', async () => {
  const { text, whole } = await compare(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc${last}`, plain)
  assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
  assert.equal(whole, 1)
})

test('headers that were set before are not lost', async () => {
  const { text, whole } = await compare(usual + last, plain, (response) => response.setHeader('X-Before', 'yes'))
  assert.match(text, /X-Before: yes/)
  assert.equal(whole, 0)
})

test('a value that is no header is refused by Node, in the same words', async () => {
  for (const value of ['a\r\nX-Evil: yes', 'a\nb', '\0', 'a\r', '\u0100']) {
    const said: string[] = []
    const server = await start((request, response) => {
      if (request.url === '/last') {
        response.end()
        return
      }
      const answer = { ...plain, headers: ['Audit-Id', value, ...plain.headers] }
      assert.equal(answerWhole(response, answer), false)
      try {
        endByNode(response, answer)
      } catch (thrown) {
        said.push((thrown as NodeJS.ErrnoException).code ?? '')
        response.end()
      }
    })
    await answersTo(server, usual + last)
    assert.deepEqual(said, ['ERR_INVALID_CHAR'], JSON.stringify(value))
    stop(server)
  }
  const server = await start((_request, response) => {
    assert.equal(answerWhole(response, { ...plain, headers: ['X-\r\n', 'a', ...plain.headers] }), false)
    response.end()
  })
  await answersTo(server, last)
  stop(server)
})

test('random answers are the same to the byte', async () => {
  let state = 11
  const random = (most: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
  const characters = ['a', 'B', '7', ' ', '\t', '\x7e', '\x80', '\xff', '"', ':', ',', ';']
  const text = (): string => Array.from({ length: random(12) }, () => characters[random(characters.length)]).join('')
  const names = ['Audit-Id', 'Cache-Control', 'Content-Type', 'Warning', 'Vary', 'X-Kind-PF-FlowSchema-UID', 'Retry-After', 'Location']
  const answers = Array.from({ length: 80 }, (): WholeAnswer => {
    const body = Buffer.alloc([0, 1, 100, 3000, 60_000, 70_000][random(6)] as number, text() || 'x')
    const headers = Array.from({ length: random(8) }, () => [names[random(names.length)] as string, text()]).flat()
    return {
      code: [200, 201, 202, 400, 404, 409, 422, 500, 503][random(9)] as number,
      headers: [...headers, 'Content-Length', String(body.length)],
      body,
    }
  })
  const { quick, slow, whole } = await both((url) => answers[Number(url.slice(1))] as WholeAnswer)
  for (let i = 0; i < answers.length; i++) {
    const sent = `GET /${i} HTTP/1.1\r\nHost: x\r\n\r\n`
    const nodes = await answersTo(slow, `GET /${i} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    // Of a connection that goes on the length is known from one that does not.
    const bytes = nodes.length - 'Connection: close'.length + 'Connection: keep-alive\r\nKeep-Alive: timeout=60'.length
    assert.equal(undated(await answersTo(quick, sent, { bytes })), undated(await answersTo(slow, sent, { bytes })))
  }
  assert.ok(whole() > 40 && whole() < 80, `${whole()} of 80`)
  stop(quick, slow)
})
