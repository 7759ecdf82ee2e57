// Proxying to extension API servers: user headers, credentials, authorization, upgrades, failures.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { request } from 'node:https'
import type { Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded, tokenOf } from '../../../../test/kit/embedded.js'
import { expectFailure, expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { needsAddress, ownAddress } from '../../../../test/kit/kubelet/kubelet-cluster.js'
import { FlagFiles, newAuthority, newClient } from '../security/make-pki.js'
import { conditionOf, ExtensionServer, type ReceivedRequest, register, waitFor } from './extension-server.js'

const proxies = newAuthority('proxies')
const group = 'gadgets.example'
const gadgets = `/apis/${group}/v1/namespaces/default/gadgets`

describe('a version of an extension API server', () => {
  const files = new FlagFiles()
  const pair = newClient(proxies, 'aggregator')
  let running: Embedded
  let extension: ExtensionServer
  let client: ApiClient
  let bob: ApiClient
  let path: string
  before(async () => {
    extension = await ExtensionServer.start(group, proxies.cert)
    running = await startEmbedded('memory', [
      `--token-auth-file=${files.write('tokens.csv', 'bob-token,bob,bob-uid,"devs,ops"\n')}`,
      `--proxy-client-cert-file=${files.write('proxy.crt', pair.cert)}`,
      `--proxy-client-key-file=${files.write('proxy.key', pair.key)}`,
      `--requestheader-client-ca-file=${files.write('proxies.crt', proxies.cert)}`,
      '--requestheader-username-headers=X-Remote-User,X-Alt-User',
      '--requestheader-group-headers=X-Remote-Group,X-Alt-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-,X-Alt-Extra-',
    ])
    client = running.client
    bob = new ApiClient({ url: running.server.url, ca: running.server.caPem, token: 'bob-token' })
    path = await register(client, { server: extension })
    const rules = [{ apiGroups: [group], resources: ['gadgets'], verbs: ['get', 'list', 'watch'] }]
    const rbac = '/apis/rbac.authorization.cluster.io/v1'
    expectStatus(await client.post(`${rbac}/clusterroles`, { metadata: { name: 'gadget-reader' }, rules }), 201)
    const subjects = [{ kind: 'User', name: 'bob' }]
    const roleRef = { apiGroup: 'rbac.authorization.cluster.io', kind: 'ClusterRole', name: 'gadget-reader' }
    expectStatus(await client.post(`${rbac}/clusterrolebindings`, { metadata: { name: 'gadget-readers' }, subjects, roleRef }), 201)
  })
  after(async () => {
    bob.close()
    await running.close()
    extension.close()
    files.remove()
  })

  const lastAt = (url: string): ReceivedRequest => {
    const seen = extension.seenAt(url).at(-1)
    assert.ok(seen, `${url} was not requested`)
    return seen
  }

  test('is available when its discovery responds, and is called with the proxy client certificate', async () => {
    assert.deepEqual(
      { ...(await conditionOf(client, path)), lastTransitionTime: undefined },
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: undefined,
        reason: 'Passed',
        message: 'all checks passed',
      },
    )
    const { headers, client: commonName } = extension.seenAt(`/apis/${group}/v1`)[0] as ReceivedRequest
    assert.equal(commonName, 'aggregator')
    assert.equal(headers['x-remote-user'], 'system:cluster-aggregator')
    assert.equal(headers['x-remote-group'], 'system:masters')
  })

  test('user headers are sent, and no credential of the client', async () => {
    const url = `${gadgets}?limit=5`
    const response = await bob.get(url, {
      'x-remote-user': 'root',
      'x-remote-group': 'system:masters',
      'x-remote-extra-scope': 'all',
      'x-alt-user': 'root',
      'x-alt-group': 'system:masters',
      'x-alt-extra-scope': 'all',
      'proxy-authorization': 'Basic x',
      'x-own': 'kept',
    })
    assert.equal(expectStatus(response, 200).json.kind, 'GadgetList')
    const { headers, rawHeaders, client: commonName } = lastAt(url)
    assert.equal(commonName, 'aggregator')
    assert.equal(headers['x-remote-user'], 'bob')
    const groups = rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === 'x-remote-group' && i % 2 === 1)
    assert.deepEqual(groups, ['devs', 'ops', 'system:authenticated'])
    assert.equal(headers['x-own'], 'kept')
    assert.equal(headers['audit-id'], response.headers['audit-id'])
    assert.equal(headers.host, `localhost:${extension.port}`)
    const hidden = ['authorization', 'proxy-authorization', 'x-alt-user', 'x-alt-group', 'x-alt-extra-scope', 'x-remote-extra-scope']
    for (const name of hidden) assert.equal(headers[name], undefined, name)
    assert.ok(!JSON.stringify(rawHeaders).includes('bob-token'))
  })

  test('client headers cannot remove the user headers', async () => {
    const url = `${gadgets}?limit=6`
    expectStatus(await bob.get(url, { connection: 'close, X-Remote-User, X-Remote-Group, Audit-Id' }), 200)
    assert.equal(lastAt(url).headers['x-remote-user'], 'bob')
    assert.match(String(lastAt(url).headers['x-remote-group']), /devs/)
  })

  test('HTTP/2 requests are proxied', async () => {
    const session = connect(running.server.url, { ca: running.server.caPem })
    const url = `${gadgets}?limit=7`
    const stream = session.request({ ':path': url, authorization: 'Bearer bob-token', 'x-remote-user': 'root' })
    const [head] = (await once(stream, 'response')) as [{ ':status': number }]
    assert.equal(head[':status'], 200)
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    assert.match(Buffer.concat(chunks).toString(), /GadgetList/)
    assert.equal(lastAt(url).headers['x-remote-user'], 'bob')
    session.close()
  })

  test('unauthorized requests get 403 here and are not proxied', async () => {
    const url = `${gadgets}/never-seen`
    expectFailure(await bob.delete(url), 403, 'Forbidden')
    assert.deepEqual(extension.seenAt(url), [])
    const unauthenticated = new ApiClient({ url: running.server.url, ca: running.server.caPem, token: 'wrong' })
    expectFailure(await unauthenticated.get(url), 401, 'Unauthorized')
    assert.deepEqual(extension.seenAt(url), [])
    unauthenticated.close()
  })

  test('an impersonated user is sent with all attributes', async () => {
    const url = `${gadgets}?as=jane`
    const impersonation = {
      // As on the wire: Node.js reads each byte as one character.
      'impersonate-user': Buffer.from('jäne').toString('latin1'),
      'impersonate-group': 'system:masters',
      'impersonate-extra-acme.com%2fproject': 'p',
    }
    expectStatus(await client.get(url, impersonation), 200)
    const { headers } = lastAt(url)
    assert.equal(Buffer.from(headers['x-remote-user'] as string, 'latin1').toString(), 'jäne')
    assert.equal(headers['x-remote-extra-acme.com%2fproject'], 'p')
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith('impersonate-')),
      [],
    )
  })

  test('the extension server cannot set headers of this server, and duplicate headers reach no client', async () => {
    const url = `${gadgets}?limit=8`
    const serverHeaders = {
      'X-Cluster-PF-FlowSchema-UID': 'theirs',
      'X-Kubernetes-PF-PriorityLevel-UID': 'theirs',
      'X-Cluster-PF-PriorityLevel-UID': 'theirs',
      'Audit-Id': 'theirs',
      'Strict-Transport-Security': 'theirs',
    }
    extension.behaviour = ({ url: requested }, response) => {
      if (requested !== url) return undefined
      response.writeHead(200, [...Object.entries(serverHeaders).flat(), 'Content-Type', 'a/b', 'Content-Type', 'c/d', 'X-Theirs', 'yes'])
      response.end('ok')
      return true
    }
    const response = expectStatus(await client.get(url), 200)
    assert.equal(response.headers['x-theirs'], 'yes')
    const session = connect(running.server.url, { ca: running.server.caPem })
    const stream = session.request({ ':path': url, authorization: 'Bearer bob-token' })
    const [head] = (await once(stream, 'response')) as [{ [name: string]: unknown }]
    stream.resume()
    if (!stream.closed) await once(stream, 'close')
    session.close()
    extension.behaviour = () => undefined
    assert.deepEqual([head[':status'], head['content-type'], head['x-theirs']], [200, 'a/b', 'yes'])
    for (const headers of [response.headers, head])
      for (const name of Object.keys(serverHeaders)) assert.doesNotMatch(String(headers[name.toLowerCase()]), /theirs/, name)
  })

  test('objects are created, read, watched and deleted there', async () => {
    const watch = await client.watch(`${gadgets}?watch=1`)
    const created = expectStatus(await client.post(gadgets, { metadata: { name: 'one' }, spec: { size: 3 } }), 201)
    assert.equal(created.json.kind, 'Gadget')
    assert.equal(created.headers['cache-control'], 'no-cache, private')
    expectStatus(await client.get(`${gadgets}/one`), 200)
    expectStatus(await client.delete(`${gadgets}/one`), 200)
    expectStatus(await client.get(`${gadgets}/one`), 404)
    const events = await until(
      async () => watch.events,
      (seen) => seen.length >= 2,
    )
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ADDED', 'DELETED'],
    )
    watch.close()
    await until(
      async () => extension.watching,
      (watching) => watching === 0,
    )
  })

  test('an escaped path is the authorized one, and no path leaves the version', async () => {
    // The garbage collector sends requests, too.
    const proxiedRequests = () => extension.seen.filter(({ headers }) => headers['x-remote-user'] === 'admin')
    extension.seen.length = 0
    expectStatus(await client.get(`${gadgets}/a%2Fb`), 404)
    assert.equal(proxiedRequests().at(-1)?.url, `${gadgets}/a/b`)
    extension.seen.length = 0
    for (const tricky of [`/apis/${group}/v1/../../../api/v1/secrets`, `/apis/${group}/v1/%2e%2e/x`, `//apis/${group}/v1/gadgets`])
      expectStatus(await client.get(tricky), 404)
    assert.deepEqual(proxiedRequests(), [])
  })

  test('upgraded connections are proxied', async () => {
    const sent = request(`${running.server.url}${gadgets}/one/exec`, {
      ca: running.server.caPem,
      headers: { authorization: `Bearer ${tokenOf(running.server)}`, connection: 'Upgrade', upgrade: 'echo', 'x-remote-user': 'root' },
    })
    sent.end()
    const [, socket] = (await once(sent, 'upgrade')) as [unknown, Socket]
    socket.write('hello')
    const [echoed] = (await once(socket, 'data')) as [Buffer]
    assert.equal(echoed.toString(), 'hello')
    const { headers, client: commonName } = lastAt(`${gadgets}/one/exec`)
    assert.equal(headers['x-remote-user'], 'admin')
    assert.equal(headers.authorization, undefined)
    assert.equal(commonName, 'aggregator')
    socket.destroy()
  })

  test('redirects are not passed on', async () => {
    extension.behaviour = ({ url }, response) => {
      if (url !== `${gadgets}/moved`) return undefined
      response.writeHead(302, { location: 'https://elsewhere.example/' }).end()
      return true
    }
    const { text } = expectStatus(await client.get(`${gadgets}/moved`), 502)
    assert.equal(text, 'the backend attempted to redirect this request, which is not permitted')
    extension.behaviour = () => undefined
  })

  test('an unreachable server gives 503, and later the APIService is unavailable', async () => {
    const dead = await ExtensionServer.start('dead.example')
    const deadPath = await register(client, { server: dead })
    dead.close()
    const { text, headers } = expectStatus(await client.get('/apis/dead.example/v1/gadgets'), 503)
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
    assert.match(text, /^error trying to reach service: dial tcp .*: connect: connection refused\n$/)
    // Any change triggers a new probe.
    await client.patch(deadPath, 'application/merge-patch+json', { spec: { versionPriority: 11 } })
    const condition = await waitFor(client, deadPath, 'FailedDiscoveryCheck')
    const url = `https://localhost:${dead.port}/apis/dead.example/v1`
    assert.ok(condition?.message.startsWith(`failing or missing response from ${url}: Get "${url}": dial tcp `), condition?.message)
    assert.equal(expectStatus(await client.get('/apis/dead.example/v1'), 503).text, 'service unavailable\n')
    const metrics = (await client.get('/metrics')).text
    assert.match(metrics, /^aggregator_unavailable_apiservice\{name="v1\.dead\.example"\} 1$/m)
    assert.match(metrics, /^aggregator_unavailable_apiservice\{name="v1\.gadgets\.example"\} 0$/m)
    assert.match(metrics, /^aggregator_unavailable_apiservice_total\{name="v1\.dead\.example",reason="FailedDiscoveryCheck"\} 1$/m)
    // Each worker process counts its own.
    assert.match(metrics, /^aggregator_openapi_v2_regeneration_count\{apiservice="v1\.gadgets\.example",reason="add"\} [1-3]$/m)
    await client.delete(deadPath)
    expectStatus(await client.get('/apis/dead.example/v1'), 404)
  })

  test('a certificate of another CA is rejected', async () => {
    const other = await ExtensionServer.start('other.example')
    const otherPath = await register(client, { server: other, changes: { caBundle: Buffer.from(extension.ca).toString('base64') } })
    const { text } = expectStatus(await client.get('/apis/other.example/v1/gadgets'), 503)
    assert.equal(text, 'error trying to reach service: x509: certificate signed by unknown authority\n')
    await client.patch(otherPath, 'application/merge-patch+json', { spec: { caBundle: null, insecureSkipTLSVerify: true } })
    await untilStatus(() => client.get('/apis/other.example/v1/gadgets'), 200)
    await client.delete(otherPath)
    other.close()
  })
})

