// No route answers without passing authentication and authorization: all that the server tells of itself, and what it does not tell of.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ApiClient } from '../kit/api-client.js'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { FlagFiles } from './make-pki.js'

const serving = [
  '--runtime-config=api/all=true',
  '--feature-gates=DynamicResourceAllocation=true,ValidatingAdmissionPolicy=true,APISelfSubjectReview=true',
  '--profiling',
  '--anonymous-auth=false',
  '--authorization-mode=AlwaysDeny',
]

/** Paths that no document lists. */
const unlisted = [
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

async function routesOf(client: ApiClient): Promise<readonly string[]> {
  const [root, openApi] = [await client.get('/'), await client.get('/openapi/v2')]
  const told = root.json['paths'] as readonly string[]
  const described = Object.keys(openApi.json['paths'] as object)
  assert.ok(described.length > 400, `${described.length} paths are described`)
  return [...new Set([...unlisted, ...told, ...described.map((path) => path.replaceAll(/\{[a-z]+\}/g, 'x'))])]
}

describe('every route', () => {
  const files = new FlagFiles()
  let running: Embedded
  let plain: ApiClient
  let stranger: ApiClient
  let forger: ApiClient
  let routes: readonly string[]
  before(async () => {
    const tokens = files.write('tokens.csv', 'plain-token,plain,plain-uid\n')
    running = await startEmbedded('memory', [...serving, `--token-auth-file=${tokens}`])
    const access = { url: running.server.url, ca: running.server.caPem }
    plain = new ApiClient({ ...access, token: 'plain-token' })
    stranger = new ApiClient(access)
    forger = new ApiClient({ ...access, token: 'plain-token-not' })
    routes = await routesOf(running.client)
  })
  after(async () => {
    for (const client of [plain, stranger, forger]) client.close()
    await running.close()
    files.remove()
  })

  const expectAll = async (client: ApiClient, code: number): Promise<void> => {
    const answers: string[] = []
    const ask = async (path: string, method: string): Promise<void> => {
      const { status } = await client.send({ path, method, ...(method === 'POST' || method === 'PUT' ? { body: {} } : {}) })
      if (status !== code) answers.push(`${method} ${path}: ${status}`)
    }
    const all = routes.flatMap((path) => methods.map((method) => [path, method] as const))
    for (let at = 0; at < all.length; at += 50) await Promise.all(all.slice(at, at + 50).map(([path, method]) => ask(path, method)))
    assert.deepEqual(answers, [])
  }

  test('nobody who does not say who they are is answered', () => expectAll(stranger, 401))
  test('nobody who says it wrongly is', () => expectAll(forger, 401))
  test('nobody who may not is', () => expectAll(plain, 403))
  test('and the administrator is', async () => {
    assert.equal((await running.client.get('/livez/ping')).status, 200)
    assert.equal((await running.client.get('/api/v1/namespaces')).status, 200)
  })
})
