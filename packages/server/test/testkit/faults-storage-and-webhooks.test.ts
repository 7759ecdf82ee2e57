// Faults on command of what the server depends on: webhooks that refuse connections, and a full disk.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { configMapOf, configMaps, expectFailure, expectStatus, untilStatus } from '../../../../test/kit/fixtures.js'
import { caBundle, configure, startWebhook, type TlsWebhook, webhookEntry } from '../admission/tls-webhooks.js'
import { FlagFiles } from '../security/make-pki.js'

interface AccessReview {
  readonly kind: string
  readonly apiVersion: string
  readonly spec: { readonly token?: string }
}

interface ConversionReview {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly object[] }
}

describe('faults of webhooks and storage', () => {
  const files = new FlagFiles()
  /** Authenticates every token as `guest`, and allows everything. */
  const access = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { kind, apiVersion, spec } = JSON.parse(Buffer.concat(parts).toString()) as AccessReview
    const status = spec.token === undefined ? { allowed: true } : { authenticated: true, user: { username: 'guest' } }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ kind, apiVersion, status }))
  })
  let webhook: TlsWebhook
  let server: EmbeddedServer
  let client: ApiClient
  before(async () => {
    await new Promise<void>((resolve) => access.listen(0, '127.0.0.1', resolve))
    const { port } = access.address() as AddressInfo
    const config = files.write('webhook', `kind: Config\nclusters: [{name: h, cluster: {server: "http://127.0.0.1:${port}"}}]\n`)
    webhook = await startWebhook((path, review) => (path === '/convert' ? convert(review as unknown as ConversionReview) : {}))
    server = await startServer({
      flags: [
        '--authorization-mode=RBAC,Webhook',
        `--authorization-webhook-config-file=${config}`,
        '--authorization-webhook-version=v1',
        '--authorization-webhook-cache-authorized-ttl=0s',
        `--authentication-token-webhook-config-file=${config}`,
        '--authentication-token-webhook-version=v1',
        '--authentication-token-webhook-cache-ttl=0s',
      ],
    })
    client = new ApiClient({ url: server.url, ca: server.caPem, token: server.token })
  })
  afterEach(() => server.faults.clear())
  after(async () => {
    client.close()
    await server.close()
    await webhook.close()
    access.closeAllConnections()
    access.close()
    files.remove()
  })

  const create = (name: string) => client.post(configMaps('default'), configMapOf(name))

  test('an unavailable admission webhook: its failurePolicy decides', async () => {
    await configure(client, 'validating', 'strict', [webhookEntry(`${webhook.url}/strict`)])
    await configure(client, 'validating', 'lenient', [webhookEntry(`${webhook.url}/lenient`, { failurePolicy: 'Ignore' })])
    expectStatus(await create('first'), 201)
    assert.equal(webhook.reviews.length, 2)
    const strict = server.faults.add({ webhook: 'unavailable', name: 'strict.example.com', times: 1 })
    const refused = expectFailure(await create('second'), 500, 'InternalError')
    assert.equal(
      refused.message,
      'Internal error occurred: failed calling webhook "strict.example.com": failed to call webhook: ' +
        `Post "${webhook.url}/strict?timeout=5s": dial tcp 127.0.0.1:${webhook.port}: connect: connection refused`,
    )
    expectStatus(await create('second'), 201)
    assert.deepEqual([strict.matched, strict.fired], [2, 1])
    const before = webhook.reviews.length
    server.faults.add({ webhook: 'unavailable', name: 'lenient.example.com' })
    expectStatus(await create('third'), 201)
    assert.deepEqual(
      webhook.reviews.slice(before).map(({ path }) => path),
      ['/strict'],
    )
    server.faults.check()
  })

  test('an unavailable conversion webhook', async () => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const name = 'wares.shop.example.com'
    const webhookConfig = { conversionReviewVersions: ['v1'], clientConfig: { url: `${webhook.url}/convert`, caBundle } }
    const crd = {
      metadata: { name },
      spec: {
        group: 'shop.example.com',
        scope: 'Namespaced',
        names: { plural: 'wares', singular: 'ware', kind: 'Ware', listKind: 'WareList' },
        versions: [
          { name: 'v1', served: true, storage: true, schema },
          { name: 'v2', served: true, storage: false, schema },
        ],
        conversion: { strategy: 'Webhook', webhook: webhookConfig },
      },
    }
    expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', crd), 201)
    const wares = (version: string): string => `/apis/shop.example.com/${version}/namespaces/default/wares`
    await untilStatus(() => client.post(wares('v1'), { apiVersion: 'shop.example.com/v1', kind: 'Ware', metadata: { name: 'apple' } }), 201)
    server.faults.add({ webhook: 'unavailable', name, times: 1 })
    expectStatus(await client.get(`${wares('v1')}/apple`), 200)
    const refused = expectStatus(await client.get(`${wares('v2')}/apple`), 500)
    assert.match(refused.text, /conversion webhook for shop.example.com\/v1, Kind=Ware failed: .*connect: connection refused/)
    expectStatus(await client.get(`${wares('v2')}/apple`), 200)
    server.faults.check()
  })

  test('unavailable webhooks of tokens and authorization', async () => {
    const guest = new ApiClient({ url: server.url, ca: server.caPem, token: 'of-a-guest' })
    try {
      expectStatus(await guest.get(configMaps('default')), 200)
      const token = server.faults.add({ webhook: 'unavailable', name: 'token' })
      expectFailure(await guest.get(configMaps('default')), 401, 'Unauthorized')
      assert.ok(token.fired > 0)
      token.remove()
      expectStatus(await guest.get(configMaps('default')), 200)
      const authorization = server.faults.add({ webhook: 'unavailable', name: 'authorization' })
      assert.notEqual((await guest.get(configMaps('default'))).status, 200)
      assert.ok(authorization.fired > 0)
      authorization.remove()
      expectStatus(await guest.get(configMaps('default')), 200)
    } finally {
      guest.close()
    }
  })

  test('a full disk: writes fail with 503, reads and watches work, and the server recovers', async () => {
    const watch = await client.watch(`${configMaps('default')}?watch=1`)
    const fault = server.faults.add({ disk: 'full' })
    const refused = await create('unstored')
    const { message } = expectFailure(refused, 503, 'ServiceUnavailable')
    assert.match(String(message), /^the store cannot .* now: the data folder has no space for the write: the disk is full \(ENOSPC/)
    assert.equal(refused.headers['retry-after'], '1')
    expectFailure(await client.get(configMaps('default', 'unstored')), 404, 'NotFound')
    expectStatus(await client.get('/readyz'), 500)
    fault.remove()
    expectStatus(await create('unstored'), 201)
    await untilStatus(() => client.get('/readyz'), 200)
    const events = await watch.atLeast(1)
    assert.ok(events.every(({ type }) => type === 'ADDED'))
    assert.ok(fault.fired > 0)
    watch.close()
  })
})

const convert =
  ({ request: { uid, desiredAPIVersion, objects } }: ConversionReview) =>
  (response: { end(text: string): unknown }): void => {
    const convertedObjects = objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion }))
    const review = { uid, convertedObjects, result: { status: 'Success' } }
    response.end(JSON.stringify({ apiVersion: 'apiextensions.cluster.io/v1', kind: 'ConversionReview', response: review }))
  }
