// Exposure of a server bound to all addresses: responses without a credential, other origins, file permissions.

import assert from 'node:assert/strict'
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { RunningServer } from 'cluster-apiserver'
import { clientOf, type Embedded, startEmbedded, tokenOf } from '../../../../test/kit/embedded.js'
import { expectStatus, untilStatus } from '../../../../test/kit/fixtures.js'
import { needsAddress, ownAddress, setPodAddress } from '../../../../test/kit/kubelet/kubelet-cluster.js'

interface HttpReply {
  readonly status: number
  readonly text: string
  readonly headers: import('node:http').IncomingMessage['headers']
}

const pod = '/api/v1/namespaces/default/pods/x'

const publicPaths = ['/healthz', '/livez', '/livez?verbose', '/readyz', '/readyz?verbose', '/version', '/version/']

const forbiddenPaths = [
  '/',
  '/api',
  '/apis',
  '/openapi/v2',
  '/openapi/v3',
  '/metrics',
  '/metrics/slis',
  '/debug/pprof/',
  '/debug/pprof/heap',
  '/debug/pprof/profile',
  '/debug/flags/v',
  '/debug/api_priority_and_fairness/dump_requests',
  '/logs',
  '/logs/',
  '/logs/../../etc/passwd',
  '/configz',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/api/v1/secrets',
  '/api/v1/namespaces/kube-system/configmaps',
  `${pod}/log`,
  `${pod}/exec?command=sh`,
  `${pod}/proxy/`,
  '/api/v1/nodes/x/proxy/',
]

describe('a server bound to all addresses', () => {
  const folder = mkdtempSync(join(tmpdir(), 'exposure-'))
  const dataDir = join(folder, 'data')
  let embedded: Embedded
  let server: RunningServer
  before(async () => {
    const before = process.umask(0)
    try {
      embedded = await startEmbedded('lmdb', ['--bind-address=0.0.0.0'], dataDir)
      ;({ server } = embedded)
    } finally {
      process.umask(before)
    }
  })
  after(async () => {
    await embedded.close()
    rmSync(folder, { recursive: true })
  })

  function send(
    path: string,
    { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const { port } = server
      // Connects to the address whatever Host says, as a browser does after DNS rebinding.
      const options = { host: '127.0.0.1', port, path, method, headers, ca: server.caPem, servername: 'localhost', agent: false as const }
      const sent = request(options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
      })
      sent.on('error', reject)
      sent.end()
    })
  }

  test('requests without a credential get health and version, and nothing else', async () => {
    for (const path of publicPaths) assert.equal((await send(path)).status, 200, path)
    for (const path of forbiddenPaths)
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { status, text } = await send(path, { method })
        assert.equal(status, 403, `${method} ${path}`)
        assert.match(text, /system:anonymous/)
      }
  })

  test('a page of another origin reads nothing, also after DNS rebinding', async () => {
    for (const origin of ['http://evil.example', 'https://localhost', 'null'])
      for (const method of ['GET', 'OPTIONS'])
        for (const path of ['/version', '/api/v1/secrets']) {
          const sent = { Origin: origin, Host: 'evil.example', 'Access-Control-Request-Method': 'GET' }
          const { headers } = await send(path, { method, headers: sent })
          assert.deepEqual(
            Object.keys(headers).filter((name) => name.startsWith('access-control-')),
            [],
            `${method} ${path}`,
          )
        }
  })

  test('a cookie or query parameter is not a credential', async () => {
    for (const headers of [
      { Cookie: `token=${tokenOf(server)}` },
      { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' },
    ] as const)
      assert.equal((await send('/api', { headers })).status, 403)
    for (const name of ['token', 'access_token', 'bearer']) assert.equal((await send(`/api?${name}=${tokenOf(server)}`)).status, 403)
    assert.equal((await send('/api', { headers: { 'Impersonate-User': 'system:admin' } })).status, 403)
  })

  test('proxying to the API server itself is anonymous', needsAddress, async () => {
    const client = clientOf(server)
    const { port } = server
    const addresses = [{ type: 'InternalIP', address: ownAddress }]
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } }
    expectStatus(await client.post('/api/v1/nodes', { metadata: { name: 'self' }, status }), 201)
    await untilStatus(() => client.get('/api/v1/namespaces/default/serviceaccounts/default'), 200)
    const spec = { nodeName: 'self', containers: [{ name: 'main', image: 'registry.example/main:1' }] }
    expectStatus(await client.post('/api/v1/namespaces/default/pods', { metadata: { name: 'self' }, spec }), 201)
    await setPodAddress({ client }, 'self', ownAddress ?? '')
    for (const target of ['/api/v1/nodes/self', `/api/v1/namespaces/default/pods/https:self:${port}`]) {
      const { text } = expectStatus(await client.get(`${target}/proxy/api/v1/secrets`), 403)
      assert.match(text, /system:anonymous/)
    }
    client.close()
  })

  test('only the owner may read the data folder, whatever the umask', async () => {
    const client = clientOf(server)
    expectStatus(await client.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } }), 201)
    client.close()
    const accessibleToOthers = (path: string): readonly string[] => {
      const stat = lstatSync(path)
      const inside = stat.isDirectory() ? readdirSync(path).flatMap((name) => accessibleToOthers(join(path, name))) : []
      return (stat.mode & 0o077) === 0 ? inside : [`${(stat.mode & 0o777).toString(8)} ${path}`, ...inside]
    }
    assert.ok(readdirSync(join(dataDir, 'pki')).includes('admin.token'))
    assert.deepEqual(accessibleToOthers(dataDir), [])
  })
})
