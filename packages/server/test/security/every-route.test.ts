// No route answers without passing authentication and authorization: all that the server tells of itself, and what it does not tell of.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Access, ApiClient } from '../kit/api-client.js'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { RawSocket } from '../kit/raw-socket.js'
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
  let access: Access
  let routes: readonly string[]
  before(async () => {
    const tokens = files.write('tokens.csv', 'plain-token,plain,plain-uid\n')
    running = await startEmbedded('memory', [...serving, `--token-auth-file=${tokens}`])
    access = { url: running.server.url, ca: running.server.caPem }
    routes = await routesOf(running.client)
  })
  after(async () => {
    await running.close()
    files.remove()
  })

  /** Written to a connection many at a time: thousands of requests take seconds otherwise. */
  const atOnce = 50
  const textOf = (path: string, method: string, token: string | undefined): string => {
    const heads = ['Host: x', ...(token === undefined ? [] : [`Authorization: Bearer ${token}`])]
    if (method !== 'POST' && method !== 'PUT') return `${method} ${path} HTTP/1.1\r\n${heads.join('\r\n')}\r\n\r\n`
    return `${method} ${path} HTTP/1.1\r\n${[...heads, 'Content-Type: application/json', 'Content-Length: 2'].join('\r\n')}\r\n\r\n{}`
  }
  const expectAll = async (token: string | undefined, code: number): Promise<void> => {
    const answers: string[] = []
    const all = routes.flatMap((path) => methods.map((method) => [path, method] as const))
    const socket = await RawSocket.open(access)
    for (let at = 0; at < all.length; at += atOnce) {
      const asked = all.slice(at, at + atOnce)
      socket.received = ''
      socket.write(asked.map(([path, method]) => textOf(path, method, token)).join(''))
      await socket.until(() => socket.statuses.length >= asked.length, 60_000)
      const { statuses } = socket
      for (const [i, [path, method]] of asked.entries()) if (statuses[i] !== code) answers.push(`${method} ${path}: ${statuses[i]}`)
      assert.equal(statuses.length, asked.length)
    }
    socket.close()
    assert.deepEqual(answers, [])
  }

  test('nobody who does not say who they are is answered', () => expectAll(undefined, 401))
  test('nobody who says it wrongly is', () => expectAll('plain-token-not', 401))
  test('nobody who may not is', () => expectAll('plain-token', 403))
  test('and the administrator is', async () => {
    assert.equal((await running.client.get('/livez/ping')).status, 200)
    assert.equal((await running.client.get('/api/v1/namespaces')).status, 200)
  })
})
