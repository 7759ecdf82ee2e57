// Exec, attach and port-forward: upgraded connections between client and kubelet over SPDY and WebSocket.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { after, before, describe, test } from 'node:test'
import { expectFailure, expectStatus, until } from '../../../../test/kit/fixtures.js'
import { type KubeletCluster, startKubeletCluster } from '../../../../test/kit/kubelet/kubelet-cluster.js'
import { readRest, upgrade } from '../../../../test/kit/network/open-connection.js'
import { SpdyConnection, type SpdyStream } from '../../../../test/kit/network/spdy.js'

const pod = '/api/v1/namespaces/default/pods/one'
const spdy = { method: 'POST', headers: { 'X-Stream-Protocol-Version': 'v4.channel.k8s.io', 'Content-Length': '0' } }

interface Received {
  stdout: string
  error: string
}

/** Opens the streams of an exec and reads its output. */
function openStreams(
  connection: SpdyConnection,
  types: readonly string[],
): { readonly received: Received; readonly streams: ReadonlyMap<string, SpdyStream> } {
  const received: Received = { stdout: '', error: '' }
  const streams = new Map(types.map((type) => [type, connection.open({ streamtype: type })]))
  for (const type of ['stdout', 'error'] as const)
    streams.get(type)?.on('data', (chunk: Buffer) => {
      received[type] += String(chunk)
    })
  return { received, streams }
}

