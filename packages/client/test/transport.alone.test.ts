// The way to the server on Node: kept connections, proxies of each kind, names of certificates, waits, and what is said of failures.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttp, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { createServer as createTls } from 'node:tls'
import { issueCertificate } from '../../net/issue-certificate.js'
import { ConnectionError, isClosedError, isUnauthorized, ProtocolError, StatusError } from '../errors.js'
import { FetchTransport } from '../fetch-transport.js'
import { Requester } from '../requester.js'
import { openWatch } from '../watch-stream.js'
import { HttpTransport } from './http-transport.js'

const times = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'ca', use: 'authority', ...times }), commonName: 'ca' }
const certificate = (host: string) => issueCertificate({ commonName: host, hosts: [host], use: 'server', ...times }, authority)

const open: (Server | HttpServer)[] = []
const sockets = new Set<Socket>()
after(() => {
  for (const server of open) server.close()
  for (const socket of sockets) socket.destroy()
})

async function listen(server: Server | HttpServer): Promise<number> {
  open.push(server)
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => (server as Server).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

type Answering = (request: IncomingMessage, response: ServerResponse) => void
const sayHello: Answering = (request, response) => response.end(JSON.stringify({ path: request.url, port: request.socket.remotePort }))

const plain = async (answer: Answering = sayHello): Promise<string> => `http://127.0.0.1:${await listen(createHttp(answer))}`
const secure = async (host = '127.0.0.1'): Promise<string> => `https://127.0.0.1:${await listen(createHttps(certificate(host), sayHello))}`

interface Hello {
  readonly path: string
  readonly port: number
}
const requesterFor = (settings: ConstructorParameters<typeof HttpTransport>[0]): Requester =>
  new Requester({ transport: new HttpTransport(settings) })

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}

