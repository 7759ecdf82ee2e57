// The same with vitest, in TypeScript.

import { request } from 'node:https'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

let server: EmbeddedServer
beforeAll(async () => {
  server = await startServer({ objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }] })
})
beforeEach(() => server.reset())
afterAll(() => server.close())

interface Answer {
  readonly status: number | undefined
  readonly json: { readonly data?: unknown; readonly reason?: string }
}

function ask(method: string, path: string, body?: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
    request(`${server.url}${path}`, { method, headers, ca: server.caPem, agent: false }, async (response) => {
      resolve({ status: response.statusCode, json: JSON.parse((await response.toArray()).join('')) })
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const maps = '/api/v1/namespaces/shop/configmaps'

test.each([1, 2])('a test finds the server as it was started, round %i', async () => {
  expect((await ask('POST', maps, { metadata: { name: 'prices' }, data: { apple: '3' } })).status).toBe(201)
  expect((await ask('GET', `${maps}/prices`)).json.data).toEqual({ apple: '3' })
})

test('what the rules of the API forbid is refused', async () => {
  const { status, json } = await ask('POST', maps, { metadata: { name: 'No Such Name' } })
  expect(status).toBe(422)
  expect(json.reason).toBe('Invalid')
})
