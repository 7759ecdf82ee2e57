// Runs the examples of docs/testkit/control-api.md from top to bottom, and checks that every endpoint has one.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServer } from 'cluster-apiserver'
import { clientOf } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectStatus } from '../../../../test/kit/fixtures.js'
import { repoRoot } from '../../../../test/kit/paths.js'
import { controlClient } from './control-client.js'

const page = readFileSync(join(repoRoot, 'docs/testkit/control-api.md'), 'utf8')
/** Soon: the clock takes seconds for each year. */
const soon = new Date(Date.now() + 48 * 3_600_000).toISOString()

interface Example {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly status: number
  readonly response: unknown
}

const blocks = [...page.matchAll(/^([A-Z]+) (\/testkit\S*)\n(?:(\{.*)\n)?→ (\d{3}) (.*)$/gm)]
const examples = blocks.map(
  ([, method = '', path = '', body = '', status, response = '']): Example => ({
    method,
    path,
    body: body.replace('2040-01-31T12:00:00Z', soon),
    status: Number(status),
    response: JSON.parse(response),
  }),
)

/** Replaces members of `found` for which `expected` has `…`. */
function withPlaceholders(found: unknown, expected: unknown): unknown {
  if (expected === '…') return found === undefined ? undefined : '…'
  if (Array.isArray(found) && Array.isArray(expected)) return found.map((item, i) => withPlaceholders(item, expected[i]))
  if (typeof found !== 'object' || found === null || typeof expected !== 'object' || expected === null) return found
  const members = expected as { readonly [name: string]: unknown }
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, withPlaceholders(value, members[name])]))
}

test('the examples run', async () => {
  assert.equal(examples.length, page.split('\n→ ').length - 1, 'every response has a request')
  const server = await startServer({ testkit: true })
  const client = clientOf(server)
  const control = controlClient(server)
  expectStatus(await client.post('/api/v1/namespaces', { metadata: { name: 'shop' } }), 201)
  expectStatus(await client.post(configMaps('shop'), configMapOf('total', { data: { apples: '1' } })), 201)
  let id = ''
  for (const { method, path, body, status, response } of examples) {
    const found = await control.send({ method, path: path.replace('/ID', `/${id}`), ...(body === '' ? {} : { body }) })
    id = typeof found.json['id'] === 'string' ? found.json['id'] : id
    assert.equal(found.status, status, `${method} ${path}: ${found.text}`)
    assert.deepEqual(withPlaceholders(found.json, response), response, `${method} ${path}`)
  }
  const { json } = await control.get('/testkit/')
  const endpoints = json['endpoints'] as readonly { readonly method: string; readonly path: string }[]
  const isShown = ({ method, path }: { readonly method: string; readonly path: string }): boolean => {
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}(?:\\?|$)`)
    return (
      examples.some((example) => example.method === method && pattern.test(example.path)) ||
      page.includes(`\`${method} ${path.replaceAll(/\{id\}/g, 'ID')}\``)
    )
  }
  assert.deepEqual(
    endpoints.filter((endpoint) => !isShown(endpoint)),
    [],
  )
  client.close()
  control.close()
  await server.close({ immediately: true })
})
