// HTTP and fetch transports: keep-alive, TLS, retries, limits, redirects, proxies, errors.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttp, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { createServer as createTls } from 'node:tls'
import { issueCertificate } from '../../server/src/net/tls/issue-certificate.js'
import { ConnectionError, isClosedError, isUnauthorized, ProtocolError, StatusError } from '../src/errors.js'
import { HttpTransport } from '../src/node/http-transport.js'
import { Requester } from '../src/requests/requester.js'
import { FetchTransport } from '../src/transport/fetch-transport.js'
import { openWatch } from '../src/watch/watch-stream.js'

const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'ca', use: 'authority', ...validity }), commonName: 'ca' }
const certificate = (host: string) => issueCertificate({ commonName: host, hosts: [host], use: 'server', ...validity }, authority)

const openServers: (Server | HttpServer)[] = []
const sockets = new Set<Socket>()
after(() => {
  for (const server of openServers) server.close()
  for (const socket of sockets) socket.destroy()
})

async function listen(server: Server | HttpServer): Promise<number> {
  openServers.push(server)
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => (server as Server).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void
const echo: RequestListener = (request, response) => response.end(JSON.stringify({ path: request.url, port: request.socket.remotePort }))

const startHttp = async (listener: RequestListener = echo): Promise<string> => `http://127.0.0.1:${await listen(createHttp(listener))}`
const startHttps = async (host = '127.0.0.1'): Promise<string> => `https://127.0.0.1:${await listen(createHttps(certificate(host), echo))}`

interface Echo {
  readonly path: string
  readonly port: number
}
const requesterFor = (settings: ConstructorParameters<typeof HttpTransport>[0]): Requester =>
  new Requester({ transport: new HttpTransport(settings) })

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}

