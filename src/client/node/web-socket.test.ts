// Commands, logs and ports of pods over WebSocket, against a server that plays the pod.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { type ClientRequest, createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Client } from '../client.js'
import { StatusError } from '../errors.js'
import { HttpTransport } from './http-transport.js'
import { upgradeToSocket } from './web-socket.js'
import { FrameReader, opcodes, writeFrame } from './web-socket-frames.js'

const text = (data: Uint8Array): string => Buffer.from(data).toString()

/** A frame of a server, which is not masked; in as many parts as wanted. */
function frame(opcode: number, payload: Uint8Array, isLast = true): Buffer {
  const { length } = payload
  const head = length < 126 ? Buffer.from([0, length]) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10)
  if (length >= 65_536) head.writeBigUInt64BE(BigInt(length), 2)
  else if (length >= 126) head.writeUInt16BE(length, 2)
  if (length >= 126) head[1] = length < 65_536 ? 126 : 127
  head[0] = (isLast ? 0x80 : 0) | opcode
  return Buffer.concat([head, payload])
}

/** What a client wrote, unmasked. */
function unmask(chunk: Buffer, onMessage: (opcode: number, payload: Buffer) => void): void {
  let rest = chunk
  while (rest.length > 0) {
    const short = (rest[1] ?? 0) & 0x7f
    const start = short < 126 ? 2 : short === 126 ? 4 : 10
    const length = short < 126 ? short : short === 126 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2))
    const mask = rest.subarray(start, start + 4)
    const payload = Buffer.from(rest.subarray(start + 4, start + 4 + length).map((byte, i) => byte ^ (mask[i & 3] ?? 0)))
    onMessage((rest[0] ?? 0) & 0x0f, payload)
    rest = rest.subarray(start + 4 + length)
  }
}

class Pod {
  readonly socket: Socket
  readonly query: URLSearchParams
  onMessage: (channel: number, data: Buffer) => void = () => undefined
  readonly pongs: string[] = []
  hasClosed = false

  constructor(socket: Socket, query: URLSearchParams) {
    this.socket = socket
    this.query = query
    socket.on('error', () => undefined)
    socket.on('data', (chunk) =>
      unmask(chunk, (opcode, payload) => {
        if (opcode === opcodes.pong) this.pongs.push(payload.toString())
        else if (opcode === opcodes.close) this.hasClosed = true
        else this.onMessage(payload[0] ?? 0, payload.subarray(1))
      }),
    )
  }

  say(channel: number, data: string | Uint8Array): void {
    this.socket.write(frame(opcodes.binary, Buffer.concat([Uint8Array.of(channel), Buffer.from(data)])))
  }

  end(): void {
    this.socket.end(frame(opcodes.close, Uint8Array.of(3, 232)))
  }
}