test('--enable-aggregator-routing connects to endpoints directly', needsAddress, async (t) => {
  const host = ownAddress ?? ''
  const extension = await ExtensionServer.start('direct.example', undefined, host)
  const { client, close } = await startEmbedded('memory', ['--enable-aggregator-routing=true'])
  t.after(async () => {
    extension.close()
    await close()
  })
  const ports = [{ name: 'tls', port: 443, targetPort: extension.port }]
  expectStatus(await client.post('/api/v1/namespaces/default/services', { metadata: { name: 'gadgets' }, spec: { ports } }), 201)
  const subsets = [{ addresses: [{ ip: host }], ports: [{ name: 'tls', port: extension.port }] }]
  expectStatus(await client.post('/api/v1/namespaces/default/endpoints', { metadata: { name: 'gadgets' }, subsets }), 201)
  const path = await register(client, { server: extension, changes: { service: { namespace: 'default', name: 'gadgets' } } })
  expectStatus(await client.get('/apis/direct.example/v1/gadgets'), 200)
  assert.equal(extension.seen.at(-1)?.headers.host, `${host}:${extension.port}`)
  // Without endpoints the service is unreachable, whatever was cached.
  expectStatus(await client.delete('/api/v1/namespaces/default/endpoints/gadgets'), 200)
  assert.equal(expectStatus(await client.get('/apis/direct.example/v1/gadgets'), 503).text, 'service unavailable\n')
  await waitFor(client, path, 'EndpointsNotFound')
})
