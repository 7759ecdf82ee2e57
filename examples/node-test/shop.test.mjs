// Tests with node:test: one server per file, reset before each test. Run with `node --test`.

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startServer } from 'cluster-apiserver'

let server
before(async () => {
  server = await startServer({ objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }] })
})
beforeEach(() => server.reset())
after(() => server.close())

for (const round of [1, 2]) {
  test(`reset() restores the initial state, round ${round}`, async () => {
    const maps = server.client.core.v1.configMaps('shop')
    await maps.create({ metadata: { name: 'prices' }, data: { apple: '3' } })
    assert.deepEqual((await maps.get('prices')).data, { apple: '3' })
  })
}

test('a user without permissions gets Forbidden', async () => {
  const alice = server.as('alice', ['dev'])
  await assert.rejects(alice.client.core.v1.configMaps('shop').list(), {
    reason: 'Forbidden',
    message: /User "alice" cannot list resource "configmaps"/,
  })
})
