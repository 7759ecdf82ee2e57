// Exec and port-forward over WebSocket, and logs over HTTP, against a fake pod.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { Client } from '../client.js'
import { StatusError } from '../errors.js'
import { HttpTransport } from './http-transport.js'

const text = (data: Uint8Array): string => Buffer.from(data).toString()

class FakePod {
  readonly socket: WebSocket
  readonly query: URLSearchParams
  onMessage: (channel: number, data: Buffer) => void = () => undefined

  constructor(socket: WebSocket, query: URLSearchParams) {
    this.socket = socket
    this.query = query
    socket.on('message', (data: Buffer) => this.onMessage(data[0] ?? 0, data.subarray(1)))
  }

  send(channel: number, data: string | Uint8Array): void {
    this.socket.send(Buffer.concat([Uint8Array.of(channel), Buffer.from(data)]))
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

describe('pod subresources', () => {
  let server: Server
  const sockets = new WebSocketServer({ noServer: true })
  let client: Client
  /** Behaviour of the fake pod. */
  let onConnect: (pod: FakePod) => void = () => undefined
  let lastConnection: { readonly request: IncomingMessage; readonly pod: FakePod } | undefined

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
      sockets.handleUpgrade(request, socket, Buffer.alloc(0), (accepted) => {
        const pod = new FakePod(accepted, new URL(request.url ?? '', 'http://x').searchParams)
        lastConnection = { request, pod }
        onConnect(pod)
      })
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
    let output = ''
    for await (const chunk of pods().logs('web', { follow: true })) output += chunk
    assert.match(output, /follow=true/)
  })

  test('run returns stdout, stderr and exit code', async () => {
    onConnect = (pod) => {
      pod.send(1, 'out ')
      pod.send(2, 'err')
      pod.send(1, 'more')
      pod.send(3, exit(3))
    }
    const { stdout, stderr, code } = await pods().run('web', ['sh', '-c', 'exit 3'], { container: 'main' })
    assert.deepEqual([stdout, stderr, code], ['out more', 'err', 3])
    assert.deepEqual(lastConnection?.pod.query.getAll('command'), ['sh', '-c', 'exit 3'])
    assert.equal(lastConnection?.request.headers.authorization, 'Bearer abc')
    assert.match(lastConnection?.request.headers['sec-websocket-protocol'] ?? '', /^v[45]\.channel\./)
  })

  test('exec with a TTY writes stdin and resizes', async () => {
    onConnect = (pod) => {
      pod.onMessage = (channel, data) => {
        if (channel === 0) pod.send(1, data.toString().toUpperCase())
        else pod.send(1, `size ${data}`)
        if (data.toString() === 'bye') pod.send(3, success)
      }
    }
    let output = ''
    const command = await pods().exec('web', ['sh'], {
      stdin: true,
      tty: true,
      onStdout: (data) => {
        output += text(data)
      },
    })
    await command.resize(80, 24)
    await command.write('hello ')
    await command.write('bye')
    assert.equal((await command.exit).code, 0)
    assert.equal(output, 'size {"Width":80,"Height":24}HELLO BYE')
    assert.deepEqual(
      ['stdin', 'tty', 'stderr'].map((name) => lastConnection?.pod.query.get(name)),
      ['true', 'true', null],
    )
  })

  test('exec rejects on 403, broken connections and a missing exit status', async () => {
    await assert.rejects(
      client.pods('forbidden').exec('web', ['sh']),
      (error) => error instanceof StatusError && error.code === 403 && /no!/.test(error.message),
    )
    onConnect = (pod) => setTimeout(() => pod.socket.terminate(), 10)
    await assert.rejects((await pods().exec('web', ['sh'])).exit, /broke off/)
    onConnect = (pod) => pod.socket.close(1000)
    await assert.rejects((await pods().exec('web', ['sh'])).exit, /closed before the exit status arrived/)
    onConnect = (pod) => pod.send(3, 'not even JSON')
    const { code, message } = await (await pods().exec('web', ['sh'])).exit
    assert.deepEqual([code, message], [undefined, 'not even JSON'])
    await assert.rejects(pods().exec('web', ['sh'], { signal: AbortSignal.abort(new Error('enough')) }), /enough/)
  })

  test('5 MB of output arrive with backpressure; a message over 64 MiB closes the connection', async () => {
    let sent = 0
    onConnect = (pod) => {
      for (; sent < 5000; sent++) pod.send(1, 'x'.repeat(1000))
      pod.send(3, success)
    }
    let received = 0
    const command = await pods().exec('web', ['sh'], { onStdout: (data) => (received += data.length) })
    assert.equal((await command.exit).code, 0)
    assert.equal(received, 5_000_000)
    onConnect = (pod) => pod.send(1, Buffer.alloc(64 * 1024 * 1024))
    await assert.rejects((await pods().exec('web', ['sh'])).exit, /Max payload size exceeded/)
  })

  test('portForward separates the data of two ports', async () => {
    onConnect = (pod) => {
      for (const [i, port] of pod.query.getAll('ports').map(Number).entries()) {
        const number = Uint8Array.of(port & 255, port >> 8)
        pod.send(2 * i, number)
        pod.send(2 * i + 1, number)
      }
      pod.onMessage = (channel, data) =>
        data.toString() === 'fail' ? pod.send(channel + 1, 'refused') : pod.send(channel, `${channel}:${data}`)
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