describe('the transport', () => {
  test('keeps connections, and uses them again', async () => {
    const requester = requesterFor({ server: await plain() })
    const ports = new Set<number>()
    for (let i = 0; i < 5; i++) ports.add((await requester.json<Hello>({ path: `/${i}` })).port)
    assert.equal(ports.size, 1)
  })

  test('a thousand requests one after another, or fifty at a time, cost no more than their connections', async () => {
    let handshakes = 0
    const server = createHttps(certificate('127.0.0.1'), sayHello).on('secureConnection', () => handshakes++)
    // However long this process is kept waiting.
    server.keepAliveTimeout = 0
    const requester = requesterFor({ server: `https://127.0.0.1:${await listen(server)}`, tls: { ca: authority.cert } })
    for (let i = 0; i < 1000; i++) await requester.json({ path: `/${i}` })
    assert.equal(handshakes, 1)
    for (let round = 0; round < 4; round++) await Promise.all(Array.from({ length: 50 }, (_, i) => requester.json({ path: `/${i}` })))
    assert.ok(handshakes <= 50, `${handshakes} handshakes`)
    // What was left unread, or cut off by the caller, takes no other connection with it.
    const before = handshakes
    for (let i = 0; i < 20; i++) (await requester.send({ path: '/unread' })).discard()
    assert.ok(handshakes - before <= 1, `${handshakes - before} more`)
    requester.settings.transport.close()
  })

  test('lies below the path of the address', async () => {
    const requester = requesterFor({ server: `${await plain()}/cluster/one/` })
    assert.equal(
      (await requester.json<Hello>({ path: '/api', query: { limit: 1, none: undefined, list: ['a', 'b&'] } })).path,
      '/cluster/one/api?limit=1&list=a&list=b%26',
    )
  })

  test('believes certificates of its authority, under the name that it is told', async () => {
    const server = await secure('api.inner')
    await assert.rejects(requesterFor({ server }).json({ path: '/' }), ConnectionError)
    await assert.rejects(requesterFor({ server, tls: { ca: authority.cert } }).json({ path: '/' }), /does not match certificate/)
    await requesterFor({ server, tls: { ca: authority.cert, serverName: 'api.inner' } }).json({ path: '/' })
    await requesterFor({ server, tls: { insecure: true } }).json({ path: '/' })
  })

  test('waits when it is told to, and not for ever', async () => {
    let count = 0
    const server = await plain((_, response) => {
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

  test('a credential that is refused is asked for again, once', async () => {
    const seen: (string | undefined)[] = []
    const server = await plain(({ headers }, response) => {
      seen.push(headers.authorization)
      response.writeHead(headers.authorization === 'good' ? 200 : 401).end('{}')
    })
    let next = 'bad'
    const credentials = {
      current: () => ({ authorization: next }),
      refuse: () => {
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

  test('says what went wrong', async () => {
    await assert.rejects(
      requesterFor({ server: 'http://127.0.0.1:1' }).json({ path: '/' }),
      (error) => error instanceof ConnectionError && error.code === 'ECONNREFUSED',
    )
    assert.throws(() => new HttpTransport({ server: 'ftp://a' }), /neither http nor https/)
    const html = await plain((_, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'))
    await assert.rejects(requesterFor({ server: html }).json({ path: '/' }), /Bad gateway/)
    const odd = await plain((_, response) => response.end('hello'))
    await assert.rejects(requesterFor({ server: odd }).json({ path: '/' }), /the answer is no JSON: hello/)
    const cut = await plain((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{')
      setTimeout(() => response.destroy(), 10)
    })
    await assert.rejects(requesterFor({ server: cut }).json({ path: '/' }), /broke off/)
  })

  test('does not read answers that never end', async () => {
    const chunk = Buffer.alloc(1 << 20, 'a')
    let sent = 0
    const server = await plain((request, response) => {
      sent = 0
      response.writeHead(request.url === '/error' ? 500 : 200)
      const go = (): void => {
        for (;;) {
          if (response.destroyed) return
          // A client that reads on fails below.
          if (sent === 300) return void response.end()
          sent++
          if (!response.write(chunk)) return void response.once('drain', go)
        }
      }
      go()
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

  test('does not fetch what nobody reads', async () => {
    const line = `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a', annotations: { text: 'x'.repeat(10_000) } } } })}\n`
    let sent = 0
    let isStuck: () => void = () => undefined
    const server = await plain((_, response) => {
      const go = (): void => {
        while (sent < 20_000) {
          sent++
          if (response.write(line)) continue
          response.once('drain', go)
          // Where it stays stuck is where it counts; until then it is only slow.
          isStuck()
          return
        }
      }
      go()
    })
    for (const transport of [new HttpTransport({ server }), new FetchTransport({ server })]) {
      sent = 0
      const events = await openWatch(new Requester({ transport }), { path: '/' }, {})
      let read = 0
      for await (const batch of events) {
        read += batch.length
        // As slow as a reader can be: until nothing more was taken from the server for a while.
        let before = -1
        while (before !== sent) {
          before = sent
          await Promise.race([new Promise<void>((resolve) => (isStuck = resolve)), new Promise((resolve) => setTimeout(resolve, 50))])
        }
        break
      }
      assert.ok(read > 0 && sent < 2000, `${sent} events of 10 kB were taken, ${read} were read`)
      transport.close()
    }
  })

  test('a client that was closed says so, and does not connect again', async () => {
    const server = await plain()
    for (const transport of [new HttpTransport({ server }), new FetchTransport({ server })]) {
      const requester = new Requester({ transport })
      await requester.json({ path: '/' })
      transport.close()
      await assert.rejects(requester.json({ path: '/' }), (error) => error instanceof ConnectionError && isClosedError(error))
    }
  })

  test('an answer that was cut off before it is read fails', async () => {
    const cuts: (() => void)[] = []
    const server = await plain((_, response) => {
      response.write('{"type":"ADDED","object":{}}\n')
      cuts.push(() => response.destroy())
    })
    const cut: Promise<unknown>[] = []
    const note = (told: unknown): void =>
      void cut.push(new Promise((resolve) => (told as { response: IncomingMessage }).response.once('close', resolve)))
    subscribe('http.client.response.finish', note)
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
    unsubscribe('http.client.response.finish', note)
  })

  test('follows no redirects', async () => {
    const seen: (string | undefined)[] = []
    const other = await plain((request, response) => {
      seen.push(request.url)
      response.end('{}')
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const server = await plain((request, response) => response.writeHead(status, { location: `${other}${request.url}` }).end())
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

  test('reads answers in many pieces as they are', async () => {
    const said = 'ä€'.repeat(100_000)
    const bytes = Buffer.from(said)
    const server = await plain((_, response) => {
      for (let i = 0; i < bytes.length; i += 997) response.write(bytes.subarray(i, i + 997))
      response.end()
    })
    for (const transport of [new HttpTransport({ server }), new FetchTransport({ server })]) {
      assert.equal(await new Requester({ transport }).text({ path: '/' }), said)
      transport.close()
    }
  })
})

describe('proxies', () => {
  /** Joins two sockets. */
  const join = (near: Socket, port: number, begin: () => void): void => {
    const far = connect(port, '127.0.0.1', () => {
      begin()
      near.pipe(far).pipe(near)
    })
    for (const socket of [near, far]) socket.on('error', () => undefined)
    sockets.add(far)
  }

  /** Speaks CONNECT. */
  function takeConnect(socket: Socket, login: string | undefined): void {
    socket.on('error', () => undefined)
    socket.once('data', (data) => {
      const [line = '', ...headers] = data.toString('latin1').split('\r\n')
      const port = Number(/^CONNECT 127\.0\.0\.1:(\d+) HTTP/.exec(line)?.[1])
      const given = headers.find((header) => header.startsWith('Proxy-Authorization: '))?.slice(21)
      if (given !== login) socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      else join(socket, port, () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
    })
  }

  /** Speaks SOCKS5, with a user and password where `login` has them. */
  function takeSocks(socket: Socket, login: string | undefined): void {
    socket.on('error', () => undefined)
    const ask = (next: (data: Buffer) => void): unknown => socket.once('data', next)
    const takeRequest = (): unknown =>
      ask((data) => {
        const isName = data[3] === 3
        const end = isName ? 5 + (data[4] ?? 0) : 8
        const host = isName ? data.subarray(5, end).toString() : [...data.subarray(4, 8)].join('.')
        if (host !== '127.0.0.1' && host !== 'inside.example') socket.end(Uint8Array.of(5, 4, 0, 1, 0, 0, 0, 0, 0, 0))
        else join(socket, data.readUInt16BE(end), () => socket.write(Uint8Array.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 0)))
      })
    ask((data) => {
      const wanted = login === undefined ? 0 : 2
      if (![...data.subarray(2)].includes(wanted)) return socket.end(Uint8Array.of(5, 255))
      socket.write(Uint8Array.of(5, wanted))
      if (login === undefined) return takeRequest()
      return ask((given) => {
        const name = given.subarray(2, 2 + (given[1] ?? 0))
        const password = given.subarray(3 + name.length)
        const isRight = `${name}:${password}` === login
        socket.write(Uint8Array.of(1, isRight ? 0 : 1))
        if (isRight) takeRequest()
      })
    })
  }

  const servers = async () => [await plain(), await secure()]
  const through = async (proxyUrl: string): Promise<void> => {
    for (const server of await servers()) {
      const { path } = await requesterFor({ server, proxyUrl, tls: { ca: authority.cert } }).json<Hello>({ path: '/x' })
      assert.equal(path, '/x')
    }
  }
  const refused = async (proxyUrl: string, message: RegExp, server?: string): Promise<void> => {
    await assert.rejects(
      requesterFor({ server: server ?? (await plain()), proxyUrl }).json({ path: '/' }),
      (error) => error instanceof ConnectionError && message.test(error.message),
    )
  }

  test('http', async () => {
    await through(`http://127.0.0.1:${await listen(createServer((socket) => takeConnect(socket, undefined)))}`)
    const port = await listen(createServer((socket) => takeConnect(socket, `Basic ${Buffer.from('me:p@ss').toString('base64')}`)))
    await through(`http://me:p%40ss@127.0.0.1:${port}`)
    await refused(`http://127.0.0.1:${port}`, /through the proxy http:\/\/127\.0\.0\.1:\d+: it answered 407/)
    await refused('http://127.0.0.1:1', /through the proxy .*ECONNREFUSED/)
    const silent = await listen(createServer((socket) => socket.end('what?\r\n\r\n')))
    await refused(`http://127.0.0.1:${silent}`, /does not speak HTTP/)
  })

  test('https', async () => {
    const { cert, key } = certificate('127.0.0.1')
    const port = await listen(createTls({ cert, key }, (socket) => takeConnect(socket, undefined)))
    await refused(`https://127.0.0.1:${port}`, /through the proxy https.*certificate/)
    // The authority of a proxy is one of the system's; here that is said by the environment of a process of its own.
    const folder = mkdtempSync('/tmp/proxy-ca-')
    writeFileSync(`${folder}/ca.crt`, authority.cert)
    const script = `import { HttpTransport } from ${JSON.stringify(new URL('./http-transport.js', import.meta.url).href)}
const transport = new HttpTransport({ server: ${JSON.stringify(await secure())}, proxyUrl: 'https://127.0.0.1:${port}' })
const answer = await transport.send({ method: 'GET', path: '/x', headers: {}, credential: {} })
console.log(answer.status); transport.close()`
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
    await through(`socks5://127.0.0.1:${await listen(createServer((socket) => takeSocks(socket, undefined)))}`)
    const port = await listen(createServer((socket) => takeSocks(socket, 'me:secret')))
    await through(`socks5://me:secret@127.0.0.1:${port}`)
    await refused(`socks5://me:wrong@127.0.0.1:${port}`, /does not accept the user and password/)
    await refused(`socks5://127.0.0.1:${port}`, /another way to log in/)
    await refused(`socks5://me:secret@127.0.0.1:${port}`, /the host cannot be reached/, 'http://outside.example:80')
    // The proxy looks the name up.
    const { port: target } = new URL(await plain())
    await requesterFor({ server: `http://inside.example:${target}`, proxyUrl: `socks5://me:secret@127.0.0.1:${port}` }).json({ path: '/' })
  })
})
