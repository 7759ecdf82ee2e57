// Watchers that never read while large objects change: they are closed, memory stays bounded, other watchers miss nothing.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { configMapOf, configMaps, expectStatus, sleep, until } from '../../../../test/kit/fixtures.js'
import { readMetrics } from '../../../../test/kit/metrics-text.js'
import { openUnread } from '../../../../test/kit/network/raw-http2.js'
import { secureContextFor } from '../../../../test/kit/secure-context.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'
import { PeakMemory } from './peak-memory.js'

/** 42 MB of events, more than the server buffers for slow watchers; an event for several watchers counts once. */
const changes = 420
const changeBytes = 100_000
const path = `${configMaps('default')}?watch=1&resourceVersion=`
let server: ServerProcess

async function watchHttp1(from: string): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ...secureContextFor(server.access.ca), ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  socket.write(`GET ${path}${from} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.access.token}\r\n\r\n`)
  return socket
}

/** Opens ten watches on one connection. */
function watchHttp2(from: string) {
  const session = connectHttp2(server.url, secureContextFor(server.access.ca))
  session.on('error', () => undefined)
  for (let i = 0; i < 10; i++) {
    const stream = session.request({ ':path': `${path}${from}`, authorization: `Bearer ${server.access.token}` })
    stream.on('error', () => undefined)
    stream.pause()
  }
  return session
}

const countWatchers = async (): Promise<number> => {
  const { text } = await server.client.get('/metrics')
  return readMetrics(text).sum('apiserver_longrunning_requests')
}

const watcherCount = 200
/** Watchers of an object of 1 MB: with a buffer per watcher, one event would take 200 MB. */
const watcherKinds: readonly { name: string; from?: '0'; open: (from: string) => Promise<unknown> }[] = [
  {
    name: 'changes: HTTP/2, many on a connection',
    open: (from) => Promise.all(Array.from({ length: 4 }, () => openUnread(server.access, `${path}${from}`, watcherCount / 4))),
  },
  { name: 'exists: HTTP/1.1', from: '0', open: (from) => Promise.all(Array.from({ length: watcherCount }, () => watchHttp1(from))) },
]

for (const { name, from, open } of watcherKinds)
  test(`${watcherCount} watchers that never read, an object of 1 MB that ${name}`, async (context) => {
    server = await ServerProcess.start({ flags: ['--read-cache-bytes=1MiB'] })
    const large = configMapOf('large', { data: { text: 'x'.repeat(1_000_000) } })
    const { metadata } = expectStatus(await server.client.get(configMaps('default')), 200).json
    if (from === '0') expectStatus(await server.client.post(configMaps('default'), large), 201)
    const memory = new PeakMemory(server, context)
    await open(from ?? metadata.resourceVersion)
    let maxCount = 0
    await until(countWatchers, (count) => {
      const isFalling = count < maxCount
      maxCount = Math.max(maxCount, count)
      return count >= watcherCount || isFalling
    })
    if (from === undefined) expectStatus(await server.client.post(configMaps('default'), large), 201)
    await sleep(600)
    expectStatus(await server.client.get('/livez'), 200)
    memory.expectBelow(240, `${watcherCount} watchers, ${name}`)
    await server.kill()
  })

test('60 watchers that never read, 42 MB of changes', async (context) => {
  server = await ServerProcess.start({ flags: ['--read-cache-bytes=1MiB'] })
  const { metadata } = expectStatus(await server.client.get(configMaps('default')), 200).json
  const from = metadata.resourceVersion
  const idle = await countWatchers()
  const descriptors = server.openDescriptors
  const healthy = await server.client.watch(`${path}${from}`)
  const http1 = await Promise.all(Array.from({ length: 30 }, () => watchHttp1(from)))
  const http2 = Array.from({ length: 3 }, () => watchHttp2(from))
  await until(countWatchers, (count) => count === idle + 61)
  const memory = new PeakMemory(server, context)
  const text = 'x'.repeat(changeBytes)
  for (let i = 0; i < changes; i += 10) {
    const some = Array.from({ length: 10 }, (_, j) => configMapOf(`c-${i + j}`, { data: { text } }))
    await Promise.all(
      some.map((object) => server.client.post(configMaps('default'), object).then((response) => expectStatus(response, 201))),
    )
    // This watcher is fast, however busy the machine is.
    await healthy.atLeast(i + 10)
  }
  const versions = healthy.events.map(({ object }) => Number(object.metadata.resourceVersion))
  assert.deepEqual(
    versions,
    versions.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(healthy.events.map(({ object }) => object.metadata.name)).size, changes, 'no event is missed or repeated')
  await until(countWatchers, (count) => count === idle + 1)
  memory.expectBelow(320, '60 watchers that never read')
  // The server closes connections of slow watchers without waiting for pending data.
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
