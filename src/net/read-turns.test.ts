// Small parts: whoever sends them waits for others, gets through whole, and costs no more memory than the bytes.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer as createHttp2 } from 'node:http2'
import { request as requestOver } from 'node:https'
import { type AddressInfo, connect as connectTcp, createServer as createTcp, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { Http2Sessions } from './http2-sessions.js'
import { issueCertificate } from './issue-certificate.js'
import { type Listener, listen, type Request, type RequestListener } from './listen.js'
import { PacedEnds } from './paced-ends.js'
import { ReadTurns } from './read-turns.js'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function standIn(
  name: string,
  calls: string[],
): { readonly socket: Socket & { bytesRead: number }; readonly handle: { reading: boolean } } {
  const handle = { reading: true, readStop: () => calls.push(`stop ${name}`), readStart: () => calls.push(`start ${name}`) }
  return {
    socket: Object.assign(new EventEmitter(), { _handle: handle, bytesRead: 0 }) as unknown as Socket & { bytesRead: number },
    handle,
  }
}

test('a connection that has sent many small parts is not read from until the next turn', async () => {
  const calls: string[] = []
  const turns = new ReadTurns()
  const reading = turns.of(standIn('a', calls).socket)
  for (let i = 0; i < 100; i++) turns.count(reading, 1)
  await turn()
  for (let i = 0; i < 100; i++) turns.count(reading, 1)
  assert.deepEqual(calls, [])
  for (let i = 0; i < 50; i++) turns.count(reading, 1)
  assert.deepEqual(calls, ['stop a'])
  await turn()
  assert.deepEqual(calls, ['stop a', 'start a'])
})

test('one that is read from all the same is stopped again', async () => {
  const calls: string[] = []
  const turns = new ReadTurns()
  const [first, second] = ['a', 'b'].map((name) => turns.of(standIn(name, calls).socket))
  assert.ok(first && second)
  turns.count(first, 3000)
  turns.count(second, 3000)
  await turn()
  const before = calls.length
  for (let i = 0; i < 1280; i++) turns.count(second, 1)
  assert.deepEqual(calls.slice(before), Array(10).fill('stop b'))
})

test('of those that bring very much one goes on in a turn, and in the order in which they came', async () => {
  const calls: string[] = []
  const turns = new ReadTurns()
  const readings = ['a', 'b', 'c'].map((name) => turns.of(standIn(name, calls).socket))
  for (const reading of readings) turns.count(reading, 3000)
  assert.deepEqual(new Set(calls), new Set(['stop a', 'stop b', 'stop c']))
  const before = calls.length
  for (const name of ['a', 'b', 'c']) {
    await turn()
    assert.equal(calls.at(-1), `start ${name}`)
  }
  await turn()
  assert.equal(calls.length, before + 3)
})

test('of those that bring some, many go on in a turn', async () => {
  const calls: string[] = []
  const turns = new ReadTurns()
  for (let i = 0; i < 10; i++) turns.count(turns.of(standIn(String(i), calls).socket), 150)
  await turn()
  assert.equal(calls.filter((call) => call.startsWith('start')).length, 10)
})

test('when enough has come in a turn, the others wait for the next one, and one that is not wanted is not read from', async () => {
  const calls: string[] = []
  const turns = new ReadTurns()
  const [loud, quiet, full] = ['loud', 'quiet', 'full'].map((name) => standIn(name, calls))
  assert.ok(loud && quiet && full)
  for (const { socket } of [quiet, full]) turns.of(socket)
  turns.count(turns.of(loud.socket), 5000)
  assert.deepEqual(calls, ['stop loud', 'stop quiet', 'stop full'])
  full.handle.reading = false
  await turn()
  assert.deepEqual(calls.slice(3), ['start quiet', 'start loud'])
})

test('whoever has sent many parts and goes on without any that are seen is read from in turns, until little comes', async () => {
  const calls: string[] = []
  const turns = new ReadTurns()
  const [first, second] = ['a', 'b'].map((name) => standIn(name, calls))
  assert.ok(first && second)
  for (const { socket } of [first, second]) turns.count(turns.of(socket), 3000)
  calls.length = 0
  for (let i = 0; i < 10; i++) {
    await turn()
    // Whoever may be read from brings two megabytes that are nothing.
    const last = calls.at(-1)
    for (const [name, { socket }] of Object.entries({ a: first, b: second })) if (last === `start ${name}`) socket.bytesRead += 2 << 20
  }
  const expected = Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? 'start a' : 'start b'))
  assert.deepEqual(
    calls.filter((call) => call.startsWith('start')),
    expected,
  )
  for (let i = 0; i < 5; i++) await turn()
  const settled = calls.length
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(calls.length, settled, 'nothing is done any more')
  assert.ok(
    ['a', 'b'].every((name) => calls.findLast((call) => call.endsWith(name)) === `start ${name}`),
    calls.join(),
  )
})

