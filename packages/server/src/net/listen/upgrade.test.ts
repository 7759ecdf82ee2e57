// Upgraded connections through the proxy: early bytes, refusals, disconnects, rate limits, and upgrades that are not taken.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import { certificate, cleanups, dial, readUntil, startBackend, startProxy, startTcp, upgradeRequest } from '../proxy/proxy.fixture.js'
import { listen } from './listen.js'

const switching = (socket: Socket): void => {
  socket.once('data', (head) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n')
    socket.write(`seen ${String(head).split('\r\n')[0]};`)
    socket.on('data', (chunk) => socket.write(chunk))
    socket.once('end', () => socket.end())
  })
}

test('after a 101 bytes are passed in both directions, including early ones', async () => {
  const { port, outcomes } = await startProxy(await startTcp(switching))
  const socket = await dial(port)
  socket.write(`${upgradeRequest('/up?x')}early`)
  const text = await readUntil(socket, 'early')
  assert.match(
    text,
    /^HTTP\/1\.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY\/3\.1\r\n\r\nseen GET \/up\?x HTTP\/1\.1;early$/,
  )
  const large = Buffer.alloc(3 << 20, 'y')
  let receivedBytes = 0
  socket.on('data', (chunk) => (receivedBytes += chunk.length))
  socket.write(large)
  await until(() => receivedBytes === large.length)
  socket.end()
  if (!socket.closed) await once(socket, 'close')
  await until(() => outcomes.length === 1)
})

test('a refused upgrade is passed on; a 200 response to an upgrade is an error', async () => {
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

test('a disconnect before the upgrade, or of either side after it, ends both connections', async () => {
  const sockets: Socket[] = []
  const silent = await startProxy(await startTcp((socket) => void sockets.push(socket.resume())))
  const waiting = await dial(silent.port)
  waiting.write(upgradeRequest())
  await until(() => sockets.length === 1)
  waiting.destroy()
  await until(() => sockets[0]?.closed === true)
  assert.deepEqual(silent.outcomes, ['done'])

  const { port } = await startProxy(await startTcp((socket) => switchThenClose(socket)))
  const socket = await dial(port)
  socket.write(upgradeRequest())
  await readUntil(socket, 'bye')
  if (!socket.closed) await once(socket, 'close')
})

function switchThenClose(socket: Socket): void {
  socket.once('data', () => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n')
    socket.end('bye')
  })
}

test('a 101 head that Node.js cannot write fails only its request', async () => {
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
  // Node.js refuses a Trailer header without chunked encoding.
  const header = await start(heads[1] as string)
  const other = await dial(header.port)
  other.write(upgradeRequest())
  await once(other.resume(), 'close')
  await until(() => header.outcomes.length === 1)
  assert.match(header.outcomes[0] as string, /trailer/i)
  await until(() => sockets.every(({ destroyed }) => destroyed))
})

test('an idle upgraded connection is closed, and a fast one is rate-limited', async () => {
  const quiet = await startProxy(await startTcp(switching), { limits: { upgradedIdleMs: 100 } })
  const silent = await dial(quiet.port)
  silent.write(upgradeRequest())
  await once(silent.resume(), 'close')
  const paced = await startProxy(await startTcp(switching), { overrides: { bytesPerSecond: 1_000_000 } })
  const socket = await dial(paced.port)
  socket.write(upgradeRequest())
  await readUntil(socket, ';')
  const startMs = performance.now()
  let receivedBytes = 0
  socket.on('data', (chunk) => (receivedBytes += chunk.length))
  socket.write(Buffer.alloc(600_000))
  await until(() => receivedBytes === 600_000)
  assert.ok(performance.now() - startMs > 300, `${performance.now() - startMs} ms`)
  socket.destroy()
})

test('back-pressure of an upgraded connection reaches the other side', async () => {
  let written = 0
  const block = Buffer.alloc(64 << 10)
  const url = await startTcp((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      const writeMore = (): void => {
        while (!socket.destroyed && socket.write(block)) written += block.length
        if (!socket.destroyed) socket.once('drain', writeMore)
      }
      writeMore()
    })
  })
  const { port } = await startProxy(url)
  const socket = await dial(port)
  socket.write(upgradeRequest())
  await once(socket, 'data')
  socket.pause()
  // Waits until nothing more is written: a busy machine takes its time.
  for (let before = -1; written !== before; ) {
    before = written
    await sleep(200)
    assert.ok(written < 24 << 20, `${written} bytes are on their way`)
  }
  socket.destroy()
})

test('an upgrade request that is not taken gets an ordinary response, also with a body', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, (request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    const upgradeHeaders = request.rawHeaders.filter((_, i, all) => all[i - 1]?.toLowerCase() === 'upgrade')
    request.on('end', () => response.end(`${request.method} ${request.url} [${body}] ${upgradeHeaders}`))
  })
  cleanups.push(() => listener.close())
  const socket = await dial(listener.port)
  socket.write(upgradeRequest('/plain'))
  assert.match(await readUntil(socket, ']'), /^HTTP\/1\.1 200 OK\r\n.*Connection: close.*GET \/plain \[\]/s)
  if (!socket.closed) await once(socket, 'close')
  const other = await dial(listener.port)
  const head = 'POST /body HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\n'
  other.write(`${head}hel`)
  await sleep(30)
  other.write(`loGET /next HTTP/1.1\r\nHost: x\r\n\r\n`)
  assert.match(await readUntil(other, '/next []'), /POST \/body \[hello\] h2c.*GET \/next/s)
  other.destroy()
})
