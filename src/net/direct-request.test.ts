// Requests whose bodies do not go through a stream: whoever wants a stream has one, and nobody sees a difference.

import assert from 'node:assert/strict'
import { createServer, IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { DirectRequest, takeBody } from './direct-request.js'

async function start(listener: RequestListener, requests: typeof IncomingMessage = DirectRequest): Promise<Server> {
  const server = createServer({ IncomingMessage: requests, keepAliveTimeout: 60_000 }, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

const open = (server: Server): Socket => connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true)

function stop(server: Server, ...clients: Socket[]): void {
  for (const client of clients) client.destroy()
  server.closeAllConnections()
  server.close()
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function until(isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; !isSo(); await turn()) assert.ok(Date.now() < end, 'it has not come to it within a minute')
}

/** What a server answers to bytes that are sent as they are, in parts with turns between them. */
async function answersTo(server: Server, parts: readonly Buffer[], answers: number): Promise<string> {
  const client = open(server)
  let text = ''
  client.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  for (const part of parts) {
    client.write(part)
    await turn()
  }
  await until(() => text.split('HTTP/1.1 ').length > answers && text.endsWith('.'))
  client.destroy()
  return text.replace(/Date: .*\r\n/g, '')
}

/** All the ways in which a handler may read, by the last letter of the path. */
const reading: RequestListener = (request, response) => {
  const parts: Buffer[] = []
  const answer = (): void => {
    const text = `${request.method} ${request.url} ${Buffer.concat(parts).toString()} ${request.complete}.`
    response.writeHead(200, ['Content-Length', String(text.length)])
    response.end(text)
  }
  const listen = (): void => {
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', answer)
  }
  switch (request.url?.at(-1)) {
    case 'n':
      return answer()
    case 'l':
      return listen()
    case 't':
      if (!takeBody(request, { data: (part) => void parts.push(part), end: answer, aborted: () => undefined })) listen()
      return
    case 'T':
      setImmediate(() => {
        if (!takeBody(request, { data: (part) => void parts.push(part), end: answer, aborted: () => undefined })) listen()
      })
      return
    case 'L':
      return void setImmediate(listen)
    case 'r':
      request.resume()
      return void request.once('end', answer)
    case 'i':
      return void (async () => {
        await turn()
        for await (const part of request) parts.push(part as Buffer)
        answer()
      })()
    default:
      request.on('readable', () => {
        for (let part = request.read() as Buffer | null; part !== null; part = request.read() as Buffer | null) parts.push(part)
      })
      request.on('end', answer)
  }
}

function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

test('however a request is read, cut up and followed by others, the answers are those of a stream', async () => {
  const random = randomOf(7)
  const [ours, nodes] = [await start(reading), await start(reading, IncomingMessage)]
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  for (let round = 0; round < 60; round++) {
    const requests = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, i) => {
      const path = `/${i}-${pick(['n', 'l', 't', 'T', 'L', 'r', 'i', 'e'])}`
      const body = 'x'.repeat(pick([0, 0, 1, 10, 2000]))
      switch (pick(['none', 'length', 'chunks'])) {
        case 'none':
          return `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
        case 'length':
          return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
        default:
          return `PUT ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`
      }
    })
    const bytes = Buffer.from(requests.join(''))
    const cuts = [0, ...Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * bytes.length)), bytes.length]
    cuts.sort((a, b) => a - b)
    const parts = cuts.slice(1).map((end, i) => bytes.subarray(cuts[i], end))
    // Whether a request that is answered before it is read counts as complete depends on how its parts come.
    const said = (text: string): string => text.replace(/ (true|false)\./g, '.')
    assert.equal(
      said(await answersTo(ours, parts, requests.length)),
      said(await answersTo(nodes, parts, requests.length)),
      `round ${round}: ${requests.join('|')}`,
    )
  }
  stop(ours)
  stop(nodes)
})

test('a body that is taken at once does not go through the stream', async () => {
  let streamed = 0
  const server = await start((request, response) => {
    request.on('newListener', () => streamed++)
    const parts: string[] = []
    const isTaken = takeBody(request, {
      data: (part) => void parts.push(part.toString()),
      end: () => response.end(`${parts.join('')}.`),
      aborted: () => undefined,
    })
    assert.equal(isTaken, true)
    assert.equal(takeBody(request, { data: () => undefined, end: () => undefined, aborted: () => undefined }), false)
  })
  const answer = await answersTo(server, [Buffer.from('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc'), Buffer.from('def')], 1)
  assert.match(answer, /\r\nabcdef\.$/)
  assert.equal(streamed, 0)
  stop(server)
})

test('a body that came before somebody wants it is taken as well, however long it is and in however many parts', async () => {
  const chunk = `64\r\n${'x'.repeat(100)}\r\n`
  for (const { size, sent } of [
    ...[3, 50_000, 200_000].map((size) => ({ size, sent: `Content-Length: ${size}\r\n\r\n${'x'.repeat(size)}` })),
    { size: 70_000, sent: `Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(700)}0\r\n\r\n` },
  ]) {
    let wasTaken: boolean | undefined
    const server = await start((request, response) => {
      let came = 0
      const taker = {
        data: (part: Buffer): void => {
          came += part.length
        },
        end: () => response.end(`${came}.`),
        aborted: () => undefined,
      }
      setTimeout(() => {
        wasTaken = takeBody(request, taker)
      }, 50)
    })
    const answer = await answersTo(server, [Buffer.from(`POST / HTTP/1.1\r\nHost: x\r\n${sent}`)], 1)
    assert.ok(answer.endsWith(`\r\n${size}.`), answer.slice(-100))
    assert.equal(wasTaken, true)
    stop(server)
  }
})

test('a request that is answered and was not read is forgotten by the parser, and needs no tick to end', async () => {
  const events: string[] = []
  let parser: { readonly incoming: unknown } | undefined
  const server = await start((request, response) => {
    parser = (request.socket as unknown as { readonly parser: { readonly incoming: unknown } }).parser
    const emit = request.emit.bind(request)
    request.emit = (event: string, ...rest: unknown[]) => {
      events.push(event)
      return emit(event, ...rest)
    }
    response.end('ok.')
  })
  const client = open(server)
  for (const sent of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc']) {
    parser = undefined
    client.write(sent)
    await until(() => parser !== undefined && parser.incoming === null)
    // Between a body and its end Node runs what waits: the answer is over before.
    if (sent.startsWith('GET')) assert.deepEqual(events, [])
  }
  stop(server, client)
})

test('who goes in the middle of a body is noticed once, by whoever takes it and by whoever listens', async () => {
  const seen: string[] = []
  const server = await start((request) => {
    request.on('aborted', () => seen.push('heard'))
    takeBody(request, { data: () => void seen.push('data'), end: () => void seen.push('end'), aborted: () => void seen.push('aborted') })
  })
  const client = open(server)
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc')
  await until(() => seen.includes('data'))
  client.destroy()
  await until(() => seen.includes('heard'))
  await turn()
  assert.deepEqual(seen, ['data', 'aborted', 'heard'])
  stop(server)
})

test('who goes after the body, and before the answer, has not broken it off', async () => {
  const seen: string[] = []
  const server = await start((request, response) => {
    response.on('close', () => seen.push('gone'))
    takeBody(request, { data: () => undefined, end: () => void seen.push('end'), aborted: () => void seen.push('aborted') })
  })
  const client = open(server)
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc')
  await until(() => seen.includes('end'))
  client.destroy()
  await until(() => seen.includes('gone'))
  await turn()
  assert.deepEqual(seen, ['end', 'gone'])
  stop(server)
})
