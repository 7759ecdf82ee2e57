// Hostile kubelets and clients of streams: bounded memory, all resources released, other clients served.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { expectStatus, sleep, until } from '../../../../test/kit/fixtures.js'
import { type KubeletCluster, startKubeletCluster } from '../../../../test/kit/kubelet/kubelet-cluster.js'
import { dial, TextStream, upgrade } from '../../../../test/kit/network/open-connection.js'

const pod = '/api/v1/namespaces/default/pods/one'
const chunk = Buffer.alloc(64 << 10, 'x')
const mebibyte = 1 << 20
/** Rounds of fifty connections each. */
const rounds = Number(process.env['PROXY_ROUNDS'] ?? 6)

/** Endless output, as fast as the client reads. */
function writeEndlessly(target: Duplex | ServerResponse): void {
  const more = (): void => {
    while (!target.destroyed && target.write(chunk));
    if (!target.destroyed) target.once('drain', more)
  }
  more()
}

describe('hostile kubelets and clients', () => {
  let cluster: KubeletCluster
  before(async () => {
    cluster = await startKubeletCluster({ flags: ['--kubelet-timeout=30s'] })
    await cluster.makePod('one')
  })
  after(() => cluster.close())
  const descriptors = async (): Promise<number> => cluster.server.openDescriptors

  test('hundreds of opened and dropped connections leak nothing', async () => {
    const { access, client } = cluster.server
    await client.get(`${pod}/log`)
    const descriptorsBefore = cluster.server.openDescriptors
    for (let round = 0; round < rounds; round++) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          if (i % 2 === 0) {
            const { socket, code } = await upgrade(access, `${pod}/attach?stdin=1&stdout=1`)
            assert.equal(code, 101)
            socket.destroy()
          } else {
            const socket = await dial(access)
            socket.write(`GET ${pod}/log?follow=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${access.token}\r\n\r\n`)
            if (i % 4 === 1) await new Promise((resolve) => socket.once('data', resolve))
            socket.destroy()
          }
        }),
      )
    }
    await until(descriptors, (now) => now <= descriptorsBefore + 12, 60_000)
    await until(
      async () => cluster.kubelet.connections,
      (open) => open <= 12,
    )
  })

  test('unresponsive kubelets block no other client, and are disconnected with their clients', async () => {
    const { access, client } = cluster.server
    const descriptorsBefore = cluster.server.openDescriptors
    // Not more: a busy machine must finish the handshakes within the server's limit of ten seconds.
    const count = 50
    cluster.kubelet.intercept = () => true
    cluster.kubelet.interceptUpgrade = () => true
    const waiting = Array.from({ length: count }, () => new TextStream(access, `${pod}/log`))
    const upgrading = await Promise.all(
      Array.from({ length: count }, async () => {
        const socket = await dial(access)
        socket.write(
          `GET ${pod}/exec?command=x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nAuthorization: Bearer ${access.token}\r\n\r\n`,
        )
        return socket
      }),
    )
    await until(
      async () => cluster.kubelet.connections,
      (open) => open >= 2 * count,
    )
    const startMs = performance.now()
    for (let i = 0; i < 20; i++) expectStatus(await client.get('/api/v1/namespaces/default'), 200)
    assert.ok(performance.now() - startMs < 20_000, 'others are served')
    for (const stream of waiting) stream.close()
    for (const socket of upgrading) socket.destroy()
    await until(descriptors, (now) => now <= descriptorsBefore + 12, 60_000)
    cluster.kubelet.intercept = undefined
    cluster.kubelet.interceptUpgrade = undefined
  })

  test('clients that do not read apply backpressure to kubelets, without buffering', async (context) => {
    const { access, client } = cluster.server
    cluster.kubelet.intercept = (_request, response) => {
      response.writeHead(200)
      writeEndlessly(response)
      return true
    }
    cluster.kubelet.interceptUpgrade = (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      writeEndlessly(socket)
      return true
    }
    const warm = await upgrade(access, `${pod}/attach`)
    warm.socket.destroy()
    await sleep(200)
    const before = cluster.server.ownBytes
    const slowSockets = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        if (i % 2 === 0) return (await upgrade(access, `${pod}/attach`)).socket
        const socket = await dial(access)
        socket.write(`GET ${pod}/log HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${access.token}\r\n\r\n`)
        await new Promise((resolve) => socket.once('data', resolve))
        return socket.pause()
      }),
    )
    await sleep(2_000)
    const grown = cluster.server.ownBytes - before
    expectStatus(await client.get('/api/v1/namespaces/default'), 200)
    for (const socket of slowSockets) socket.destroy()
    cluster.kubelet.intercept = undefined
    cluster.kubelet.interceptUpgrade = undefined
    context.diagnostic(`40 clients: ${(grown / mebibyte).toFixed(0)} MiB more`)
    if (process.env['ASSERT_MEMORY']) assert.ok(grown < 80 * mebibyte)
  })

  test('a response with endless headers is rejected', async () => {
    const { client } = cluster.server
    cluster.kubelet.intercept = (_request, response) => {
      const { socket } = response
      socket?.write('HTTP/1.1 200 OK\r\n')
      const more = setInterval(() => socket?.write(`X-More: ${'x'.repeat(4_000)}\r\n`), 1)
      socket?.once('close', () => clearInterval(more))
      return true
    }
    const { json } = expectStatus(await client.get(`${pod}/log`), 500)
    assert.match(json['message'] ?? '', /the response headers are too long/)
    cluster.kubelet.intercept = undefined
  })

  test('an endless error body is truncated, also in the message', async () => {
    const { client } = cluster.server
    cluster.kubelet.intercept = (_request, response) => {
      response.writeHead(400)
      writeEndlessly(response)
      return true
    }
    const { json } = expectStatus(await client.get(`${pod}/log`), 400)
    assert.equal(json['message']?.length, 50_000)
    cluster.kubelet.intercept = undefined
  })
})

test('shutdown does not wait for open streams', async () => {
  const cluster = await startKubeletCluster()
  await cluster.makePod('one')
  const { socket, code } = await upgrade(cluster.server.access, `${pod}/attach?stdin=1&stdout=1`)
  assert.equal(code, 101)
  const startMs = performance.now()
  await cluster.server.stop()
  assert.ok(performance.now() - startMs < 9_500, `${performance.now() - startMs} ms`)
  socket.destroy()
  await cluster.close()
})
