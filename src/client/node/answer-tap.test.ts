// Answers in chunks are read as Node reads them, wherever the bytes are cut; and what is no answer harms no other.

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { ConnectionError } from '../errors.js'
import type { TransportResponse } from '../transport.js'
import { HttpTransport } from './http-transport.js'

const ends: (() => void)[] = []
after(() => ends.forEach((end) => void end()))

/** A server that answers each request with these pieces, one turn of the event loop after another. */
async function answering(pieces: () => readonly Buffer[]): Promise<{ readonly url: string; readonly sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.on('data', async () => {
      for (const piece of pieces()) {
        socket.write(piece)
        await new Promise(setImmediate)
      }
    })
  })
  ends.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}

const cut = (text: string, length: number): Buffer[] => {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) => bytes.subarray(i * length, (i + 1) * length))
}
const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n'
const get = (transport: HttpTransport): Promise<TransportResponse> =>
  transport.send({ method: 'GET', path: '/', headers: {}, credential: {} })

/** In each of the ways in which an answer can be read. */
const ways: { readonly [name: string]: (response: TransportResponse) => Promise<string> } = {
  text: (response) => response.text(),
  chunks: async (response) => {
    const parts: Uint8Array[] = []
    for await (const part of response.chunks()) parts.push(part)
    return Buffer.concat(parts).toString()
  },
  forEachChunk: async (response) => {
    let text = Buffer.alloc(0)
    await response.forEachChunk?.((part) => (text = Buffer.concat([text, part])))
    return text.toString()
  },
}

const throughNode = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request(url, { agent: false }, (message) => {
      let text = ''
      message.setEncoding('utf8').on('data', (part: string) => (text += part))
      message.on('end', () => resolve(text)).on('error', reject)
    })
      .on('error', reject)
      .end()
  })

describe('chunks', () => {
  const bodies: { readonly [name: string]: string } = {
    'as usual': '5\r\nhello\r\n7\r\n world!\r\n0\r\n\r\n',
    'with letters of each case, and zeros before them': `00A\r\n0123456789\r\n1a\r\n${'x'.repeat(26)}\r\n000\r\n\r\n`,
    'with extensions': '5;a=b;c="d"\r\nhello\r\n0;last\r\n\r\n',
    'with trailers': '3\r\nä!\r\n0\r\nX-More: yes\r\nX-Else: no\r\n\r\n',
    'without any': '0\r\n\r\n',
    'that look like their own frame': '10\r\n0\r\n\r\n5\r\nhello\r\n0\r\n0\r\n\r\n',
  }
  for (const [name, body] of Object.entries(bodies)) {
    test(name, async () => {
      for (const before of ['', 'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n']) {
        for (const length of [1, 2, 3, 7, 1000]) {
          const { url, sockets } = await answering(() => cut(`${before}${head}\r\n${body}`, length))
          const wanted = await throughNode(url)
          const transport = new HttpTransport({ server: url })
          for (const [way, read] of Object.entries(ways)) assert.equal(await read(await get(transport)), wanted, `${way}, by ${length}`)
          ;(await get(transport)).discard()
          assert.equal(await (await get(transport)).text(), wanted)
          // One for Node, and one that was kept, or a second when the answer that nobody wanted had not come to its end.
          assert.ok(sockets.size <= 3, `${sockets.size} connections`)
          transport.close()
        }
      }
    })
  }

  test('of a long answer, in order, with a reader who takes his time', async () => {
    const lines = Array.from({ length: 40_000 }, (_, i) => `line ${i} ${'x'.repeat(i % 100)}\n`)
    const body = lines.map((line, i) =>
      i % 7 === 0 ? `${line.length.toString(16)}\r\n${line}\r\n` : `${line.length.toString(16)};x\r\n${line}\r\n`,
    )
    const { url } = await answering(() => cut(`${head}\r\n${body.join('')}0\r\n\r\n`, 100_000))
    const transport = new HttpTransport({ server: url })
    for (const [way, read] of Object.entries(ways)) {
      const response = await get(transport)
      // What comes before anybody reads waits.
      await new Promise((resolve) => setTimeout(resolve, 20))
      assert.equal(await read(response), lines.join(''), way)
    }
    transport.close()
  })
})

describe('what is no chunk', () => {
  const wrong: { readonly [name: string]: string } = {
    'a length that is none': 'hello\r\n',
    'no length': '\r\nhello\r\n',
    'a chunk that goes on': '3\r\nhello\r\n',
    'a chunk that goes on by one': '3\r\nabcd\r\n0\r\n\r\n',
    'a length beyond all numbers': `${'f'.repeat(40)}\r\nhello`,
    'a line without its first half': '3\nabc\r\n',
    'a length without its last half': '3\rabc\r\n0\r\n\r\n',
    'extensions without end': `3;${'x'.repeat(100_000)}`,
  }
  for (const [name, body] of Object.entries(wrong)) {
    test(`${name} ends the answer, and says so`, async () => {
      const { url } = await answering(() => cut(`${head}\r\n${body}`, 50_000))
      const transport = new HttpTransport({ server: url })
      for (const [way, read] of Object.entries(ways))
        await assert.rejects(get(transport).then(read), (error) => error instanceof ConnectionError && /chunk/.test(error.message), way)
      transport.close()
    })
  }

  test('an answer that nobody asked for is not taken for the next one', async () => {
    let isFirst = true
    const { url, sockets } = await answering(() => {
      const body = isFirst ? '5\r\nfirst\r\n0\r\n\r\n' : '6\r\nsecond\r\n0\r\n\r\n'
      isFirst = false
      return cut(`${head}\r\n${body}`, 1000)
    })
    const transport = new HttpTransport({ server: url })
    assert.equal(await (await get(transport)).text(), 'first')
    await new Promise(setImmediate)
    const [socket] = [...sockets]
    const closed = new Promise((resolve) => socket?.once('close', resolve))
    socket?.write(`${head}\r\n5\r\nwrong\r\n0\r\n\r\n`)
    await closed
    assert.equal(await (await get(transport)).text(), 'second')
    transport.close()
  })

  test('an answer that was read is not the one that comes after it', async () => {
    let count = 0
    const { url } = await answering(() => cut(`${head}\r\n1\r\n${++count}\r\n0\r\n\r\n`, 1000))
    const transport = new HttpTransport({ server: url })
    const first = await get(transport)
    assert.equal(await first.text(), '1')
    const second = await get(transport)
    await assert.rejects(first.text(), ConnectionError)
    await assert.rejects(ways['chunks']?.(first) as Promise<string>, ConnectionError)
    assert.equal(await second.text(), '2')
    transport.close()
  })
})
