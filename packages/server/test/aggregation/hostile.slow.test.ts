// Hostile extension API servers: only their own clients are affected.

import assert from 'node:assert/strict'
import { once, setMaxListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer, type Server, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded, tokenOf } from '../../../../test/kit/embedded.js'
import { expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'
import { timedTest } from '../../../api/src/base/testing/timed-test.fixture.js'
import { FlagFiles } from '../security/make-pki.js'
import { type Behaviour, conditionOf, ExtensionServer, register, waitFor } from './extension-server.js'

const defaultBehaviour: Behaviour = () => undefined

/** Slowest response to another client during the work, in ms. */
async function slowestDuring(client: ApiClient, work: Promise<unknown>): Promise<number> {
  let isOver = false
  let slowest = 0
  void work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const begun = performance.now()
    expectStatus(await client.get('/api/v1/namespaces/default'), 200)
    slowest = Math.max(slowest, performance.now() - begun)
    await sleep(2)
  }
  await work
  return slowest
}

describe('hostile extension servers', () => {
  const files = new FlagFiles()
  let auditLog = ''
  let running: Embedded
  let client: ApiClient
  let extension: ExtensionServer
  let silent: Server
  const silentSockets = new Set<Socket>()
  const path = '/apis/bad.example/v1/namespaces/default/gadgets'
  before(async () => {
    const policy = files.write(
      'policy.yaml',
      'apiVersion: audit.cluster.io/v1\nkind: Policy\nrules: [{level: Metadata}]\nomitStages: [RequestReceived]\n',
    )
    auditLog = files.write('audit.log', '')
    running = await startEmbedded('memory', ['--request-timeout=2s', `--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`])
    client = running.client
    // On a slow machine the first OpenAPI documents take longer than the request timeout of 2 s.
    await until(
      () => client.get('/openapi/v3'),
      ({ status }) => status === 200,
      120_000,
    )
    extension = await ExtensionServer.start('bad.example')
    await register(client, { server: extension })
    // Accepts connections and never responds.
    silent = createServer((socket) => {
      silentSockets.add(socket)
      socket.on('error', () => undefined)
    })
    await once(silent.listen(0, '127.0.0.1'), 'listening')
  })
  after(async () => {
    await running.close()
    extension.close()
    silent.close()
    files.remove()
    for (const socket of silentSockets) socket.destroy()
  })

  timedTest('a server that never responds is unavailable, and no other client waits', async (attempt) => {
    const port = (silent.address() as { port: number }).port
    const spec = {
      group: 'silent.example',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      service: { namespace: 'default', name: 'gadgets', port },
      insecureSkipTLSVerify: true,
    }
    const services = '/apis/apiregistration.cluster.io/v1/apiservices'
    expectStatus(await client.post(services, { metadata: { name: 'v1.silent.example' }, spec }), 201)
    attempt.after(() => client.delete(`${services}/v1.silent.example`))
    assert.equal(expectStatus(await client.get('/apis/silent.example/v1/things'), 503).text, 'service unavailable\n')
    expectStatus(await client.get('/apis'), 200)
    expectStatus(await client.get('/openapi/v3'), 200)
    const probed = waitFor(client, `${services}/v1.silent.example`, 'FailedDiscoveryCheck')
    const slowest = await slowestDuring(client, probed)
    assert.match((await probed)?.message ?? '', /Get "https:\/\/localhost:\d+\/apis\/silent\.example\/v1": context deadline exceeded/)
    assert.ok(slowest < 4000, `another request took ${slowest} ms`)
    // Repeated probes keep few connections open.
    assert.ok(silentSockets.size <= 10, `${silentSockets.size} connections`)
  })

  test('an unanswered request ends with the proxy timeout', async () => {
    extension.behaviour = ({ url }) => url === `${path}/slow` || url === '/apis/bad.example/v1'
    const { json } = expectStatus(await client.get(`${path}/slow`), 504)
    assert.equal(json.reason, 'Timeout')
    // An upgrade without a 101 response ends with the same timeout.
    const upgrade = request(`${running.server.url}${path}/slow`, {
      ca: running.server.caPem,
      headers: { authorization: `Bearer ${tokenOf(running.server)}`, connection: 'Upgrade', upgrade: 'websocket' },
      agent: false,
    })
    upgrade.end()
    const [reply] = (await once(upgrade, 'response')) as [import('node:http').IncomingMessage]
    assert.equal(reply.statusCode, 504)
    upgrade.destroy()
    extension.behaviour = defaultBehaviour
  })

  test('waiting requests leave capacity for others', async (t) => {
    const limits = ['--max-requests-inflight=20', '--max-mutating-requests-inflight=10', '--request-timeout=120s']
    for (const fairness of [true, false]) {
      const tokens = files.write('tokens.csv', 'bob-token,bob,bob-uid\nann-token,ann,ann-uid\n')
      const flags = [
        ...limits,
        `--enable-priority-and-fairness=${fairness}`,
        `--token-auth-file=${tokens}`,
        '--authorization-mode=AlwaysAllow',
      ]
      const busy = await startEmbedded('memory', flags)
      const hung = await ExtensionServer.start('hung.example')
      t.after(() => hung.close())
      await register(busy.client, { server: hung })
      hung.behaviour = ({ url }) => url?.startsWith('/apis/hung.example/v1/gadgets') === true
      const clientOf = (token: string) => new ApiClient({ url: busy.server.url, ca: busy.server.caPem, token })
      const [bob, ann] = [clientOf('bob-token'), clientOf('ann-token')]
      const leaving = new AbortController()
      setMaxListeners(0, leaving.signal)
      // On a busy machine the server may return 429; those clients retry.
      const send = async (path: string): Promise<void> => {
        for (let status = 429; status === 429 && !leaving.signal.aborted; ) {
          status = (await bob.send({ path, signal: leaving.signal }).catch(() => undefined))?.status ?? 0
          if (status === 429) await sleep(200)
        }
      }
      const pending = Array.from({ length: 150 }, (_, i) => send(`/apis/hung.example/v1/gadgets?${i % 2 === 0 ? 'watch=1' : ''}`))
      await until(
        // The garbage collector sends requests, too.
        async () => hung.seen.filter(({ headers }) => headers['x-remote-user'] === 'bob').length,
        (count) => count === 150,
        120_000,
      )
      // Served while all the others wait.
      for (let i = 0; i < 20; i++) await untilStatus(() => ann.get('/api/v1/namespaces/default'), 200)
      leaving.abort()
      await Promise.all(pending)
      bob.close()
      ann.close()
      await busy.close()
    }
  })

  test('a truncated response is not passed on as complete', async () => {
    extension.behaviour = ({ url }, response) => {
      if (url !== `${path}/broken`) return undefined
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"half":')
      setTimeout(() => extension.resetConnections(), 20)
      return true
    }
    await assert.rejects(client.get(`${path}/broken`))
    const audited = await until(
      async () =>
        readFileSync(auditLog, 'utf8')
          .split('\n')
          .filter((line) => line.includes('gadgets/broken')),
      (lines) => lines.length > 0,
    )
    assert.match(audited.join('\n'), /"stage":"Panic".*"message":"APIServer panic'd: net\/http: abort Handler"/)
    extension.behaviour = defaultBehaviour
    expectStatus(await client.get(path), 200)
  })

  test('an endless response is passed on only as fast as the client reads', async () => {
    let written = 0
    extension.behaviour = ({ url }, response) => {
      if (!url?.startsWith(`${path}?watch=1&endless`)) return undefined
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = Buffer.alloc(64 << 10, 0x20)
      const write = (): void => {
        while (!response.destroyed) {
          written += chunk.length
          if (!response.write(chunk)) break
        }
      }
      response.on('drain', write)
      write()
      return true
    }
    const sent = request(`${running.server.url}${path}?watch=1&endless=1`, {
      ca: running.server.caPem,
      headers: { authorization: `Bearer ${tokenOf(running.server)}` },
      agent: false,
    })
    sent.end()
    const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
    response.pause()
    let before = -1
    await until(
      async () => {
        const isUnchanged = written === before
        before = written
        await sleep(300)
        return isUnchanged
      },
      (isUnchanged) => isUnchanged,
    )
    assert.ok(written < 32 << 20, `${written} bytes are on the way`)
    sent.destroy()
    extension.behaviour = defaultBehaviour
  })

  const documents = ['/openapi/v2', '/openapi/v3', '/apis/bad.example/v1']
  const filling = (bytes: number) => Buffer.alloc(bytes, ' ')
  for (const [title, behave] of [
    ['endless', (response) => void endless(response)],
    ['garbage', (response) => void response.end('<html>no</html>')],
    ['huge', (response) => void response.end(filling(40 << 20))],
    ['deep', (response) => void response.end('{"paths":'.repeat(100_000))],
    ['an error', (response) => void response.writeHead(500).end()],
    ['a redirect', (response) => void response.writeHead(302, { location: 'https://127.0.0.1:1/' }).end()],
    ['never sent', () => undefined],
  ] as readonly (readonly [string, (response: import('node:http').ServerResponse) => void])[]) {
    test(`OpenAPI documents that are ${title} do not change those of this server`, async (t) => {
      const other = await ExtensionServer.start('docs.example')
      t.after(() => other.close())
      other.behaviour = ({ url }, response) => {
        // Responds to the probe and the first list, so that it is available.
        if (!documents.includes(url ?? '')) return undefined
        if (url === '/apis/bad.example/v1') return undefined
        behave(response)
        return true
      }
      const slowestConcurrent = async (): Promise<number> => {
        const before = other.seenAt('/openapi/v2').length
        const service = await register(client, { server: other })
        try {
          const slowest = await slowestDuring(client, sleep(400))
          await until(
            async () => other.seenAt('/openapi/v2').length,
            (count) => count > before,
          )
          const { json } = expectStatus(await client.get('/openapi/v3'), 200)
          assert.ok(JSON.stringify(json).includes('apis/apps/v1'))
          assert.equal((await conditionOf(client, service))?.status, 'True')
          return slowest
        } finally {
          await client.delete(service)
        }
      }
      // A busy machine is slow now and then; waiting for the documents would be slow each time.
      let slowest = await slowestConcurrent()
      for (let more = 4; slowest >= 4000 && more > 0; more--) slowest = await slowestConcurrent()
      assert.ok(slowest < 4000, `another request took ${slowest} ms`)
    })
  }

  test('a large OpenAPI document is read without unused definitions', async (t) => {
    const large = await ExtensionServer.start('large.example')
    t.after(() => large.close())
    const definitions = Object.fromEntries(
      Array.from({ length: 6_000 }, (_, i) => [`com.example.T${i}`, { type: 'object', description: 'd'.repeat(1000) }]),
    )
    const properties = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`p${i}`, { $ref: `#/definitions/com.example.T${i}` }]))
    const own = large.openApiV2() as { definitions: object }
    const gadget = { type: 'object', properties }
    const body = JSON.stringify({ ...own, definitions: { ...own.definitions, ...definitions, 'com.example.large.v1.Gadget': gadget } })
    assert.ok(body.length > 6 << 20 && body.length < 8 << 20)
    large.behaviour = ({ url }, response) => {
      if (url !== '/openapi/v2') return undefined
      response.end(body)
      return true
    }
    const server = await ServerProcess.start()
    t.after(() => server.stop())
    await register(server.client, { server: large })
    const document = await until(
      () => server.client.get('/openapi/v2'),
      ({ text }) => text.includes('com.example.T1999'),
    )
    assert.ok(!document.text.includes('com.example.T2000'))
  })

  test('an upgraded connection does not block shutdown', async () => {
    const other = await startEmbedded('memory')
    const upgrading = await ExtensionServer.start('talk.example')
    await register(other.client, { server: upgrading })
    const sent = request(`${other.server.url}/apis/talk.example/v1/namespaces/default/gadgets/one/exec`, {
      ca: other.server.caPem,
      headers: { authorization: `Bearer ${tokenOf(other.server)}`, connection: 'Upgrade', upgrade: 'echo' },
    })
    sent.end()
    const [, socket] = (await once(sent, 'upgrade')) as [unknown, Socket]
    socket.on('error', () => undefined)
    socket.resume()
    const begun = performance.now()
    await other.close()
    assert.ok(performance.now() - begun < 9_500)
    if (!socket.destroyed) await once(socket, 'close')
    upgrading.close()
  })
})

function endless(response: import('node:http').ServerResponse): void {
  const write = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(64 << 10, ' ')));
  }
  response.on('drain', write)
  write()
}
