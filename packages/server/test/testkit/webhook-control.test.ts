// Test webhooks of the control API: reviews are forwarded to a server on loopback or get a fixed response, and are replayed.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { clientOf } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectStatus } from '../../../../test/kit/fixtures.js'
import { assemble } from '../../src/assemble/assemble.js'
import type { AssembledServer } from '../../src/assemble/embedding/assembled-server.js'
import { Testkit } from '../../src/assemble/testkit/testkit.js'
import {
  createControlWebhook,
  deleteControlWebhook,
  listControlWebhooks,
  replayControlWebhook,
  reviewsOfWebhook,
} from '../../src/assemble/testkit/webhooks/control-webhooks.js'
import { parseFlags } from '../../src/options/flags/parse-flags.js'
import { readSettings } from '../../src/options/read-settings.js'

const maps = configMaps('default')
const validating = { kind: 'validating', rules: [{ resources: ['configmaps'] }] }

const testkit = new Testkit()
const { webhooks } = testkit
let server: AssembledServer
let client: ApiClient
before(async () => {
  const settings = await readSettings(parseFlags(['--secure-port=0', '--bind-address=127.0.0.1', '--storage-backend=memory']))
  server = await assemble({ ...settings, dataDir: undefined }, silentLogger, { testkit })
  client = clientOf(server)
})
after(async () => {
  client.close()
  await server.close({ immediately: true })
})

interface Received {
  readonly kind: string
  readonly apiVersion: string
  readonly request: { readonly uid: string; readonly name: string }
}

/** A webhook as in any language: plain HTTP, whole reviews. */
async function startWebhook(
  respond: (review: Received) => { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown },
) {
  const http = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { status = 200, headers = {}, body } = respond(JSON.parse(Buffer.concat(chunks).toString()) as Received)
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    http.closeAllConnections()
    http.close()
  }
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/validate`, close }
}

const verdict = ({ kind, apiVersion, request: { uid } }: Received, allowed: boolean) => ({
  body: { kind, apiVersion, response: { uid, allowed, status: { message: 'from afar' } } },
})

test('reviews are forwarded, recorded, and replayed at the same and at another URL', async (t) => {
  const strict = await startWebhook((review) => verdict(review, review.request.name !== 'bad'))
  t.after(strict.close)
  const lenient = await startWebhook((review) => verdict(review, true))
  t.after(lenient.close)
  const { id, kind, name } = await createControlWebhook(webhooks, { ...validating, forwardTo: strict.url })
  assert.equal(kind, 'validating')
  expectStatus(await client.post(maps, configMapOf('good')), 201)
  assert.match(expectStatus(await client.post(maps, configMapOf('bad')), 400).text, /from afar/)
  assert.deepEqual(
    listControlWebhooks(webhooks).map((info) => [info.id, info.name, info.reviews]),
    [[id, name, 2]],
  )
  assert.deepEqual(
    reviewsOfWebhook(webhooks, id)?.map(({ response }) => response?.['allowed']),
    [true, false],
  )
  const isSame = async (body?: object) => (await replayControlWebhook(webhooks, id, body))?.map((replayed) => replayed.isSame)
  assert.deepEqual(await isSame(), [true, true])
  assert.deepEqual(await isSame({ forwardTo: lenient.url }), [true, false])
  assert.deepEqual(await isSame({ response: false }), [false, false])
  assert.equal(await deleteControlWebhook(webhooks, id), true)
  assert.equal(await deleteControlWebhook(webhooks, id), false)
  assert.equal(await replayControlWebhook(webhooks, id), undefined)
  expectStatus(await client.post(maps, configMapOf('bad')), 201)
})

test('status, text and failures of the target reach the server; redirects are not followed', async (t) => {
  let reply: { readonly status: number; readonly headers?: Record<string, string>; readonly body: unknown } = { status: 503, body: 'busy' }
  const target = await startWebhook(() => reply)
  t.after(target.close)
  const other = await startWebhook((review) => verdict(review, true))
  t.after(other.close)
  const { id } = await createControlWebhook(webhooks, { ...validating, forwardTo: target.url })
  t.after(() => deleteControlWebhook(webhooks, id))
  expectStatus(await client.post(maps, configMapOf('a')), 500)
  reply = { status: 307, headers: { location: other.url }, body: '' }
  expectStatus(await client.post(maps, configMapOf('a')), 500)
  reply = { status: 200, body: 'no review' }
  expectStatus(await client.post(maps, configMapOf('a')), 500)
  target.close()
  assert.match(expectStatus(await client.post(maps, configMapOf('a')), 500).text, /forwarding the review failed/)
  const errors = reviewsOfWebhook(webhooks, id)?.map(({ error }) => error)
  assert.deepEqual(errors?.slice(0, 2), ['status 503: "busy"', 'status 307: ""'])
  assert.match(errors?.[2] ?? '', /the response is not a review/)
})

test('a fixed response', async () => {
  const { id } = await createControlWebhook(webhooks, { ...validating, response: 'closed on Sundays' })
  assert.match(expectStatus(await client.post(maps, configMapOf('fixed')), 400).text, /closed on Sundays/)
  await deleteControlWebhook(webhooks, id)
})

const refused: readonly (readonly [title: string, body: unknown, message: RegExp])[] = [
  ['no object', 'x', /the body must be an object/],
  ['no target', validating, /give either forwardTo or response/],
  ['two targets', { ...validating, forwardTo: 'http://127.0.0.1:1/', response: true }, /give either forwardTo or response/],
  ['https', { ...validating, forwardTo: 'https://127.0.0.1:1/' }, /forwardTo must be a URL such as/],
  ['another machine', { ...validating, forwardTo: 'http://10.0.0.1/' }, /a host of this machine/],
  ['a name that begins like loopback', { ...validating, forwardTo: 'http://127.0.0.1.example.com/' }, /a host of this machine/],
  ['credentials', { ...validating, forwardTo: 'http://user:pass@127.0.0.1/' }, /forwardTo must be a URL/],
  ['no URL', { ...validating, forwardTo: 8080 }, /forwardTo must be a URL/],
  ['a fixed conversion', { kind: 'conversion', crd: 'a.b.c', response: {} }, /a conversion webhook needs forwardTo/],
  ['a name that the API refuses', { ...validating, name: 'short', response: true }, /TypeError: webhook: .*at least three segments/],
  ['an unknown field', { ...validating, url: 'http://127.0.0.1/', response: true }, /unknown option "url"/],
]
for (const [title, body, message] of refused)
  test(`a webhook of the control API is refused: ${title}`, async () => {
    await assert.rejects(createControlWebhook(webhooks, body), message)
    assert.deepEqual(listControlWebhooks(webhooks), [])
  })
