// Connections to hooks after the server has ended: nobody is asked any more.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { until } from '../../base/until.fixture.js'
import type { WebhookClientConfig } from '../../resources/admissionregistration/v1.schema.js'
import { HookClients, type HookPost } from './hook-clients.js'

test('who is closed rejects what is on its way and whatever comes then, and opens nothing', async (t) => {
  let connections = 0
  let asked = 0
  const server = createServer((_request, response) => {
    asked++
    if (asked === 1) response.end('{}')
  }).listen(0, '127.0.0.1')
  server.on('connection', () => connections++)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  const client: WebhookClientConfig = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
  const clients = new HookClients({ userAgent: 'hooks', allowsPlain: true })
  const request: HookPost = {
    text: '{}',
    timeoutMs: 60_000,
    onAbort: undefined,
    credentials: () => undefined,
    services: { service: () => undefined, endpoints: () => undefined } as unknown as HookPost['services'],
  }
  const post = () => clients.placeOf(client, 1000).post(request)
  assert.equal((await post()).status, 200)
  const waiting = post()
  await until(() => asked >= 2)
  clients.close()
  await assert.rejects(waiting, { code: 'ECONNRESET' })
  await assert.rejects(post(), { code: 'ECONNRESET' })
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual([connections, asked], [1, 2])
})
