// Changes of protocol through a proxy: what is said before and after, who goes when, and requests that only seem to want one.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen } from './listen.js'
import { certificate, closing, dial, eventually, readUntil, startBackend, startProxy, startTcp, upgradeRequest } from './proxy.fixture.js'

const switching = (socket: Socket): void => {
  socket.once('data', (head) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n')
    socket.write(`seen ${String(head).split('\r\n')[0]};`)
    socket.on('data', (chunk) => socket.write(chunk))
    socket.once('end', () => socket.end())
  })
}

test('another protocol is spoken from the 101 on, both ways, with what was sent too early', async () => {
  const { port, ends } = await startProxy(await startTcp(switching))
  const socket = await dial(port)
  socket.write(`${upgradeRequest('/up?x')}early`)
  const text = await readUntil(socket, 'early')
  assert.match(
    text,
    /^HTTP\/1\.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY\/3\.1\r\n\r\nseen GET \/up\?x HTTP\/1\.1;early$/,
  )
  const large = Buffer.alloc(3 << 20, 'y')
  let back = 0
  socket.on('data', (chunk) => (back += chunk.length))
  socket.write(large)
  await eventually(() => back === large.length, 'all comes back')
  socket.end()
  if (!socket.closed) await once(socket, 'close')
  await eventually(() => ends.length === 1, 'the request is over')
})

test('a refused change of protocol is passed on, and a strange answer is an error', async () => {
  const { url } = await startBackend((request, response) => {
    if (request.url === '/no') response.writeHead(403, { 'Content-Type': 'text/plain' }).end('you may not')
    else response.end('fine')
  })
  const { port } = await startProxy(url)
  const refused = await dial(port)
  refused.write(upgradeRequest('/no'))
  const text = await readUntil(refused, 'you may not')
  assert.match(text, /^HTTP\/1\.1 403 Forbidden\r\n/)
  if (!refused.closed) await once(refused, 'close')
  const strange = await dial(port)
  strange.write(upgradeRequest('/yes'))
  assert.match(await readUntil(strange, 'status code 200'), /^HTTP\/1\.1 503 .*invalid upgrade response: status code 200/s)
})

test('who goes before the protocol has changed is noticed, and so is a side that ends later', async () => {
  const sockets: Socket[] = []
  const silent = await startProxy(await startTcp((socket) => void sockets.push(socket.resume())))
  const waiting = await dial(silent.port)
  waiting.write(upgradeRequest())
  await eventually(() => sockets.length === 1, 'the other server was reached')
  waiting.destroy()
  await eventually(() => sockets[0]?.closed === true, 'and left again')
  assert.deepEqual(silent.ends, ['over'])

  const { port } = await startProxy(await startTcp((socket) => switchThenClose(socket)))
  const socket = await dial(port)
  socket.write(upgradeRequest())
  await readUntil(socket, 'last words')
  if (!socket.closed) await once(socket, 'close')
})

function switchThenClose(socket: Socket): void {
  socket.once('data', () => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n')
    socket.end('last words')
  })
}

test('a head of a changed protocol that cannot be passed on as it came brings nobody down', async () => {
  const heads = ['101 \x01hey\r\n', '101 Switching Protocols\r\nTrailer: X-Sum\r\n']
  const sockets: Socket[] = []
  const start = (line: string): ReturnType<typeof startProxy> =>
    startTcp((socket) => {
      sockets.push(socket)
      socket.once('data', () => socket.write(`HTTP/1.1 ${line}Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nhello`))
    }).then((url) => startProxy(url))
  const reason = await start(heads[0] as string)
  const socket = await dial(reason.port)
  socket.write(upgradeRequest())
  assert.match(await readUntil(socket, 'hello'), /^HTTP\/1\.1 101 Switching Protocols\r\n/)
  socket.destroy()
  // Node writes no such header in an answer without chunks.
  const header = await start(heads[1] as string)
  const other = await dial(header.port)
  other.write(upgradeRequest())
  await once(other.resume(), 'close')
  await eventually(() => header.ends.length === 1, 'the request has failed')
  assert.match(header.ends[0] as string, /trailer/i)
  await eventually(() => sockets.every(({ destroyed }) => destroyed), 'the other server was left')
})

test('a changed protocol in which nothing is said ends, and one that is too quick is slowed down', async () => {
  const quiet = await startProxy(await startTcp(switching), { limits: { upgradedIdleMs: 100 } })
  const silent = await dial(quiet.port)
  silent.write(upgradeRequest())
  await once(silent.resume(), 'close')
  const paced = await startProxy(await startTcp(switching), { more: { bytesPerSecond: 1_000_000 } })
  const socket = await dial(paced.port)
  socket.write(upgradeRequest())
  await readUntil(socket, ';')
  const begun = performance.now()
  let back = 0
  socket.on('data', (chunk) => (back += chunk.length))
  socket.write(Buffer.alloc(600_000))
  await eventually(() => back === 600_000, 'all comes back')
  assert.ok(performance.now() - begun > 300, `${performance.now() - begun} ms`)
  socket.destroy()
})

test('a slow side of a changed protocol holds the other back', async () => {
  let written = 0
  const piece = Buffer.alloc(64 << 10)
  const url = await startTcp((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      const more = (): void => {
        while (!socket.destroyed && socket.write(piece)) written += piece.length
        if (!socket.destroyed) socket.once('drain', more)
      }
      more()
    })
  })
  const { port } = await startProxy(url)
  const socket = await dial(port)
  socket.write(upgradeRequest())
  await once(socket, 'data')
  socket.pause()
  // Until nothing more goes: a busy machine takes its time.
  for (let before = -1; written !== before; ) {
    before = written
    await sleep(200)
    assert.ok(written < 24 << 20, `${written} bytes are on their way`)
  }
  socket.destroy()
})

test('a request that asks for another protocol is answered like any other where nobody speaks it, also one with a body', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, (request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => response.end(`${request.method} ${request.url} [${body}]`))
  })
  closing.push(() => listener.close())
  const socket = await dial(listener.port)
  socket.write(upgradeRequest('/plain'))
  assert.match(await readUntil(socket, ']'), /^HTTP\/1\.1 200 OK\r\n.*Connection: close.*GET \/plain \[\]/s)
  if (!socket.closed) await once(socket, 'close')
  const other = await dial(listener.port)
  const head = 'POST /body HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\n'
  other.write(`${head}hel`)
  await sleep(30)
  other.write(`loGET /next HTTP/1.1\r\nHost: x\r\n\r\n`)
  assert.match(await readUntil(other, '/next'), /POST \/body \[hello\].*GET \/next/s)
  other.destroy()
})
