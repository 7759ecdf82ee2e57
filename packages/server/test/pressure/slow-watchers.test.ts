// Watchers that never read, while many large changes go by: they are let go, memory stays where it was, and those who read miss nothing.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { configMapOf, configMaps, expectStatus, sleep, until } from '../kit/fixtures.js'
import { readMetrics } from '../kit/metrics-text.js'
import { openUnread } from '../kit/raw-http2.js'
import { ServerProcess } from '../kit/server-process.js'
import { trusting } from '../kit/trust.js'
import { MemoryWatch } from './memory-watch.js'

/** More than may wait for slow watchers, where what many wait for counts once. */
const changes = 420
const changeBytes = 100_000
const path = `${configMaps('default')}?watch=1&resourceVersion=`
let server: ServerProcess

async function watchHttp1(from: string): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ...trusting(server.access.ca), ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  socket.write(`GET ${path}${from} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.access.token}\r\n\r\n`)
  return socket
}

/** Ten watches on one connection. */
function watchHttp2(from: string) {
  const session = connectHttp2(server.url, trusting(server.access.ca))
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

const crowd = 200
/** Whoever comes has come by then. */
const steadyMs = 10_000
/** Many times what may wait for slow watchers, were it kept for each of them. */
const crowds: readonly { name: string; from?: '0'; open: (from: string) => Promise<unknown> }[] = [
  {
    name: 'changes: HTTP/2, many on a connection',
    open: (from) => Promise.all(Array.from({ length: 4 }, () => openUnread(server.access, `${path}${from}`, crowd / 4))),
  },
  {
    name: 'changes: HTTP/2, few on a connection',
    open: (from) => Promise.all(Array.from({ length: crowd / 2 }, () => openUnread(server.access, `${path}${from}`, 2))),
  },
  { name: 'changes: HTTP/1.1', open: (from) => Promise.all(Array.from({ length: crowd }, () => watchHttp1(from))) },
  { name: 'is there: HTTP/1.1', from: '0', open: (from) => Promise.all(Array.from({ length: crowd }, () => watchHttp1(from))) },
]

for (const { name, from, open } of crowds)
  test(`${crowd} watchers that never read, an object of 1 MB that ${name}`, async (context) => {
    server = await ServerProcess.start({ flags: ['--read-cache-bytes=1MiB'] })
    const large = configMapOf('large', { data: { text: 'x'.repeat(1_000_000) } })
    const { metadata } = expectStatus(await server.client.get(configMaps('default')), 200).json
    if (from === '0') expectStatus(await server.client.post(configMaps('default'), large), 201)
    const memory = new MemoryWatch(server, context)
    await open(from ?? metadata.resourceVersion)
    // On a slow machine the first of them are let go before the last have come, and before anybody has counted them.
    let most = 0
    let grownMs = performance.now()
    await until(watchers, (count) => {
      const isFalling = count < most
      if (count > most) grownMs = performance.now()
      most = Math.max(most, count)
      return count >= crowd || isFalling || (count > crowd / 2 && performance.now() - grownMs > steadyMs)
    })
    if (from === undefined) expectStatus(await server.client.post(configMaps('default'), large), 201)
    await sleep(600)
    const started = performance.now()
    expectStatus(await server.client.get('/livez'), 200)
    assert.ok(performance.now() - started < 20_000)
    memory.expectBelow(240, `${crowd} watchers, ${name}`)
    await server.kill()
  })

test('60 watchers that never read, 42 MB of changes', async (context) => {
  server = await ServerProcess.start({ flags: ['--read-cache-bytes=1MiB'] })
  const { metadata } = expectStatus(await server.client.get(configMaps('default')), 200).json
  const from = metadata.resourceVersion
  const idle = await watchers()
  const descriptors = server.openDescriptors
  const healthy = await server.client.watch(`${path}${from}`)
  const http1 = await Promise.all(Array.from({ length: 30 }, () => watchHttp1(from)))
  const http2 = Array.from({ length: 3 }, () => watchHttp2(from))
  await until(watchers, (count) => count === idle + 61)
  const memory = new MemoryWatch(server, context)
  const text = 'x'.repeat(changeBytes)
  for (let i = 0; i < changes; i += 10) {
    const some = Array.from({ length: 10 }, (_, j) => configMapOf(`c-${i + j}`, { data: { text } }))
    await Promise.all(some.map((object) => server.client.post(configMaps('default'), object).then((answer) => expectStatus(answer, 201))))
    // It is not one of the slow ones, however busy this machine is.
    await healthy.atLeast(i + 10)
  }
  const versions = healthy.events.map(({ object }) => Number(object.metadata.resourceVersion))
  assert.deepEqual(
    versions,
    versions.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(healthy.events.map(({ object }) => object.metadata.name)).size, changes, 'nothing is missed or repeated')
  await until(watchers, (count) => count === idle + 1)
  memory.expectBelow(320, '60 watchers that never read')
  // What is on its way to them is not waited for: their connections are cut.
  await until(
    async () => server.openDescriptors - descriptors,
    (open) => open <= http2.length + 15,
    60_000,
  )
  healthy.close()
  for (const socket of http1) socket.destroy()
  for (const session of http2) session.destroy()
  await server.stop()
})