describe('exec, attach and port-forward', () => {
  let cluster: KubeletCluster
  before(async () => {
    cluster = await startKubeletCluster()
    await cluster.makePod('one')
    await cluster.makePod('two', { containers: ['a', 'b'].map((name) => ({ name, image: 'registry.example/main:1' })) })
  })
  after(() => cluster.close())

  test('exec over SPDY: both directions, and the exit status', async () => {
    const opened = await upgrade(cluster.server.access, `${pod}/exec?command=cat&stdin=true&stdout=true&tty=0`, spdy)
    assert.match(opened.head, /^HTTP\/1\.1 101 Switching Protocols\r\n[\s\S]*X-Stream-Protocol-Version: v4\.channel\.k8s\.io/)
    const connection = new SpdyConnection(opened.socket, { isServer: false })
    const { received, streams } = openStreams(connection, ['error', 'stdin', 'stdout'])
    streams.get('stdin')?.write('hello ')
    await until(
      async () => received.stdout,
      (text) => text === 'hello ',
    )
    streams.get('stdin')?.write('again')
    streams.get('stdin')?.end()
    await until(
      async () => received.error,
      (text) => text !== '',
    )
    assert.deepEqual([received.stdout, JSON.parse(received.error).status], ['hello again', 'Success'])
    await once(opened.socket.resume(), 'close')
    const request = cluster.kubelet.requests.at(-1)
    assert.equal(request?.url, '/exec/default/one/main?command=cat&input=1&output=1')
    assert.equal(request?.client, 'the-server')
    assert.equal(request?.headers.authorization, undefined)
    assert.equal(request?.headers['x-forwarded-for'], '127.0.0.1')
  })

  test('requests sent to the kubelet', async () => {
    const requests: readonly (readonly [path: string, url: string])[] = [
      ['attach?stdout=1&stderr=1&tty=true&container=main', '/attach/default/one/main?error=1&output=1&tty=1'],
      ['portforward', '/portForward/default/one'],
      ['portforward?ports=80&ports=443', '/portForward/default/one?port=80%2C443'],
      ['exec?command=sh&command=-c&command=a%20b%26c&stderr=true', '/exec/default/one/main?command=sh&command=-c&command=a+b%26c&error=1'],
    ]
    for (const [path, url] of requests) {
      const { socket, code } = await upgrade(cluster.server.access, `${pod}/${path}`, spdy)
      assert.deepEqual([code, cluster.kubelet.requests.at(-1)?.url], [101, url])
      socket.destroy()
    }
  })

  test('exec over WebSocket, with a bearer token as subprotocol', async () => {
    const { access } = cluster.server
    const token = `base64url.bearer.authorization.cluster.io.${Buffer.from(access.token ?? '').toString('base64url')}`
    const headers = {
      Upgrade: 'websocket',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Protocol': `${token}, v4.channel.k8s.io`,
    }
    const opened = await upgrade(access, `${pod}/exec?command=ls&stdout=true`, { headers, token: null })
    assert.match(opened.head, /^HTTP\/1\.1 101 [\s\S]*Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/)
    assert.match(opened.head, /Sec-WebSocket-Protocol: v4\.channel\.k8s\.io/)
    opened.socket.resume()
    const [frame] = opened.early.length > 0 ? [opened.early] : await once(opened.socket, 'data')
    assert.equal(String(frame.subarray(2)), '\u0001hello ?command=ls&output=1')
    assert.equal(cluster.kubelet.requests.at(-1)?.headers['sec-websocket-protocol'], 'v4.channel.k8s.io')
    opened.socket.destroy()
    const guess = `base64url.bearer.authorization.cluster.io.${Buffer.from('guess').toString('base64url')}, v4.channel.k8s.io`
    const refused = await upgrade(access, `${pod}/exec?command=ls`, {
      headers: { ...headers, 'Sec-WebSocket-Protocol': guess },
      token: null,
    })
    assert.equal(refused.code, 401)
    refused.socket.destroy()
  })

  test('requests without an upgrade, or with an unsupported one, get an error', async () => {
    const { client, access } = cluster.server
    const { message } = expectFailure(await client.get(`${pod}/exec?command=ls`), 400, 'BadRequest') as { readonly message?: string }
    assert.equal(message, 'Upgrade request required')
    expectFailure(await client.get('/api/v1/namespaces/default/pods/two/exec?command=ls'), 400, 'BadRequest')
    const session = connectHttp2(access.url, { ca: access.ca })
    const stream = session.request({ ':path': `${pod}/attach`, ':method': 'POST', authorization: `Bearer ${access.token}` }).end()
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 400)
    session.destroy()
  })

  test('errors of the server and of the kubelet are returned', async () => {
    const { access } = cluster.server
    const missing = await upgrade(access, '/api/v1/namespaces/default/pods/none/exec?command=ls', spdy)
    assert.equal(missing.code, 404)
    assert.match(await readRest(missing), /pods \\"none\\" not found/)
    const anonymous = await upgrade(access, `${pod}/exec?command=ls`, { ...spdy, token: null })
    assert.equal(anonymous.code, 403)
    anonymous.socket.destroy()
    cluster.kubelet.interceptUpgrade = (_request, socket) => {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\nnot you')
      return true
    }
    const refused = await upgrade(access, `${pod}/exec?command=ls`, spdy)
    assert.deepEqual([refused.code, (await readRest(refused)).endsWith('not you')], [403, true])
    cluster.kubelet.interceptUpgrade = (_request, socket) => {
      socket.end('HTTP/1.1 302 Found\r\nLocation: https://10.255.255.1/\r\nContent-Length: 0\r\n\r\n')
      return true
    }
    const redirected = await upgrade(access, `${pod}/exec?command=ls`, spdy)
    assert.equal(redirected.code, 500)
    assert.match(await readRest(redirected), /invalid upgrade response: status code 302/)
    cluster.kubelet.interceptUpgrade = undefined
  })

  test('an unreachable kubelet', async () => {
    const { client, access } = cluster.server
    const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: 1 } } }
    expectStatus(await client.post('/api/v1/nodes', { metadata: { name: 'away' }, status }), 201)
    await cluster.makePod('far', { nodeName: 'away' })
    const unreachable = await upgrade(access, '/api/v1/namespaces/default/pods/far/exec?command=ls', spdy)
    assert.equal(unreachable.code, 500)
    assert.match(await readRest(unreachable), /"error dialing backend: dial tcp 127\.0\.0\.1:1: connect: connection refused"/)
  })

  test('a request that only mentions an upgrade is served normally', async () => {
    const plain = await upgrade(cluster.server.access, '/api/v1/namespaces/default')
    assert.equal(plain.code, 200)
    assert.match(await readRest(plain), /"kind":"Namespace"/)
  })

  test('long-running requests are counted while they last', async () => {
    const { client, access } = cluster.server
    const { socket } = await upgrade(access, `${pod}/attach?stdout=1`, spdy)
    const open = /^apiserver_longrunning_requests\{[^}]*subresource="attach"[^}]*verb="CONNECT"[^}]*\} (\d+)$/m
    const count = async (): Promise<number> => Number(open.exec((await client.get('/metrics')).text)?.[1] ?? 0)
    assert.equal(await count(), 1)
    socket.destroy()
    await until(count, (now) => now === 0)
    const total = /^apiserver_request_total\{[^}]*\} \d+$/gm
    const rows = (await client.get('/metrics')).text.match(total)?.filter((row) => row.includes('subresource="attach"')) ?? []
    assert.ok(
      rows.some((row) => row.includes('code="101"') && row.includes('verb="CONNECT"')),
      rows.join('\n'),
    )
  })
})
