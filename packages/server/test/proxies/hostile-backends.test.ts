// Pods behind the proxy subresource that send malformed or forged responses, and clients that try to smuggle requests through the proxy.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded, tokenOf } from '../../../../test/kit/embedded.js'
import { expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { needsAddress, ownAddress, setPodAddress } from '../../../../test/kit/kubelet/kubelet-cluster.js'
import { dial, readRest, upgrade } from '../../../../test/kit/network/open-connection.js'

const pods = '/api/v1/namespaces/default/pods'
const proxy = `${pods}/web/proxy`
const switchingProtocols = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'

/** Expected outcome: a status, or `broken` for an aborted response. */
type Outcome = number | 'broken'

interface Attack {
  readonly title: string
  /** Response to any request; a trailing `END` closes the connection. */
  readonly response: string
  readonly outcome: Outcome
  readonly body?: string
}

const responses: readonly Attack[] = [
  { title: 'a body shorter than its Content-Length', response: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalfEND', outcome: 'broken' },
  { title: 'two Content-Length headers', response: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nfour!', outcome: 503 },
  {
    title: 'Content-Length and chunked encoding',
    response: 'HTTP/1.1 200 OK\r\nContent-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\n\r\n',
    outcome: 503,
  },
  {
    title: 'Content-Length and an unknown transfer coding',
    response: 'HTTP/1.1 200 OK\r\nContent-Length: 40\r\nTransfer-Encoding: gzip\r\n\r\nfourEND',
    outcome: 503,
  },
  { title: 'a negative Content-Length', response: 'HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nfour', outcome: 503 },
  { title: 'a Content-Length beyond 64 bits', response: `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(26)}\r\n\r\nfour`, outcome: 503 },
  {
    title: 'a chunk length beyond 64 bits',
    response: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'f'.repeat(17)}\r\nfourEND`,
    outcome: 'broken',
  },
  {
    title: 'an endless chunk extension',
    response: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;${'x'.repeat(200_000)}`,
    outcome: 'broken',
  },
  {
    title: 'endless trailers',
    response: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\n${`T: ${'x'.repeat(1000)}\r\n`.repeat(300)}`,
    outcome: 'broken',
  },
  { title: 'a header of a megabyte', response: `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1 << 20)}\r\n\r\n`, outcome: 503 },
  { title: 'a hundred thousand headers', response: `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(100_000)}\r\n`, outcome: 503 },
  { title: 'a NUL in a header', response: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: a\x00b\r\n\r\nok', outcome: 503 },
  { title: 'a bare CR in a header', response: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: a\rSet-Cookie: b\r\n\r\nok', outcome: 503 },
  { title: 'lines that end in LF', response: 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', outcome: 503 },
  { title: 'a folded header', response: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: a\r\n b: c\r\n\r\nok', outcome: 503 },
  { title: 'a space in a header name', response: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX y: a\r\n\r\nok', outcome: 503 },
  { title: 'control characters in the reason', response: 'HTTP/1.1 200 O\xffK\r\nContent-Length: 2\r\n\r\nok', outcome: 200, body: 'ok' },
  { title: 'a status that does not exist', response: 'HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok', outcome: 503 },
  { title: 'text instead of HTTP', response: 'hello world\r\n\r\n', outcome: 503 },
  { title: 'an upgrade that was not requested', response: `${switchingProtocols}\r\ngarbage`, outcome: 503 },
  {
    title: 'a 101 without an Upgrade header',
    response: 'HTTP/1.1 101 S\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    outcome: 503,
  },
  { title: 'Content-Encoding gzip without gzip', response: page('gzip', 'abcd'), outcome: 'broken' },
  { title: 'a connection closed without a response', response: 'END', outcome: 503 },
  { title: 'a connection closed within the headers', response: 'HTTP/1.1 200 OK\r\nContent-LenEND', outcome: 503 },
]

function page(coding: string, body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

describe('hostile pods behind the proxy', needsAddress, () => {
  let running: Embedded
  let web: Server
  let http2: ClientHttp2Session
  let respond: (request: string, socket: Socket) => void
  /** Bytes that the pod received, by connection. */
  let received: string[] = []
  const openSockets = new Set<Socket>()
  const access = () => ({ url: running.server.url, ca: running.server.caPem, token: tokenOf(running.server) })

  before(async () => {
    running = await startEmbedded('memory')
    web = createServer((socket) => {
      openSockets.add(socket)
      const index = received.push('') - 1
      socket.on('error', () => undefined)
      socket.once('close', () => openSockets.delete(socket))
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1')
        received[index] += text
        if (/^[A-Z]+ \/(?!hidden)/.test(text)) respond(text, socket)
      })
    })
    await once(web.listen(0, ownAddress), 'listening')
    const ports = [{ containerPort: (web.address() as AddressInfo).port }]
    const spec = { nodeName: 'node', containers: [{ name: 'main', image: 'registry.example/main:1', ports }] }
    await untilStatus(() => running.client.get('/api/v1/namespaces/default/serviceaccounts/default'), 200)
    expectStatus(await running.client.post(pods, { metadata: { name: 'web' }, spec }), 201)
    await setPodAddress(running, 'web', ownAddress ?? '')
    http2 = connectHttp2(running.server.url, { ca: running.server.caPem })
  })
  after(async () => {
    http2.destroy()
    await running.close()
    web.close()
    for (const socket of openSockets) socket.destroy()
  })

  const send = (text: string, socket: Socket): void => {
    if (text.endsWith('END')) socket.end(text.slice(0, -3), 'latin1')
    else socket.write(text, 'latin1')
  }

  async function outcomeOverHttp1(): Promise<readonly [Outcome, string]> {
    try {
      const { status, text } = await running.client.get(`${proxy}/x`)
      return [status, text]
    } catch {
      return ['broken', '']
    }
  }

  async function outcomeOverHttp2(): Promise<readonly [Outcome, string]> {
    const stream = http2.request({ ':path': `${proxy}/x`, authorization: `Bearer ${access().token}` })
    let status = 0
    let text = ''
    stream.setEncoding('latin1').on('data', (part: string) => {
      text += part
    })
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0
    })
    return new Promise((resolve) => {
      stream.on('error', () => resolve(['broken', '']))
      stream.on('close', () => resolve(stream.rstCode === 0 ? [status, text] : ['broken', '']))
    })
  }

  for (const { title, response, outcome, body } of responses)
    test(`a response with ${title} is ${outcome}, and the next request is served`, async () => {
      for (const outcomeOf of [outcomeOverHttp1, outcomeOverHttp2]) {
        respond = (_request, socket) => send(response, socket)
        const [found, text] = await outcomeOf()
        assert.equal(found, outcome, outcomeOf.name)
        if (body !== undefined) assert.equal(text, body)
        respond = (_request, socket) => send('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine', socket)
        assert.deepEqual(await outcomeOf(), [200, 'mine'])
      }
    })

  test('a second response on a connection never reaches the next request', async () => {
    const poisoned = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison'
    respond = (request, socket) => {
      if (!request.startsWith('GET /first')) send('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine', socket)
      else {
        send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', socket)
        setImmediate(() => socket.destroyed || send(poisoned, socket))
      }
    }
    for (let i = 0; i < 10; i++) {
      assert.equal((await running.client.get(`${proxy}/first`)).text, 'ok')
      assert.equal((await running.client.get(`${proxy}/second`)).text, 'mine')
    }
  })

  test('the pod cannot set hop-by-hop headers, Audit-Id or headers with rules for the origin of the server', async () => {
    const forged = [
      'Connection: close, X-Hop',
      'X-Hop: 1',
      'Keep-Alive: timeout=99',
      'Proxy-Authenticate: Basic',
      'Upgrade: h2c',
      'Audit-Id: forged',
      'Access-Control-Allow-Origin: *',
      'Access-Control-Allow-Credentials: true',
      'Service-Worker-Allowed: /',
      'Set-Cookie: a=b',
      'Content-Length: 2',
    ]
    respond = (_request, socket) => send(`HTTP/1.1 200 OK\r\n${forged.join('\r\n')}\r\n\r\nok`, socket)
    const { headers } = expectStatus(await running.client.get(`${proxy}/x`), 200)
    for (const name of [
      'x-hop',
      'proxy-authenticate',
      'upgrade',
      'access-control-allow-origin',
      'access-control-allow-credentials',
      'service-worker-allowed',
    ])
      assert.equal(headers[name], undefined, name)
    assert.match(String(headers['audit-id']), /^[0-9a-f-]{36}$/)
    assert.deepEqual(headers['set-cookie'], ['a=b'])
  })

  test('no request framing makes the pod see a second request', async () => {
    const hidden = 'GET /hidden HTTP/1.1\r\n\r\n'
    const length = `Content-Length: ${hidden.length}\r\n`
    const attacks: readonly (readonly [headers: string, body: string])[] = [
      [`Connection: content-length\r\n${length}`, hidden],
      ['Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n', `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`],
      ['Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden}`],
      ['Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${hidden}`],
      [`Connection: Upgrade\r\nUpgrade: websocket\r\n${length}`, hidden],
      ['Connection: Upgrade\r\nUpgrade: websocket\r\n', hidden],
      [length, hidden],
    ]
    // Parses one request and reports a second one behind it.
    const requestsIn = (text: string): number => {
      const [head = '', ...parts] = text.split('\r\n\r\n')
      const rest = parts.join('\r\n\r\n')
      const declared = /^content-length: (\d+)$/im.exec(head)?.[1]
      // The last chunk is empty. An upgrade has no chunks: they would be read as the new protocol.
      if (/^transfer-encoding: chunked$/im.test(head)) return /\r\n0\r\n\r\n$/.test(rest) && !/^upgrade:/im.test(head) ? 1 : 2
      return rest.length > Number(declared ?? 0) ? 2 : 1
    }
    for (const method of ['GET', 'POST'])
      for (const [headers, body] of attacks) {
        received = []
        let hasRequest = false
        respond = (_request, socket) => {
          hasRequest = true
          // Delayed until everything that the client sent has arrived.
          setImmediate(() => send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', socket))
        }
        const socket = await dial(access())
        socket.write(
          `${method} ${proxy}/x HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${access().token}\r\n${headers}\r\n${body}`,
          'latin1',
        )
        const [response] = (await once(socket, 'data')) as [Buffer]
        assert.match(response.toString('latin1'), hasRequest ? /^HTTP\/1\.1 (?:200|500) / : /^HTTP\/1\.1 400 /, headers)
        socket.destroy()
        for (const text of received) {
          assert.equal(requestsIn(text), 1, JSON.stringify(text))
          assert.doesNotMatch(text, /authorization|Bearer/i)
        }
      }
  })

  test('a path never leaves the root of the pod, and no escape ends the request line or starts a query', async () => {
    respond = (_request, socket) => send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', socket)
    const paths: readonly (readonly [requested: string, expected: string])[] = [
      ['/../../x', '/x'],
      ['/%2e%2e/%2E%2E/x', '/x'],
      ['/a%2f..%2f..%2fx', '/x'],
      ['//evil.example/x', '/evil.example/x'],
      ['/a%0d%0aX:%20y', '/a%0D%0AX:%20y'],
      ['/a%3fq=1', '/a%3Fq=1'],
      ['/a%23f', '/a%23f'],
      ['/a%252e%252e', '/a%252e%252e'],
      ['/%5c..%5cx', '/%5C..%5Cx'],
      ['/%00', '/%00'],
    ]
    for (const [requested, expected] of paths) {
      received = []
      const socket = await dial(access())
      socket.write(`GET ${proxy}${requested} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${access().token}\r\n\r\n`)
      await once(socket, 'data')
      socket.destroy()
      assert.equal(received[0]?.split('\r\n')[0], `GET ${expected} HTTP/1.1`, requested)
    }
  })

  const refusedUpgrades: readonly (readonly [title: string, response: string, code: number])[] = [
    ['a 200', 'HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nhi', 500],
    ['a redirect', 'HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n', 500],
    ['a 101 without an Upgrade header', 'HTTP/1.1 101 S\r\n\r\nhi', 500],
    ['a header of a megabyte', `${switchingProtocols}X: ${'y'.repeat(1 << 20)}\r\n\r\n`, 500],
    ['garbage', '\x00\x01\x02garbage\r\n\r\n', 500],
    ['nothing', 'END', 500],
    ['a 403 and a second response', 'HTTP/1.1 403 F\r\nContent-Length: 2\r\n\r\nnoHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison', 403],
  ]
  for (const [title, response, code] of refusedUpgrades)
    test(`an upgrade with the response ${title} is ${code}, and both connections close`, async () => {
      respond = (_request, socket) => send(response, socket)
      const opened = await upgrade(access(), `${proxy}/x`, { headers: { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' } })
      assert.equal(opened.code, code)
      const rest = await readRest(opened)
      assert.doesNotMatch(rest, /poison|hi$/)
      await until(
        async () => openSockets.size,
        (count) => count === 0,
      )
    })

  test('credentials are not sent to the pod with an upgrade', async () => {
    received = []
    respond = (_request, socket) => send(`${switchingProtocols}\r\n`, socket)
    const headers = {
      Upgrade: 'websocket',
      'Impersonate-User': 'system:admin',
      'Impersonate-Group': 'system:masters',
      'X-Remote-User': 'x',
      'X-Remote-Extra-Scopes': 'x',
      'Proxy-Authorization': 'Basic x',
      'Sec-WebSocket-Protocol': 'base64url.bearer.authorization.k8s.io.AAAA, v4.channel.k8s.io',
    }
    const { socket, code } = await upgrade(access(), `${proxy}/x`, { headers })
    assert.equal(code, 101)
    assert.doesNotMatch(received.join(''), /bearer|impersonate|x-remote|proxy-authorization/i)
    assert.match(received.join(''), /^Sec-WebSocket-Protocol: v4\.channel\.k8s\.io\r$/m)
    socket.destroy()
    await until(
      async () => openSockets.size,
      (count) => count === 0,
    )
  })
})
