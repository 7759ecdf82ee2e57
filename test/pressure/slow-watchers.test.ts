// Watchers that never read, while many large changes go by: they are let go, memory stays where it was, and those who read miss nothing.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { after, before, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { configMapOf, configMaps, expectStatus, until } from '../kit/fixtures.js'
import { readMetrics } from '../kit/metrics-text.js'
import { ServerProcess } from '../kit/server-process.js'
import { MemoryWatch } from './memory-watch.js'

const changes = 500
const changeBytes = 100_000
const path = `${configMaps('default')}?watch=1&resourceVersion=`
let server: ServerProcess
before(async () => {
  server = await ServerProcess.start({ flags: ['--read-cache-bytes=1MiB'] })
})
after(() => server.stop())

async function watchHttp1(from: string): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: server.access.ca, ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  socket.write(`GET ${path}${from} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.access.token}\r\n\r\n`)
  return socket
}

/** Ten watches on one connection. */
function watchHttp2(from: string) {
  const session = connectHttp2(server.url, { ca: server.access.ca })
  session.on('error', () => undefined)
  for (let i = 0; i < 10; i++) {
    const stream = session.request({ ':path': `${path}${from}`, authorization: `Bearer ${server.access.token}` })
    stream.on('error', () => undefined)
    stream.pause()
  }
  return session
}

const watchers = async (): Promise<number> => {
  const { text } = await server.client.get('/metrics')
  return readMetrics(text).sum('apiserver_longrunning_requests')
}

test('300 watchers that never read, 50 MB of changes', async () => {
  const { metadata } = expectStatus(await server.client.get(configMaps('default')), 200).json
  const from = metadata.resourceVersion
  const idle = await watchers()
  const descriptors = server.openDescriptors
  const healthy = await server.client.watch(`${path}${from}`)
  const http1 = await Promise.all(Array.from({ length: 200 }, () => watchHttp1(from)))
  const http2 = Array.from({ length: 10 }, () => watchHttp2(from))
  await until(watchers, (count) => count === idle + 301)
  const memory = new MemoryWatch(server)
  const text = 'x'.repeat(changeBytes)
  for (let i = 0; i < changes; i += 10) {
    const some = Array.from({ length: 10 }, (_, j) => configMapOf(`c-${i + j}`, { data: { text } }))
    await Promise.all(some.map((object) => server.client.post(configMaps('default'), object).then((answer) => expectStatus(answer, 201))))
  }
  await healthy.atLeast(changes, 20_000)
  const versions = healthy.events.map(({ object }) => Number(object.metadata.resourceVersion))
  assert.deepEqual(
    versions,
    versions.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(healthy.events.map(({ object }) => object.metadata.name)).size, changes, 'nothing is missed or repeated')
  await until(watchers, (count) => count === idle + 1)
  memory.expectBelow(320, '300 watchers that never read')
  // What is on its way to them is not waited for: their connections are cut.
  await until(
    async () => server.openDescriptors - descriptors,
    (open) => open <= http2.length + 15,
    15_000,
  )
  healthy.close()
  for (const socket of http1) socket.destroy()
  for (const session of http2) session.destroy()
})
