// Snapshots, forks, reset and webhooks over the control API.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { clientOf } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectStatus, makeConfigMap } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'
import { controlClient, errorOf } from './control-client.js'

describe('the state over the control API', () => {
  let server: EmbeddedServer
  let client: ApiClient
  let control: ApiClient
  before(async () => {
    server = await startServer({ testkit: true })
    client = clientOf(server)
    control = controlClient(server)
  })
  after(async () => {
    client.close()
    control.close()
    await server.close({ immediately: true })
  })
  const create = async (path: string, body: unknown = {}): Promise<JsonObject> => expectStatus(await control.post(path, body), 200).json
  const [first, second] = [configMaps('default', 'first'), configMaps('default', 'second')]

  test('a snapshot is restored as often as wanted, until it is removed', async () => {
    await makeConfigMap(client, 'default', configMapOf('first'))
    const { id } = await create('/testkit/snapshots')
    for (let i = 0; i < 2; i++) {
      expectStatus(await client.delete(first), 200)
      await makeConfigMap(client, 'default', configMapOf('second'))
      await create(`/testkit/snapshots/${id}/restore`)
      expectStatus(await client.get(first), 200)
      expectStatus(await client.get(second), 404)
    }
    expectStatus(await control.delete(`/testkit/snapshots/${id}`), 200)
    for (const path of [`/testkit/snapshots/${id}/restore`, '/testkit/snapshots/__proto__/restore'])
      assert.equal((await control.post(path, {})).status, 404, path)
    assert.deepEqual(errorOf(await control.delete(`/testkit/snapshots/${id}`)), [404, `no snapshot "${id}"`])
  })

  test('a fork is independent, has a control API, and ends on request', async () => {
    const fork = await create('/testkit/forks')
    const access = { url: String(fork['url']), ca: String(fork['ca']) }
    const { url, token } = fork['testkit'] as { readonly url: string; readonly token: string }
    assert.equal(url, `${access.url}/testkit`)
    const [forkClient, forkControl] = [new ApiClient({ ...access, token: String(fork['token']) }), new ApiClient({ ...access, token })]
    expectStatus(await forkControl.post('/testkit/idle', {}), 200)
    await makeConfigMap(forkClient, 'default', configMapOf('of-the-fork'))
    expectStatus(await client.get(configMaps('default', 'of-the-fork')), 404)
    const rule = { verb: 'get', error: { code: 503 } }
    expectStatus(await forkControl.post('/testkit/faults', rule), 200)
    expectStatus(await forkClient.get(first), 503)
    expectStatus(await client.get('/api/v1/namespaces/default'), 200)
    expectStatus(await control.delete(`/testkit/forks/${fork['id']}`), 200)
    await assert.rejects(forkClient.get(first))
    assert.equal((await control.delete(`/testkit/forks/${fork['id']}`)).status, 404)
    forkClient.close()
    forkControl.close()
  })

  test('forks end with their server', async () => {
    const parent = await startServer({ testkit: true })
    const parentControl = controlClient(parent)
    const fork = expectStatus(await parentControl.post('/testkit/forks', {}), 200).json
    parentControl.close()
    const forkClient = new ApiClient({ url: String(fork['url']), ca: String(fork['ca']), token: String(fork['token']) })
    expectStatus(await forkClient.get('/api/v1/namespaces'), 200)
    await parent.close({ immediately: true })
    await assert.rejects(forkClient.get('/api/v1/namespaces'))
    forkClient.close()
  })

  test('a webhook forwards reviews to a server of the test', async (t) => {
    const seen: string[] = []
    const webhook = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => {
        text += chunk
      })
      request.on('end', () => {
        const { apiVersion, kind, request: reviewed } = JSON.parse(text)
        seen.push(reviewed.name)
        const reply = { uid: reviewed.uid, allowed: reviewed.name !== 'forbidden', status: { message: 'not in this shop' } }
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ apiVersion, kind, response: reply }))
      })
    }).listen(0, '127.0.0.1')
    t.after(() => webhook.close())
    await new Promise((resolve) => webhook.once('listening', resolve))
    const forwardTo = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/review`
    const { id } = await create('/testkit/webhooks', { kind: 'validating', rules: [{ resources: ['configmaps'] }], forwardTo })
    expectStatus(await client.post(configMaps('default'), configMapOf('allowed')), 201)
    const refused = await client.post(configMaps('default'), configMapOf('forbidden'))
    assert.match(refused.text, /not in this shop/)
    assert.deepEqual(seen, ['allowed', 'forbidden'])
    const { json } = await control.get(`/testkit/webhooks/${id}/reviews`)
    const reviews = json['reviews'] as readonly { readonly request: { readonly name: string } }[]
    assert.deepEqual(
      reviews.map(({ request }) => request.name),
      ['allowed', 'forbidden'],
    )
    expectStatus(await control.delete(`/testkit/webhooks/${id}`), 200)
    assert.equal((await control.delete(`/testkit/webhooks/${id}`)).status, 404)
    expectStatus(await client.post(configMaps('default'), configMapOf('forbidden')), 201)
    const invalid = { kind: 'validating', rules: [{ resources: ['pods'] }], forwardTo: 'http://example.com/' }
    assert.equal((await control.post('/testkit/webhooks', invalid)).status, 400)
  })

  test('connections of the control API are no leaks', async () => {
    const watch = await client.watch(`${configMaps('default')}?watch=true`)
    const { json } = expectStatus(await control.get('/testkit/leaks'), 200)
    const leaks = json['leaks'] as readonly { readonly kind: string; readonly path: string }[]
    watch.close()
    assert.ok(leaks.some(({ kind }) => kind === 'watch'))
    assert.deepEqual(
      leaks.filter(({ path }) => path.startsWith('/testkit')),
      [],
    )
  })

  test('bodies of requests, after they were asked for', async () => {
    expectStatus(await control.delete('/testkit/requests'), 200)
    await create('/testkit/requests/keep-bodies')
    await makeConfigMap(client, 'default', configMapOf('with-body', { data: { apples: '3' } }))
    const found = expectStatus(
      await control.get('/testkit/requests?verb=create&resource=configmaps,secrets&status=201&body=true'),
      200,
    ).json
    const [request] = found['requests'] as readonly { readonly body: { readonly data: unknown } }[]
    assert.deepEqual(request?.body.data, { apples: '3' })
    for (const query of ['last=x', 'body=1', 'colour=red', 'verb=get&verb=list'])
      assert.equal((await control.get(`/testkit/requests?${query}`)).status, 400, query)
    assert.equal((await control.post('/testkit/requests/wait', { name: 'nobody', timeout: '1ms' })).status, 409)
    for (const path of ['/testkit/history', '/testkit/history?object=x', '/testkit/history?object=nothing/x', '/testkit/explain?object=/'])
      assert.equal((await control.get(path)).status, 400, path)
  })
})
