// Logs of containers, read from the agent on their node: every option, following, refusals, and what the agent is shown.

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type AgentCluster, makeCertificates, startAgentCluster } from '../kit/agent-cluster.js'
import { expectFailure, expectStatus, until } from '../kit/fixtures.js'
import { NodeAgent } from '../kit/node-agent.js'
import { TextStream } from '../kit/open-connection.js'
import { runInside } from '../kit/run-inside.js'
import { newFolder } from '../kit/server-process.js'
import { opcodes, WebSocketClient, wsHeaders } from '../kit/web-socket.js'

describe('logs', () => {
  let cluster: AgentCluster
  const logPath = (query = '', pod = 'one'): string => `/api/v1/namespaces/default/pods/${pod}/log${query}`
  before(async () => {
    cluster = await startAgentCluster()
    await cluster.makePod('one')
    await cluster.makePod('two', {
      containers: ['a', 'b'].map((name) => ({ name, image: 'registry.example/main:1' })),
      initContainers: [{ name: 'first', image: 'registry.example/main:1' }],
    })
    cluster.agent.log('default/one/main', 'one\ntwo\nthree\n')
    cluster.agent.log('default/one/main/previous', 'before\n')
    cluster.agent.log('default/two/first', 'init\n')
  })
  after(() => cluster.close())

  test('the whole of it, as text', async () => {
    const { client } = cluster.server
    const answer = expectStatus(await client.get(logPath()), 200)
    assert.equal(answer.text, 'one\ntwo\nthree\n')
    assert.equal(answer.headers['content-type'], 'text/plain')
    assert.equal(answer.headers['cache-control'], 'no-cache, private')
  })

  test('the agent knows the server, and nothing of the client', async () => {
    await cluster.server.client.send({ path: logPath('?container=main'), headers: { 'X-Mine': '1', Cookie: 'a=b' } })
    const asked = cluster.agent.asked.at(-1)
    assert.equal(asked?.client, 'the-server')
    assert.deepEqual([asked?.method, asked?.url], ['GET', '/containerLogs/default/one/main'])
    assert.deepEqual(Object.keys(asked?.headers ?? {}).sort(), ['connection', 'host', 'user-agent'])
  })

  describe('over WebSocket', () => {
    const read = async (protocol?: string): Promise<WebSocketClient> => {
      const headers = protocol === undefined ? wsHeaders : { ...wsHeaders, 'Sec-WebSocket-Protocol': protocol }
      const socket = await WebSocketClient.connect(cluster.server.access, logPath(), headers)
      await socket.until(({ isClosed }) => isClosed)
      return socket
    }

    test('come as they are in binary messages behind an empty one', async () => {
      for (const protocol of [undefined, 'binary.k8s.io', 'other.example.com, binary.cluster.io']) {
        const socket = await read(protocol)
        assert.equal(socket.answer.headers['sec-websocket-protocol'], protocol?.split(', ').at(-1))
        const messages = socket.of(opcodes.binary).map(({ payload }) => payload.toString())
        assert.equal(messages[0], '')
        assert.equal(messages.join(''), 'one\ntwo\nthree\n')
        assert.equal(socket.frames.at(-1)?.opcode, opcodes.close)
      }
    })

    test('come in base64 to who asks for that, in messages of their own', async () => {
      const long = 'some words of a log\n'.repeat(5000)
      cluster.agent.log('default/one/long', long)
      const headers = { ...wsHeaders, 'Sec-WebSocket-Protocol': 'base64.binary.k8s.io' }
      const socket = await WebSocketClient.connect(cluster.server.access, logPath(), headers)
      await socket.until(({ isClosed }) => isClosed)
      const texts = socket.of(opcodes.text).map(({ payload }) => payload.toString())
      assert.equal(texts[0], '')
      assert.equal(Buffer.concat(texts.map((text) => Buffer.from(text, 'base64'))).toString(), 'one\ntwo\nthree\n')
    })

    test('are followed', async () => {
      const socket = await WebSocketClient.connect(cluster.server.access, logPath('?follow=true'), wsHeaders)
      await socket.until((client) => client.of(opcodes.binary).length > 1)
      assert.equal(socket.isClosed, false)
      socket.send(opcodes.close)
      await socket.until(({ isClosed }) => isClosed)
    })

    test('are refused where nobody knows the protocol, and with a Status where there is none', async () => {
      const headers = { ...wsHeaders, 'Sec-WebSocket-Protocol': 'other.example.com' }
      const refused = await WebSocketClient.open(cluster.server.access, logPath(), headers)
      assert.equal('statusCode' in refused && refused.statusCode, 403)
      const missing = await WebSocketClient.open(cluster.server.access, logPath('', 'none'), wsHeaders)
      assert.equal('statusCode' in missing && missing.statusCode, 404)
    })
  })

  test('every option gets there', async () => {
    const { client } = cluster.server
    assert.equal((await client.get(logPath('?tailLines=1'))).text, 'three\n')
    assert.equal((await client.get(logPath('?limitBytes=5'))).text, 'one\nt')
    assert.equal((await client.get(logPath('?previous=true'))).text, 'before\n')
    assert.equal((await client.get(logPath('?timestamps=true&tailLines=1'))).text, '2026-01-01T00:00:00Z three\n')
    await client.get(logPath('?sinceTime=2026-01-01T01:02:03%2B01:00&container=main&tailLines=2&limitBytes=9&follow=false&previous=0'))
    assert.equal(
      cluster.agent.asked.at(-1)?.url,
      '/containerLogs/default/one/main?limitBytes=9&sinceTime=2026-01-01T00%3A02%3A03Z&tailLines=2',
    )
    await client.get(logPath('?sinceSeconds=7'))
    assert.equal(cluster.agent.asked.at(-1)?.url, '/containerLogs/default/one/main?sinceSeconds=7')
    expectFailure(await client.get(logPath('?sinceTime=yesterday')), 400, 'BadRequest')
  })

  test('which container', async () => {
    const { client } = cluster.server
    const unsaid = expectFailure(await client.get(logPath('', 'two')), 400, 'BadRequest')
    assert.equal(unsaid['message'], 'a container name must be specified for pod two, choose one of: [first a b]')
    const unknown = expectFailure(await client.get(logPath('?container=c', 'two')), 400, 'BadRequest')
    assert.equal(unknown['message'], 'container c is not valid for pod two')
    assert.equal((await client.get(logPath('?container=first', 'two'))).text, 'init\n')
    expectFailure(await client.get(logPath('', 'three')), 404, 'NotFound')
  })

  test('an agent that has none is quoted', async () => {
    const { client } = cluster.server
    const waiting = expectFailure(await client.get(logPath('?container=a', 'two')), 400, 'BadRequest')
    assert.equal(waiting['message'], 'container "a" in pod "two" is waiting to start')
    const codes: readonly (readonly [code: number, reason: string | undefined, message: string])[] = [
      [404, 'NotFound', 'the server could not find the requested resource ( pods/log one)'],
      [403, 'Forbidden', 'no ( pods/log one)'],
      [500, 'InternalError', 'Internal error occurred: no'],
      [503, 'ServiceUnavailable', 'the server is currently unable to handle the request ( pods/log one)'],
      [502, 'InternalError', 'an error on the server ("no") has prevented the request from succeeding ( pods/log one)'],
    ]
    for (const [code, reason, message] of codes) {
      cluster.agent.intercept = (_request, response) => response.writeHead(code).end('no') !== undefined
      const { json } = expectStatus(await client.get(logPath()), code)
      assert.deepEqual([json['reason'], json['message']], [reason, message])
    }
    cluster.agent.intercept = (_request, response) => response.writeHead(302, { Location: 'http://10.255.255.1/' }).end() !== undefined
    const { json } = expectStatus(await client.get(logPath()), 500)
    assert.match(json['message'] ?? '', /^Get "https:\/\/127\.0\.0\.1:\d+\/containerLogs\/default\/one\/main": redirects forbidden$/)
    cluster.agent.intercept = undefined
  })

  test('following lasts until either side ends it', async () => {
    cluster.agent.log('default/two/b', 'begin\n')
    const begun = cluster.agent.connections
    const following = new TextStream(cluster.server.access, logPath('?container=b&follow=true', 'two'))
    await until(
      async () => following.text,
      (text) => text === 'begin\n',
    )
    cluster.agent.log('default/two/b', 'more\n')
    await until(
      async () => following.text,
      (text) => text === 'begin\nmore\n',
    )
    const left = new TextStream(cluster.server.access, logPath('?container=b&follow=true', 'two'))
    await until(
      async () => left.text,
      (text) => text === 'begin\nmore\n',
    )
    left.close()
    cluster.agent.endLog('default/two/b')
    await following.ended
    assert.equal(following.text, 'begin\nmore\n')
    await until(
      async () => cluster.agent.connections,
      (open) => open <= begun + 1,
    )
  })

  test('a pod without a node has no log, and one on an unknown node none, either', async () => {
    const { client } = cluster.server
    const containers = [{ name: 'main', image: 'registry.example/main:1' }]
    expectStatus(await client.post('/api/v1/namespaces/default/pods', { metadata: { name: 'nowhere' }, spec: { containers } }), 201)
    expectStatus(await client.get(logPath('', 'nowhere')), 204)
    const spec = { containers, nodeName: 'gone' }
    expectStatus(await client.post('/api/v1/namespaces/default/pods', { metadata: { name: 'lost' }, spec }), 201)
    const { message } = expectFailure(await client.get(logPath('', 'lost')), 404, 'NotFound') as { readonly message?: string }
    assert.equal(message, 'nodes "gone" not found')
  })

  test('an agent that is away, and one whose certificate is no good', async () => {
    const { client } = cluster.server
    const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: 1 } } }
    expectStatus(await client.post('/api/v1/nodes', { metadata: { name: 'away' }, status }), 201)
    await cluster.makePod('gone', { nodeName: 'away' })
    const away = expectStatus(await client.get(logPath('', 'gone')), 500).json
    assert.equal(
      away['message'],
      'Get "https://127.0.0.1:1/containerLogs/default/gone/main": dial tcp 127.0.0.1:1: connect: connection refused',
    )
    assert.equal(away['reason'], undefined)
    const port = { kubeletEndpoint: { Port: cluster.agent.port } }
    expectStatus(await client.post('/api/v1/nodes', { metadata: { name: 'silent' }, status: { daemonEndpoints: port } }), 201)
    await cluster.makePod('silent', { nodeName: 'silent' })
    const silent = expectStatus(await client.get(logPath('', 'silent')), 500).json
    assert.equal(silent['message'], 'no preferred addresses found; known addresses: []')
  })

  test('an agent whose certificate is for somebody else is not believed, unless the client says so', async () => {
    const other = await NodeAgent.start({ ...makeCertificates(['elsewhere.example']).agent })
    try {
      const { client } = cluster.server
      const status = {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: other.port } },
      }
      expectStatus(await client.post('/api/v1/nodes', { metadata: { name: 'false' }, status }), 201)
      await cluster.makePod('false', { nodeName: 'false' })
      other.log('default/false/main', 'hello\n')
      assert.match(expectStatus(await client.get(logPath('', 'false')), 500).json['message'] ?? '', /: x509: certificate /)
      assert.equal((await client.get(logPath('?insecureSkipTLSVerifyBackend=true', 'false'))).text, 'hello\n')
      const metrics = (await client.get('/metrics')).text
      assert.match(metrics, /^cluster_apiserver_pod_logs_pods_logs_backend_tls_failure_total 1$/m)
      assert.match(metrics, /^cluster_apiserver_pod_logs_pods_logs_insecure_backend_total\{usage="skip_tls_allowed"\} 1$/m)
    } finally {
      await other.close()
    }
  })
})

test('flags of agents that do not go together are refused', async () => {
  const { client } = makeCertificates()
  const folder = newFolder()
  const cert = join(folder, 'client.crt')
  writeFileSync(cert, client.cert)
  const { code, stderr } = await runInside([`--kubelet-client-certificate=${cert}`, '--secure-port=0', `--data-dir=${folder}`])
  assert.equal(code, 1)
  assert.match(stderr, /--kubelet-client-certificate: needs --kubelet-client-key/)
  rmSync(folder, { recursive: true })
})