const success = JSON.stringify({ kind: 'Status', status: 'Success' })
const exit = (code: number): string =>
  JSON.stringify({
    kind: 'Status',
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `exit code ${code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  })

describe('in a pod', () => {
  let server: Server
  let client: Client
  /** What the pod does with a connection. */
  let play: (pod: Pod) => void = () => undefined
  let last: { readonly request: IncomingMessage; readonly pod: Pod } | undefined

  before(async () => {
    server = createServer((request, response) => {
      if (request.url?.includes('/log') === true) response.end(`log of ${request.url}\n`)
      else
        response
          .writeHead(404, { 'content-type': 'application/json' })
          .end(JSON.stringify({ kind: 'Status', code: 404, reason: 'NotFound', message: 'no such pod' }))
    })
    server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
      if (request.url?.includes('/forbidden/') === true) {
        socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\n\r\nno!\n')
        return
      }
      const accept = createHash('sha1')
        .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64')
      const [protocol] = (request.headers['sec-websocket-protocol'] ?? '').split(', ')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: ${protocol}\r\n\r\n`,
      )
      const pod = new Pod(socket, new URL(request.url ?? '', 'http://x').searchParams)
      last = { request, pod }
      play(pod)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    client = new Client({
      transport: new HttpTransport({ server: `http://127.0.0.1:${port}` }),
      credentials: { current: () => ({ authorization: 'Bearer abc' }) },
    })
  })
  after(() => {
    client.close()
    server.closeAllConnections()
    server.close()
  })
  const pods = () => client.pods('shop')

  test('logs', async () => {
    assert.equal(
      await pods().log('web', { container: 'main', tailLines: 3 }),
      'log of /api/v1/namespaces/shop/pods/web/log?container=main&tailLines=3\n',
    )
    let said = ''
    for await (const piece of pods().logs('web', { follow: true })) said += piece
    assert.match(said, /follow=true/)
  })

  test('a command that is run to its end', async () => {
    play = (pod) => {
      pod.say(1, 'out ')
      pod.say(2, 'err')
      pod.say(1, 'more')
      pod.say(3, exit(3))
    }
    const { stdout, stderr, code } = await pods().run('web', ['sh', '-c', 'exit 3'], { container: 'main' })
    assert.deepEqual([stdout, stderr, code], ['out more', 'err', 3])
    assert.deepEqual(last?.pod.query.getAll('command'), ['sh', '-c', 'exit 3'])
    assert.equal(last?.request.headers.authorization, 'Bearer abc')
    assert.match(last?.request.headers['sec-websocket-protocol'] ?? '', /^v[45]\.channel\./)
  })

  test('a command that is talked to, in a terminal', async () => {
    play = (pod) => {
      pod.onMessage = (channel, data) => {
        if (channel === 0) pod.say(1, data.toString().toUpperCase())
        else pod.say(1, `size ${data}`)
        if (data.toString() === 'bye') pod.say(3, success)
      }
    }
    let said = ''
    const command = await pods().exec('web', ['sh'], {
      stdin: true,
      tty: true,
      onStdout: (data) => {
        said += text(data)
      },
    })
    await command.resize(80, 24)
    await command.write('hello ')
    await command.write('bye')
    assert.equal((await command.exit).code, 0)
    assert.equal(said, 'size {"Width":80,"Height":24}HELLO BYE')
    assert.deepEqual(
      ['stdin', 'tty', 'stderr'].map((name) => last?.pod.query.get(name)),
      ['true', 'true', null],
    )
  })

  test('what is refused, and what breaks', async () => {
    await assert.rejects(
      client.pods('forbidden').exec('web', ['sh']),
      (error) => error instanceof StatusError && error.code === 403 && /no!/.test(error.message),
    )
    play = (pod) => setTimeout(() => pod.socket.destroy(), 10)
    await assert.rejects((await pods().exec('web', ['sh'])).exit, /cut off/)
    play = (pod) => pod.end()
    await assert.rejects((await pods().exec('web', ['sh'])).exit, /ended before the command did/)
    play = (pod) => pod.say(3, 'not even JSON')
    const { code, message } = await (await pods().exec('web', ['sh'])).exit
    assert.deepEqual([code, message], [undefined, 'not even JSON'])
    await assert.rejects(pods().exec('web', ['sh'], { signal: AbortSignal.abort(new Error('enough')) }), /enough/)
  })

  test('ports, each with its own bytes', async () => {
    play = (pod) => {
      for (const [i, port] of pod.query.getAll('ports').map(Number).entries()) {
        const number = Uint8Array.of(port & 255, port >> 8)
        pod.say(2 * i, number)
        pod.say(2 * i + 1, number)
      }
      pod.onMessage = (channel, data) =>
        data.toString() === 'fail' ? pod.say(channel + 1, 'refused') : pod.say(channel, `${channel}:${data}`)
    }
    const forward = await pods().portForward('web', [80, 8080])
    const [first, second] = forward.ports
    assert.deepEqual([first?.port, second?.port], [80, 8080])
    await second?.write('b')
    await first?.write('a')
    const next = async (port: typeof first): Promise<string> => {
      for await (const data of port?.data() ?? []) return text(data)
      return ''
    }
    assert.deepEqual([await next(first), await next(second)], ['0:a', '2:b'])
    await first?.write('fail')
    await assert.rejects(next(first), /port 80: refused/)
    forward.close()
    await forward.ended
    assert.equal(await next(second), '')
  })
})

