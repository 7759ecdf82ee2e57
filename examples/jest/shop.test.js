// Tests with Jest and `require`: no flags, no transforms.

const { startServer } = require('cluster-apiserver')
const { isNotFound } = require('cluster-apiserver/client')

let server
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

test('startServer refuses an unknown option', async () => {
  await expect(startServer({ datadir: '/tmp' })).rejects.toThrow('did you mean "dataDir"?')
})

test('get of a missing object is NotFound', async () => {
  const missing = await server.client.core.v1
    .configMaps('shop')
    .get('none')
    .catch((thrown) => thrown)
  expect(isNotFound(missing)).toBe(true)
})
