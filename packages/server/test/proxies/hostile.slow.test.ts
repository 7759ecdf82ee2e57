// Agents and clients that mean no good: nothing is held for them beyond its bound, everything is given back, and others are served meanwhile.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { type AgentCluster, startAgentCluster } from '../kit/agent-cluster.js'
import { expectStatus, sleep, until } from '../kit/fixtures.js'
import { dial, TextStream, upgrade } from '../kit/open-connection.js'

const pod = '/api/v1/namespaces/default/pods/one'
const piece = Buffer.alloc(64 << 10, 'x')
const mebibyte = 1 << 20
/** Of fifty connections each. */
const rounds = Number(process.env['PROXY_ROUNDS'] ?? 6)

/** Without end, as fast as it is taken. */
function pour(target: Duplex | ServerResponse): void {
  const more = (): void => {
    while (!target.destroyed && target.write(piece));
    if (!target.destroyed) target.once('drain', more)
  }
  more()
}

describe('hostile agents and clients', () => {
  let cluster: AgentCluster
  before(async () => {
    cluster = await startAgentCluster({ flags: ['--kubelet-timeout=30s'] })
    await cluster.makePod('one')
  })
  after(() => cluster.close())
  const descriptors = async (): Promise<number> => cluster.server.openDescriptors

  test('hundreds of connections that are opened and dropped leave nothing behind', async () => {
    const { access, client } = cluster.server
    await client.get(`${pod}/log`)
    const begun = cluster.server.openDescriptors
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
    await until(descriptors, (now) => now <= begun + 12, 60_000)
    await until(
      async () => cluster.agent.connections,
      (open) => open <= 12,
    )
  })

  test('agents that never answer keep nobody else waiting, and are left when their clients leave', async () => {
    const { access, client } = cluster.server
    const begun = cluster.server.openDescriptors
    // A busy machine must finish their handshakes within the ten seconds that the server gives them.
    const count = 50
    cluster.agent.intercept = () => true
    cluster.agent.interceptUpgrade = () => true
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
      async () => cluster.agent.connections,
      (open) => open >= 2 * count,
    )
    const from = performance.now()
    for (let i = 0; i < 20; i++) expectStatus(await client.get('/api/v1/namespaces/default'), 200)
    assert.ok(performance.now() - from < 20_000, 'others are served')
    for (const stream of waiting) stream.close()
    for (const socket of upgrading) socket.destroy()
    await until(descriptors, (now) => now <= begun + 12, 60_000)
    cluster.agent.intercept = undefined
    cluster.agent.interceptUpgrade = undefined
  })

  test('clients that take nothing hold agents back, and no memory', async () => {
    const { access, client } = cluster.server
    cluster.agent.intercept = (_request, response) => {
      response.writeHead(200)
      pour(response)
      return true
    }
    cluster.agent.interceptUpgrade = (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      pour(socket)
      return true
    }
    const warm = await upgrade(access, `${pod}/attach`)
    warm.socket.destroy()
    await sleep(200)
    const before = cluster.server.ownBytes
    const slow = await Promise.all(
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
    for (const socket of slow) socket.destroy()
    cluster.agent.intercept = undefined
    cluster.agent.interceptUpgrade = undefined
    assert.ok(grown < 80 * mebibyte, `${(grown / mebibyte).toFixed(0)} MiB for 40 clients`)
  })

  test('an answer whose head has no end is none', async () => {
    const { client } = cluster.server
    cluster.agent.intercept = (_request, response) => {
      const { socket } = response
      socket?.write('HTTP/1.1 200 OK\r\n')
      const more = setInterval(() => socket?.write(`X-More: ${'x'.repeat(4_000)}\r\n`), 1)
      socket?.once('close', () => clearInterval(more))
      return true
    }
    const { json } = expectStatus(await client.get(`${pod}/log`), 500)
    assert.match(json['message'] ?? '', /the headers of the answer are too long/)
    cluster.agent.intercept = undefined
  })

  test('a refusal without an end is cut, and so is what it says', async () => {
    const { client } = cluster.server
    cluster.agent.intercept = (_request, response) => {
      response.writeHead(400)
      pour(response)
      return true
    }
    const { json } = expectStatus(await client.get(`${pod}/log`), 400)
    assert.equal(json['message']?.length, 50_000)
    cluster.agent.intercept = undefined
  })
})

test('a server that goes does not wait for protocols that have no end', async () => {
  const cluster = await startAgentCluster()
  await cluster.makePod('one')
  const { socket, code } = await upgrade(cluster.server.access, `${pod}/attach?stdin=1&stdout=1`)
  assert.equal(code, 101)
  const from = performance.now()
  await cluster.server.stop()
  assert.ok(performance.now() - from < 9_500, `${performance.now() - from} ms`)
  socket.destroy()
  await cluster.close()
})