test('one that is suspected is not let go on together with those that only wait for others', async () => {
  const calls: string[] = []
  const turns = new ReadTurns()
  const [loud, suspected, quiet] = ['loud', 'suspected', 'quiet'].map((name) => standIn(name, calls))
  assert.ok(loud && suspected && quiet)
  turns.of(quiet.socket)
  turns.suspect(turns.of(suspected.socket))
  assert.deepEqual(calls, ['stop suspected'])
  await turn()
  assert.deepEqual(calls, ['stop suspected', 'start suspected'])
  turns.count(turns.of(loud.socket), 3000)
  suspected.socket.bytesRead += 2 << 20
  calls.length = 0
  await turn()
  assert.deepEqual(calls, ['start quiet', 'start loud'])
  await turn()
  assert.deepEqual(calls, ['start quiet', 'start loud', 'start suspected'])
})

test('one that is left to somebody else is left alone, and what was read with it keeps others waiting', async () => {
  const calls: string[] = []
  const turns = new ReadTurns()
  const [loud, quiet] = ['loud', 'quiet'].map((name) => turns.of(standIn(name, calls).socket))
  assert.ok(loud && quiet)
  let times = 0
  loud.takeOver = () => ++times > 0
  for (let i = 0; i < 1000; i++) turns.count(loud, 4, true)
  assert.equal(times, 0, 'requests are not what it is left for')
  await turn()
  await turn()
  assert.equal(calls.at(-1), 'start loud')
  calls.length = 0
  for (let i = 0; i < 5000; i++) turns.count(loud, 1)
  assert.deepEqual(calls.slice(-2), ['start loud', 'stop quiet'])
  await turn()
  assert.equal(calls.at(-1), 'start quiet')
  calls.length = 0
  for (let i = 0; i < 5000; i++) turns.count(loud, 1)
  turns.suspect(loud)
  for (let i = 0; i < 5; i++) await turn()
  assert.deepEqual(calls, [])
  assert.equal(times, 1)
})

test('one that cannot be left to somebody else waits', async () => {
  const calls: string[] = []
  const turns = new ReadTurns()
  const reading = turns.of(standIn('a', calls).socket)
  reading.takeOver = () => false
  turns.count(reading, 200)
  await turn()
  assert.deepEqual(calls, ['stop a', 'start a'])
})

test('a connection that is gone has no turn', async () => {
  const calls: string[] = []
  const turns = new ReadTurns()
  const { socket } = standIn('a', calls)
  turns.count(turns.of(socket), 3000)
  socket.emit('close')
  await turn()
  assert.deepEqual(calls, ['stop a'])
})

const certificate = issueCertificate({
  commonName: 'server',
  hosts: ['127.0.0.1'],
  use: 'server',
  notBefore: Date.now() - 1000,
  notAfter: Date.now() + 3_600_000,
})
const open: Listener[] = []
after(() => Promise.all(open.map((listener) => listener.close())))

