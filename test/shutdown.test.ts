// The way down: not ready first, then no new connections, then the end of watches, with every request in flight answered.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMapOf, configMaps, expectStatus, sleep, until } from './kit/fixtures.js'
import { Http2Client } from './kit/http2-client.js'
import { RawSocket } from './kit/raw-socket.js'
import { ServerProcess } from './kit/server-process.js'

test('with a delay: readiness fails first, everything else goes on', async () => {
  const server = await ServerProcess.start({ flags: ['--shutdown-delay-duration=2s'] })
  const { client } = server
  const watch = await client.watch(`${configMaps('default')}?watch=1`)
  const begin = Date.now()
  server.signal('SIGTERM')
  const ready = await until(
    () => client.get('/readyz?verbose'),
    ({ status }) => status === 500,
    1500,
  )
  assert.match(ready.text, /\[-\]shutdown failed/)
  expectStatus(await client.get('/livez'), 200)
  expectStatus(await client.post(configMaps('default'), configMapOf('late')), 201)
  await watch.atLeast(1)
  await watch.ended
  assert.ok(Date.now() - begin >= 1900, 'the watch lasted through the delay')
  assert.equal((await server.exited).code, 0) // not stopped by us: a second signal would end it at once
  assert.ok(Date.now() - begin < 14_000)
  await server.stop()
})

test('a request that has begun is answered', async () => {
  const server = await ServerProcess.start()
  const socket = await RawSocket.open(server.access)
  const body = JSON.stringify(configMapOf('slow'))
  socket.write(
    `POST ${configMaps('default')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.access.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  )
  await sleep(300)
  server.signal('SIGTERM')
  await sleep(300)
  await assert.rejects(RawSocket.open(server.access), 'nothing new is accepted')
  socket.write(body.slice(10))
  await socket.until((text) => text.includes('"uid"'), 5000)
  assert.deepEqual(socket.statuses, [201])
  const { code } = await server.exited
  assert.equal(code, 0)
  await server.stop()
})

test('idle connections and watches do not hold it up', async () => {
  const server = await ServerProcess.start()
  const idle = await RawSocket.open(server.access)
  const http2 = new Http2Client(server.access)
  expectStatus(await server.client.get('/readyz'), 200)
  await http2.send('GET', '/readyz')
  const stream = http2.open('GET', `${configMaps('default')}?watch=1`)
  stream.on('error', () => undefined)
  const watches = await Promise.all(Array.from({ length: 20 }, () => server.client.watch(`${configMaps('default')}?watch=1`)))
  const begin = Date.now()
  server.signal('SIGTERM')
  await Promise.all(watches.map(({ ended }) => ended))
  const { code } = await server.exited
  assert.equal(code, 0)
  assert.ok(Date.now() - begin < 5000, `it took ${Date.now() - begin} ms`)
  idle.close()
  http2.close()
  await server.stop()
})

test('a second signal ends it at once', async () => {
  const server = await ServerProcess.start({ flags: ['--shutdown-delay-duration=60s'] })
  const begin = Date.now()
  server.signal('SIGTERM')
  await sleep(200)
  server.signal('SIGTERM')
  const { code } = await server.exited
  assert.equal(code, 1)
  assert.ok(Date.now() - begin < 5000)
  await server.stop()
})

test('what was stored just before is there after the restart', async () => {
  const server = await ServerProcess.start()
  const names = Array.from({ length: 50 }, (_, i) => `o-${i}`)
  await Promise.all(names.map(async (name) => expectStatus(await server.client.post(configMaps('default'), configMapOf(name)), 201)))
  server.signal('SIGINT')
  assert.equal((await server.exited).code, 0)
  const next = await ServerProcess.start({ dataDir: server.dataDir })
  assert.equal((await next.client.get(configMaps('default'))).json.items.length, names.length)
  await next.stop()
  await server.stop()
})
