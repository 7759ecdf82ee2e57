// A server that other machines and other users of this machine can reach: what they get without a credential, and which files they can read.

import assert from 'node:assert/strict'
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type RunningServer, startServer } from 'cluster-apiserver'
import { needsAddress, ownAddress, placePod } from '../kit/agent-cluster.js'
import { clientOf, tokenOf } from '../kit/embedded.js'
import { expectStatus, until } from '../kit/fixtures.js'

interface Got {
  readonly status: number
  readonly text: string
  readonly headers: import('node:http').IncomingMessage['headers']
}

const pod = '/api/v1/namespaces/default/pods/x'

const publicPaths = ['/healthz', '/livez', '/livez?verbose', '/readyz', '/readyz?verbose', '/version', '/version/']

const closedPaths = [
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
  let server: RunningServer
  before(async () => {
    const before = process.umask(0)
    try {
      server = await startServer({ dataDir, bindAddress: '0.0.0.0' })
    } finally {
      process.umask(before)
    }
  })
  after(async () => {
    await server.close({ immediately: true })
    rmSync(folder, { recursive: true })
  })

  function ask(path: string, { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {}): Promise<Got> {
    return new Promise((resolve, reject) => {
      const { port } = server
      // The server is asked by its address, whatever Host says, as a browser does after DNS rebinding.
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
    for (const path of publicPaths) assert.equal((await ask(path)).status, 200, path)
    for (const path of closedPaths)
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { status, text } = await ask(path, { method })
        assert.equal(status, 403, `${method} ${path}`)
        assert.match(text, /system:anonymous/)
      }
  })

  test('a page of another origin may read nothing, also after DNS rebinding', async () => {
    for (const origin of ['http://evil.example', 'https://localhost', 'null'])
      for (const method of ['GET', 'OPTIONS'])
        for (const path of ['/version', '/api/v1/secrets']) {
          const asked = { Origin: origin, Host: 'evil.example', 'Access-Control-Request-Method': 'GET' }
          const { headers } = await ask(path, { method, headers: asked })
          assert.deepEqual(
            Object.keys(headers).filter((name) => name.startsWith('access-control-')),
            [],
            `${method} ${path}`,
          )
        }
  })

  test('a cookie or a parameter is no credential', async () => {
    for (const headers of [
      { Cookie: `token=${tokenOf(server)}` },
      { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' },
    ] as const)
      assert.equal((await ask('/api', { headers })).status, 403)
    for (const name of ['token', 'access_token', 'bearer']) assert.equal((await ask(`/api?${name}=${tokenOf(server)}`)).status, 403)
    assert.equal((await ask('/api', { headers: { 'Impersonate-User': 'system:admin' } })).status, 403)
  })

  test('a pod or a node that claims to be the API server leads to it without a credential', needsAddress, async () => {
    const client = clientOf(server)
    const { port } = server
    const addresses = [{ type: 'InternalIP', address: ownAddress }]
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } }
    expectStatus(await client.post('/api/v1/nodes', { metadata: { name: 'self' }, status }), 201)
    await until(
      () => client.get('/api/v1/namespaces/default/serviceaccounts/default'),
      (answer) => answer.status === 200,
    )
    const spec = { nodeName: 'self', containers: [{ name: 'main', image: 'registry.example/main:1' }] }
    expectStatus(await client.post('/api/v1/namespaces/default/pods', { metadata: { name: 'self' }, spec }), 201)
    await placePod({ client }, 'self', ownAddress ?? '')
    for (const way of ['/api/v1/nodes/self', `/api/v1/namespaces/default/pods/https:self:${port}`]) {
      const { text } = expectStatus(await client.get(`${way}/proxy/api/v1/secrets`), 403)
      assert.match(text, /system:anonymous/)
    }
    client.close()
  })

  test('only the owner may read or enter what is in the data folder, whatever the umask', async () => {
    const client = clientOf(server)
    expectStatus(await client.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } }), 201)
    client.close()
    const open = (path: string): readonly string[] => {
      const stat = lstatSync(path)
      const inside = stat.isDirectory() ? readdirSync(path).flatMap((name) => open(join(path, name))) : []
      return (stat.mode & 0o077) === 0 ? inside : [`${(stat.mode & 0o777).toString(8)} ${path}`, ...inside]
    }
    assert.ok(readdirSync(join(dataDir, 'pki')).includes('admin.token'))
    assert.deepEqual(open(dataDir), [])
  })
})
