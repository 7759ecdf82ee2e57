// Every route requires authentication and authorization: 401 without a credential, 403 with --authorization-mode=AlwaysDeny.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Access, ApiClient } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { RawSocket } from '../../../../test/kit/network/raw-socket.js'
import { FlagFiles } from './make-pki.js'

const serverFlags = [
  '--runtime-config=api/all=true',
  '--feature-gates=DynamicResourceAllocation=true,ValidatingAdmissionPolicy=true,APISelfSubjectReview=true',
  '--profiling',
  '--anonymous-auth=false',
  '--authorization-mode=AlwaysDeny',
]

/** Paths without resources, most of them not in the OpenAPI document, and paths that do not exist. */
const undocumentedPaths = [
  '/',
  '/metrics',
  '/metrics/slis',
  '/debug/pprof/',
  '/debug/pprof/profile',
  '/debug/pprof/heap',
  '/debug/api_priority_and_fairness/dump_requests',
  '/debug/flags/v',
  '/healthz',
  '/livez',
  '/readyz',
  '/livez/ping',
  '/readyz/shutdown',
  '/version',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/api/v1',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/no/such/path',
  '/api/v1/watch/pods',
  '/api/v1/proxy/namespaces/a/pods/b',
  '/api/v1/namespaces/a/nothing',
  '/apis/no.such.group/v1/things',
]

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
/** One read and one write per route; every method for `undocumentedPaths` and for every twentieth route. */
const methodsOf = (path: string, i: number): readonly string[] =>
  undocumentedPaths.includes(path) || i % 20 === 0 ? methods : ['GET', 'POST']

async function routesOf(client: ApiClient): Promise<readonly string[]> {
  const [root, openApi] = [await client.get('/'), await client.get('/openapi/v2')]
  const listed = root.json['paths'] as readonly string[]
  const described = Object.keys(openApi.json['paths'] as object)
  assert.ok(described.length > 400, `${described.length} paths are described`)
  return [...new Set([...undocumentedPaths, ...listed, ...described.map((path) => path.replaceAll(/\{[a-z]+\}/g, 'x'))])]
}

describe('every route', () => {
  const files = new FlagFiles()
  let running: Embedded
  let access: Access
  let routes: readonly string[]
  before(async () => {
    const tokens = files.write('tokens.csv', 'plain-token,plain,plain-uid\n')
    running = await startEmbedded('memory', [...serverFlags, `--token-auth-file=${tokens}`])
    access = { url: running.server.url, ca: running.server.caPem }
    routes = await routesOf(running.client)
  })
  after(async () => {
    await running.close()
    files.remove()
  })

  /** Pipelined on few connections: thousands of requests would take seconds otherwise. */
  const batchSize = 50
  const textOf = (path: string, method: string, token: string | undefined): string => {
    const headerLines = ['Host: x', ...(token === undefined ? [] : [`Authorization: Bearer ${token}`])]
    if (method !== 'POST' && method !== 'PUT') return `${method} ${path} HTTP/1.1\r\n${headerLines.join('\r\n')}\r\n\r\n`
    return `${method} ${path} HTTP/1.1\r\n${[...headerLines, 'Content-Type: application/json', 'Content-Length: 2'].join('\r\n')}\r\n\r\n{}`
  }
  const expectAll = async (token: string | undefined, code: number): Promise<void> => {
    const unexpected: string[] = []
    const all = routes.flatMap((path, i) => methodsOf(path, i).map((method) => [path, method] as const))
    const socket = await RawSocket.open(access)
    for (let at = 0; at < all.length; at += batchSize) {
      const batch = all.slice(at, at + batchSize)
      socket.received = ''
      socket.write(batch.map(([path, method]) => textOf(path, method, token)).join(''))
      await socket.until(() => socket.statuses.length >= batch.length, 60_000)
      const { statuses } = socket
      for (const [i, [path, method]] of batch.entries()) if (statuses[i] !== code) unexpected.push(`${method} ${path}: ${statuses[i]}`)
      assert.equal(statuses.length, batch.length)
    }
    socket.close()
    assert.deepEqual(unexpected, [])
  }

  test('requests without a credential get 401', () => expectAll(undefined, 401))
  test('requests with an unknown token get 401', () => expectAll('plain-token-not', 401))
  test('requests of a user without permissions get 403', () => expectAll('plain-token', 403))
  test('requests of the administrator are served', async () => {
    assert.equal((await running.client.get('/livez/ping')).status, 200)
    assert.equal((await running.client.get('/api/v1/namespaces')).status, 200)
  })
})
