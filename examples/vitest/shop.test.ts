// Tests with vitest, in TypeScript.

import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { isInvalid } from 'cluster-apiserver/client'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

let server: EmbeddedServer
beforeAll(async () => {
  server = await startServer({ objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }] })
})
beforeEach(() => server.reset())
afterAll(() => server.close())

test.each([1, 2])('reset() restores the initial state, round %i', async () => {
  const maps = server.client.core.v1.configMaps('shop')
  await maps.create({ metadata: { name: 'prices' }, data: { apple: '3' } })
  expect((await maps.get('prices')).data).toEqual({ apple: '3' })
})

test('an invalid name is refused', async () => {
  const refused = server.client.core.v1.configMaps('shop').create({ metadata: { name: 'No Such Name' } })
  await expect(refused).rejects.toMatchObject({ code: 422, reason: 'Invalid' })
  expect(isInvalid(new Error('of another kind'))).toBe(false)
})