describe('pings', () => {
  test('are answered no faster than the server reads', async () => {
    const written: Buffer[] = []
    let go: (() => void) | undefined
    let isRead = false
    const socket = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _, done) => {
        written.push(chunk)
        if (isRead) done()
        else go = done
      },
    })
    const sent = new EventEmitter()
    const messages = await upgradeToSocket(
      [],
      (headers) => {
        const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
        const answer = { headers: { 'sec-websocket-accept': accept } }
        const end = (): unknown =>
          setImmediate(() => sent.emit('upgrade', answer, Object.assign(socket, { setNoDelay: () => undefined }), Buffer.alloc(0)))
        return Object.assign(sent, { end }) as unknown as ClientRequest
      },
      () => undefined,
    )
    const listeners = socket.listenerCount('drain') + socket.listenerCount('close')
    for (let i = 0; i < 10_000; i++) socket.push(frame(opcodes.ping, Buffer.from(`ping ${i}`)))
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(socket.writableLength <= socket.writableHighWaterMark + 131, `${socket.writableLength} bytes wait to be written`)
    assert.equal(socket.listenerCount('drain') + socket.listenerCount('close'), listeners)
    isRead = true
    go?.()
    await new Promise((resolve) => setImmediate(resolve))
    let last = ''
    for (const chunk of written) unmask(chunk, (_, payload) => (last = payload.toString()))
    assert.equal(last, 'ping 9999')
    messages.close()
    socket.destroy()
  })
})

describe('frames', () => {
  test('of every length, wherever they are cut', () => {
    for (const length of [0, 1, 125, 126, 65_535, 65_536, 200_000]) {
      const payload = Buffer.alloc(length, 'x')
      const whole = frame(opcodes.binary, payload)
      for (const cut of [1, 2, 3, 9, 11, length >> 1]) {
        const seen: Uint8Array[] = []
        const reader = new FrameReader((_, data) => seen.push(data))
        reader.feed(whole.subarray(0, cut))
        reader.feed(whole.subarray(cut))
        assert.deepEqual(
          seen.map((data) => data.length),
          [length],
        )
      }
      unmask(writeFrame(opcodes.binary, payload), (opcode, data) =>
        assert.deepEqual([opcode, data.equals(payload)], [opcodes.binary, true]),
      )
    }
  })

  test('parts of a message are joined, with others between them', () => {
    const seen: string[] = []
    const reader = new FrameReader((opcode, data) => seen.push(`${opcode} ${text(data)}`))
    reader.feed(
      Buffer.concat([
        frame(opcodes.binary, Buffer.from('a'), false),
        frame(opcodes.ping, Buffer.from('p')),
        frame(opcodes.continuation, Buffer.from('b')),
      ]),
    )
    assert.deepEqual(seen, ['9 p', '2 ab'])
  })

  test('without bytes take no memory, however many there are', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const seen: string[] = []
    const reader = new FrameReader((_, data) => seen.push(text(data)))
    reader.feed(frame(opcodes.binary, Buffer.from('a'), false))
    collect()
    const before = process.memoryUsage().heapUsed
    const many = Buffer.alloc(64 * 1024)
    for (let i = 0; i < 10; i++) reader.feed(many)
    collect()
    assert.ok(process.memoryUsage().heapUsed - before < 8 * 1024 * 1024)
    reader.feed(frame(opcodes.continuation, Buffer.from('b')))
    assert.deepEqual(seen, ['ab'])
  })

  test('of control are short and whole', () => {
    const reader = (): FrameReader => new FrameReader(() => undefined)
    reader().feed(frame(opcodes.ping, Buffer.alloc(125)))
    assert.throws(() => reader().feed(frame(opcodes.ping, Buffer.alloc(126))), /too long/)
    assert.throws(() => reader().feed(frame(opcodes.ping, Buffer.alloc(1), false)), /too long/)
  })

  test('that are too long or masked are refused', () => {
    const huge = Buffer.alloc(10)
    huge[0] = 0x82
    huge[1] = 127
    huge.writeBigUInt64BE(1n << 40n, 2)
    assert.throws(() => new FrameReader(() => undefined).feed(huge), /too long/)
    assert.throws(() => new FrameReader(() => undefined).feed(Buffer.from([0x82, 0x81, 0, 0, 0, 0, 0])), /masked/)
  })
})