async function start(serve: RequestListener): Promise<number> {
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, serve)
  open.push(listener)
  return listener.port
}

/** What came of a body, and in how many parts. */
async function partsOf(request: Request): Promise<string> {
  let [parts, text] = [0, '']
  request.on('data', (part: Buffer) => {
    parts++
    text += part.toString('latin1')
  })
  await once(request, 'end')
  return `${parts < text.length / 10 ? 'few' : parts} parts, ${text.length} bytes, ${text === letters.repeat(text.length / 26) ? 'in order' : 'mixed up'}`
}

const letters = 'abcdefghijklmnopqrstuvwxyz'
const bytes = 26 * 1000

async function postInChunks(port: number, tail = ''): Promise<string> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: certificate.cert, ALPNProtocols: ['http/1.1'] })
  const chunks = letters.replaceAll(/./g, '1\r\n$&\r\n').repeat(1000)
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n${tail}`)
  const wanted = 1 + tail.split('HTTP/1.1').length - 1
  return answerOf(socket, (text) => text.split('HTTP/1.1 200').length > wanted)
}

/** What came until it was enough, or until it is certain that no more comes. */
async function answerOf(socket: Socket, isEnough: (text: string) => boolean): Promise<string> {
  let text = ''
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1')
    if (isEnough(text)) socket.destroy()
  })
  const late = setTimeout(() => socket.destroy(), 20_000)
  await new Promise((resolve) => socket.once('close', resolve))
  clearTimeout(late)
  return text
}

test('a body in chunks of one byte comes whole and in few parts, and the next request after it', async () => {
  const port = await start(async (request, response) => void response.end(request.method === 'POST' ? await partsOf(request) : 'next'))
  const answer = await postInChunks(port, 'GET /next HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.match(answer, /few parts, 26000 bytes, in order/)
  assert.match(answer, /next$/)
})

test('the rest of a body that was refused is let go, and the next body is read', async () => {
  const port = await start(async (request, response) => {
    if (request.url === '/') response.end('refused')
    else response.end(await partsOf(request))
  })
  const answer = await postInChunks(port, `POST /next HTTP/1.1\r\nHost: x\r\nContent-Length: 26\r\n\r\n${letters}`)
  assert.match(answer, /parts, 26 bytes, in order/)
})

test('a part of a body that is small and the last for now is handed on', async () => {
  const port = await start((request, response) => {
    if ('stream' in response) return
    response.flushHeaders()
    request.on('data', (part: Buffer) => void response.write(part))
    request.on('end', () => void response.end())
  })
  const request = requestOver({ host: '127.0.0.1', port, method: 'POST', ca: certificate.cert, agent: false })
  request.flushHeaders()
  const [response] = await once(request, 'response')
  for (let i = 0; i < 100; i++) {
    request.write(`${'x'.repeat(600)}`)
    request.write('end')
    let text = ''
    while (!text.endsWith('end')) text += String((await once(response, 'data'))[0])
  }
  request.destroy()
})

async function dialHttp2(port: number): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: certificate.cert, ALPNProtocols: ['h2'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
  return socket
}

test('frames of one byte that nobody takes are kept together', async () => {
  const held: Promise<number>[] = []
  const port = await start((request, response) => {
    if (!('stream' in request)) return
    const { stream } = request
    const kept = async (): Promise<number> => {
      for (let looks = 0; stream.readableLength < bytes / 2 && looks < 10_000; looks++) await turn()
      return (stream as unknown as { _readableState: { buffer: { length: number } } })._readableState.buffer.length
    }
    held.push(kept())
    void held[0]?.then(async () => void response.end(await partsOf(request)))
  })
  const socket = await dialHttp2(port)
  // A window as large as it is said to be, and one answer.
  socket.write(Buffer.from([0, 0, 6, 1, 4, 0, 0, 0, 1, 0x83, 0x84, 0x87, 0x41, 1, 0x78]))
  const frames = Array.from(letters.repeat(bytes / 26), (letter) => [0, 0, 1, 0, 0, 0, 0, 0, 1, letter.charCodeAt(0)])
  socket.write(Buffer.from([...frames.flat(), 0, 0, 0, 0, 1, 0, 0, 0, 1]))
  const answer = await answerOf(socket, (text) => /order|mixed/.test(text))
  assert.match(answer, /few parts, 26000 bytes, in order/)
  assert.ok(((await held[0]) ?? 0) < bytes / 20)
})

test('a connection on which there is only noise is closed', async () => {
  const port = await start((_request, response) => void response.end())
  const socket = await dialHttp2(port)
  socket.resume()
  // A stream, so that it is not closed for its silence.
  socket.write(Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x84, 0x87, 0x41, 1, 0x78]))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const updates = Buffer.alloc(13 * 10_000)
  for (let i = 0; i < 10_000; i++) updates.set([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1], 13 * i)
  const writing = setInterval(() => socket.writable && socket.writableLength < updates.length && socket.write(updates), 1)
  const waiting = setTimeout(() => socket.destroy(new Error('it is still open')), 20_000)
  let reason = ''
  socket.on('error', (error) => {
    reason = error.message
  })
  await closed
  clearInterval(writing)
  clearTimeout(waiting)
  assert.notEqual(reason, 'it is still open')
})

/** A request, and at once that it is not wanted any more. */
const takenBack = (id: number): number[] => [
  ...[0, 0, 6, 1, 5, 0, 0, id >> 8, id & 255, 0x82, 0x84, 0x87, 0x41, 1, 0x78],
  ...[0, 0, 4, 3, 0, 0, 0, id >> 8, id & 255, 0, 0, 0, 8],
]

test('whoever asks and takes it back at once, again and again, is not listened to any longer', async () => {
  let opened = 0
  const http2 = createHttp2((_request, response) => void response.end()).on('stream', () => opened++)
  const sessions = new Http2Sessions(() => http2, { idleMs: 60_000, goawayChance: 0 }, { turns: new ReadTurns(), ends: new PacedEnds() })
  const tcp = createTcp((socket) => sessions.accept(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const ask = async (count: number): Promise<number> => {
    opened = 0
    const socket = connectTcp((tcp.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined)
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    const requests = Array.from({ length: count }, (_, i) => takenBack(2 * i + 1)).flat()
    // Behind them a PING: who answers has read all of it.
    const ping = [0, 0, 8, 6, 0, 0, 0, 0, 0, ...Buffer.from('answered')]
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0, ...requests, ...ping]))
    await answerOf(socket, (text) => text.includes('answered'))
    return opened
  }
  assert.equal(await ask(20), 20)
  const heard = await ask(900)
  assert.ok(heard < 100, `${heard} requests`)
  tcp.close()
})

test('parsers are left as they were, also when a request is read once more', async () => {
  const parsers: Record<number, { readonly name: string }>[] = []
  const port = await start(async (request, response) => {
    parsers.push((request.socket as unknown as { readonly parser: (typeof parsers)[number] }).parser)
    response.end(await partsOf(request))
  })
  for (let i = 0; i < 3; i++) {
    const socket = connectTls({ host: '127.0.0.1', port, ca: certificate.cert, ALPNProtocols: ['http/1.1'] })
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 26\r\n\r\n${letters}`)
    assert.match(await answerOf(socket, (text) => text.includes('order')), /26 bytes, in order/)
  }
  const isLeft = (): boolean =>
    parsers.every((parser) => parser[3]?.name === 'parserOnBody' && parser[4]?.name === 'parserOnMessageComplete')
  for (let looks = 0; !isLeft() && looks < 100_000; looks++) await turn()
  assert.equal(parsers.length, 3)
  assert.equal(isLeft(), true)
})
