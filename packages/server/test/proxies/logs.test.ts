// Pod logs from the kubelet: options, follow, errors, and the credentials sent to the kubelet.

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { expectFailure, expectStatus, until } from '../../../../test/kit/fixtures.js'
import { FakeKubelet } from '../../../../test/kit/kubelet/fake-kubelet.js'
import { type KubeletCluster, makeCertificates, startKubeletCluster } from '../../../../test/kit/kubelet/kubelet-cluster.js'
import { TextStream } from '../../../../test/kit/network/open-connection.js'
import { opcodes, WebSocketClient, wsHeaders } from '../../../../test/kit/network/web-socket.js'
import { runInProcess } from '../../../../test/kit/run-command.js'
import { newFolder } from '../../../../test/kit/server-process.js'

describe('pod logs', () => {
  let cluster: KubeletCluster
  const logPath = (query = '', pod = 'one'): string => `/api/v1/namespaces/default/pods/${pod}/log${query}`
  before(async () => {
    cluster = await startKubeletCluster()
    await cluster.makePod('one')
    await cluster.makePod('two', {
      containers: ['a', 'b'].map((name) => ({ name, image: 'registry.example/main:1' })),
      initContainers: [{ name: 'first', image: 'registry.example/main:1' }],
    })
    cluster.kubelet.log('default/one/main', 'one\ntwo\nthree\n')
    cluster.kubelet.log('default/one/main/previous', 'before\n')
    cluster.kubelet.log('default/two/first', 'init\n')
  })
  after(() => cluster.close())

  test('the whole log, as text', async () => {
    const { client } = cluster.server
    const response = expectStatus(await client.get(logPath()), 200)
    assert.equal(response.text, 'one\ntwo\nthree\n')
    assert.equal(response.headers['content-type'], 'text/plain')
    assert.equal(response.headers['cache-control'], 'no-cache, private')
  })

  test("the kubelet sees the server's certificate, and no credential of the client", async () => {
    await cluster.server.client.send({ path: logPath('?container=main'), headers: { 'X-Mine': '1', Cookie: 'a=b' } })
    const request = cluster.kubelet.requests.at(-1)
    assert.equal(request?.client, 'the-server')
    assert.deepEqual([request?.method, request?.url], ['GET', '/containerLogs/default/one/main'])
    assert.deepEqual(Object.keys(request?.headers ?? {}).sort(), ['connection', 'host', 'user-agent'])
  })

  describe('over WebSocket', () => {
    const read = async (protocol?: string): Promise<WebSocketClient> => {
      const headers = protocol === undefined ? wsHeaders : { ...wsHeaders, 'Sec-WebSocket-Protocol': protocol }
      const socket = await WebSocketClient.connect(cluster.server.access, logPath(), headers)
      await socket.until(({ isClosed }) => isClosed)
      return socket
    }

    test('binary messages contain the log, after an empty one', async () => {
      for (const protocol of [undefined, 'binary.k8s.io', 'other.example.com, binary.cluster.io']) {
        const socket = await read(protocol)
        assert.equal(socket.response.headers['sec-websocket-protocol'], protocol?.split(', ').at(-1))
        const messages = socket.framesOf(opcodes.binary).map(({ payload }) => payload.toString())
        assert.equal(messages[0], '')
        assert.equal(messages.join(''), 'one\ntwo\nthree\n')
        assert.equal(socket.frames.at(-1)?.opcode, opcodes.close)
      }
    })

    test('base64 subprotocol: messages are base64', async () => {
      const long = 'some words of a log\n'.repeat(5000)
      cluster.kubelet.log('default/one/long', long)
      const headers = { ...wsHeaders, 'Sec-WebSocket-Protocol': 'base64.binary.k8s.io' }
      const socket = await WebSocketClient.connect(cluster.server.access, logPath(), headers)
      await socket.until(({ isClosed }) => isClosed)
      const texts = socket.framesOf(opcodes.text).map(({ payload }) => payload.toString())
      assert.equal(texts[0], '')
      assert.equal(Buffer.concat(texts.map((text) => Buffer.from(text, 'base64'))).toString(), 'one\ntwo\nthree\n')
    })

    test('follow streams new lines', async () => {
      const socket = await WebSocketClient.connect(cluster.server.access, logPath('?follow=true'), wsHeaders)
      await socket.until((client) => client.framesOf(opcodes.binary).length > 1)
      assert.equal(socket.isClosed, false)
      socket.send(opcodes.close)
      await socket.until(({ isClosed }) => isClosed)
    })

    test('an unknown subprotocol is rejected, and a missing log is a Status', async () => {
      const headers = { ...wsHeaders, 'Sec-WebSocket-Protocol': 'other.example.com' }
      const refused = await WebSocketClient.open(cluster.server.access, logPath(), headers)
      assert.equal('statusCode' in refused && refused.statusCode, 403)
      const missing = await WebSocketClient.open(cluster.server.access, logPath('', 'none'), wsHeaders)
      assert.equal('statusCode' in missing && missing.statusCode, 404)
    })
  })

  test('every option is sent to the kubelet', async () => {
    const { client } = cluster.server
    assert.equal((await client.get(logPath('?tailLines=1'))).text, 'three\n')
    assert.equal((await client.get(logPath('?limitBytes=5'))).text, 'one\nt')
    assert.equal((await client.get(logPath('?previous=true'))).text, 'before\n')
    assert.equal((await client.get(logPath('?timestamps=true&tailLines=1'))).text, '2026-01-01T00:00:00Z three\n')
    await client.get(logPath('?sinceTime=2026-01-01T01:02:03%2B01:00&container=main&tailLines=2&limitBytes=9&follow=false&previous=0'))
    assert.equal(
      cluster.kubelet.requests.at(-1)?.url,
      '/containerLogs/default/one/main?limitBytes=9&sinceTime=2026-01-01T00%3A02%3A03Z&tailLines=2',
    )
    await client.get(logPath('?sinceSeconds=7'))
    assert.equal(cluster.kubelet.requests.at(-1)?.url, '/containerLogs/default/one/main?sinceSeconds=7')
    expectFailure(await client.get(logPath('?sinceTime=yesterday')), 400, 'BadRequest')
  })

  test('choosing the container', async () => {
    const { client } = cluster.server
    const withoutContainer = expectFailure(await client.get(logPath('', 'two')), 400, 'BadRequest')
    assert.equal(withoutContainer['message'], 'a container name must be specified for pod two, choose one of: [first a b]')
    const unknown = expectFailure(await client.get(logPath('?container=c', 'two')), 400, 'BadRequest')
    assert.equal(unknown['message'], 'container c is not valid for pod two')
    assert.equal((await client.get(logPath('?container=first', 'two'))).text, 'init\n')
    expectFailure(await client.get(logPath('', 'three')), 404, 'NotFound')
  })

  test('an error of the kubelet is quoted', async () => {
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
      cluster.kubelet.intercept = (_request, response) => response.writeHead(code).end('no') !== undefined
      const { json } = expectStatus(await client.get(logPath()), code)
      assert.deepEqual([json['reason'], json['message']], [reason, message])
    }
    cluster.kubelet.intercept = (_request, response) => response.writeHead(302, { Location: 'http://10.255.255.1/' }).end() !== undefined
    const { json } = expectStatus(await client.get(logPath()), 500)
    assert.match(json['message'] ?? '', /^Get "https:\/\/127\.0\.0\.1:\d+\/containerLogs\/default\/one\/main": redirects forbidden$/)
    cluster.kubelet.intercept = undefined
  })

  test('follow ends when either side closes', async () => {
    cluster.kubelet.log('default/two/b', 'begin\n')
    const connectionsBefore = cluster.kubelet.connections
    const following = new TextStream(cluster.server.access, logPath('?container=b&follow=true', 'two'))
    await until(
      async () => following.text,
      (text) => text === 'begin\n',
    )
    cluster.kubelet.log('default/two/b', 'more\n')
    await until(
      async () => following.text,
      (text) => text === 'begin\nmore\n',
    )
    const abandoned = new TextStream(cluster.server.access, logPath('?container=b&follow=true', 'two'))
    await until(
      async () => abandoned.text,
      (text) => text === 'begin\nmore\n',
    )
    abandoned.close()
    cluster.kubelet.endLog('default/two/b')
    await following.ended
    assert.equal(following.text, 'begin\nmore\n')
    await until(
      async () => cluster.kubelet.connections,
      (open) => open <= connectionsBefore + 1,
    )
  })

  test('a pod without a node, or on an unknown node, has no log', async () => {
    const { client } = cluster.server
    const containers = [{ name: 'main', image: 'registry.example/main:1' }]
    expectStatus(await client.post('/api/v1/namespaces/default/pods', { metadata: { name: 'nowhere' }, spec: { containers } }), 201)
    expectStatus(await client.get(logPath('', 'nowhere')), 204)
    const spec = { containers, nodeName: 'gone' }
    expectStatus(await client.post('/api/v1/namespaces/default/pods', { metadata: { name: 'lost' }, spec }), 201)
    const { message } = expectFailure(await client.get(logPath('', 'lost')), 404, 'NotFound') as { readonly message?: string }
    assert.equal(message, 'nodes "gone" not found')
  })

  test('an unreachable kubelet, and one with an invalid certificate', async () => {
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
    const port = { kubeletEndpoint: { Port: cluster.kubelet.port } }
    expectStatus(await client.post('/api/v1/nodes', { metadata: { name: 'silent' }, status: { daemonEndpoints: port } }), 201)
    await cluster.makePod('silent', { nodeName: 'silent' })
    const silent = expectStatus(await client.get(logPath('', 'silent')), 500).json
    assert.equal(silent['message'], 'no preferred addresses found; known addresses: []')
  })

  test('a kubelet certificate for another name is rejected unless insecureSkipTLSVerifyBackend is set', async () => {
    const other = await FakeKubelet.start({ ...makeCertificates(['elsewhere.example']).kubelet })
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

test('conflicting kubelet flags are errors', async () => {
  const { client } = makeCertificates()
  const folder = newFolder()
  const cert = join(folder, 'client.crt')
  writeFileSync(cert, client.cert)
  const { code, stderr } = await runInProcess([`--kubelet-client-certificate=${cert}`, '--secure-port=0', `--data-dir=${folder}`])
  assert.equal(code, 2)
  assert.match(stderr, /--kubelet-client-certificate: needs --kubelet-client-key/)
  rmSync(folder, { recursive: true })
})
