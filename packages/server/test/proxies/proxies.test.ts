// Proxy subresource of pods, services and nodes: targets, rewritten responses, forbidden addresses.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expectFailure, expectStatus } from '../../../../test/kit/fixtures.js'
import {
  type KubeletCluster,
  needsAddress,
  ownAddress,
  ownAddress6,
  setPodAddress,
  startKubeletCluster,
} from '../../../../test/kit/kubelet/kubelet-cluster.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'
import { readRest, upgrade } from '../../../../test/kit/network/open-connection.js'

const page = '<html><a href="/next">n</a><a href="http://elsewhere.example/x">e</a></html>'

function serve(request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url ?? '/', 'http://pod').pathname
  if (path === '/page') response.setHeader('Content-Type', 'text/html; charset=utf-8').end(page)
  else if (path === '/packed') response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' }).end(gzipSync(page))
  else if (path.startsWith('/odd/')) response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': path.slice(5) }).end(page)
  else if (path === '/moved') response.writeHead(302, { Location: '/there?x', 'Access-Control-Allow-Origin': '*' }).end()
  else if (path === '/away') response.writeHead(302, { Location: 'http://10.255.255.1/' }).end()
  else {
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on('end', () => response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, bytes })))
  }
}

describe('the proxy subresource', needsAddress, () => {
  let cluster: KubeletCluster
  let web: Server
  let port: number
  const pods = '/api/v1/namespaces/default/pods'
  const services = '/api/v1/namespaces/default/services'
  const get = async (path: string): Promise<JsonObject> => expectStatus(await cluster.server.client.get(path), 200).json
  before(async () => {
    cluster = await startKubeletCluster({ address: ownAddress ?? '' })
    web = createServer(serve)
    web.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nwelcome')
      socket.end()
    })
    await new Promise<void>((resolve) => web.listen(0, ownAddress, resolve))
    port = (web.address() as AddressInfo).port
    await cluster.makePod('web', { containers: [{ name: 'main', image: 'registry.example/main:1', ports: [{ containerPort: port }] }] })
    await setPodAddress(cluster.server, 'web', ownAddress ?? '')
  })
  after(async () => {
    await cluster.close()
    web.closeAllConnections()
    web.close()
  })

  test('a pod, by its first port or a named one, with any method and body', async () => {
    const { client } = cluster.server
    const seen = await get(`${pods}/web/proxy/a/b%20c?d=e`)
    assert.deepEqual([seen['method'], seen['url']], ['GET', '/a/b%20c?d=e'])
    assert.equal((await get(`${pods}/web:${port}/proxy/`))['url'], '/')
    assert.equal((await get(`${pods}/http:web:${port}/proxy/x/../y//z/`))['url'], '/y/z/')
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const { json } = expectStatus(await client.send({ method, path: `${pods}/web/proxy/x`, body: 'y'.repeat(200_000) }), 200)
      assert.deepEqual([json['method'], json['bytes']], [method, 200_000])
    }
    expectStatus(await client.send({ method: 'HEAD', path: `${pods}/web/proxy/x` }), 200)
  })

  test('user and credentials are not sent, only X-Forwarded headers', async () => {
    const headers = { 'Impersonate-User': 'system:admin', 'Impersonate-Group': 'system:masters', 'X-Remote-User': 'x', 'X-Other': 'kept' }
    const { json } = expectStatus(await cluster.server.client.send({ path: `${pods}/web/proxy/x`, headers }), 200)
    const seen = json['headers'] as Record<string, string>
    for (const name of ['authorization', 'impersonate-user', 'x-remote-user']) assert.equal(seen[name], undefined, name)
    assert.deepEqual([seen['x-other'], seen['x-forwarded-for'], seen['x-forwarded-uri']], ['kept', '127.0.0.1', `${pods}/web/proxy/x`])
  })

  test('links in headers and HTML are rewritten, compressed or not', async () => {
    const { client } = cluster.server
    const expected = page.replace('/next', `${pods}/web/proxy/next`)
    assert.equal((await client.get(`${pods}/web/proxy/page`)).text, expected)
    assert.equal(String(gunzipSync((await client.get(`${pods}/web/proxy/packed`)).bytes)), expected)
    // An unknown Content-Encoding is passed through.
    for (const coding of ['br', 'constructor', 'toString', '__proto__'])
      assert.equal((await client.get(`${pods}/web/proxy/odd/${coding}`)).text, page, coding)
    const moved = await client.get(`${pods}/web/proxy/moved`)
    assert.deepEqual([moved.status, moved.headers.location], [302, `${pods}/web/proxy/there?x`])
    assert.equal(moved.headers['access-control-allow-origin'], undefined)
    const escaped = await client.get(`${pods}/web/proxy/%0d%0aX:%20y"<>/../moved`)
    assert.deepEqual([escaped.status, escaped.headers.location], [302, `${pods}/web/proxy/there?x`])
    const away = await client.get(`${pods}/web/proxy/away`)
    assert.deepEqual([away.status, away.headers.location], [302, 'http://10.255.255.1/'])
    const bare = await client.get(`${pods}/web/proxy?a=b`)
    assert.deepEqual([bare.status, bare.headers.location], [301, `${pods}/web/proxy/?a=b`])
  })

  test('a pod with TLS, with any certificate', async () => {
    const { cert, key } = cluster.certificates.kubelet
    const secure = createSecureServer({ cert, key }, serve)
    await new Promise<void>((resolve) => secure.listen(0, ownAddress, resolve))
    const { port: securePort } = secure.address() as AddressInfo
    assert.equal((await get(`${pods}/https:web:${securePort}/proxy/x`))['url'], '/x')
    expectFailure(await cluster.server.client.get(`${pods}/https:web:${port}/proxy/x`), 503, 'ServiceUnavailable')
    secure.closeAllConnections()
    secure.close()
  })

  test('a pod with an IPv6 address', { skip: ownAddress6 === undefined ? 'this machine has none' : false }, async () => {
    const ipv6Server = createServer(serve)
    await new Promise<void>((resolve) => ipv6Server.listen(0, ownAddress6, resolve))
    await cluster.makePod('six')
    await setPodAddress(cluster.server, 'six', ownAddress6 ?? '')
    assert.equal((await get(`${pods}/six:${(ipv6Server.address() as AddressInfo).port}/proxy/x`))['url'], '/x')
    ipv6Server.closeAllConnections()
    ipv6Server.close()
  })

  test('an upgrade', async () => {
    const opened = await upgrade(cluster.server.access, `${pods}/web/proxy/socket`, { headers: { Upgrade: 'x' } })
    assert.equal(opened.code, 101)
    assert.equal(await readRest(opened), 'welcome')
  })

  test('a service connects to pods of its namespace at their own addresses', async () => {
    const { client } = cluster.server
    const spec = { ports: [{ name: 'http', port: 80, targetPort: port }] }
    expectStatus(await client.post(services, { metadata: { name: 'web' }, spec }), 201)
    const path = '/api/v1/namespaces/default/endpoints'
    assert.equal(expectFailure(await client.get(`${services}/web/proxy/`), 404, 'NotFound')['message'], 'endpoints "web" not found')
    const subsets = (targetRef: unknown) => [
      { addresses: [{ ip: ownAddress, ...(targetRef === undefined ? {} : { targetRef }) }], ports: [{ name: 'http', port }] },
    ]
    const target = { kind: 'Pod', namespace: 'default', name: 'web' }
    expectStatus(await client.post(path, { metadata: { name: 'web' }, subsets: subsets(target) }), 201)
    assert.equal((await get(`${services}/web:80/proxy/x`))['url'], '/x')
    assert.equal((await get(`${services}/web:http/proxy/x`))['url'], '/x')
    const other = expectFailure(await client.get(`${services}/web:81/proxy/x`), 503, 'ServiceUnavailable')
    assert.equal(other['message'], 'no service port 81 found for service "web"')
    const unnamed = expectFailure(await client.get(`${services}/web/proxy/x`), 503, 'ServiceUnavailable')
    assert.equal(unnamed['message'], 'no endpoints available for service "web"')
    for (const ref of [undefined, { ...target, name: 'none' }, { ...target, namespace: 'other' }]) {
      expectStatus(await client.put(`${path}/web`, { metadata: { name: 'web' }, subsets: subsets(ref) }), 200)
      expectFailure(await client.get(`${services}/web:http/proxy/x`), 503, 'ServiceUnavailable')
    }
  })

  test('an ExternalName service is not proxied', async () => {
    const { client } = cluster.server
    const spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] }
    expectStatus(await client.post(services, { metadata: { name: 'alias' }, spec }), 201)
    for (const name of ['alias', `alias:${port}`]) expectFailure(await client.get(`${services}/${name}/proxy/x`), 404, 'NotFound')
  })

  test("a node: its kubelet with the server's certificate, other ports without", async () => {
    const healthy = await cluster.server.client.get('/api/v1/nodes/node/proxy/healthz')
    assert.deepEqual([healthy.status, healthy.text, cluster.kubelet.requests.at(-1)?.client], [200, 'ok', 'the-server'])
    expectStatus(await cluster.server.client.get(`/api/v1/nodes/https:node:${cluster.kubelet.port}/proxy/healthz`), 200)
    assert.equal((await get(`/api/v1/nodes/node:${port}/proxy/x`))['url'], '/x')
  })

  test('loopback, link-local and multicast addresses are forbidden', async () => {
    const { client } = cluster.server
    await cluster.makePod('inside')
    for (const ip of [
      '127.0.0.1',
      '127.0.0.01',
      '169.254.169.254',
      '224.0.0.1',
      '0.0.0.0',
      '::1',
      'fe80::1',
      '::ffff:127.0.0.1',
      '::ffff:a9fe:a9fe',
    ]) {
      await setPodAddress(cluster.server, 'inside', ip)
      const { message } = expectFailure(await client.get(`${pods}/inside:80/proxy/`), 400, 'BadRequest') as { readonly message?: string }
      assert.equal(message, 'address not allowed', ip)
    }
    const hosts: readonly (readonly [address: string, message: RegExp])[] = [
      ['localhost', /^address not allowed$/],
      ['127.0.0.1', /^address not allowed$/],
      ['no-such-host.invalid', /^lookup no-such-host\.invalid: no such host$/],
    ]
    for (const [i, [address, expected]] of hosts.entries()) {
      const status = { addresses: [{ type: 'InternalIP', address }], daemonEndpoints: { kubeletEndpoint: { Port: cluster.kubelet.port } } }
      expectStatus(await client.post('/api/v1/nodes', { metadata: { name: `bad-${i}` }, status }), 201)
      const { message } = expectFailure(await client.get(`/api/v1/nodes/bad-${i}/proxy/`), 400, 'BadRequest') as {
        readonly message?: string
      }
      assert.match(message ?? '', expected)
    }
  })

  test('names that cannot be resolved', async () => {
    const { client } = cluster.server
    for (const name of ['a:b:c:d', 'ftp:web:80', ':80', 'http::80'])
      expectFailure(await client.get(`${pods}/${name}/proxy/`), 400, 'BadRequest')
    expectFailure(await client.get(`${pods}/none/proxy/`), 404, 'NotFound')
    const closed = expectFailure(await client.get(`${pods}/web:1/proxy/`), 503, 'ServiceUnavailable')
    assert.equal(closed['message'], `error trying to reach service: dial tcp ${ownAddress}:1: connect: connection refused`)
    const named = expectFailure(await client.get(`${pods}/web:http/proxy/`), 503, 'ServiceUnavailable')
    assert.match(String(named['message']), /^error trying to reach service: dial tcp: lookup /)
    // Text behind an @ would become the host and bypass the address check.
    for (const port of ['80@127.0.0.1', '@127.0.0.1', '80@localhost', '1@2130706433', '80%23', '80%3Fx', '80%5Cx', '%EF%BC%98', '080808']) {
      for (const target of [`${pods}/web:${port}`, `${pods}/https:web:${port}`, `/api/v1/nodes/node:${port}`]) {
        const { message } = expectFailure(await client.get(`${target}/proxy/`), 503, 'ServiceUnavailable') as { readonly message?: string }
        assert.match(message ?? '', /^error trying to reach service: dial tcp: lookup /, target)
      }
    }
  })
})
