// A test with node's own runner: one server for the file, reset before each test. Run it with `node --test`.

import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, before, beforeEach, test } from 'node:test'
import { startServer } from 'cluster-apiserver'

let server
before(async () => {
  server = await startServer({ objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }] })
})
beforeEach(() => server.reset())
after(() => server.close())

/** Any client will do; this one is node's. */
const ask = (method, path, { token = server.token, body } = {}) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    request(`${server.url}${path}`, { method, headers, ca: server.caPem, agent: false }, async (response) => {
      resolve({ status: response.statusCode, json: JSON.parse((await response.toArray()).join('')) })
    })
      .on('error', reject)
      .end(body && JSON.stringify(body))
  })

const maps = '/api/v1/namespaces/shop/configmaps'

for (const round of [1, 2]) {
  test(`a test finds the server as it was started, round ${round}`, async () => {
    assert.equal((await ask('POST', maps, { body: { metadata: { name: 'prices' }, data: { apple: '3' } } })).status, 201)
    assert.equal((await ask('GET', `${maps}/prices`)).json.data.apple, '3')
  })
}

test('somebody without rights is told so', async () => {
  const alice = server.as('alice', ['dev'])
  const { status, json } = await ask('GET', maps, alice)
  assert.equal(status, 403)
  assert.match(json.message, /User "alice" cannot list resource "configmaps"/)
})