describe('transport', () => {
  test('reuses connections', async () => {
    const requester = requesterFor({ server: await startHttp() })
    const ports = new Set<number>()
    for (let i = 0; i < 5; i++) ports.add((await requester.json<Echo>({ path: `/${i}` })).port)
    assert.equal(ports.size, 1)
  })

  test('prepends the base path of the server', async () => {
    const requester = requesterFor({ server: `${await startHttp()}/cluster/one/` })
    assert.equal(
      (await requester.json<Echo>({ path: '/api', query: { limit: 1, none: undefined, list: ['a', 'b&'] } })).path,
      '/cluster/one/api?limit=1&list=a&list=b%26',
    )
  })

  test('verifies the server certificate with ca and serverName', async () => {
    const server = await startHttps('api.inner')
    await assert.rejects(requesterFor({ server }).json({ path: '/' }), ConnectionError)
    await assert.rejects(requesterFor({ server, tls: { ca: authority.cert } }).json({ path: '/' }), /does not match certificate/)
    await requesterFor({ server, tls: { ca: authority.cert, serverName: 'api.inner' } }).json({ path: '/' })
    await requesterFor({ server, tls: { insecure: true } }).json({ path: '/' })
    const pair = certificate('127.0.0.1')
    const pinned = `https://127.0.0.1:${await listen(createHttps(pair, echo))}`
    await requesterFor({ server: pinned, tls: { ca: pair.cert } }).json({ path: '/' })
  })

  test('retries 429 with Retry-After up to the limit', async () => {
    let count = 0
    const server = await startHttp((_, response) => {
      count++
      if (count > 2) response.end('{}')
      else response.writeHead(429, { 'retry-after': '0' }).end('busy')
    })
    const transport = new HttpTransport({ server })
    await new Requester({ transport }).json({ path: '/' })
    assert.equal(count, 3)
    count = -100
    await assert.rejects(
      new Requester({ transport, retries: 3 }).json({ path: '/' }),
      (error) => error instanceof StatusError && error.code === 429,
    )
    assert.equal(count, -96)
  })

  test('after 401 requests a new credential once', async () => {
    const seen: (string | undefined)[] = []
    const server = await startHttp(({ headers }, response) => {
      seen.push(headers.authorization)
      response.writeHead(headers.authorization === 'good' ? 200 : 401).end('{}')
    })
    let next = 'bad'
    const credentials = {
      current: () => ({ authorization: next }),
      invalidate: () => {
        next = seen.length > 3 ? 'good' : `bad ${seen.length}`
        return true
      },
    }
    const requester = new Requester({ transport: new HttpTransport({ server }), credentials })
    await assert.rejects(requester.json({ path: '/' }), isUnauthorized)
    assert.deepEqual(seen, ['bad', 'bad 1'])
    await assert.rejects(requester.json({ path: '/' }), isUnauthorized)
    await requester.json({ path: '/' })
    assert.equal(seen.at(-1), 'good')
  })

  test('reports connection errors, invalid JSON and broken responses', async () => {
    await assert.rejects(
      requesterFor({ server: 'http://127.0.0.1:1' }).json({ path: '/' }),
      (error) => error instanceof ConnectionError && error.code === 'ECONNREFUSED',
    )
    assert.throws(() => new HttpTransport({ server: 'ftp://a' }), /neither http nor https/)
    const html = await startHttp((_, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'))
    await assert.rejects(requesterFor({ server: html }).json({ path: '/' }), /Bad gateway/)
    const notJson = await startHttp((_, response) => response.end('hello'))
    await assert.rejects(requesterFor({ server: notJson }).json({ path: '/' }), /the response is not JSON: hello/)
    const cut = await startHttp((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{')
      setTimeout(() => response.destroy(), 10)
    })
    await assert.rejects(requesterFor({ server: cut }).json({ path: '/' }), /broke off/)
  })

  test('stops reading bodies above 128 MiB, and errors above 1 MiB', async () => {
    const chunk = Buffer.alloc(1 << 20, 'a')
    let sent = 0
    const server = await startHttp((request, response) => {
      sent = 0
      response.writeHead(request.url === '/error' ? 500 : 200)
      const writeMore = (): void => {
        for (;;) {
          if (response.destroyed) return
          // The assertion below fails if the client reads this far.
          if (sent === 300) return void response.end()
          sent++
          if (!response.write(chunk)) return void response.once('drain', writeMore)
        }
      }
      writeMore()
    })
    for (const transport of [new HttpTransport({ server }), new FetchTransport({ server })]) {
      const requester = new Requester({ transport })
      await assert.rejects(
        requester.text({ path: '/' }),
        (error) => error instanceof ProtocolError && /longer than 134217728/.test(error.message),
      )
      assert.ok(sent < 300)
      await assert.rejects(
        requester.text({ path: '/error' }),
        (error) => error instanceof StatusError && error.code === 500 && /longer than 1048576/.test(error.message),
      )
      assert.ok(sent < 100)
      transport.close()
    }
  })

  test('a slow reader of a watch stops the server by backpressure', async () => {
    const line = `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a', annotations: { text: 'x'.repeat(10_000) } } } })}\n`
    let sent = 0
    let onFull: () => void = () => undefined
    const server = await startHttp((_, response) => {
      const writeMore = (): void => {
        while (sent < 20_000) {
          sent++
          if (response.write(line)) continue
          response.once('drain', writeMore)
          onFull()
          return
        }
      }
      writeMore()
    })
    for (const transport of [new HttpTransport({ server }), new FetchTransport({ server })]) {
      sent = 0
      const events = await openWatch(new Requester({ transport }), { path: '/' }, {})
      let read = 0
      for await (const batch of events) {
        read += batch.length
        // Waits until the server has written nothing for 50 ms.
        let before = -1
        while (before !== sent) {
          before = sent
          await Promise.race([new Promise<void>((resolve) => (onFull = resolve)), new Promise((resolve) => setTimeout(resolve, 50))])
        }
        break
      }
      assert.ok(read > 0 && sent < 2000, `${sent} events of 10 kB were taken, ${read} were read`)
      transport.close()
    }
  })

  test('a closed transport rejects requests', async () => {
    const server = await startHttp()
    for (const transport of [new HttpTransport({ server }), new FetchTransport({ server })]) {
      const requester = new Requester({ transport })
      await requester.json({ path: '/' })
      transport.close()
      await assert.rejects(requester.json({ path: '/' }), (error) => error instanceof ConnectionError && isClosedError(error))
    }
  })

  test('a response that breaks before it is read rejects', async () => {
    const cuts: (() => void)[] = []
    const server = await startHttp((_, response) => {
      response.write('{"type":"ADDED","object":{}}\n')
      cuts.push(() => response.destroy())
    })
    const cut: Promise<unknown>[] = []
    const trackClose = (message: unknown): void =>
      void cut.push(new Promise((resolve) => (message as { response: IncomingMessage }).response.once('close', resolve)))
    subscribe('http.client.response.finish', trackClose)
    for (const transport of [new HttpTransport({ server }), new FetchTransport({ server })]) {
      for (const read of ['text', 'chunks'] as const) {
        const response = await transport.send({ method: 'GET', path: '/', headers: {}, credential: {} })
        cuts.pop()?.()
        await cut.pop()
        const reading = read === 'text' ? response.text() : readAll(response.chunks())
        await assert.rejects(reading, (error) => error instanceof ConnectionError && /broke off|cut off/.test(error.message))
      }
      transport.close()
    }
    unsubscribe('http.client.response.finish', trackClose)
  })

  test('does not follow redirects', async () => {
    const seen: (string | undefined)[] = []
    const other = await startHttp((request, response) => {
      seen.push(request.url)
      response.end('{}')
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const server = await startHttp((request, response) => response.writeHead(status, { location: `${other}${request.url}` }).end())
      for (const transport of [new HttpTransport({ server }), new FetchTransport({ server })]) {
        const requester = new Requester({ transport, impersonate: { user: 'somebody' } })
        await assert.rejects(requester.json({ path: '/', method: 'POST', body: { secret: 1 } }), /redirects are not followed/)
        await assert.rejects(
          requester.text({ path: '/' }),
          (error) => error instanceof ProtocolError && error.message.includes(String(status)),
        )
        transport.close()
      }
    }
    assert.deepEqual(seen, [])
  })

  test('decodes UTF-8 across chunk boundaries', async () => {
    const text = 'ä€'.repeat(100_000)
    const bytes = Buffer.from(text)
    const server = await startHttp((_, response) => {
      for (let i = 0; i < bytes.length; i += 997) response.write(bytes.subarray(i, i + 997))
      response.end()
    })
    for (const transport of [new HttpTransport({ server }), new FetchTransport({ server })]) {
      assert.equal(await new Requester({ transport }).text({ path: '/' }), text)
      transport.close()
    }
  })
})

describe('proxies', () => {
  /** Connects to the port and pipes both ways. */
  const join = (near: Socket, port: number, begin: () => void): void => {
    const far = connect(port, '127.0.0.1', () => {
      begin()
      near.pipe(far).pipe(near)
    })
    for (const socket of [near, far]) socket.on('error', () => undefined)
    sockets.add(far)
  }

  /** HTTP proxy with CONNECT. */
  function serveConnect(socket: Socket, login: string | undefined): void {
    socket.on('error', () => undefined)
    socket.once('data', (data) => {
      const [line = '', ...headers] = data.toString('latin1').split('\r\n')
      const port = Number(/^CONNECT 127\.0\.0\.1:(\d+) HTTP/.exec(line)?.[1])
      const given = headers.find((header) => header.startsWith('Proxy-Authorization: '))?.slice(21)
      if (given !== login) socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      else join(socket, port, () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
    })
  }

  /** SOCKS5 proxy, with user and password if `login` is set. */
  function serveSocks5(socket: Socket, login: string | undefined): void {
    socket.on('error', () => undefined)
    const onceData = (next: (data: Buffer) => void): unknown => socket.once('data', next)
    const serveRequest = (): unknown =>
      onceData((data) => {
        const isName = data[3] === 3
        const end = isName ? 5 + (data[4] ?? 0) : 8
        const host = isName ? data.subarray(5, end).toString() : [...data.subarray(4, 8)].join('.')
        if (host !== '127.0.0.1' && host !== 'inside.example') socket.end(Uint8Array.of(5, 4, 0, 1, 0, 0, 0, 0, 0, 0))
        else join(socket, data.readUInt16BE(end), () => socket.write(Uint8Array.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 0)))
      })
    onceData((data) => {
      const method = login === undefined ? 0 : 2
      if (![...data.subarray(2)].includes(method)) return socket.end(Uint8Array.of(5, 255))
      socket.write(Uint8Array.of(5, method))
      if (login === undefined) return serveRequest()
      return onceData((given) => {
        const name = given.subarray(2, 2 + (given[1] ?? 0))
        const password = given.subarray(3 + name.length)
        const isAccepted = `${name}:${password}` === login
        socket.write(Uint8Array.of(1, isAccepted ? 0 : 1))
        if (isAccepted) serveRequest()
      })
    })
  }

  const servers = async () => [await startHttp(), await startHttps()]
  const sendThrough = async (proxyUrl: string): Promise<void> => {
    for (const server of await servers()) {
      const { path } = await requesterFor({ server, proxyUrl, tls: { ca: authority.cert } }).json<Echo>({ path: '/x' })
      assert.equal(path, '/x')
    }
  }
  const failsThrough = async (proxyUrl: string, message: RegExp, server?: string): Promise<void> => {
    await assert.rejects(
      requesterFor({ server: server ?? (await startHttp()), proxyUrl }).json({ path: '/' }),
      (error) => error instanceof ConnectionError && message.test(error.message),
    )
  }

  test('http', async () => {
    await sendThrough(`http://127.0.0.1:${await listen(createServer((socket) => serveConnect(socket, undefined)))}`)
    const port = await listen(createServer((socket) => serveConnect(socket, `Basic ${Buffer.from('me:p@ss').toString('base64')}`)))
    await sendThrough(`http://me:p%40ss@127.0.0.1:${port}`)
    await failsThrough(`http://127.0.0.1:${port}`, /through the proxy http:\/\/127\.0\.0\.1:\d+: it responded with 407/)
    await failsThrough('http://127.0.0.1:1', /through the proxy .*ECONNREFUSED/)
    const notHttp = await listen(createServer((socket) => socket.end('what?\r\n\r\n')))
    await failsThrough(`http://127.0.0.1:${notHttp}`, /the response is not HTTP/)
  })

  test('https', async () => {
    const { cert, key } = certificate('127.0.0.1')
    const port = await listen(createTls({ cert, key }, (socket) => serveConnect(socket, undefined)))
    await failsThrough(`https://127.0.0.1:${port}`, /through the proxy https.*certificate/)
    // `tls.ca` is not used for the proxy: Node.js itself must trust its CA, so a child process runs with NODE_EXTRA_CA_CERTS.
    const folder = mkdtempSync('/tmp/proxy-ca-')
    writeFileSync(`${folder}/ca.crt`, authority.cert)
    const script = `import { HttpTransport } from ${JSON.stringify(new URL('../src/node/http-transport.js', import.meta.url).href)}
const transport = new HttpTransport({ server: ${JSON.stringify(await startHttps())}, proxyUrl: 'https://127.0.0.1:${port}' })
const response = await transport.send({ method: 'GET', path: '/x', headers: {}, credential: {} })
console.log(response.status); transport.close()`
    const output = await new Promise<string>((resolve, reject) =>
      execFile(
        process.execPath,
        ['--input-type=module', '-e', script],
        { env: { ...process.env, NODE_EXTRA_CA_CERTS: `${folder}/ca.crt` } },
        (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
      ),
    )
    rmSync(folder, { recursive: true })
    assert.equal(output.trim(), '200')
  })

  test('socks5', async () => {
    await sendThrough(`socks5://127.0.0.1:${await listen(createServer((socket) => serveSocks5(socket, undefined)))}`)
    const port = await listen(createServer((socket) => serveSocks5(socket, 'me:secret')))
    await sendThrough(`socks5://me:secret@127.0.0.1:${port}`)
    await failsThrough(`socks5://me:wrong@127.0.0.1:${port}`, /it rejected user and password/)
    await failsThrough(`socks5://127.0.0.1:${port}`, /requires an authentication method/)
    await failsThrough(`socks5://me:secret@127.0.0.1:${port}`, /host unreachable/, 'http://outside.example:80')
    // The proxy resolves the host name.
    const { port: target } = new URL(await startHttp())
    await requesterFor({ server: `http://inside.example:${target}`, proxyUrl: `socks5://me:secret@127.0.0.1:${port}` }).json({ path: '/' })
  })
})
