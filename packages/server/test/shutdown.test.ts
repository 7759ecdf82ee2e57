// Graceful shutdown: readiness fails first, then no new connections, then watches end; requests in flight get their response.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMapOf, configMaps, expectStatus, until, untilStatus } from '../../../test/kit/fixtures.js'
import { readMetrics } from '../../../test/kit/metrics-text.js'
import { Http2Client } from '../../../test/kit/network/http2-client.js'
import { RawSocket } from '../../../test/kit/network/raw-socket.js'
import { ServerProcess } from '../../../test/kit/server-process.js'

test('with a shutdown delay readiness fails first, other requests succeed', async () => {
  const server = await ServerProcess.start({ flags: ['--shutdown-delay-duration=4s'] })
  const { client } = server
  const watch = await client.watch(`${configMaps('default')}?watch=1`)
  const begin = Date.now()
  server.signal('SIGTERM')
  const ready = await untilStatus(() => client.get('/readyz?verbose'), 500)
  assert.match(ready.text, /\[-\]shutdown failed/)
  expectStatus(await client.get('/livez'), 200)
  expectStatus(await client.post(configMaps('default'), configMapOf('late')), 201)
  await watch.atLeast(1)
  await watch.ended
  assert.ok(Date.now() - begin >= 3900, 'the watch lasted through the delay')
  assert.equal((await server.exited).code, 0) // not stopped by us: a second signal would end it at once
  await server.stop()
})

test('a request in flight gets its response', async () => {
  const server = await ServerProcess.start()
  const socket = await RawSocket.open(server.access)
  const body = JSON.stringify(configMapOf('slow'))
  socket.write(
    `POST ${configMaps('default')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.access.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  )
  const inFlight = async (): Promise<number> =>
    readMetrics((await server.client.get('/metrics')).text).sum('apiserver_current_inflight_requests', { request_kind: 'mutating' })
  await until(inFlight, (count) => count === 1)
  server.signal('SIGTERM')
  const canConnect = (): Promise<boolean> =>
    RawSocket.open(server.access).then(
      (other) => {
        other.close()
        return true
      },
      () => false,
    )
  await until(canConnect, (isOpen) => !isOpen)
  socket.write(body.slice(10))
  await socket.until((text) => text.includes('"uid"'), 60_000)
  assert.deepEqual(socket.statuses, [201])
  const { code } = await server.exited
  assert.equal(code, 0)
  await server.stop()
})

test('idle connections and watches do not delay the exit', async () => {
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
  // Less than the ten seconds that shutdown waits for requests in flight.
  assert.ok(Date.now() - begin < 9500, `it took ${Date.now() - begin} ms`)
  idle.close()
  http2.close()
  await server.stop()
})

test('a second signal ends the process at once', async () => {
  const server = await ServerProcess.start({ flags: ['--shutdown-delay-duration=60s'] })
  const begin = Date.now()
  server.signal('SIGTERM')
  await untilStatus(() => server.client.get('/readyz'), 500)
  server.signal('SIGTERM')
  const { code } = await server.exited
  assert.equal(code, 1)
  assert.ok(Date.now() - begin < 40_000)
  await server.stop()
})

test('a write just before the exit is there after a restart', async () => {
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
